/* SPDX-License-Identifier: Apache-2.0 */
/* pkey_test.c: shows which texts are partition keys, and how one is printed. */
#include "lib/base/pkey.h"

#include "lib/testing/testing.h"

START_TEST(pkey_good)
{
	static const struct {
		const char *text;
		uint16_t pkey;
		const char *printed;
	} good[] = {
		{ "0x8001", 0x8001, "0x8001" }, { "0X8001", 0x8001, "0x8001" },
		{ "0x1", 1, "0x0001" },         { "0x0001", 1, "0x0001" },
		{ "0x7fff", 0x7fff, "0x7fff" }, { "0xFFFF", 0xffff, "0xffff" },
		{ "0xaBc", 0xabc, "0x0abc" },   { "32769", 0x8001, "0x8001" },
		{ "1", 1, "0x0001" },           { "65535", 0xffff, "0xffff" },
	};
	char text[PKEY_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		uint16_t pkey = 0;

		ck_assert_msg(pkey_parse(good[i].text, &pkey) == 0, "%s", good[i].text);
		ck_assert_uint_eq(pkey, good[i].pkey);
		ck_assert_ptr_eq(pkey_format(pkey, text), text);
		ck_assert_str_eq(text, good[i].printed);
	}
}
END_TEST

START_TEST(pkey_bad)
{
	static const char *const bad[] = {
		"",        "0",
		"0x",      "0x0",
		"0x0000",  "0x8000",
		"32768",   "65536",
		"0x10000", "0x08001",
		"0x800g",  " 0x8001",
		"0x8001 ", "0x 801",
		"-1",      "+1",
		"8001x",   "x8001",
		"8fff",    "0x-1",
		"1.0",     "1e3",
		"00x1",    "0b1",
		"0x0x1",   "99999999999999999999",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint16_t pkey = 77;

		ck_assert_msg(pkey_parse(bad[i], &pkey) == -1, "%s", bad[i]);
		ck_assert_uint_eq(pkey, 77);
	}
}
END_TEST

/* All 16 bits, as text and back; the two without a partition are refused. */
START_TEST(every_key_comes_back)
{
	char text[PKEY_STR_LEN];

	for (uint32_t v = 0; v <= UINT16_MAX; v++) {
		bool good = v != 0 && v != PKEY_FULL_MEMBER;
		uint16_t pkey = 0;

		ck_assert_int_eq(pkey_is_valid(v), good);
		ck_assert_int_eq(pkey_parse(pkey_format((uint16_t)v, text), &pkey), good ? 0 : -1);
		ck_assert_uint_eq(pkey, good ? v : 0);
	}
	ck_assert(!pkey_is_valid(UINT16_MAX + UINT64_C(2)));
}
END_TEST

START_TEST(both_members_share_the_partition)
{
	ck_assert_uint_eq(pkey_partition(0x8001), 1);
	ck_assert_uint_eq(pkey_partition(1), 1);
	ck_assert_uint_eq(pkey_partition(0xffff), 0x7fff);
}
END_TEST

TEST_PROGRAM("pkey", pkey_good, pkey_bad, every_key_comes_back, both_members_share_the_partition)
