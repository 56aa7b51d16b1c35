/* SPDX-License-Identifier: Apache-2.0 */
/* json_test.c: shows how trees are read, built and changed, and that NULL is a value everywhere. */
#include "lib/json/json.h"

#include <math.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse(text, strlen(text), "test", &j, &e))
		ck_abort_msg("%s", e.msg);
	return j;
}

static void assert_prints(const struct json *j, const char *want)
{
	auto_free char *text = json_print(j, false);

	ck_assert_pstr_eq(text, want);
}

START_TEST(types_are_told_apart)
{
	static const struct {
		const char *text, *name;
		enum json_type type;
		size_t len;
	} all[] = {
		{ "null", "null", JSON_NULL, 0 },
		{ "true", "a boolean", JSON_BOOL, 0 },
		{ "false", "a boolean", JSON_BOOL, 0 },
		{ "-1.5", "a number", JSON_NUMBER, 0 },
		{ "\"s\"", "a string", JSON_STRING, 0 },
		{ "[1,2,3]", "an array", JSON_ARRAY, 3 },
		{ "{\"a\":1,\"b\":2}", "an object", JSON_OBJECT, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *j = parse(all[i].text);

		ck_assert_int_eq(json_type(j), all[i].type);
		ck_assert_str_eq(json_type_name(j), all[i].name);
		ck_assert_uint_eq(json_len(j), all[i].len);
		ck_assert_pstr_eq(json_str(j), all[i].type == JSON_STRING ? "s" : NULL);
		ck_assert(json_num(j) == (all[i].type == JSON_NUMBER ? -1.5 : 0));
		ck_assert_int_eq(json_true(j), i == 1);
		ck_assert_ptr_null(json_key(j));
	}
}
END_TEST

START_TEST(nothing_is_survived)
{
	json_free(NULL);
	ck_assert_int_eq(json_type(NULL), JSON_NULL);
	ck_assert_ptr_null(json_get(NULL, "a"));
	ck_assert_ptr_null(json_get_mut(NULL, "a"));
	ck_assert_ptr_null(json_str(NULL));
	ck_assert(json_num(NULL) == 0);
	ck_assert(!json_true(NULL));
	ck_assert_uint_eq(json_len(NULL), 0);
	ck_assert_ptr_null(json_key(NULL));
	ck_assert_ptr_null(json_first(NULL));
	ck_assert_ptr_null(json_next(NULL));
	ck_assert_ptr_null(json_dup(NULL));
	ck_assert_ptr_null(json_at_mut(NULL, 0));
	json_del(NULL, "a");
	json_each (it, NULL)
		ck_abort();
}
END_TEST

START_TEST(members_are_found)
{
	auto_json struct json *j = parse("{\"a\":1,\"A\":2,\"n\":null,\"d\":1,\"d\":\"last\","
					 "\"z\":1,\"z\":null,\"\":3}");
	auto_json struct json *empty = parse("{}");
	auto_json struct json *array = parse("[\"a\"]");

	ck_assert(json_num(json_get(j, "a")) == 1);
	ck_assert(json_num(json_get(j, "A")) == 2);
	ck_assert(json_num(json_get(j, "")) == 3);
	ck_assert_ptr_null(json_get(j, "n"));
	ck_assert_ptr_null(json_get(j, "b"));
	ck_assert_ptr_null(json_get(j, "aa"));
	ck_assert_str_eq(json_str(json_get(j, "d")), "last");
	ck_assert_ptr_null(json_get(j, "z"));
	ck_assert_ptr_eq(json_get_mut(j, "d"), json_get(j, "d"));
	ck_assert_ptr_null(json_get_mut(j, "n"));
	ck_assert_ptr_null(json_get(empty, "a"));
	ck_assert_ptr_null(json_get(array, "a"));
	ck_assert_ptr_null(json_get(json_get(j, "a"), "a"));
}
END_TEST

START_TEST(a_member_that_is_no_text_has_another)
{
	auto_json struct json *j = parse("{\"name\":\"net1\",\"mtu\":9000,\"none\":null}");

	ck_assert_str_eq(json_text(j, "name"), "net1");
	ck_assert_str_eq(json_text_or(j, "name", "?"), "net1");
	for (const char *const *key = (const char *const[]){ "mtu", "none", "absent", NULL }; *key;
	     key++) {
		ck_assert_str_eq(json_text(j, *key), "");
		ck_assert_str_eq(json_text_or(j, *key, "?"), "?");
		ck_assert_ptr_null(json_text_or(j, *key, NULL));
	}
	ck_assert_str_eq(json_text(NULL, "name"), "");
}
END_TEST

START_TEST(members_and_elements_are_visited_in_order)
{
	auto_json struct json *j = parse("{\"b\":[10,20],\"a\":{\"x\":1}}");
	char keys[10] = "";
	double sum = 0;

	json_each (member, j)
		testing_append(keys, sizeof(keys), json_key(member));
	ck_assert_str_eq(keys, "ba");
	json_each (it, json_get(j, "b"))
		sum += json_num(it);
	ck_assert(sum == 30);
	ck_assert_ptr_null(json_next(j));
	ck_assert(json_num(json_at_mut(json_get_mut(j, "b"), 1)) == 20);
	ck_assert_ptr_null(json_at_mut(json_get_mut(j, "b"), 2));
	ck_assert_ptr_null(json_at_mut(json_get_mut(j, "a"), 0));
}
END_TEST

START_TEST(trees_are_built)
{
	auto_json struct json *j = json_new_object();
	auto_json struct json *copied = parse("{\"deep\":[1,{\"x\":\"y\"}]}");

	ck_assert_int_eq(json_add_str(j, "s", "v"), 0);
	ck_assert_int_eq(json_add_int(j, "i", -7), 0);
	ck_assert_int_eq(json_add_bool(j, "t", true), 0);
	ck_assert_int_eq(json_add_bool(j, "f", false), 0);
	ck_assert_int_eq(json_add_num(j, "d", 22.5), 0);
	ck_assert_int_eq(json_add_num(j, "w", 24.0), 0);
	ck_assert_int_eq(json_add_num(j, "nan", NAN), 0);
	ck_assert_int_eq(json_add_num(j, "inf", INFINITY), 0);
	ck_assert_int_eq(json_add_null(j, "z"), 0);
	struct json *o = json_add_object(j, "o");
	ck_assert_int_eq(json_add_copy(o, "c", copied), 0);
	struct json *a = json_add_array(j, "a");
	ck_assert_int_eq(json_push_str(a, "x"), 0);
	struct json *in = json_push_object(a);
	ck_assert_int_eq(json_add_int(in, "n", 1), 0);
	ck_assert_int_eq(json_push(a, json_new_array()), 0);
	/* optional values that are not there */
	ck_assert_int_eq(json_add_str(j, "absent", NULL), 0);
	ck_assert_int_eq(json_add_copy(j, "absent", NULL), 0);
	assert_prints(
		j, "{\"s\":\"v\",\"i\":-7,\"t\":true,\"f\":false,\"d\":22.5,\"w\":24,\"nan\":null,"
		   "\"inf\":null,\"z\":null,\"o\":{\"c\":{\"deep\":[1,{\"x\":\"y\"}]}},\"a\":["
		   "\"x\",{\"n\":1},[]]}");
}
END_TEST

START_TEST(a_text_that_is_not_known_adds_nothing)
{
	auto_json struct json *o = json_new_object();

	ck_assert_int_eq(json_add_known(o, "a", NULL) || json_add_known(o, "b", "") ||
				 json_add_known(o, "c", "x"),
			 0);
	ck_assert_uint_eq(json_len(o), 1);
	ck_assert_str_eq(json_text(o, "c"), "x");
}
END_TEST

START_TEST(build_on_nothing_fails)
{
	auto_json struct json *array = json_new_array();
	auto_json struct json *object = json_new_object();
	struct json *const wrong[] = { NULL, array };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		ck_assert_int_eq(json_add_str(wrong[i], "k", "v"), -1);
		ck_assert_int_eq(json_add_int(wrong[i], "k", 1), -1);
		ck_assert_int_eq(json_add_bool(wrong[i], "k", true), -1);
		ck_assert_int_eq(json_add_num(wrong[i], "k", 1.5), -1);
		ck_assert_int_eq(json_add_null(wrong[i], "k"), -1);
		ck_assert_ptr_null(json_add_object(wrong[i], "k"));
		ck_assert_ptr_null(json_add_array(wrong[i], "k"));
		ck_assert_int_eq(json_add_copy(wrong[i], "k", object), -1);
		ck_assert_int_eq(json_put(wrong[i], "k", json_new_object()), -1);
		json_del(wrong[i], "k");
	}
	ck_assert_int_eq(json_push_str(object, "v"), -1);
	ck_assert_int_eq(json_push_str(NULL, "v"), -1);
	ck_assert_ptr_null(json_push_object(object));
	ck_assert_int_eq(json_push(NULL, json_new_object()), -1);
	ck_assert_int_eq(json_push(array, NULL), -1);
	ck_assert_int_eq(json_put(object, "k", NULL), -1);
	assert_prints(array, "[]");
	assert_prints(object, "{}");
}
END_TEST

START_TEST(put_and_del)
{
	auto_json struct json *j = parse("{\"a\":1,\"b\":2,\"a\":3,\"A\":4}");

	ck_assert_int_eq(json_put(j, "a", parse("\"new\"")), 0);
	assert_prints(j, "{\"b\":2,\"A\":4,\"a\":\"new\"}");
	ck_assert_int_eq(json_put(j, "c", parse("[]")), 0);
	assert_prints(j, "{\"b\":2,\"A\":4,\"a\":\"new\",\"c\":[]}");
	json_del(j, "none");
	json_del(j, "c");
	json_del(j, "b");
	assert_prints(j, "{\"A\":4,\"a\":\"new\"}");
	json_del(j, "a");
	json_del(j, "A");
	assert_prints(j, "{}");
	ck_assert_ptr_null(json_get(j, "a"));
	ck_assert_int_eq(json_add_int(j, "again", 1), 0);
	assert_prints(j, "{\"again\":1}");
	json_del(j, "again");

	auto_json struct json *dup = parse("{\"x\":1,\"y\":1,\"x\":2,\"x\":3}");
	json_del(dup, "x");
	assert_prints(dup, "{\"y\":1}");
}
END_TEST

START_TEST(failed_put_keeps_the_old)
{
	auto_json struct json *j = parse("{\"a\":1}");
	struct json *n = parse("2");

	alloc_fail_begin(1);
	ck_assert_int_eq(json_put(j, "a", n), -1);
	ck_assert(alloc_fail_end().failed);
	assert_prints(j, "{\"a\":1}");
}
END_TEST

START_TEST(the_order_of_keys_makes_no_difference)
{
	static const struct {
		const char *a, *b;
		bool same;
	} all[] = {
		{ "{\"a\":1,\"b\":[{\"c\":2,\"d\":null}]}",
		  "{\"b\":[{\"d\":null,\"c\":2}],\"a\":1}", true },
		{ "{\"a\":1}", "{\"A\":1}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
		{ "{\"a\":1,\"b\":1}", "{\"a\":1}", false },
		{ "[1,2]", "[2,1]", false },
		{ "4503599627370495", "4503599627370494", false },
		{ "\"1\"", "1", false },
		{ "{}", "[]", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *a = parse(all[i].a), *b = parse(all[i].b);

		ck_assert_msg(json_same(a, b) == all[i].same, "%s and %s", all[i].a, all[i].b);
		ck_assert(json_same(a, a) && !json_same(a, NULL) && !json_same(NULL, a));
	}
	ck_assert(json_same(NULL, NULL));
}
END_TEST

START_TEST(dup_is_independent)
{
	auto_json struct json *j = parse("{\"a\":{\"b\":[1,\"s\",null,true]}}");
	auto_json struct json *d = json_dup(json_get(j, "a"));

	ck_assert_int_eq(json_push_str(json_get_mut(d, "b"), "more"), 0);
	assert_prints(d, "{\"b\":[1,\"s\",null,true,\"more\"]}");
	assert_prints(j, "{\"a\":{\"b\":[1,\"s\",null,true]}}");
	/* a member's copy under another key */
	ck_assert_int_eq(json_put(j, "other", TAKE_PTR(d)), 0);
	json_del(j, "a");
	assert_prints(j, "{\"other\":{\"b\":[1,\"s\",null,true,\"more\"]}}");
}
END_TEST

static int parse_all(void *arg, struct err *e)
{
	auto_json struct json *j = NULL;

	return json_parse(arg, strlen(arg), "test", &j, e);
}

static int build_all(void *arg, struct err *e)
{
	auto_json struct json *j = json_new_object();
	struct json *o, *a, *in;

	if (!j || json_add_str(j, "s", "v") || json_add_int(j, "i", 1) ||
	    json_add_bool(j, "b", true) || !(o = json_add_object(j, "o")) ||
	    !(a = json_add_array(o, "a")) || json_push_str(a, "x") || !(in = json_push_object(a)) ||
	    json_push(a, json_new_array()) || json_add_copy(in, "c", arg) ||
	    json_put(in, "p", json_dup(arg)) || json_put(in, "p", json_new_object()))
		return err_nomem(e);
	auto_free char *text = json_print(j, true);
	return text ? 0 : err_nomem(e);
}

static int print_long(void *arg, struct err *e)
{
	auto_free char *text = json_print(arg, false);

	return text ? 0 : err_nomem(e);
}

START_TEST(memory_runs_out)
{
	static char text[20000] = "[\"\\u0001\"";
	auto_json struct json *j = parse("{\"deep\":[1,{\"x\":\"y\"}]}");

	ck_assert_str_eq(alloc_fail_each(parse_all, "{\"a\":[1,\"s\",{\"b\":null}],\"c\":-1.5e3}"),
			 "ok");
	ck_assert_str_eq(alloc_fail_each(build_all, j), "ok");
	for (size_t len = strlen(text); len < sizeof(text) - 20; len = strlen(text))
		testing_append(text, sizeof(text), ",\"text\"");
	testing_append(text, sizeof(text), "]");
	auto_json struct json *big = parse(text);
	ck_assert_str_eq(alloc_fail_each(print_long, big), "ok");
}
END_TEST

TEST_PROGRAM("json", types_are_told_apart, nothing_is_survived, members_are_found,
	     a_member_that_is_no_text_has_another, members_and_elements_are_visited_in_order,
	     trees_are_built, a_text_that_is_not_known_adds_nothing, build_on_nothing_fails,
	     put_and_del, failed_put_keeps_the_old, the_order_of_keys_makes_no_difference,
	     dup_is_independent, memory_runs_out)
