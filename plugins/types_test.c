/* SPDX-License-Identifier: Apache-2.0 */
/* types_test.c: the list of names and the tables of the plugins are the same. */
#include "plugins/types.h"

#include "lib/testing/testing.h"
#include "plugins/names.h"

START_TEST(each_name_has_its_table)
{
	static const char *const names[] = { PLUGIN_NAMES };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_msg(plugin_types[i], "plugins/types.c lacks %s", names[i]);
		ck_assert_str_eq(plugin_types[i]->name, names[i]);
	}
	ck_assert_ptr_null(plugin_types[ARRAY_SIZE(names)]);
}
END_TEST

TEST_PROGRAM("types", each_name_has_its_table)
