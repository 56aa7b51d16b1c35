/* SPDX-License-Identifier: Apache-2.0 */
/* route_all_fuzz.c: feeds any two answers of a kernel, one a family, to nl_route_list_all(). */
#include "lib/net/addr.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct route_spec *r, void *arg)
{
	char text[PREFIX_STR_LEN];

	MUST(r->dst.addr.family != IP_NONE && r->dst.len <= ip_bits(r->dst.addr.family));
	MUST(*ip_format_prefix(r->dst, text) && *route_kind_name(r->kind));
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	if (!fuzz_ok(nl_route_list_all(k.nl, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}
