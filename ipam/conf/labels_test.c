/* SPDX-License-Identifier: Apache-2.0 */
/* labels_test.c: labels and selectors that are refused, and which nodes a selector means. */
#include "ipam/conf/labels.h"

#include <stdio.h>

#include "lib/testing/testing.h"

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", text);
	return j;
}

START_TEST(names_and_values_have_the_form_of_kubernetes)
{
	static const char *const good[] = { "a",        "leaf",
					    "Leaf_7.x", "example.org/leaf",
					    "a-b.c/1",  "kubernetes.io/hostname" };
	static const char *const bad[] = {
		"",       "-a",   "a-",   "a b",    "/a",    "a/",  "Example.org/a",
		"a..b/c", ".a/c", "a./c", "a-.b/c", "a/b/c", "a=b", "\xc3\xa4",
		"a\n"
	};
	char long_name[66];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(label_is_name(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!label_is_name(bad[i]), "%s", bad[i]);
	memset(long_name, 'a', 64);
	long_name[64] = '\0';
	ck_assert(!label_is_name(long_name) && !label_is_value(long_name));
	long_name[63] = '\0';
	ck_assert(label_is_name(long_name) && label_is_value(long_name));
	ck_assert(label_is_value("") && label_is_value("7") && !label_is_value("a/b"));
}
END_TEST

/* "": it is good; else the message. */
static const char *refusal_of(int (*check)(const struct json *, const char *, struct err *),
			      const char *text)
{
	static char said[1024];
	auto_json struct json *j = parse(text);
	struct err e = { .msg = "" };

	(void)snprintf(said, sizeof(said), "%s", check(j, "nodes", &e) ? e.msg : "");
	return said;
}

START_TEST(refusals_name_label_and_value)
{
	ck_assert_str_eq(refusal_of(labels_check, "{\"leaf\":\"g3\",\"x.org/r\":\"\"}"), "");
	ck_assert_str_eq(refusal_of(selector_check, "{\"leaf\":[\"g3\",\"g4\"]}"), "");
	ck_assert_str_eq(refusal_of(labels_check, "{\"leaf\":[\"g3\"]}"),
			 "nodes.leaf: must be a string, got an array");
	ck_assert_str_eq(refusal_of(labels_check, "[]"),
			 "nodes: must be an object of labels, got an array");
	ck_assert_str_eq(refusal_of(selector_check, "{\"leaf\":7}"),
			 "nodes.leaf: must be a string, got a number");
	ck_assert_str_eq(refusal_of(selector_check, "{\"leaf\":\"a b\"}"),
			 "nodes.leaf: \"a b\" is not the value of a label");
	ck_assert_str_eq(refusal_of(selector_check, "{\"le af\":\"a\"}"),
			 "nodes: \"le af\" is not the name of a label");
	ck_assert_str_eq(refusal_of(selector_check, "{\"leaf\":[]}"),
			 "nodes.leaf: has 0 values, must have 1 to 256");
	ck_assert_str_eq(refusal_of(selector_check, "{}"),
			 "nodes: has no label; leave it out for all nodes");
}
END_TEST

static bool matches(const char *selector, const char *labels)
{
	auto_json struct json *s = parse(selector), *l = parse(labels);

	return selector_matches(s, l);
}

START_TEST(a_node_needs_every_label_with_one_of_its_values)
{
	const char *const two = "{\"leaf\":[\"g3\",\"g4\"],\"rack\":\"7\"}";

	ck_assert(matches(two, "{\"leaf\":\"g4\",\"rack\":\"7\",\"more\":\"x\"}"));
	ck_assert(!matches(two, "{\"leaf\":\"g4\",\"rack\":\"8\"}"));
	ck_assert(!matches(two, "{\"leaf\":\"g5\",\"rack\":\"7\"}"));
	ck_assert(!matches(two, "{\"rack\":\"7\"}"));
	ck_assert(!matches("{\"leaf\":\"g3\"}", "{\"Leaf\":\"g3\"}"));
	ck_assert(!matches("{\"leaf\":\"\"}", "{}"));
	ck_assert(matches("{\"leaf\":\"\"}", "{\"leaf\":\"\"}"));
}
END_TEST

START_TEST(both_sides_are_printed)
{
	auto_json struct json *s = parse("{\"leaf\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"],"
					 "\"rack\":\"7\"}");
	auto_json struct json *l = parse("{\"leaf\":\"z\",\"other\":\"1\"}");
	auto_text struct text want = { 0 }, have = { 0 };

	selector_print(s, &want);
	labels_print_asked(s, l, &have);
	ck_assert_str_eq(want.s, "leaf=a or b or c or d or 2 more, rack=7");
	ck_assert_str_eq(have.s, "leaf=z, no label rack");
}
END_TEST

TEST_PROGRAM("labels", names_and_values_have_the_form_of_kubernetes, refusals_name_label_and_value,
	     a_node_needs_every_label_with_one_of_its_values, both_sides_are_printed)
