/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities are found in whole, cut and looping configuration spaces, and their bits are
 * decoded.
 */
#include "topo/read/pcicap.h"

#include "lib/testing/testing.h"

#define EXPRESS 0x40
#define ACS     0x148

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v & 0xffff);
	put16(p + 2, v >> 16);
}

/* A downstream port: the express capability behind another one; AER, then ACS. */
static void make(uint8_t c[PCI_CONFIG_MAX])
{
	memset(c, 0, PCI_CONFIG_MAX);
	put16(c, 0x104c);
	put16(c + 6, 0x10);
	c[0x34] = 0x80;
	put16(c + 0x80, 0x400d);
	put16(c + EXPRESS, 0x0010);
	put16(c + EXPRESS + 2, 0x0062);
	put32(c + EXPRESS + 4, 0x8002);
	put16(c + EXPRESS + 8, 0x5 << 12 | 1 << 5 | 1 << 4);
	put32(c + EXPRESS + 12, 0x03000000);
	put32(c + 0x100, 0x14820001);
	put32(c + ACS, 0x0001000d);
	put16(c + ACS + 4, 0x5f);
	put16(c + ACS + 6, 0x1d);
}

static struct pci_config of(const uint8_t *c, size_t len)
{
	return (struct pci_config){ c, len };
}

START_TEST(express_is_read)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_express x;

	make(c);
	ck_assert_int_eq(pcicap_express(of(c, 256), &x), PCICAP_FOUND);
	ck_assert_uint_eq(x.type, 6);
	ck_assert_uint_eq(x.mps_able, 512);
	ck_assert_uint_eq(x.mps, 256);
	ck_assert_uint_eq(x.mrrs, 4096);
	ck_assert(x.relaxed);
	ck_assert_uint_eq(x.port, 3);
	put16(c + EXPRESS + 8, 7 << 12 | 6 << 5);
	ck_assert_int_eq(pcicap_express(of(c, 256), &x), PCICAP_FOUND);
	ck_assert(x.mps == 0 && x.mrrs == 0 && !x.relaxed);
}
END_TEST

START_TEST(acs_is_read)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_acs a;
	char names[PCICAP_ACS_LEN];

	make(c);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_FOUND);
	ck_assert_uint_eq(a.able, 0x5f);
	ck_assert_uint_eq(a.on, 0x1d);
	ck_assert_str_eq(pcicap_acs_names(a.on, names), "SV RR CR UF");
	ck_assert_str_eq(pcicap_acs_names(0x7f, names), "SV TB RR CR UF EC DT");
	ck_assert_str_eq(pcicap_acs_names(0, names), "none");
}
END_TEST

START_TEST(ats_is_read)
{
	uint8_t c[PCI_CONFIG_MAX];
	bool on = true;

	make(c);
	ck_assert_int_eq(pcicap_ats(of(c, sizeof(c)), &on), PCICAP_ABSENT);
	put32(c + ACS, 0x2000000d | 1 << 16);
	put32(c + 0x200, 0x0001000f);
	ck_assert_int_eq(pcicap_ats(of(c, sizeof(c)), &on), PCICAP_FOUND);
	ck_assert(!on);
	put16(c + 0x206, 0x8000);
	ck_assert_int_eq(pcicap_ats(of(c, sizeof(c)), &on), PCICAP_FOUND);
	ck_assert(on);
	ck_assert_int_eq(pcicap_ats(of(c, 0x206), &on), PCICAP_UNKNOWN);
}
END_TEST

/* 64 bytes are what a user gets: what lies behind is not known. */
START_TEST(too_few_bytes_are_unknown)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_express x;
	struct pcicap_acs a;

	make(c);
	for (size_t len = 0; len < 0x50; len++)
		ck_assert_int_eq(pcicap_express(of(c, len), &x), PCICAP_UNKNOWN);
	ck_assert_int_eq(pcicap_acs(of(c, 64), &a), PCICAP_UNKNOWN);
	ck_assert_int_eq(pcicap_acs(of(c, 256), &a), PCICAP_UNKNOWN);
	ck_assert_int_eq(pcicap_acs(of(c, ACS + 7), &a), PCICAP_UNKNOWN);
	ck_assert_int_eq(pcicap_acs(of(c, ACS + 8), &a), PCICAP_FOUND);
}
END_TEST

START_TEST(a_function_that_has_gone_says_nothing)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_acs a;

	make(c);
	memset(c, 0xff, 64);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_UNKNOWN);
	make(c);
	memset(c + 0x100, 0xff, PCI_CONFIG_MAX - 0x100);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_UNKNOWN);
}
END_TEST

START_TEST(what_is_not_there_is_absent)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_acs a;
	size_t at;

	make(c);
	put32(c + 0x100, 0x00020001);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_ABSENT);
	put32(c + 0x100, 0);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_ABSENT);
	ck_assert_int_eq(pcicap_find_ext(of(c, sizeof(c)), 0, &at), PCICAP_ABSENT);
	make(c);
	put16(c + 6, 0);
	ck_assert_int_eq(pcicap_acs(of(c, 256), &a), PCICAP_ABSENT);
	make(c);
	put16(c + 0x80, 0x000d);
	ck_assert_int_eq(pcicap_acs(of(c, 256), &a), PCICAP_ABSENT);
}
END_TEST

START_TEST(lists_that_loop_end)
{
	uint8_t c[PCI_CONFIG_MAX];
	struct pcicap_acs a;
	size_t at;

	make(c);
	put16(c + 0x80, 0x800d);
	ck_assert_int_eq(pcicap_find(of(c, 256), 0x10, &at), PCICAP_ABSENT);
	make(c);
	put32(c + 0x100, 0x10020001);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_ABSENT);
	put32(c + 0x100, 0x0fc20001);
	ck_assert_int_eq(pcicap_acs(of(c, sizeof(c)), &a), PCICAP_ABSENT);
}
END_TEST

TEST_PROGRAM("pcicap", express_is_read, acs_is_read, ats_is_read, too_few_bytes_are_unknown,
	     a_function_that_has_gone_says_nothing, what_is_not_there_is_absent,
	     lists_that_loop_end)
