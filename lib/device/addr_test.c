/* SPDX-License-Identifier: Apache-2.0 */
/* addr_test.c: shows which texts are PCI addresses, numbers and port names. */
#include "lib/device/pci_priv.h"
#include "lib/testing/testing.h"

START_TEST(reads_and_writes_addresses)
{
	static const struct {
		const char *text, *same;
		struct pci_addr a;
	} c[] = {
		{ "0000:3b:00.1", NULL, { 0, 0x3b, 0, 1 } },
		{ "0000:00:00.0", NULL, { 0, 0, 0, 0 } },
		{ "ffff:ff:1f.7", NULL, { 0xffff, 0xff, 31, 7 } },
		{ "10000:01:00.0", NULL, { 0x10000, 1, 0, 0 } },
		{ "ffffffff:ff:1f.7", NULL, { UINT32_MAX, 0xff, 31, 7 } },
		{ "00AB:C0:1F.0", "00ab:c0:1f.0", { 0xab, 0xc0, 31, 0 } },
	};
	char text[PCI_STR_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct pci_addr a = { 9, 9, 9, 7 };

		ck_assert_msg(pci_parse(c[i].text, &a) == 0, "%s", c[i].text);
		ck_assert_uint_eq(a.domain, c[i].a.domain);
		ck_assert_uint_eq(a.bus, c[i].a.bus);
		ck_assert_uint_eq(a.dev, c[i].a.dev);
		ck_assert_uint_eq(a.fn, c[i].a.fn);
		ck_assert_str_eq(pci_format(a, text), c[i].same ? c[i].same : c[i].text);
	}
}
END_TEST

START_TEST(refuses_what_is_none)
{
	static const char *const bad[] = {
		"",
		"0",
		"0000",
		"0000:",
		"0000:3b",
		"0000:3b:",
		"0000:3b:00",
		"0000:3b:00.",
		"3b:00.1",
		"000:3b:00.1",
		"00000:3b:00.1",
		"123456789:3b:00.1",
		"0000:3:00.1",
		"0000:3b0:00.1",
		"0000:3b:0.1",
		"0000:3b:20.1",
		"0000:3b:000.1",
		"0000:3b:00.8",
		"0000:3b:00.a",
		"0000:3b:00.g",
		"0000:3b:00.10",
		"0000:3b:00.1 ",
		" 0000:3b:00.1",
		"0000:3b:00:1",
		"0000.3b.00.1",
		"0000:3b-00.1",
		"0000:3g:00.1",
		"-000:3b:00.1",
		"0x00:3b:00.1",
		"virtio0",
		"../0000:3b:00.1",
		"0000:3b:00.1/..",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct pci_addr a = { .domain = 77 };

		ck_assert_msg(pci_parse(bad[i], &a) == -1, "\"%s\"", bad[i]);
		ck_assert_uint_eq(a.domain, 77);
	}
}
END_TEST

START_TEST(addresses_as_tools_write_them)
{
	static const char *const same[] = { "0000:0f:00.0", "0f:00.0", "00000000:0F:00.0",
					    "0F:00.0" };
	static const char *const none[] = { "",
					    "f:00.0",
					    "00:",
					    ":0f:00.0",
					    "000000000:0f:00.0",
					    "0f:00.0 ",
					    "0f:00.00000000000000" };
	char text[PCI_STR_LEN];
	struct pci_addr a;

	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		ck_assert_int_eq(pci_parse_loose(same[i], &a), 0);
		ck_assert_str_eq(pci_format(a, text), "0000:0f:00.0");
	}
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_msg(pci_parse_loose(none[i], &a) == -1, "%s", none[i]);
	ck_assert_int_eq(pci_parse_loose("10000:0f:00.0", &a), 0);
	ck_assert_uint_eq(a.domain, 0x10000);
	ck_assert_int_eq(pci_parse_loose("00000001:0f:00.0", &a), 0);
	ck_assert_uint_eq(a.domain, 1);
}
END_TEST

START_TEST(numbers_of_attributes)
{
	static const char *const bad[] = { "",     "0",   "0x",  "8086",        "0x10000", "0xg",
					   "0x1g", "1x1", "0X1", "0x123456789", "0x1\n" };
	uint32_t v = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(pci_parse_hex(bad[i], 0xffff, &v) == -1, "\"%s\"", bad[i]);
	ck_assert_uint_eq(v, 7);
	ck_assert_int_eq(pci_parse_hex("0x8086", 0xffff, &v), 0);
	ck_assert_uint_eq(v, 0x8086);
	ck_assert_int_eq(pci_parse_hex("0xffFF", 0xffff, &v), 0);
	ck_assert_uint_eq(v, 0xffff);
	ck_assert_int_eq(pci_parse_hex("0xffffffff", UINT32_MAX, &v), 0);
	ck_assert_uint_eq(v, UINT32_MAX);
}
END_TEST

static struct pci_addr at(const char *text)
{
	struct pci_addr a;

	ck_assert_int_eq(pci_parse(text, &a), 0);
	return a;
}

START_TEST(numbers_of_vfs)
{
	static const struct {
		const char *pf, *vf;
		struct pci_layout l;
		int n; /* -1: none */
	} c[] = {
		/* 82576: two ports, their VFs interleaved from 128 on */
		{ "0000:01:00.0", "0000:01:10.0", { 128, 2 }, 0 },
		{ "0000:01:00.1", "0000:01:10.1", { 128, 2 }, 0 },
		{ "0000:01:00.0", "0000:01:11.4", { 128, 2 }, 6 },
		{ "0000:01:00.0", "0000:01:10.1", { 128, 2 }, -1 },
		/* beyond the bus of the PF */
		{ "0000:3b:00.0", "0000:3c:00.1", { 2, 1 }, 255 },
		{ "0000:3b:00.0", "0000:3b:00.2", { 2, 1 }, 0 },
		{ "10000:01:00.0", "10000:01:00.2", { 2, 1 }, 0 },
		{ "0000:01:00.0", "10000:01:00.2", { 2, 1 }, -1 },
		{ "0000:3b:00.0", "0000:3b:00.1", { 2, 1 }, -1 },
		{ "0000:3b:00.0", "0000:3b:00.0", { 0, 1 }, -1 },
		{ "0000:3b:00.0", "0000:3a:00.2", { 2, 1 }, -1 },
		/* one VF: no stride */
		{ "0000:3b:00.0", "0000:3b:00.2", { 2, 0 }, 0 },
		{ "0000:3b:00.0", "0000:3b:00.3", { 2, 0 }, -1 },
		{ "0000:3b:00.0", "0000:3b:00.3", { 65536, 1 }, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		uint32_t n = 999;
		int rc = pci_vf_number(at(c[i].pf), at(c[i].vf), c[i].l, &n);

		ck_assert_msg(rc == (c[i].n < 0 ? -1 : 0), "%s", c[i].vf);
		ck_assert_uint_eq(n, c[i].n < 0 ? 999 : (uint32_t)c[i].n);
	}
}
END_TEST

START_TEST(port_names_are_parsed)
{
	static const char *const own[] = { "", "p0", "p1", "p15" };
	static const char *const others[] = { "pf0vf3", "pf0",  "pf0sf88", "c1pf0vf0", "p",
					      "p0s1",   "eth0", "0",       "p-1",      "p0 " };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		ck_assert_msg(pci_port_of_pf(own[i]), "%s", own[i]);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_msg(!pci_port_of_pf(others[i]), "%s", others[i]);
}
END_TEST

TEST_PROGRAM("pci_addr", reads_and_writes_addresses, refuses_what_is_none,
	     addresses_as_tools_write_them, numbers_of_attributes, numbers_of_vfs,
	     port_names_are_parsed)
