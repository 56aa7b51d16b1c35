/* SPDX-License-Identifier: Apache-2.0 */
/* lldp_test.c: frames as switches send them, and frames that nobody should send. */
#include "fabric/lldp.h"

#include "fabric/testing/frame.h"
#include "lib/testing/testing.h"

static struct lldp_frame parsed(const struct frame *f)
{
	struct lldp_frame out;
	struct err e = { .msg = "" };

	ck_assert_msg(lldp_parse(f->at, f->n, &out, &e) == 0, "%s", e.msg);
	return out;
}

static void refused(const struct frame *f, const char *why)
{
	struct lldp_frame out;
	struct err e = { .msg = "" };

	ck_assert_int_eq(lldp_parse(f->at, f->n, &out, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_str_eq(e.msg, why);
}

/* What the port of each kind of switch looks like, by their manuals and by captures that are
 * public. */
static const struct {
	const char *kind;
	uint8_t subtype;
	const char *id, *description, *port, *name;
} switches[] = {
	{ "Cumulus", 5, "swp1s0", "swp1s0", "interface-name swp1s0", "swp1s0" },
	{ "Arista", 5, "Ethernet1/1", "to gpu-1", "interface-name Ethernet1/1", "Ethernet1/1" },
	{ "SONiC", 7, "etp1", "Ethernet0", "local etp1", "Ethernet0" },
	{ "Onyx", 5, "Eth1/1", "", "interface-name Eth1/1", "Eth1/1" },
	{ "Junos", 7, "519", "et-0/0/1", "local 519", "et-0/0/1" },
	{ "NX-OS", 5, "Ethernet1/1", "uplink", "interface-name Ethernet1/1", "Ethernet1/1" },
	{ "lldpd", 3, "\x02\xaa\xbb\xcc\xdd\x02", "eth0", "mac 02:aa:bb:cc:dd:02", "eth0" },
	{ "local, not described", 7, "519", "", "local 519", "519" },
};

START_TEST(ports_of_switches_have_the_names_that_people_know)
{
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		struct frame f = frame_begin(1);

		frame_id(&f, 2, switches[i].subtype, switches[i].id);
		frame_ttl(&f, 120);
		if (*switches[i].description)
			frame_tlv(&f, 4, switches[i].description, strlen(switches[i].description));
		frame_tlv(&f, 5, "leaf-1", 6);
		frame_tlv(&f, 127, "\0\x80\xc2\1\0\1", 6); /* a VLAN: not read */
		frame_tlv(&f, 0, "", 0);

		struct lldp_frame got = parsed(&f);

		ck_assert_str_eq(got.chassis, "mac 02:00:00:00:00:01");
		ck_assert_msg(strcmp(got.port, switches[i].port) == 0, "%s: %s", switches[i].kind,
			      got.port);
		ck_assert_msg(strcmp(got.port_name, switches[i].name) == 0, "%s: %s",
			      switches[i].kind, got.port_name);
		ck_assert_str_eq(got.system_name, "leaf-1");
		ck_assert_uint_eq(got.ttl, 120);
		ck_assert_uint_eq(got.source[5], 1);
	}
}
END_TEST

START_TEST(each_form_of_an_id_is_readable)
{
	static const struct {
		const uint8_t id[18];
		size_t len;
		const char *text;
	} ids[] = {
		{ { 5, 1, 192, 0, 2, 7 }, 6, "address 192.0.2.7" },
		{ { 5, 2, 0x20, 1, 0xd, 0xb8, [17] = 1 }, 18, "address 2001:db8::1" },
		{ { 5, 1, 192 }, 3, "address 0x01c0" },
		{ { 4, 1, 2 }, 3, "mac 0x0102" },
		{ { 7, 'a', 0, 'b' }, 4, "local 0x610062" },
		{ { 1, 'x', ' ', '<' }, 4, "chassis-component x <" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		struct frame f = frame_begin(1);

		f.n = 14;
		frame_tlv(&f, 1, ids[i].id, ids[i].len);
		frame_id(&f, 2, 5, "p1");
		frame_ttl(&f, 1);
		ck_assert_str_eq(parsed(&f).chassis, ids[i].text);
	}
}
END_TEST

/* The longest texts, padding, the extremes of TTL, a name that is not text. */
START_TEST(the_longest_texts_and_times_are_read)
{
	struct frame f = frame_begin(1);
	uint8_t id[LLDP_VALUE_MAX + 1] = { 7 };
	char name[] = "<b>\n\xc3\xa9";

	frame_tlv(&f, 2, id, sizeof(id));
	frame_ttl(&f, UINT16_MAX);
	frame_tlv(&f, 5, name, strlen(name));
	frame_tlv(&f, 5, "second", 6);
	memset(id, 'd', sizeof(id));
	frame_tlv(&f, 8, id, 256);
	frame_tlv(&f, 0, "", 0);
	f.n += 60; /* padding */

	struct lldp_frame got = parsed(&f);

	ck_assert_uint_eq(strlen(got.port), strlen("local 0x") + 2 * (size_t)LLDP_VALUE_MAX);
	ck_assert_str_eq(got.system_name, "<b>???");
	ck_assert_uint_eq(got.ttl, UINT16_MAX);
}
END_TEST

START_TEST(a_frame_may_end_without_an_end_tlv)
{
	struct frame f = frame_begin(1);

	frame_id(&f, 2, 5, "p1");
	frame_ttl(&f, 0);
	ck_assert_uint_eq(parsed(&f).ttl, 0);
}
END_TEST

START_TEST(wrong_frames_are_refused)
{
	struct frame f = frame_begin(1), ok;

	f.n = 13;
	refused(&f, "the frame is not LLDP");
	f = frame_begin(1);
	f.at[12] = 8;
	refused(&f, "the frame is not LLDP");
	f = frame_begin(1);
	refused(&f, "LLDP: a TLV has no header");
	f.n = 14;
	frame_id(&f, 2, 5, "p1");
	refused(&f, "LLDP: TLV 2 is not the chassis");
	f = frame_begin(1);
	frame_id(&f, 2, 5, "");
	refused(&f, "LLDP: port has 1 bytes, expected 2 to 256");
	f = frame_begin(1);
	frame_id(&f, 2, 8, "p1");
	refused(&f, "LLDP: subtype 8 of port is reserved");
	f = frame_begin(1);
	frame_id(&f, 2, 5, "p1");
	frame_tlv(&f, 4, "x", 1);
	refused(&f, "LLDP: TLV 4 is not the TTL");
	f = frame_begin(1);
	frame_id(&f, 2, 5, "p1");
	ok = f;
	frame_tlv(&f, 3, "x", 1);
	refused(&f, "LLDP: TTL has 1 bytes, expected 2");
	f = ok;
	frame_ttl(&f, 1);
	frame_id(&f, 2, 5, "p2");
	refused(&f, "LLDP: TLV 2 is there twice");
	f = ok;
	frame_ttl(&f, 1);
	frame_tlv(&f, 5, "leaf-1", 6);
	f.n--;
	refused(&f, "LLDP: TLV 5 has 5 bytes, expected 6");
}
END_TEST

TEST_PROGRAM("lldp", ports_of_switches_have_the_names_that_people_know,
	     each_form_of_an_id_is_readable, the_longest_texts_and_times_are_read,
	     a_frame_may_end_without_an_end_tlv, wrong_frames_are_refused)
