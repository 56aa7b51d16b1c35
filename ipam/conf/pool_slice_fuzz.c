/* SPDX-License-Identifier: Apache-2.0 */
/* pool_slice_fuzz.c: feeds the definition of a pool to pool_slice_cut, for a small and the last
 * number. */
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_slice.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	struct err e;

	if (json_parse((const char *)data, size, "pool", &tree, &e))
		return 0;
	for (int last = 0; last < 2; last++) {
		struct source s = { .label = "" };

		if (pool_decode("p", tree, &s, &e))
			return 0;
		uint64_t count = s.slice.size ? pool_slice_count(&s.slice, s.subnet) : 1;
		uint32_t n = (uint32_t)(last ? count - 1 : size % count);
		if (pool_slice_cut(&s, n, &e) == 0 && s.slice.size)
			MUST(ranges_capacity(&s.usable) ==
			     ranges_capacity_in(&s.usable, pool_slice_range(&s.slice, n)));
		source_clear(&s);
	}
	return 0;
}
