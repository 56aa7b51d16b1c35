/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_fuzz.c: feeds any answer of a kernel to nl_tcp_list(). */
#include "lib/net/tcp.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct tcp_flow *f, void *arg)
{
	char text[IP_STR_LEN];

	MUST(f->local.family == IP_V4 || f->local.family == IP_V6);
	MUST(f->remote.family == IP_V4 || f->remote.family == IP_V6);
	MUST(*ip_format(f->local, text) && *ip_format(f->remote, text));
	return ++*(unsigned *)arg > TCP_FLOWS_MAX;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	(void)fuzz_ok(nl_tcp_list(k.nl, see, &seen, &e), &e, NULL, 0);
	return 0;
}
