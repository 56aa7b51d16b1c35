/* SPDX-License-Identifier: Apache-2.0 */
/* leaving_test.c: ADD in a shared pool that returns to slices: its blocks and its slice count. */
#include <sys/stat.h>

#include "ipam/admin/node.h"
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define CONF    "{\"pool\":\"rail0\"}"
#define KEYS    "\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"cooldown\":5"
#define OPEN    "{" KEYS "}"
#define LEAVING "{" KEYS ",\"slice\":{\"size\":12},\"state\":\"leaving\"}"

static struct fixture w;

/* Blocks from 8 to 15, and from 64 to 71; the slice is from 12 to 23. */
static void begin(const char *node_json)
{
	fixture_open(&w);
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0700), 0);
	if (node_json)
		testing_file("/mnt/etc/node.json", 0600, node_json);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", OPEN), 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.8", BLOCK_GRANTED, 3), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.64", BLOCK_GRANTED, 3), 0);
}

static void leave(void)
{
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", LEAVING), 0);
}

static void add_is(const char *id, const char *want)
{
	ck_assert_str_eq(w_add(&w, CONF, id, ""), want);
}

static void add_fails(const char *id, enum err_code code, const char *part)
{
	const char *got = w_add(&w, CONF, id, "");

	ck_assert_msg(*got == '!' && w.e.code == code && strstr(got, part), "%s", got);
}

START_TEST(a_node_assigns_what_is_in_its_blocks_and_in_its_slice)
{
	static const char *const want[] = { "10.1.0.12", "10.1.0.13", "10.1.0.14", "10.1.0.15" };
	char id[8];

	begin("{\"number\":1}");
	add_is("a", "10.1.0.8");
	leave();
	ck_assert_uint_eq(w_spare(&w, "rail0"), 4);
	for (int i = 0; i < 4; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		add_is(id, want[i]);
		w_sound(&w);
	}
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	add_fails("d", ERR_EXHAUSTED, "pool rail0, slice 1: no block of this node has an address");
	ck_assert_ptr_nonnull(
		strstr(w.e.detail, "only addresses of its slice, 10.1.0.12-10.1.0.23"));
	fixture_close(&w);
}
END_TEST

/* It keeps its address, also in a repeated ADD. No other pod gets it afterwards. */
START_TEST(a_pod_outside_of_the_slice_lives_on)
{
	begin("{\"number\":1}");
	add_is("a", "10.1.0.8");
	leave();
	add_is("a", "10.1.0.8");
	w_del(&w, "a");
	w.now += 10 * SECOND;
	ck_assert_uint_eq(w_spare(&w, "rail0"), 4);
	add_is("b", "10.1.0.12");
	ck_assert_ptr_nonnull(strstr(w_add(&w, CONF, "c", "IP=10.1.0.8"),
				     "10.1.0.8 is in the subnet of pool rail0, slice 1 but not"));
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* Also in the slice: it goes back as soon as its pod has ended. */
START_TEST(what_another_node_lends_is_not_assigned)
{
	struct block_record r = { .key = w_block_key("rail0", "10.1.0.16"),
				  .state = BLOCK_GRANTED,
				  .token = 9,
				  .epoch = 3 };

	begin("{\"number\":1}");
	r.key.one = 2;
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
	ck_assert_int_eq(w_drop(&w, "rail0", "10.1.0.8"), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 9);
	ck_assert_str_eq(w_add(&w, CONF, "a", "IP=10.1.0.17"), "10.1.0.17");
	leave();
	ck_assert_str_eq(w_add(&w, CONF, "a", "IP=10.1.0.17"), "10.1.0.17");
	w_del(&w, "a");
	w.now += 10 * SECOND;
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	add_fails("b", ERR_EXHAUSTED, "no block of this node has an address");
	ck_assert_ptr_nonnull(strstr(w_add(&w, CONF, "b", "IP=10.1.0.17"), "may not use now"));
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_node_without_a_number_assigns_nothing)
{
	begin(NULL);
	leave();
	add_fails("a", ERR_CONFIG, "has no number, and a slice of the pool needs one");
	ck_assert_uint_eq(w_spare(&w, "rail0"), 0);
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":99}");
	add_fails("a", ERR_CONFIG, "the node's number 99 is outside of the pool");
	testing_file("/mnt/etc/node.json", 0600, "{\"number\":1}");
	add_is("a", "10.1.0.12");
	fixture_close(&w);
}
END_TEST

/* Addresses that the slice hid are found again. */
START_TEST(the_pool_stays_with_its_blocks_after_all)
{
	begin("{\"number\":1}");
	leave();
	for (int i = 0; i < 4; i++)
		ck_assert_int_ne(
			*w_add(&w, CONF, (const char *const[]){ "a", "b", "c", "d" }[i], ""), '!');
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", OPEN), 0);
	ck_assert_uint_eq(w_spare(&w, "rail0"), 12);
	add_is("e", "10.1.0.8");
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

static int set_number(const char *file)
{
	auto_json struct json *n = NULL;
	struct admin_node set = { .force = false };

	ck_assert_int_eq(json_parse(file, strlen(file), "n", &n, &w.e), 0);
	set.file = n;
	return admin_node_set(&w.m, &set, &w.e) ? (int)w.e.code : 0;
}

/* What the node reports is about this number. A first number is no change of it. */
START_TEST(the_number_stays_while_the_pool_leaves)
{
	begin(NULL);
	add_is("a", "10.1.0.8");
	leave();
	ck_assert_int_eq(set_number("{\"number\":99}"), ERR_CONFIG);
	ck_assert_int_eq(set_number("{\"number\":1}"), 0);
	ck_assert_int_eq(set_number("{\"number\":1}"), 0);
	ck_assert_int_eq(set_number("{\"number\":2}"), ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "slice 1 is that of this node"));
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", OPEN), 0);
	ck_assert_int_eq(set_number("{\"number\":2}"), 0);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("leaving", a_node_assigns_what_is_in_its_blocks_and_in_its_slice,
	     a_pod_outside_of_the_slice_lives_on, what_another_node_lends_is_not_assigned,
	     a_node_without_a_number_assigns_nothing, the_pool_stays_with_its_blocks_after_all,
	     the_number_stays_while_the_pool_leaves)
