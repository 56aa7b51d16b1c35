/* SPDX-License-Identifier: Apache-2.0 */
/* near_test.c: shows which words count as meant. */
#include <string.h>

#include "lib/base/near.h"
#include "lib/testing/testing.h"

START_TEST(suggests_the_nearest)
{
	static const char *const names[] = { "list", "show", "delete", "set" };
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{ "lsit", "list" }, { "lst", "list" },     { "liste", "list" }, { "del", "delete" },
		{ "shwo", "show" }, { "delte", "delete" }, { "xyz", NULL },     { "", NULL },
		{ "l", NULL },      { "remove", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *best = NULL;
		for (size_t j = 0; j < ARRAY_SIZE(names); j++)
			(void)near_word(cases[i].typed, names[j], &best);
		if (cases[i].meant)
			ck_assert_pstr_eq(best, cases[i].meant);
		else
			ck_assert_ptr_null(best);
	}
}
END_TEST

START_TEST(long_words_are_bounded)
{
	char longest[1000];
	const char *best = NULL;

	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert(!near_word(longest, "list", &best));
	ck_assert(!near_slip(longest, "list"));
}
END_TEST

START_TEST(a_slip_is_one_letter_or_two_in_a_long_word)
{
	static const struct {
		const char *key, *known;
		bool slip;
	} cases[] = {
		{ "mastr", "master", true },
		{ "masterr", "master", true },
		{ "amster", "master", true },
		{ "Mazter", "master", true },
		{ "rooting", "routing", true },
		{ "tpye", "type", true },
		{ "hos", "host", true },
		{ "rangeStart", "range_start", true },
		{ "linkContainer", "linkInContainer", true },
		{ "minn", "min", true },
		{ "MINN", "min", true },
		{ "mi", "min", true },
		{ "max", "mac", false },
		{ "man", "min", false },
		{ "gso", "gro", false },
		{ "_rails", "rails", false },
		{ "//", "ipam", false },
		{ "", "mtu", false },
		{ "vlanTrunk", "vlan", false },
		{ "masters1", "master", false },
		{ "mester1", "master", false },
		{ "log_file", "logLevel", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_msg(near_slip(cases[i].key, cases[i].known) == cases[i].slip, "%s, %s",
			      cases[i].key, cases[i].known);
}
END_TEST

TEST_PROGRAM("near", suggests_the_nearest, long_words_are_bounded,
	     a_slip_is_one_letter_or_two_in_a_long_word)
