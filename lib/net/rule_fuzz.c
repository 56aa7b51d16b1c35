/* SPDX-License-Identifier: Apache-2.0 */
/* rule_fuzz.c: feeds any answer of a kernel to nl_rule_list(). */
#include "lib/net/rule.h"
#include "lib/testing/fuzz_nl.h"

static int see(const struct rule_spec *r, void *arg)
{
	char text[PREFIX_STR_LEN];

	MUST(r->from.addr.family == IP_V4 || r->from.addr.family == IP_V6);
	MUST(r->from.len <= ip_bits(r->from.addr.family) && *ip_format_prefix(r->from, text));
	++*(unsigned *)arg;
	return 0;
}

FUZZ(const uint8_t *data, size_t size)
{
	auto_fuzz_kernel struct fuzz_kernel k = fuzz_kernel(data, size);
	FUZZ_OUT(struct err, e);
	unsigned seen = 0;

	if (!fuzz_ok(nl_rule_list(k.nl, see, &seen, &e), &e, NULL, 0))
		MUST(seen == 0);
	return 0;
}
