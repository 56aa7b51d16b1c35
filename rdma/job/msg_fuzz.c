/* SPDX-License-Identifier: Apache-2.0 */
/* msg_fuzz.c: feeds texts to job_msg_parse(). */
#include "lib/testing/fuzz.h"
#include "rdma/job/msg.h"

FUZZ(const uint8_t *data, size_t size)
{
	static struct job_msg m, again;
	FUZZ_OUT(struct err, e);

	/* A failure may leave part of the message; the caller has no use for it. */
	if (!fuzz_ok(job_msg_parse((const char *)data, size, &m, &e), &e, NULL, 0))
		return 0;
	MUST(m.n_rails <= JOB_RAILS && m.n_paths <= JOB_QPS && m.rank < JOB_RANKS);
	auto_free char *text = job_msg_print(&m);
	MUST(text);
	MUST(!job_msg_parse(text, strlen(text), &again, &e));
	MUST(again.n_rails == m.n_rails && again.type == m.type && again.id == m.id);
	return 0;
}
