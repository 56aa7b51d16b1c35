/* SPDX-License-Identifier: Apache-2.0 */
/* ip_fuzz.c: feeds any text to the parsers of addresses; printed text parses to the same value. */
#include "lib/base/ip.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size);
	char text[PREFIX_STR_LEN], last[IP_STR_LEN], both[2 * PREFIX_STR_LEN];
	FUZZ_OUT(struct ip_prefix, p);
	FUZZ_OUT(struct ip_range, r);
	struct ip_prefix p2;
	struct ip_range r2;
	struct ip a, b;
	uint8_t bytes[16];

	if (fuzz_ok(ip_parse_prefix(s, &p), NULL, &p, sizeof(p))) {
		MUST(!ip_parse_prefix(ip_format_prefix(p, text), &p2) && p2.len == p.len);
		MUST(ip_equal(p2.addr, p.addr) && ip_in_prefix(p, p.addr));
		MUST(ip_cmp(ip_network(p), p.addr) <= 0 && ip_cmp(p.addr, ip_last(p)) <= 0);
	}
	if (fuzz_ok(ip_parse_range(s, &r), NULL, &r, sizeof(r))) {
		sprintf(both, "%s-%s", ip_format(r.first, text), ip_format(r.last, last));
		MUST(!ip_parse_range(both, &r2) && ip_equal(r.first, r2.first));
		MUST(ip_equal(r.last, r2.last) && ip_cmp(r.first, r.last) <= 0);
	}
	if (!ip_parse(s, &a))
		MUST(!ip_from_bytes(bytes, ip_to_bytes(a, bytes), &b) && ip_equal(a, b));
	return 0;
}
