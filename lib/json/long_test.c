/* SPDX-License-Identifier: Apache-2.0 */
/* long_test.c: the two limits of a text. */
#include "lib/json/long.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

START_TEST(two_limits)
{
	static char text[JSON_LONG_SIZE + 1];
	struct json *tree = NULL;
	struct err e;

	memset(text, ' ', sizeof(text));
	text[0] = '1';
	ck_assert_int_eq(json_parse(text, JSON_MAX_SIZE + 1, "answer", &tree, &e), -1);
	ck_assert_int_eq(json_parse_long(text, sizeof(text) - 1, "answer", &tree, &e), 0);
	json_free(tree);
	ck_assert_int_eq(json_parse_long(text, sizeof(text), "answer", &tree, &e), -1);
	ck_assert_str_eq(e.msg, "answer: 8388609 bytes, more than the limit of 8388608");
	ck_assert_int_eq(json_parse_long("[", 1, "answer", &tree, &e), -1);
}
END_TEST

static int read_list(void *arg, struct err *e)
{
	auto_json struct json *tree = NULL;

	return json_parse_long(arg, strlen(arg), "answer", &tree, e);
}

START_TEST(no_memory)
{
	ck_assert_str_eq(alloc_fail_each(read_list, "[1]"), "ok");
}
END_TEST

TEST_PROGRAM("json_long", two_limits, no_memory)
