/* SPDX-License-Identifier: Apache-2.0 */
/* grid_fuzz.c: feeds names of blocks; what is read is written back as the same name. */
#include "ipam/block/grid.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_free char *s = fuzz_text(data, size);
	char pool[GRID_POOL_MAX + 1], name[GRID_NAME_LEN];
	struct ip start;

	if (!grid_parse(s, IP_V4, pool, &start))
		MUST(start.family == IP_V4 && start.v <= UINT32_MAX);
	if (!grid_parse(s, IP_V6, pool, &start))
		MUST(strcmp(grid_name(pool, start, name), s) == 0 && *pool);
	return 0;
}
