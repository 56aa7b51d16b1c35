// SPDX-License-Identifier: Apache-2.0
/* YAML of trees, compared as text. conformance/railctl reads it with another program. */
#include "lib/json/yaml.h"

#include <stdlib.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void prints(const char *json, const char *yaml)
{
	auto_json struct json *n = NULL;
	auto_free char *text = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(json_parse(json, strlen(json), "test", &n, &e), 0);
	text = json_print_yaml(n);
	ck_assert_str_eq(text, yaml);
}

START_TEST(objects_and_lists_are_in_block_style)
{
	prints("{\"a\":{\"b\":1,\"c\":[\"v\",\"w\"]},\"d\":true}",
	       "a:\n  b: 1\n  c:\n  - v\n  - w\nd: true\n");
	prints("[{\"a\":1,\"b\":{\"c\":2}},{\"d\":[{\"e\":3}]}]",
	       "- a: 1\n  b:\n    c: 2\n- d:\n  - e: 3\n");
	prints("[[1,2],[3]]", "- - 1\n  - 2\n- - 3\n");
}
END_TEST

START_TEST(empty_values_are_as_in_JSON)
{
	prints("{\"a\":{},\"b\":[],\"c\":null,\"d\":\"\"}", "a: {}\nb: []\nc: null\nd: \"\"\n");
	prints("{}", "{}\n");
	prints("[{},[]]", "- {}\n- []\n");
}
END_TEST

START_TEST(text_that_is_no_plain_word_is_quoted)
{
	prints("[\"v1\",\"resource.k8s.io/v1\",\"a b\",\"0\",\"yes\",\"No\",\"null\",\"~\",\"a: "
	       "b\"]",
	       "- v1\n- resource.k8s.io/v1\n- \"a b\"\n- \"0\"\n- \"yes\"\n- \"No\"\n- \"null\"\n"
	       "- \"~\"\n- \"a: b\"\n");
	prints("[\"a\\nb\",\"say \\\"x\\\"\",\"\\u0007\"]",
	       "- \"a\\nb\"\n- \"say \\\"x\\\"\"\n- \"\\u0007\"\n");
	prints("{\"a b\":1,\"on\":2,\"q\\\"\":3,\"railhead.io/rail\":4}",
	       "\"a b\": 1\n\"on\": 2\n\"q\\\"\": 3\nrailhead.io/rail: 4\n");
}
END_TEST

static int print_once(void *arg, struct err *e)
{
	auto_free char *text = json_print_yaml(arg);

	return text ? 0 : err_nomem(e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	static const char text[] = "{\"a\":[\"x y\",{\"b\":[]}],\"c\":1}";
	auto_json struct json *n = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &n, &e), 0);
	ck_assert_str_eq(alloc_fail_each(print_once, n), "ok");
}
END_TEST

TEST_PROGRAM("yaml", objects_and_lists_are_in_block_style, empty_values_are_as_in_JSON,
	     text_that_is_no_plain_word_is_quoted, each_failing_allocation_is_an_error)
