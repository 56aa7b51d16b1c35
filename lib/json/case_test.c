/* SPDX-License-Identifier: Apache-2.0 */
/*
 * case_test.c: shows that keys match in any case after json_fold_case(), and which clashes are
 * reported.
 */
#include <string.h>

#include "lib/json/case.h"
#include "lib/json/json.h"
#include "lib/testing/testing.h"

static struct json *parse(const char *text, bool fold)
{
	struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse(text, strlen(text), "test", &j, &e))
		ck_abort_msg("%s", e.msg);
	if (fold)
		json_fold_case(j);
	return j;
}

static int list(const struct json_key *key, void *arg)
{
	static const char *const signs[] = { " ", " !", " ~", " ?", " nomem " };
	char *out = arg;

	testing_append(out, 1024, signs[key->finding]);
	testing_append(out, 1024, key->path);
	testing_append(out, 1024, *key->meant ? "=" : "");
	testing_append(out, 1024, key->meant);
	return 0;
}

static void reports(const struct json *j, const char *want)
{
	char have[1024] = "";

	ck_assert_int_eq(json_each_key(j, list, have), 0);
	ck_assert_str_eq(have, want);
}

START_TEST(exact_unless_told_otherwise)
{
	auto_json struct json *j = parse("{\"Master\":\"eth1\",\"a\":{\"B\":1}}", false);

	ck_assert_ptr_null(json_get(j, "master"));
	ck_assert_ptr_null(json_get(json_get(j, "a"), "b"));
	reports(j, "");
}
END_TEST

START_TEST(any_case_at_any_depth)
{
	auto_json struct json *j = parse(
		"{\"MASTER\":\"eth1\",\"Ipam\":{\"RANGES\":[[{\"Subnet\":\"x\",\"other\":1}]]},"
		"\"Unknown\":1,\"vlanQoS\":3}",
		true);
	const struct json *ranges = json_get(json_get(j, "ipam"), "ranges");
	const struct json *range = json_first(json_first(ranges));

	ck_assert_str_eq(json_str(json_get(j, "master")), "eth1");
	ck_assert_str_eq(json_str(json_get(range, "subnet")), "x");
	ck_assert_double_eq(json_num(json_get(j, "vlanQoS")), 3);
	ck_assert_ptr_null(json_get(j, "masters"));
	ck_assert_ptr_null(json_get(j, "maste"));
	reports(j, " master ipam ipam.ranges ipam.ranges[0][0].subnet ?ipam.ranges[0][0].other"
		   " ?Unknown");
}
END_TEST

/* What is taken counts as written so from then on: a copy has no key twice. */
START_TEST(a_taken_key_is_rewritten)
{
	auto_json struct json *j = parse("{\"Ips\":[1],\"Else\":2}", true);

	ck_assert_uint_eq(json_len(json_get(j, "ips")), 1);
	auto_json struct json *copy = json_dup(j);
	auto_free char *text = json_print(copy, false);
	ck_assert_str_eq(text, "{\"ips\":[1],\"Else\":2}");
}
END_TEST

/* Go folds these two to ASCII letters; no other character beyond ASCII is a letter of a key. */
START_TEST(long_s_and_kelvin)
{
	auto_json struct json *j = parse("{\"ma\xc5\xbfter\":1,\"\xe2\x84\xaa\":2,"
					 "\"k\xc3\xa9y\":3,\"mo\xcc\x81"
					 "de\":4,\"\xc5\xbf\":5}",
					 true);

	ck_assert_double_eq(json_num(json_get(j, "master")), 1);
	ck_assert_double_eq(json_num(json_get(j, "k")), 2);
	ck_assert_double_eq(json_num(json_get(j, "S")), 5);
	ck_assert_ptr_null(json_get(j, "key"));
	ck_assert_ptr_null(json_get(j, "mode"));
	ck_assert_str_eq(json_key(json_first(j)), "master");
}
END_TEST

START_TEST(the_exact_key_wins_and_the_clash_is_told)
{
	static const struct {
		const char *text, *value, *report;
	} cases[] = {
		{ "{\"a\":\"exact\",\"A\":\"other\"}", "exact", " !A" },
		{ "{\"A\":\"other\",\"a\":\"exact\"}", "exact", " !A" },
		{ "{\"a\":\"one\",\"a\":\"two\"}", "two", "" },
		{ "{\"A\":\"one\",\"A\":\"two\"}", "two", " !A a" },
		{ "{\"a\":null,\"A\":\"other\"}", NULL, " !A" },
		{ "{\"b\":{\"a\":\"x\"},\"A\":\"other\"}", "other", " ?b a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *j = parse(cases[i].text, true);

		ck_assert_pstr_eq(json_str(json_get(j, "a")), cases[i].value);
		ck_assert_pstr_eq(json_str(json_get(j, "a")), cases[i].value);
		reports(j, cases[i].report);
	}
}
END_TEST

START_TEST(slips_and_unread_keys_of_objects_that_were_asked)
{
	auto_json struct json *j =
		parse("{\"mastr\":\"eth1\",\"master\":\"eth2\",\"x\":{\"subnett\":1,\"any\":2},"
		      "\"rooting\":3,"
		      "\"list\":[{\"gatewy\":1}],\"other\":{\"mastr\":1},\"pool\":1}",
		      true);

	for (int pass = 0; pass < 2; pass++) {
		(void)json_get(j, "pools");
		(void)json_get(j, "master");
		(void)json_get(json_get(j, "x"), "subnet");
		(void)json_get(j, "routing");
		(void)json_get(json_first(json_get(j, "list")), "gateway");
		(void)json_get(j, "pool");
	}
	auto_json struct json *copy = json_dup(j);
	reports(j, " ~mastr=master ~x.subnett=subnet ?x.any ~rooting=routing"
		   " ~list[0].gatewy=gateway ?other");
	(void)json_get(copy, "other");
	reports(copy, " ~mastr=master ~x.subnett=subnet ?x.any ~rooting=routing"
		      " ~list[0].gatewy=gateway");
}
END_TEST

/* What nobody asks for is nobody's business: labels may differ in case only. */
START_TEST(unknown_keys_may_clash)
{
	auto_json struct json *j = parse("{\"labels\":{\"App\":1,\"app\":2}}", true);

	ck_assert_uint_eq(json_len(json_get(j, "labels")), 2);
	reports(j, "");
	ck_assert_uint_eq(json_fold_case(j), 2);
}
END_TEST

static int stop(const struct json_key *key, void *arg)
{
	(void)key;
	return ++*(int *)arg == 2 ? 7 : 0;
}

START_TEST(a_scan_can_be_stopped)
{
	auto_json struct json *j = parse("{\"A\":1,\"x\":[{\"B\":2}],\"C\":3}", true);
	int n = 0;

	(void)json_get(j, "a");
	(void)json_get(json_first(json_get(j, "x")), "b");
	(void)json_get(j, "c");
	ck_assert_int_eq(json_each_key(j, stop, &n), 7);
	ck_assert_int_eq(n, 2);
	ck_assert_int_eq(json_each_key(NULL, stop, &n), 0);
	json_fold_case(NULL);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_cut)
{
	char text[2048] = "{\"", have[1024] = "";

	for (int i = 0; i < 60; i++)
		testing_append(text, sizeof(text), "0123456789");
	testing_append(text, sizeof(text), "\":{\"A\":1}}");
	auto_json struct json *j = parse(text, true);
	(void)json_get(json_first(j), "a");
	ck_assert_int_eq(json_each_key(j, list, have), 0);
	ck_assert_uint_eq(strlen(have), 256);
}
END_TEST

struct conf {
	const char *optional, *plain;
};

START_TEST(empty_is_absent_where_the_table_says_so)
{
	static const struct json_field fields[] = {
		{ .key = "optional",
		  .kind = J_STRING,
		  .offset = offsetof(struct conf, optional),
		  .flags = J_EMPTY_OK },
		{ .key = "plain", .kind = J_STRING, .offset = offsetof(struct conf, plain) },
		{ 0 },
	};
	auto_json struct json *j = parse("{\"Optional\":\"\",\"plain\":\"\"}", true);
	struct conf c = { "before", "before" };
	struct err e = { 0 };

	ck_assert_int_eq(json_decode(j, "", fields, &c, &e), 0);
	ck_assert_str_eq(c.optional, "before");
	ck_assert_str_eq(c.plain, "");
}
END_TEST

TEST_PROGRAM("lib/json_case", exact_unless_told_otherwise, any_case_at_any_depth,
	     a_taken_key_is_rewritten, long_s_and_kelvin, the_exact_key_wins_and_the_clash_is_told,
	     slips_and_unread_keys_of_objects_that_were_asked, unknown_keys_may_clash,
	     a_scan_can_be_stopped, a_path_that_is_too_long_is_cut,
	     empty_is_absent_where_the_table_says_so)
