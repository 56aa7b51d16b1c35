/* SPDX-License-Identifier: Apache-2.0 */
/* part_test.c: the interfaces of one record, written and read again. */
#include "cni/record/part.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static struct record whole(const struct json *parts)
{
	return (struct record){ .key = { "net", "c1", "net1" },
				.plugin = "rails",
				.kind = "macvlan",
				.netns = "/n",
				.boot = "11111111-1111-1111-1111-111111111111",
				.master = "",
				.cni_path = "",
				.args = "",
				.parts = parts };
}

START_TEST(a_record_of_one_interface_is_its_own_part)
{
	struct record r = whole(NULL), part;

	r.ifindex = 7;
	ck_assert_uint_eq(record_parts(&r), 1);
	record_part(&r, 0, &part);
	ck_assert(part.ifindex == 7 && !part.whole);
	ck_assert_str_eq(part.key.ifname, "net1");
}
END_TEST

START_TEST(the_parts_of_a_record)
{
	auto_json struct json *list = json_new_array(), *note = json_new_object();
	auto_json struct json *device = json_new_object();
	auto_record struct record r = { 0 }, alone = { 0 };
	struct record one = whole(NULL), part;
	struct err e;

	one.master = "eth0";
	one.ifindex = 7;
	one.lower_ifindex = 3;
	ck_assert_int_eq(record_add_part(list, &one), 0);
	one.key.ifname = "net1r1";
	one.master = "eth1";
	one.ifindex = 0; /* not made yet */
	ck_assert_int_eq(json_add_int(note, "table", 1001), 0);
	one.routing = note;
	one.plugin = "sriov";
	ck_assert_int_eq(json_add_str(device, "vf", "0000:3b:02.5"), 0);
	one.device = device;
	ck_assert_int_eq(record_add_part(list, &one), 0);

	const struct record all = whole(list);
	auto_free char *text = record_print(&all);
	ck_assert_int_eq(record_decode(text, strlen(text), &r, &e), 0);
	ck_assert_uint_eq(record_parts(&r), 2);
	/* A program that reads only the interface of the key must not take it for a whole record.
	 */
	ck_assert(json_num(json_get(r.tree, "version")) == 2);
	one.routing = NULL;
	auto_free char *single = record_print(&one);
	ck_assert_int_eq(record_decode(single, strlen(single), &alone, &e), 0);
	ck_assert(json_num(json_get(alone.tree, "version")) == 1);
	record_part(&r, 0, &part);
	ck_assert(part.ifindex == 7 && part.lower_ifindex == 3 && !part.routing);
	ck_assert(part.whole == &r && !part.parts && !part.tree);
	ck_assert_str_eq(part.plugin, "rails");
	ck_assert(!part.device);
	record_part(&r, 1, &part);
	ck_assert_str_eq(part.key.ifname, "net1r1");
	ck_assert_str_eq(part.key.container, "c1");
	ck_assert_str_eq(part.master, "eth1");
	ck_assert(!part.ifindex && part.lower_ifindex == 3);
	ck_assert(json_num(json_get(part.routing, "table")) == 1001);
	ck_assert_str_eq(part.plugin, "sriov");
	ck_assert_str_eq(json_text(part.device, "vf"), "0000:3b:02.5");
}
END_TEST

/* Only root writes records; what is damaged must still name no interface of somebody else. */
START_TEST(a_damaged_part_has_no_name)
{
	auto_json struct json *list = NULL;
	const char text[] = "[3,{\"ifname\":5,\"ifindex\":1e99}]";
	struct record part;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "parts", &list, &e), 0);
	const struct record r = whole(list);

	for (size_t i = 0; i < record_parts(&r); i++) {
		record_part(&r, i, &part);
		ck_assert_str_eq(part.key.ifname, "");
		ck_assert(!part.ifindex && !part.lower_ifindex && !part.routing);
	}
}
END_TEST

/* "NAME OF MASTER" for a key, or the code of the error. */
static const char *read_part(const struct ctx *ctx, const char *container, const char *ifname)
{
	static char shown[64];
	const struct record_key key = { "net", container, ifname };
	auto_record struct record r = { 0 };
	struct record part;
	struct err e;

	if (record_read_part(ctx, &key, &r, &part, &e)) {
		ck_assert_ptr_null(r.tree);
		(void)snprintf(shown, sizeof(shown), "%d", (int)e.code);
	} else {
		(void)snprintf(shown, sizeof(shown), "%s of %s", part.key.ifname, part.master);
	}
	return shown;
}

START_TEST(the_record_that_has_an_interface)
{
	const struct ctx ctx = { .run_dir = "/mnt/run", .log = { .fd = -1 } };
	auto_json struct json *list = json_new_array();
	struct record one = whole(NULL), several;
	char none[16];
	struct err e;

	(void)testing_dir();
	(void)snprintf(none, sizeof(none), "%d", ERR_NOTFOUND);
	ck_assert_str_eq(read_part(&ctx, "c1", "net1"), none);
	one.master = "eth7";
	one.key.ifname = "net7";
	ck_assert_msg(record_write(&ctx, &one, &e) == 0, "%s", e.msg);
	one.master = "eth0";
	one.key.ifname = "r0";
	ck_assert_int_eq(record_add_part(list, &one), 0);
	one.master = "eth1";
	one.key.ifname = "r1";
	ck_assert_int_eq(record_add_part(list, &one), 0);
	several = whole(list);
	ck_assert_msg(record_write(&ctx, &several, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(read_part(&ctx, "c1", "net7"), "net7 of eth7");
	ck_assert_str_eq(read_part(&ctx, "c1", "r0"), "r0 of eth0");
	ck_assert_str_eq(read_part(&ctx, "c1", "r1"), "r1 of eth1");
	/* The key of the record is the name of none of its interfaces. */
	ck_assert_str_eq(read_part(&ctx, "c1", "net1"), none);
	ck_assert_str_eq(read_part(&ctx, "c2", "r1"), none);
	ck_assert_str_eq(read_part(&ctx, "c1", "r2"), none);
	/* Another container has such an interface, by another name of its attachment. */
	several.key = (struct record_key){ "net", "c2", "net5" };
	ck_assert_msg(record_write(&ctx, &several, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(read_part(&ctx, "c2", "r1"), "r1 of eth1");
}
END_TEST

TEST_PROGRAM("cni/record/part", a_record_of_one_interface_is_its_own_part, the_parts_of_a_record,
	     a_damaged_part_has_no_name, the_record_that_has_an_interface)
