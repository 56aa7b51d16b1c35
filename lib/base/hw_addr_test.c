/* SPDX-License-Identifier: Apache-2.0 */
/* hw_addr_test.c: shows which texts are hardware addresses, and which addresses are equal. */
#include "lib/base/hw_addr.h"

#include <string.h>

#include "lib/testing/testing.h"

/* As ip-link(8) shows an IPoIB interface. */
#define IPOIB "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57"

static const uint8_t ipoib[HW_ADDR_MAX] = { 0x80, 0, 2, 8, 0xfe, 0x80, 0, 0,    0,    0,
					    0,    0, 0, 2, 0xc9, 3,    0, 0x12, 0x34, 0x57 };

START_TEST(mac_good)
{
	static const uint8_t want[MAC_LEN] = { 0x00, 0x1a, 0x2B, 0xc9, 0xde, 0xff };
	static const char *const good[] = { "00:1a:2b:c9:de:ff", "00-1A-2B-C9-DE-FF",
					    "00:1A:2b:C9:dE:Ff" };
	char text[MAC_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		uint8_t mac[MAC_LEN] = { 0 };

		ck_assert_int_eq(parse_mac(good[i], mac), 0);
		ck_assert_mem_eq(mac, want, MAC_LEN);
		ck_assert_ptr_eq(mac_format(mac, text), text);
		ck_assert_str_eq(text, "00:1a:2b:c9:de:ff");
	}
}
END_TEST

START_TEST(mac_bad)
{
	static const char *const bad[] = {
		"",
		"0",
		"00",
		"00:",
		"00:1a:2b:c9:de",
		"00:1a:2b:c9:de:",
		"00:1a:2b:c9:de:f",
		"00:1a:2b:c9:de:ff:",
		"00:1a:2b:c9:de:ff:00:00",
		"00:1a:2b-c9:de:ff",
		"00-1a:2b:c9:de:ff",
		"001a2bc9deff",
		"001a.2bc9.deff",
		"00.1a.2b.c9.de.ff",
		"g0:1a:2b:c9:de:ff",
		"0g:1a:2b:c9:de:ff",
		"0@:1a:2b:c9:de:ff",
		"0`:1a:2b:c9:de:ff",
		"0/:1a:2b:c9:de:ff",
		" 0:1a:2b:c9:de:ff",
		"00:1a:2b:c9:de:ff ",
		"0:1a:2b:c9:de:ff",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t mac[MAC_LEN] = { 1, 2, 3, 4, 5, 6 };

		ck_assert_msg(parse_mac(bad[i], mac) == -1, "%s", bad[i]);
		ck_assert_mem_eq(mac, "\1\2\3\4\5\6", MAC_LEN);
	}
}
END_TEST

START_TEST(an_address_of_ipoib)
{
	static const char *const same[] = {
		IPOIB, "80-00-02-08-FE-80-00-00-00-00-00-00-00-02-C9-03-00-12-34-57"
	};
	char text[HW_ADDR_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		struct hw_addr a = { 0 };
		uint8_t mac[MAC_LEN];

		ck_assert_int_eq(hw_addr_parse(same[i], &a), 0);
		ck_assert_uint_eq(a.len, 20);
		ck_assert_mem_eq(a.byte, ipoib, 20);
		ck_assert_ptr_eq(hw_addr_format(a, text), text);
		ck_assert_str_eq(text, IPOIB);
		ck_assert(!hw_addr_is_mac(a));
		ck_assert_int_eq(parse_mac(same[i], mac), -1);
	}
}
END_TEST

START_TEST(other_lengths_are_no_address_of_a_person)
{
	char text[HW_ADDR_STR_LEN + 8] = "";
	size_t accepted = 0;

	for (size_t n = 1; n <= 22; n++) {
		struct hw_addr a = { .len = 77 };

		testing_append(text, sizeof(text), n > 1 ? ":0f" : "0f");
		if (hw_addr_parse(text, &a)) {
			ck_assert_uint_eq(a.len, 77);
			continue;
		}
		accepted++;
		ck_assert_uint_eq(a.len, n);
		ck_assert(n == 6 || n == 20);
	}
	ck_assert_uint_eq(accepted, 2);
}
END_TEST

/* Of any length that the kernel reports: a tunnel has 4, IPv6's 16. */
START_TEST(what_the_kernel_reports)
{
	char text[HW_ADDR_STR_LEN];
	uint8_t bytes[33] = { 10, 0, 0, 1 };

	ck_assert_str_eq(hw_addr_format(hw_addr_make(bytes, 0), text), "");
	ck_assert_str_eq(hw_addr_format(hw_addr_make(bytes, 1), text), "0a");
	ck_assert_str_eq(hw_addr_format(hw_addr_make(bytes, 4), text), "0a:00:00:01");
	ck_assert_uint_eq(hw_addr_make(bytes, 20).len, 20);
	ck_assert_uint_eq(hw_addr_make(bytes, 21).len, 0);
	ck_assert_uint_eq(hw_addr_make(bytes, sizeof(bytes)).len, 0);
}
END_TEST

START_TEST(which_addresses_are_equal)
{
	const uint8_t mac[MAC_LEN] = { 2, 0, 0, 0, 0, 1 };
	struct hw_addr none = { 0 }, a = hw_addr_of_mac(mac), b = a, shorter = hw_addr_make(mac, 4);

	ck_assert(hw_addr_equal(a, b));
	b.byte[0] = 6;
	ck_assert(!hw_addr_equal(a, b));
	ck_assert(!hw_addr_equal(a, shorter));
	ck_assert(!hw_addr_equal(none, none));
	ck_assert(!hw_addr_equal(none, a));
}
END_TEST

/* The first 4 bytes are flags and the queue pair number, which a restart of the driver changes. */
START_TEST(of_ipoib_the_gid_counts)
{
	for (size_t i = 0; i < HW_ADDR_MAX; i++) {
		struct hw_addr a = hw_addr_make(ipoib, sizeof(ipoib)), b = a;

		b.byte[i] ^= 1;
		ck_assert_int_eq(hw_addr_equal(a, b), i < 4);
	}
}
END_TEST

START_TEST(the_last_8_bytes_of_ipoib_are_the_guid_of_its_port)
{
	struct guid guid = GUID_ZERO;

	ck_assert(hw_addr_guid(hw_addr_make(ipoib, sizeof(ipoib)), &guid));
	ck_assert_mem_eq(guid.byte, ipoib + 12, GUID_LEN);
	ck_assert(!hw_addr_guid(hw_addr_make(ipoib, MAC_LEN), &guid));
	ck_assert_mem_eq(guid.byte, ipoib + 12, GUID_LEN);
}
END_TEST

TEST_PROGRAM("hw_addr", mac_good, mac_bad, an_address_of_ipoib,
	     other_lengths_are_no_address_of_a_person, what_the_kernel_reports,
	     which_addresses_are_equal, of_ipoib_the_gid_counts,
	     the_last_8_bytes_of_ipoib_are_the_guid_of_its_port)
