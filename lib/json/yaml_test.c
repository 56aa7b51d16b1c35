/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_test.c: documents as JSON, and what is refused with its line. */
#include "lib/json/yaml.h"

#include <stdio.h>

#include "lib/base/text.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void reads(const char *yaml, const char *want)
{
	auto_json struct json *docs = NULL;
	auto_free char *text = NULL;
	struct err e = { 0 };

	ck_assert_msg(yaml_json_read(yaml, strlen(yaml), &docs, &e) == 0, "%s: %s", yaml, e.msg);
	text = json_print(docs, false);
	ck_assert_str_eq(text, want);
}

static void refuses(const char *yaml, const char *want)
{
	struct json *docs = NULL;
	struct err e = { 0 };

	ck_assert_int_ne(yaml_json_read(yaml, strlen(yaml), &docs, &e), 0);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_msg(strstr(e.msg, want) != NULL, "\"%s\" is not in: %s", want, e.msg);
}

START_TEST(documents_become_an_array)
{
	reads("", "[]");
	reads("---\n---\na: 1\n---\n- x\n...\n", "[{\"a\":1},[\"x\"]]");
	reads("a:\n- b: {c: [1, two]}\n  d: ~\n- [[]]\n",
	      "[{\"a\":[{\"b\":{\"c\":[1,\"two\"]},\"d\":null},[[]]]}]");
	reads("{\"a\": [true, null, -1.5, \"x\\ny\"], \"b\": {}}",
	      "[{\"a\":[true,null,-1.5,\"x\\ny\"],\"b\":{}}]");
	reads("a: |\n  one\n  two\nb: &x c\n", "[{\"a\":\"one\\ntwo\\n\",\"b\":\"c\"}]");
}
END_TEST

START_TEST(plain_scalars_have_the_types_that_kubernetes_sees)
{
	reads("[yes, Off, TRUE, y, 4, -0.5, 1e3, 010, 0x1f, .inf, 10.0.0.0/8, 1-2, '4', \"no\", "
	      "!!str 5]",
	      "[[true,false,true,\"y\",4,-0.5,1000,\"010\",\"0x1f\",\".inf\",\"10.0.0.0/"
	      "8\",\"1-2\","
	      "\"4\",\"no\",\"5\"]]");
	reads("{4: a, true: b, '': c}", "[{\"4\":\"a\",\"true\":\"b\",\"\":\"c\"}]");
	reads("a:\nb: null\n", "[{\"a\":null,\"b\":null}]");
}
END_TEST

START_TEST(what_multiplies_or_is_no_text_is_refused_with_its_line)
{
	refuses("a: &x [1]\nb: *x\n", "line 2: aliases");
	refuses("a: 1\n<<: {b: 1}\n", "line 2: merge keys");
	refuses("? [a]\n: b\n", "line 1: a key is not a text");
	refuses("a: \"x\\0y\"\n", "NUL");
	refuses("a: b\n c: d\n", "line 2: ");
	refuses("a: [\n", "line 2: ");
	refuses("\xff", "line 1: ");
}
END_TEST

START_TEST(depth_and_size_are_bounded)
{
	auto_text struct text deep = { 0 }, many = { 0 };
	struct json *docs = NULL;
	struct err e = { 0 };

	for (int i = 0; i < YAML_JSON_DEPTH_MAX; i++)
		text_add(&deep, "[");
	for (int i = 0; i < YAML_JSON_DEPTH_MAX; i++)
		text_add(&deep, "]");
	ck_assert_int_eq(yaml_json_read(deep.s, deep.len, &docs, &e), 0);
	json_free(docs);
	text_clear(&deep);
	deep = (struct text){ 0 };
	for (int i = 0; i <= YAML_JSON_DEPTH_MAX; i++)
		text_add(&deep, "[");
	refuses(deep.s, "too many levels");
	text_add(&many, "[");
	for (int i = 0; i < YAML_JSON_VALUES_MAX; i++)
		text_add(&many, "1,");
	text_add(&many, "]");
	refuses(many.s, "too many values");
	ck_assert_int_ne(yaml_json_read("", YAML_JSON_SIZE_MAX + 1, &docs, &e), 0);
	ck_assert_msg(strstr(e.msg, "more than 16777216 bytes") != NULL, "%s", e.msg);
}
END_TEST

static int read_one(void *arg, struct err *e)
{
	auto_json struct json *docs = NULL;

	return yaml_json_read(arg, strlen(arg), &docs, e);
}

START_TEST(failed_allocations_are_reported)
{
	char yaml[] = "a: [1, b, {c: true, d: ~}]\n---\n- - x\n";

	ck_assert_str_eq(alloc_fail_each(read_one, yaml), "ok");
}
END_TEST

TEST_PROGRAM("yaml", documents_become_an_array, plain_scalars_have_the_types_that_kubernetes_sees,
	     what_multiplies_or_is_no_text_is_refused_with_its_line, depth_and_size_are_bounded,
	     failed_allocations_are_reported)
