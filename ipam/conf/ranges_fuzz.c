/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges_fuzz.c: three bytes make a step that adds or removes a range. An array of 256 addresses
 * gets the same steps, and both must agree.
 */
#include "ipam/conf/ranges.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_ranges struct ranges s = { 0 };
	const u128 base = size % 2 ? 0 : ~(u128)0 - 255; /* also at the end of all addresses */
	bool in[257] = { 0 };
	unsigned n = 0, next = 256;
	struct err e;
	struct ip a;

	for (; size >= 3; data += 3, size -= 3) {
		unsigned lo = data[1] < data[2] ? data[1] : data[2], hi = data[1] ^ data[2] ^ lo;
		struct ip_range r = { { IP_V6, base + lo }, { IP_V6, base + hi } };

		MUST(!(data[0] % 2 ? ranges_add(&s, r, &e) : ranges_remove(&s, r, &e)));
		memset(in + lo, data[0] % 2, hi - lo + 1);
	}
	for (unsigned i = 256; i-- > 0; n += in[i], next = in[i] ? i : next) {
		MUST(ranges_contain(&s, (struct ip){ IP_V6, base + i }) == in[i]);
		MUST(ranges_after(&s, (struct ip){ IP_V6, base + i }, &a) == (next < 256) &&
		     (next == 256 || a.v == base + next));
	}
	MUST(ranges_capacity(&s) == n && s.n <= 128);
	return 0;
}
