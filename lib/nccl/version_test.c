/* SPDX-License-Identifier: Apache-2.0 */
/* version_test.c: versions as text, and the first and last version of a rule. */
#include "lib/nccl/version.h"

#include "lib/testing/testing.h"

static struct lib_version v(const char *text)
{
	struct lib_version out = { 9, 9, 9 };

	ck_assert_msg(lib_version_parse(text, &out) == 0, "%s", text);
	return out;
}

START_TEST(versions_are_read)
{
	static const char *const bad[] = { "",      "2",        "2.",    "v2.27",
					   "2.27.", "2.27.3.1", "2.27x", "2.27.3 ",
					   "-2.27", "2.99999",  " 2.27" };
	struct lib_version out = { 7, 7, 7 };
	char text[LIB_VERSION_LEN];

	ck_assert_str_eq(lib_version_format(v("2.27"), text), "2.27.0");
	ck_assert_str_eq(lib_version_format(v("2.27.3"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.27.3-1"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.27.3+cuda12.4"), text), "2.27.3");
	ck_assert_str_eq(lib_version_format(v("2.30.07"), text), "2.30.7");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(lib_version_parse(bad[i], &out) == -1 && out.major == 7, "%s",
			      bad[i]);
}
END_TEST

START_TEST(a_rule_holds_from_its_first_version_to_its_last)
{
	ck_assert(!lib_rule_holds(NCCL_CHOOSES_GID, v("2.20.5")));
	ck_assert(lib_rule_holds(NCCL_CHOOSES_GID, v("2.21")));
	ck_assert(lib_rule_holds(NCCL_CHOOSES_GID, NCCL_VERSION_NEWEST));
	ck_assert(!lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.20.5")));
	ck_assert(lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.21.5")));
	ck_assert(lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.25.1")));
	ck_assert(lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.26.1")));
	ck_assert(!lib_rule_holds(NCCL_ABORTS_ON_TYPE, v("2.26.2")));
	ck_assert(!lib_rule_holds(NCCL_ABORTS_ON_TYPE, NCCL_VERSION_NEWEST));
	ck_assert(!lib_rule_holds(NCCL_KNOWS_PEERMEM, v("2.22.3")));
	ck_assert(!lib_rule_holds(UCX_HAS_SUBNETS, v("1.17.0")));
	ck_assert(lib_rule_holds(UCX_HAS_SUBNETS, UCX_VERSION_NEWEST));
}
END_TEST

START_TEST(every_rule_says_its_versions)
{
	for (int i = 0; i < LIB_RULES; i++)
		ck_assert_ptr_nonnull(lib_rule_versions((enum lib_rule)i));
}
END_TEST

TEST_PROGRAM("version", versions_are_read, a_rule_holds_from_its_first_version_to_its_last,
	     every_rule_says_its_versions)
