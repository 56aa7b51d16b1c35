/* SPDX-License-Identifier: Apache-2.0 */
/* lease_test.c: leases, key lists and usage records survive a round trip; damaged ones are refused.
 */
#include "ipam/lease/lease.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static const struct owner who = { "net", "c1", "net1", "ns", "pod-0", "uid-0" };

START_TEST(round_trip)
{
	struct lease l = { .state = LEASE_HELD,
			   .owner = who,
			   .boot = "b",
			   .node = "h",
			   .source = "0123456789abcdef",
			   .since = INT64_C(1795219200123456789) };
	auto_lease struct lease back = { .tree = NULL };
	struct err e = { 0 };
	auto_free char *text = lease_print(&l);

	ck_assert_ptr_nonnull(strstr(text, "\"1795219200123456789\""));
	ck_assert_int_eq(lease_parse(text, "a/x", &back, &e), 0);
	ck_assert_int_eq(back.state, LEASE_HELD);
	ck_assert(owner_same(&back.owner, &who) && owner_same_pod(&back.owner, &who));
	ck_assert_str_eq(back.boot, "b");
	ck_assert_str_eq(back.node, "h");
	ck_assert_str_eq(back.source, l.source);
	ck_assert_int_eq(back.since, l.since);
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	const struct lease l = { .state = LEASE_HELD,
				 .owner = { "n", "c", "i", "ns", "p", "u" },
				 .boot = "b",
				 .node = "h",
				 .source = "s",
				 .range = "r",
				 .since = INT64_MAX,
				 .probe = true };
	struct source_usage t = { .used = 3, .resting = 4, .forgotten = 5, .done = true };
	auto_free char *text = lease_print(&l);

	ck_assert_str_eq(text, "{\"state\":\"leased\",\"network\":\"n\",\"container\":\"c\","
			       "\"ifname\":\"i\",\"namespace\":\"ns\",\"pod\":\"p\",\"uid\":\"u\","
			       "\"boot\":\"b\",\"node\":\"h\",\"source\":\"s\",\"range\":\"r\","
			       "\"since\":\"9223372036854775807\",\"probe\":true}");
	ck_assert_int_eq(ip_parse("fd00::7", &t.next), 0);
	auto_free char *usage = source_usage_print(&t);
	ck_assert_str_eq(usage, "{\"used\":3,\"resting\":4,\"forgotten\":5,\"next\":\"fd00::7\","
				"\"done\":true}");
}
END_TEST

START_TEST(unknown_parts_are_left_out_and_read_as_empty)
{
	struct lease l = { .state = LEASE_RESTING,
			   .owner = { "", "", "", "", "", "" },
			   .boot = "",
			   .node = "",
			   .source = "",
			   .since = -7 };
	auto_lease struct lease back = { .tree = NULL };
	struct err e = { 0 };
	auto_free char *text = lease_print(&l);

	ck_assert_str_eq(text, "{\"state\":\"resting\",\"since\":\"0\"}");
	ck_assert_int_eq(lease_parse(text, "a/x", &back, &e), 0);
	ck_assert_int_eq(back.state, LEASE_RESTING);
	ck_assert_str_eq(back.owner.pod, "");
	ck_assert(!owner_same_pod(&back.owner, &back.owner));
	lease_clear(&back);
	ck_assert_int_eq(lease_parse("{\"state\":\"leased\",\"since\":\"1\",\"later\":[{}]}", "a/x",
				     &back, &e),
			 0);
}
END_TEST

START_TEST(damaged_leases_are_refused)
{
	static const char *const bad[] = {
		"",
		"{",
		"[]",
		"{}",
		"{\"state\":\"leased\"}",
		"{\"since\":\"1\"}",
		"{\"state\":\"lost\",\"since\":\"1\"}",
		"{\"state\":\"leased\",\"since\":1}",
		"{\"state\":\"leased\",\"since\":\"x\"}",
		"{\"state\":\"leased\",\"since\":\"99999999999999999999\"}",
		"{\"state\":\"leased\",\"since\":\"1\",\"network\":5}",
		"{\"state\":\"leased\",\"since\":\"1\",\"source\":\"0123456789abcdef0\"}",
	};
	struct lease l;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(lease_parse(bad[i], "a/x/key", &l, &e) == -1, "%s", bad[i]);
		ck_assert_msg(e.code == ERR_STORE, "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(e.msg, "a/x/key"));
		ck_assert_ptr_nonnull(strstr(e.detail, "verify"));
	}
}
END_TEST

START_TEST(owners_differ)
{
	struct owner o = who;

	ck_assert(owner_same(&o, &who));
	o.network = "x";
	ck_assert(!owner_same(&o, &who));
	ck_assert(owner_same_pod(&o, &who));
	o = who;
	o.container = "x";
	ck_assert(!owner_same(&o, &who) && owner_same_pod(&o, &who));
	o = who;
	o.ifname = "x";
	ck_assert(!owner_same(&o, &who) && !owner_same_pod(&o, &who));
	o = who;
	o.ns = "x";
	ck_assert(owner_same(&o, &who) && !owner_same_pod(&o, &who));
	o = who;
	o.pod = "x";
	ck_assert(!owner_same_pod(&o, &who));
	o.pod = "";
	ck_assert(!owner_same_pod(&o, &who));
}
END_TEST

START_TEST(key_lists_are_kept_sorted)
{
	struct key_list l = { .n = 0 }, back;
	struct err e;
	char key[32];

	ck_assert_int_eq(key_list_add(&l, "a"), 0);
	ck_assert_int_eq(key_list_add(&l, "b"), 0);
	ck_assert_int_eq(key_list_add(&l, "a"), 0);
	ck_assert_uint_eq(l.n, 2);
	auto_free char *text = key_list_print(&l);
	ck_assert_str_eq(text, "[\"a\",\"b\"]");
	ck_assert_int_eq(key_list_parse(text, "k", &back, &e), 0);
	ck_assert_uint_eq(back.n, 2);
	ck_assert_str_eq(back.items[1].s, "b");
	key_list_remove(&back, "x");
	key_list_remove(&back, "a");
	ck_assert_uint_eq(back.n, 1);
	ck_assert_str_eq(back.items[0].s, "b");
	for (int i = 0; i < LEASE_KEYS_MAX - 2; i++) {
		(void)snprintf(key, sizeof(key), "k%d", i);
		ck_assert_int_eq(key_list_add(&l, key), 0);
	}
	ck_assert_int_eq(key_list_add(&l, "one more"), -1);
	ck_assert_int_eq(key_list_add(&l, "k1"), 0);
}
END_TEST

START_TEST(damaged_lists_are_refused)
{
	static const char *const bad[] = { "", "{}", "[1]", "[\"a\",null]",
					   ("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
					    "1,1,1,1,1,1,1]") };
	char text[STORE_KEY_MAX + 10] = "[\"";
	struct key_list l = { .n = 7 };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(key_list_parse(bad[i], "o/key", &l, &e) == -1, "%s", bad[i]);
		ck_assert_uint_eq(l.n, 7);
		ck_assert_int_eq(e.code, ERR_STORE);
		ck_assert_ptr_nonnull(strstr(e.msg, "o/key"));
	}
	memset(text + 2, 'k', STORE_KEY_MAX + 1);
	memcpy(text + 2 + STORE_KEY_MAX + 1, "\"]", 3);
	ck_assert_int_eq(key_list_parse(text, "o/key", &l, &e), -1);
}
END_TEST

START_TEST(usage_round_trip)
{
	struct source_usage t = { .used = 3, .resting = 4, .forgotten = 5, .done = true }, back;
	struct err e;

	ck_assert_int_eq(ip_parse("fd00::7", &t.next), 0);
	auto_free char *text = source_usage_print(&t);
	ck_assert_int_eq(source_usage_parse(text, "k", &back, &e), 0);
	ck_assert_uint_eq(back.used, 3);
	ck_assert_uint_eq(back.resting, 4);
	ck_assert_uint_eq(back.forgotten, 5);
	ck_assert(back.done && ip_equal(back.next, t.next));
	ck_assert_int_eq(source_usage_parse(NULL, "k", &back, &e), 0);
	ck_assert(back.used == 0 && back.next.family == IP_NONE && !back.done);
	auto_free char *empty = source_usage_print(&back);
	ck_assert_str_eq(empty, "{\"used\":0,\"resting\":0}");
	/* a cursor that cannot be read: begin at the start */
	ck_assert_int_eq(source_usage_parse("{\"next\":\"?\",\"done\":true}", "k", &back, &e), 0);
	ck_assert(back.next.family == IP_NONE && !back.done);
}
END_TEST

START_TEST(damaged_usage_is_refused)
{
	static const char *const bad[] = { "", "[]", "{\"used\":-1}", "{\"used\":\"1\"}",
					   "{\"resting\":1e300}" };
	struct source_usage t;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(source_usage_parse(bad[i], "u/key", &t, &e) == -1, "%s", bad[i]);
		ck_assert_int_eq(e.code, ERR_STORE);
	}
}
END_TEST

static int all_of_it(void *arg, struct err *e)
{
	struct lease l = { .state = LEASE_HELD,
			   .owner = who,
			   .boot = "b",
			   .node = "h",
			   .source = "0",
			   .since = 1 };
	auto_lease struct lease back = { .tree = NULL };
	struct key_list list = { .n = 1, .items = { { "a/x" } } };
	struct source_usage t = { .used = 1, .forgotten = 1, .next = { IP_V4, 1 }, .done = true };
	auto_free char *text = lease_print(&l), *keys = key_list_print(&list),
		       *count = source_usage_print(&t);

	(void)arg;
	if (!text || !keys || !count)
		return err_nomem(e);
	return lease_parse(text, "k", &back, e) || key_list_parse(keys, "k", &list, e) ||
			       source_usage_parse(count, "k", &t, e)
		       ? -1
		       : 0;
}

START_TEST(out_of_memory)
{
	ck_assert_str_eq(alloc_fail_each(all_of_it, NULL), "ok");
}
END_TEST

TEST_PROGRAM("lease", the_text_stays_the_same, round_trip,
	     unknown_parts_are_left_out_and_read_as_empty, damaged_leases_are_refused,
	     owners_differ, key_lists_are_kept_sorted, damaged_lists_are_refused, usage_round_trip,
	     damaged_usage_is_refused, out_of_memory)
