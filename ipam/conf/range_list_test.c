/* SPDX-License-Identifier: Apache-2.0 */
/* range_list_test.c: arrays of ranges that are read, printed, cut to a network, and refused. */
#include "ipam/conf/range_list.h"

#include "ipam/conf/pool.h"
#include "lib/base/text.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct err e;

static struct json *parse(const char *text)
{
	struct json *j = NULL;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", text);
	return j;
}

static void add(struct ranges *s, const char *text)
{
	auto_json struct json *list = parse(text);

	ck_assert_msg(range_list_add(list, "x", s, &e) == 0, "%s", e.msg);
}

static void prints(const struct ranges *s, const char *want)
{
	auto_json struct json *list = range_list_print(s);
	auto_free char *text = json_print(list, false);

	ck_assert_str_eq(text, want);
}

START_TEST(ranges_are_joined_and_printed_in_order)
{
	auto_ranges struct ranges s = { .n = 0 };

	prints(&s, "[]");
	ck_assert_int_eq(range_list_add(NULL, "x", &s, &e), 0);
	add(&s, "[\"fd00::/64\",\"10.1.0.9\",\"10.1.0.0/30\",\"10.1.0.4-10.1.0.5\"]");
	prints(&s, "[\"10.1.0.0-10.1.0.5\",\"10.1.0.9\",\"fd00::/64\"]");
	add(&s, "[\"10.1.0.6-10.1.0.7\",\"0.0.0.0-9.255.255.255\",\"fd00:0:0:1::-fd00:0:0:1::2\"]");
	prints(&s,
	       "[\"0.0.0.0-9.255.255.255\",\"10.1.0.0/29\",\"10.1.0.9\",\"fd00::-fd00:0:0:1::2\"]");
}
END_TEST

START_TEST(a_part_of_a_range_is_removed)
{
	auto_ranges struct ranges s = { .n = 0 };
	auto_json struct json *list = parse("[\"10.1.0.3\",\"10.9.0.0/16\",\"10.1.0.6-10.1.0.7\"]");

	add(&s, "[\"10.1.0.0/29\"]");
	ck_assert_int_eq(range_list_remove(list, "x", &s, &e), 0);
	prints(&s, "[\"10.1.0.0-10.1.0.2\",\"10.1.0.4/31\"]");
}
END_TEST

START_TEST(a_whole_address_space_is_a_network)
{
	auto_ranges struct ranges s = { .n = 0 };

	add(&s, "[\"::/0\",\"0.0.0.0/0\"]");
	prints(&s, "[\"0.0.0.0/0\",\"::/0\"]");
}
END_TEST

START_TEST(the_part_in_a_network_is_cut_out)
{
	static const struct {
		const char *subnet, *want;
	} rows[] = {
		{ "10.1.0.0/24", "[\"10.1.0.4-10.1.0.255\"]" },
		{ "10.1.1.0/24", "[\"10.1.1.0\",\"10.1.1.9\"]" },
		{ "10.2.0.0/16", "[]" },
		{ "fd00::/16", "[\"fd00::7\"]" },
	};
	auto_ranges struct ranges s = { .n = 0 };

	add(&s, "[\"10.1.0.4-10.1.1.0\",\"10.1.1.9\",\"fd00::7\"]");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ip_prefix subnet;

		ck_assert_int_eq(ip_parse_prefix(rows[i].subnet, &subnet), 0);
		auto_json struct json *list = range_list_print_in(&s, subnet);
		auto_free char *text = json_print(list, false);
		ck_assert_str_eq(text, rows[i].want);
	}
}
END_TEST

START_TEST(what_is_no_range_is_named)
{
	static const struct {
		const char *value, *want;
		enum err_code code;
	} rows[] = {
		{ "{\"ranges\":[\"10.1.0.1\",\"10.1.0.9-10.1.0.1\"]}",
		  "reserved.ranges[1]: 10.1.0.9-10.1.0.1 is written backwards: write "
		  "10.1.0.1-10.1.0.9",
		  ERR_CONFIG },
		{ "{\"ranges\":[\"10.1.0.1-fd00::1\"]}", "reserved.ranges[0]: 10.1.0.1-fd00::1 is",
		  ERR_CONFIG },
		{ "{\"ranges\":[7]}", "reserved.ranges[0]: a number is not", ERR_DECODE },
		{ "{\"ranges\":\"10.1.0.1\"}", "reserved.ranges", ERR_DECODE },
		{ "[]", "reserved", ERR_DECODE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_json struct json *value = parse(rows[i].value);
		struct ranges s = { .n = 0 };

		ck_assert_int_eq(cluster_reserved_decode(value, &s, &e), -1);
		ck_assert_msg(strstr(e.msg, rows[i].want), "%s", e.msg);
		ck_assert_int_eq(e.code, rows[i].code);
		ck_assert_uint_eq(s.n, 0);
	}
}
END_TEST

START_TEST(too_many_ranges_are_refused)
{
	auto_text struct text t = { 0 };
	struct ranges s = { .n = 0 };

	text_addf(&t, "{\"ranges\":[\"10.1.0.0\"");
	for (int i = 0; i < CLUSTER_RESERVED_MAX; i++)
		text_addf(&t, ",\"10.1.%d.%d\"", i / 100, i % 100 * 2);
	text_addf(&t, "]}");
	auto_json struct json *value = parse(t.s);
	ck_assert_int_eq(cluster_reserved_decode(value, &s, &e), -1);
	ck_assert_str_eq(e.msg, "reserved.ranges: 513 ranges, at most 512");
	ck_assert_uint_eq(s.n, 0);
}
END_TEST

START_TEST(an_object_without_ranges_reserves_nothing)
{
	auto_json struct json *value = parse("{\"note\":\"of a newer release\"}");
	auto_ranges struct ranges s = { .n = 0 };

	ck_assert_int_eq(cluster_reserved_decode(value, &s, &e), 0);
	ck_assert_uint_eq(s.n, 0);
}
END_TEST

/* ---- in a pool ---- */

#define POOL "{\"subnet\":\"10.1.0.0/29\",\"gateway\":\"10.1.0.1\",\"blockSize\":4}"

static void usable(const char *reserved, const char *want)
{
	auto_json struct json *def = parse(POOL), *list = parse(reserved);
	const struct pool_text t = { .def = def, .uid = "u1", .generation = 3, .reserved = list };
	auto_free char *record = pool_record_shared(&t);
	auto_pool_text struct pool_text text = { .tree = NULL };
	auto_clean(source_clear) struct source s = { .label = "" };

	ck_assert_int_eq(pool_load("rail0", record, &text, &s, &e), 0);
	prints(&s.usable, want);
	ck_assert_str_eq(s.blocks.uid, "u1");
	if (json_len(list))
		ck_assert(json_same(text.reserved, list));
	else
		ck_assert_ptr_null(text.reserved);
}

START_TEST(a_record_keeps_what_the_cluster_reserves)
{
	usable("[]", "[\"10.1.0.2-10.1.0.6\"]");
	usable("[\"10.1.0.3\",\"10.1.0.6\"]", "[\"10.1.0.2\",\"10.1.0.4/31\"]");
	/* Another network has no effect; and nothing may be left: then nothing is assigned. */
	usable("[\"10.2.0.0/16\"]", "[\"10.1.0.2-10.1.0.6\"]");
	usable("[\"10.1.0.0/24\"]", "[]");
}
END_TEST

START_TEST(a_damaged_list_in_a_record_is_refused)
{
	static const char record[] = "{\"shared\":{\"definition\":" POOL
				     ",\"uid\":\"u1\",\"reserved\":[\"10.1.0.9-10.1.0.1\"]}}";
	struct pool_text text;
	struct source s;

	ck_assert_int_eq(pool_load("rail0", record, &text, &s, &e), -1);
	ck_assert_msg(strstr(e.msg, "pool rail0: reserved[0]: 10.1.0.9-10.1.0.1"), "%s", e.msg);
}
END_TEST

static int read_and_print(void *arg, struct err *why)
{
	auto_ranges struct ranges s = { .n = 0 };
	struct ip_prefix subnet;

	if (ip_parse_prefix("10.1.0.0/24", &subnet) || cluster_reserved_decode(arg, &s, why))
		return -1;
	auto_json struct json *list = range_list_print_in(&s, subnet);
	return list ? 0 : -1;
}

static int load_pool(void *arg, struct err *why)
{
	auto_pool_text struct pool_text text = { .tree = NULL };
	auto_clean(source_clear) struct source s = { .label = "" };

	return pool_load("rail0", arg, &text, &s, why);
}

START_TEST(memory_runs_out)
{
	static char record[] = "{\"shared\":{\"definition\":" POOL
			       ",\"uid\":\"u1\",\"reserved\":[\"10.1.0.3\",\"10.1.0.5\"]}}";
	auto_json struct json *value = parse("{\"ranges\":[\"10.1.0.1\",\"10.1.0.8-10.1.0.14\"]}");

	ck_assert_str_eq(alloc_fail_each(read_and_print, value), "ok");
	ck_assert_str_eq(alloc_fail_each(load_pool, record), "ok");
}
END_TEST

TEST_PROGRAM("range_list", ranges_are_joined_and_printed_in_order, a_part_of_a_range_is_removed,
	     a_whole_address_space_is_a_network, the_part_in_a_network_is_cut_out,
	     what_is_no_range_is_named, too_many_ranges_are_refused,
	     an_object_without_ranges_reserves_nothing, a_record_keeps_what_the_cluster_reserves,
	     a_damaged_list_in_a_record_is_refused, memory_runs_out)
