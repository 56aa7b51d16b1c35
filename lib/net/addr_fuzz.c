/* SPDX-License-Identifier: Apache-2.0 */
/* addr_fuzz.c: feeds any answer of a kernel to nl_addr_list(). */
#include "lib/net/addr.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct addr_info *a, void *arg)
{
	char text[PREFIX_STR_LEN];

	MUST(a->addr.addr.family == IP_V4 || a->addr.addr.family == IP_V6);
	MUST(a->addr.len <= ip_bits(a->addr.addr.family) && *ip_format_prefix(a->addr, text));
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	if (!fuzz_ok(nl_addr_list(k.nl, 1, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}
