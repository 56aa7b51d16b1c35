/* SPDX-License-Identifier: Apache-2.0 */
/* route_fuzz.c: feeds any answer of a kernel to nl_route_list(), _default_dev() and _get(). */
#include "lib/net/addr.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct route_spec *r, void *arg)
{
	char text[PREFIX_STR_LEN];

	MUST(r->dst.addr.family != IP_NONE && r->dst.len <= ip_bits(r->dst.addr.family));
	MUST(*ip_format_prefix(r->dst, text) && r->ifindex == 1);
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data + !!size, size - !!size);
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(int, ifindex);
	FUZZ_OUT(struct route_spec, way);
	const struct ip any = { .family = IP_V4 };
	unsigned seen = 0;

	if (size && *data == 'g')
		(void)fuzz_ok(nl_route_get(k.nl, any, any, &way, &e), &e, &way, sizeof(way));
	else if (!size || *data)
		(void)fuzz_ok(nl_route_default_dev(k.nl, &ifindex, &e), &e, &ifindex, sizeof(int));
	else if (!fuzz_ok(nl_route_list(k.nl, 1, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}
