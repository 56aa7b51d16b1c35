/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_name_test.c: names, beginnings of names, and the pool that a beginning is of. */
#include "cluster/store/cluster_name.h"
#include "lib/testing/testing.h"

#define ZEROS "0000000000000000000000000000000"

START_TEST(names_are_those_of_DNS_and_a_prefix_may_be_part)
{
	ck_assert(cluster_name_valid("a") && cluster_name_valid("a.b-1"));
	ck_assert(!cluster_name_valid("") && !cluster_name_valid("-a") &&
		  !cluster_name_valid("a."));
	ck_assert(!cluster_name_valid("A") && !cluster_name_valid("a/b"));
	ck_assert(cluster_name_part("") && cluster_name_part("a-") && !cluster_name_part("a%"));
}
END_TEST

START_TEST(the_pool_of_a_prefix)
{
	static const struct {
		const char *prefix, *pool;
	} cases[] = {
		{ "rail0-", "rail0" },
		{ "rail0-0a", "rail0" },
		{ "rail0-leaf1-", "rail0-leaf1" },
		{ "rail0-leaf1-" ZEROS "f", "rail0-leaf1" },
		{ "", NULL },
		{ "rail0", NULL },
		{ "-", NULL },
		{ "-0a", NULL },
		{ ".-0a", NULL },
		{ "rail0-leaf", NULL },
		{ "rail0-0g", NULL },
		{ "rail0-" ZEROS "00", NULL },
	};
	char pool[CLUSTER_NAME_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool found = cluster_prefix_pool(cases[i].prefix, pool);

		ck_assert_msg(found == (cases[i].pool != NULL), "%s", cases[i].prefix);
		if (found)
			ck_assert_str_eq(pool, cases[i].pool);
	}
}
END_TEST

TEST_PROGRAM("cluster_name", names_are_those_of_DNS_and_a_prefix_may_be_part, the_pool_of_a_prefix)
