/* SPDX-License-Identifier: Apache-2.0 */
/* Feeds a log: all slices are parts of the text, and GPUs belong to processes. */
#include "lib/testing/fuzz.h"
#include "diag/nccl_log.h"

static void in(struct slice s, const char *text, size_t size)
{
	MUST(!s.p || (s.p >= text && s.len <= size && (size_t)(s.p - text) <= size - s.len));
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *text = fuzz_text(data, size);
	auto_nccl_log struct nccl_log log = { 0 };
	FUZZ_OUT(struct err, e);

	if (nccl_log_read(text, size, &log, &e))
		return 0;
	for (size_t i = 0; i < log.n_processes; i++)
		for (size_t n = 0; n < NCCL_LOG_NETS_MAX; n++)
			in(log.process[i].net[n], text, size);
	for (size_t i = 0; i < log.n_gpus; i++)
		MUST(log.gpu[i].process < log.n_processes && log.gpu[i].addr.fn < 8);
	for (size_t i = 0; i < log.n_sets; i++)
		in(log.set[i].value, text, size);
	return 0;
}
