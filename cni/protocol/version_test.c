/* SPDX-License-Identifier: Apache-2.0 */
/* version_test.c: shows which versions are supported, and how errors read. */
#include "cni/protocol/version.h"

#include <string.h>

#include "lib/testing/testing.h"

/* CNI-093 to CNI-095: the versions that have a shape of their own. */
static const char *const all[] = { "0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0" };

START_TEST(every_version_has_its_name)
{
	struct err untouched, e;

	memset(&e, 0x5a, sizeof(e));
	untouched = e;
	ck_assert_uint_eq(ARRAY_SIZE(all), CNI_VERSIONS);
	for (int i = 0; i < CNI_VERSIONS; i++) {
		enum cni_version v = CNI_VERSIONS;

		ck_assert_str_eq(cni_version_name((enum cni_version)i), all[i]);
		ck_assert_int_eq(cni_version_parse(all[i], &v, &e), 0);
		ck_assert_int_eq((int)v, i); /* in order, so that they can be compared */
	}
	ck_assert_str_eq(cni_version_name(CNI_CURRENT), "1.1.0");
	ck_assert_int_eq(memcmp(&e, &untouched, sizeof(e)), 0);
}
END_TEST

START_TEST(cni_026_absent_is_the_oldest)
{
	enum cni_version v = CNI_CURRENT;
	struct err e;

	ck_assert_int_eq(cni_version_parse(NULL, &v, &e), 0);
	ck_assert_int_eq((int)v, CNI_010);
	v = CNI_CURRENT;
	ck_assert_int_eq(cni_version_parse("", &v, &e), 0);
	ck_assert_int_eq((int)v, CNI_010);
}
END_TEST

START_TEST(cni_027_only_an_exact_match_counts)
{
	static const char *const wrong[] = { "9.9.9",  "1.0",     "1",       "0.4",     "1.1.0 ",
					     " 1.1.0", "v1.1.0",  "1.1.0\n", "1.1.00",  "01.1.0",
					     "1.2.0",  "1.1.0-x", "0.0.0",   "current", "0.3.10" };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		enum cni_version v = CNI_031;
		struct err e;

		ck_assert_int_eq(cni_version_parse(wrong[i], &v, &e), -1);
		ck_assert_int_eq((int)v, CNI_031);
		ck_assert_int_eq((int)e.code, ERR_VERSION);
		ck_assert_int_eq((int)e.code, 1);
		ck_assert_str_eq(e.msg, "incompatible CNI versions");
	}
}
END_TEST

START_TEST(cni_027_details_name_both_sides)
{
	enum cni_version v;
	struct err e;
	char text[5000];

	ck_assert_int_eq(cni_version_parse("9.9.9", &v, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "config is \"9.9.9\", plugin supports [\"0.1.0\""));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ck_assert_ptr_nonnull(strstr(e.detail, all[i]));
	/* whatever was given, the supported ones are still there to read */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(cni_version_parse(text, &v, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "\"1.1.0\"]"));
}
END_TEST

TEST_PROGRAM("cni/protocol/version", every_version_has_its_name, cni_026_absent_is_the_oldest,
	     cni_027_only_an_exact_match_counts, cni_027_details_name_both_sides)
