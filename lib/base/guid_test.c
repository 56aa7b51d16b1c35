/* SPDX-License-Identifier: Apache-2.0 */
/* guid_test.c: shows which texts are GUIDs, and which GUIDs a port can have. */
#include "lib/base/guid.h"

#include <string.h>

#include "lib/testing/testing.h"

static const struct guid mellanox = { { 0x50, 0x6b, 0x4b, 0x03, 0x00, 0xc1, 0xa2, 0xb3 } };

START_TEST(good_texts)
{
	static const char *const good[] = { "50:6b:4b:03:00:c1:a2:b3", "50:6B:4B:03:00:C1:A2:B3",
					    "50-6b-4b-03-00-c1-A2-b3", "506b:4b03:00c1:a2b3",
					    "506B.4b03.00c1.a2b3" };
	char text[GUID_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct guid g = GUID_ZERO;

		ck_assert_msg(guid_parse(good[i], &g) == 0, "%s", good[i]);
		ck_assert_mem_eq(g.byte, mellanox.byte, GUID_LEN);
		ck_assert_ptr_eq(guid_format(g, text), text);
		ck_assert_str_eq(text, "50:6b:4b:03:00:c1:a2:b3");
	}
}
END_TEST

START_TEST(bad_texts)
{
	static const char *const bad[] = {
		"",
		"5",
		"50",
		"50:",
		"50:6b:4b:03:00:c1",
		"50:6b:4b:03:00:c1:a2",
		"50:6b:4b:03:00:c1:a2:",
		"50:6b:4b:03:00:c1:a2:b",
		"50:6b:4b:03:00:c1:a2:b3:",
		"50:6b:4b:03:00:c1:a2:b3:00",
		"50:6b:4b:03:00:c1:a2:b3 ",
		" 50:6b:4b:03:00:c1:a2:b3",
		"50:6b:4b:03:00:c1-a2:b3",
		"50.6b.4b.03.00.c1.a2.b3",
		"5:6b:4b:03:00:c1:a2:b3",
		"g0:6b:4b:03:00:c1:a2:b3",
		"506b4b0300c1a2b3",
		"0x506b4b0300c1a2b3",
		"506b-4b03-00c1-a2b3",
		"506b:4b03:00c1.a2b3",
		"506b:4b03:00c1",
		"506b:4b03:00c1:a2b3:0000",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct guid g = mellanox;

		ck_assert_msg(guid_parse(bad[i], &g) == -1, "%s", bad[i]);
		ck_assert(guid_equal(g, mellanox));
	}
}
END_TEST

START_TEST(zero_and_all_ones_are_read_but_not_usable)
{
	struct guid g = mellanox;

	ck_assert(guid_is_usable(g));
	ck_assert_int_eq(guid_parse("00:00:00:00:00:00:00:00", &g), 0);
	ck_assert(guid_equal(g, GUID_ZERO) && !guid_is_usable(g));
	ck_assert_int_eq(guid_parse("FF:ff:ff:ff:ff:ff:ff:ff", &g), 0);
	ck_assert(guid_equal(g, GUID_ALL_ONE) && !guid_is_usable(g));
	for (size_t i = 0; i < GUID_LEN; i++) {
		struct guid low = GUID_ZERO, high = GUID_ALL_ONE;

		low.byte[i] = 1;
		high.byte[i] = 0xfe;
		ck_assert(guid_is_usable(low) && guid_is_usable(high));
		ck_assert(!guid_equal(low, GUID_ZERO) && !guid_equal(high, GUID_ALL_ONE));
	}
}
END_TEST

START_TEST(the_first_byte_is_the_highest_of_the_number)
{
	ck_assert_uint_eq(guid_number(mellanox), UINT64_C(0x506b4b0300c1a2b3));
	ck_assert(guid_equal(guid_of_number(UINT64_C(0x506b4b0300c1a2b3)), mellanox));
	ck_assert_uint_eq(guid_number(GUID_ZERO), 0);
	ck_assert_uint_eq(guid_number(GUID_ALL_ONE), UINT64_MAX);
}
END_TEST

/* The port's own GID, as `ibv_devinfo -v` prints it. */
START_TEST(a_gid_is_the_default_prefix_and_the_guid)
{
	char text[IP_STR_LEN];
	struct ip_prefix net;

	ck_assert_str_eq(ip_format(guid_gid(mellanox), text), "fe80::506b:4b03:c1:a2b3");
	ck_assert(guid_equal(guid_of_gid(guid_gid(mellanox)), mellanox));
	for (const char *const *is =
		     (const char *const[]){ "fe80::/64", "fe80::1:0/112", "fe80::1/128", NULL };
	     *is; is++)
		ck_assert(ip_parse_prefix(*is, &net) == 0 && guid_is_network(net));
	for (const char *const *is_not =
		     (const char *const[]){ "fe80::/63", "fe80::/10", "fd00::/64",
					    "fe80:0:0:1::/64", "10.1.0.0/16", NULL };
	     *is_not; is_not++)
		ck_assert(ip_parse_prefix(*is_not, &net) == 0 && !guid_is_network(net));
}
END_TEST

TEST_PROGRAM("guid", good_texts, bad_texts, zero_and_all_ones_are_read_but_not_usable,
	     the_first_byte_is_the_highest_of_the_number, a_gid_is_the_default_prefix_and_the_guid)
