/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table_fuzz.c: any look leaves a table whose rails the next look can be given. */
#include "railheadd/rails/rail_table.h"

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
	MUST(known && json_len(known) == t.n && t.n <= RAILS_MAX);
	for (size_t i = 0; i < t.n; i++)
		MUST(strcmp(t.rail[i].device, "mlx5_1") != 0);
	return 0;
}
