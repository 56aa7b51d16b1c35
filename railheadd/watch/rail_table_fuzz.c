/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table_fuzz.c: any look leaves a table whose rails the next look can be given. */
#include "railheadd/watch/rail_table.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const char *const except[] = { "mlx5_1", NULL };
	auto_clean(rail_table_clear) struct rail_table t = { 0 };
	auto_json struct json *look = NULL;
	struct err e;

	if (json_parse((const char *)data, size, "rails", &look, &e))
		return 0;
	if (rail_table_take(&t, look, except, &e) == 0)
		MUST(rail_table_take(&t, look, except, &e) == 0);
	auto_json struct json *known = rail_table_known(&t);
	size_t dropped = 0;
	for (size_t i = 0; i < t.n; i++)
		dropped += t.rail[i].dropped;
	MUST(known && json_len(known) + dropped == t.n && t.n <= RAILS_MAX);
	auto_clean(rail_table_clear) struct rail_table again = { 0 };
	MUST(rail_table_load(&again, known, &e) == 0 && again.n + dropped == t.n);
	rail_table_clear(&again);
	(void)!rail_table_load(&again, look, &e);
	for (size_t i = 0; i < t.n; i++)
		MUST(t.rail[i].dropped || strcmp(t.rail[i].device, "mlx5_1") != 0);
	return 0;
}
