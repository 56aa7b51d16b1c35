/* SPDX-License-Identifier: Apache-2.0 */
/* ib_port_test.c: shows the values of rates, link layers and states. */
#include "lib/device/ib_port.h"

#include "lib/testing/testing.h"

START_TEST(a_rate_is_a_plain_number_of_Gb_per_second)
{
	ck_assert_uint_eq(ib_rate_mbps("100 Gb/sec (4X EDR)"), 100000);
	ck_assert_uint_eq(ib_rate_mbps("2.5 Gb/sec (1X SDR)"), 2500);
	ck_assert_uint_eq(ib_rate_mbps("400 Gb/sec"), 400000);
	ck_assert_uint_eq(ib_rate_mbps("200 Gb/sec (4X HDR)"), 200000);
	ck_assert_uint_eq(ib_rate_mbps("0.5 Gb/sec"), 500);
	ck_assert_uint_eq(ib_rate_mbps("-1 Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps(" 1 Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("1e3 Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("nan Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps(""), 0);
	ck_assert_uint_eq(ib_rate_mbps("fast"), 0);
	ck_assert_uint_eq(ib_rate_mbps("100"), 0);
	ck_assert_uint_eq(ib_rate_mbps("100 Mb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("99999999999 Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("4294967 Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("1.x Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("1./ Gb/sec"), 0);
	ck_assert_uint_eq(ib_rate_mbps("999999999999 Gb/sec"), 0);
}
END_TEST

START_TEST(a_rate_for_people_has_no_exponent)
{
	char text[IB_RATE_LEN];

	ck_assert_str_eq(ib_rate_text(1600000, text), "1600");
	ck_assert_str_eq(ib_rate_text(1000000, text), "1000");
	ck_assert_str_eq(ib_rate_text(2500, text), "2.5");
}
END_TEST

START_TEST(link_layers)
{
	static const enum ib_link_layer all[] = { IB_LAYER_ETHERNET, IB_LAYER_INFINIBAND };
	static const char *const others[] = { "", "unknown", "ethernet", "Ethernet ",
					      "Unspecified" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		ck_assert_int_eq((int)ib_link_layer_parse(ib_link_layer_name(all[i])), (int)all[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_int_eq((int)ib_link_layer_parse(others[i]), (int)IB_LAYER_UNKNOWN);
	ck_assert_str_eq(ib_link_layer_name(IB_LAYER_ETHERNET), "Ethernet");
	ck_assert_str_eq(ib_link_layer_name(IB_LAYER_INFINIBAND), "InfiniBand");
	ck_assert_str_eq(ib_link_layer_name(IB_LAYER_UNKNOWN), "unknown");
}
END_TEST

START_TEST(only_ACTIVE_is_active)
{
	ck_assert(ib_state_is_active("4: ACTIVE"));
	ck_assert(!ib_state_is_active("1: DOWN"));
	ck_assert(!ib_state_is_active("2: INIT"));
	ck_assert(!ib_state_is_active(""));
	ck_assert_str_eq(ib_state_name("1: DOWN"), "DOWN");
	ck_assert_str_eq(ib_state_name("ACTIVE"), "ACTIVE");
}
END_TEST

START_TEST(physical_states_have_the_names_of_sysfs)
{
	ck_assert_str_eq(ib_phys_state_name(2), "Polling");
	ck_assert_str_eq(ib_phys_state_name(5), "LinkUp");
	ck_assert_str_eq(ib_phys_state_name(7), "Phy Test");
	ck_assert_str_eq(ib_phys_state_name(0), "unknown");
	ck_assert_str_eq(ib_phys_state_name(8), "unknown");
	ck_assert_str_eq(ib_phys_state_name(255), "unknown");
}
END_TEST

TEST_PROGRAM("ib_port", a_rate_is_a_plain_number_of_Gb_per_second,
	     a_rate_for_people_has_no_exponent, link_layers, only_ACTIVE_is_active,
	     physical_states_have_the_names_of_sysfs)
