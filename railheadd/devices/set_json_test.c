/* SPDX-License-Identifier: Apache-2.0 */
/* set_json_test.c: a configuration goes through JSON; anything else is refused. */
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "railheadd/devices/conf.h"

static struct json *parsed(const char *text)
{
	struct json *j = NULL;
	struct err e = { .msg = "" };

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", e.msg);
	return j;
}

START_TEST(a_configuration_goes_through_json)
{
	auto_resource_set struct resource_set *s = calloc(1, sizeof(*s)), *again = NULL;
	auto_json struct json *file = parsed(
		"{\"deviceNodes\":\"cdi-annotation\",\"resourceList\":[{\"resourceName\":\"a\","
		"\"additionalInfo\":{\"*\":{\"k\":\"v\"}}}]}");
	auto_json struct json *other = parsed(
		"{\"resources\":[{\"name\":\"x.y/b\",\"share\":3,\"select\":{\"pf\":\"p\"}}]}");
	struct err e = { .msg = "" };

	ck_assert_int_eq(conf_add(s, file, "a.json", &e) | conf_add(s, other, "b.json", &e), 0);
	auto_json struct json *j = resource_set_to_json(s);
	ck_assert_ptr_nonnull(j);
	ck_assert_msg(resource_set_from_json(j, &again, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(resource_count(again), 2);
	ck_assert_str_eq(resource_name(again, 0), "intel.com/a");
	ck_assert_int_eq(again->conf[0].nodes, NODES_CDI_ANNOTATION);
	ck_assert(!again->conf[0].shared && again->conf[1].shared);
	ck_assert_str_eq(json_text(json_get(again->conf[0].info, "*"), "k"), "v");
	ck_assert_str_eq(resource_name(again, 1), "x.y/b");
	ck_assert_int_eq(again->conf[1].nodes, NODES_LIST);
	ck_assert_ptr_null(again->conf[1].info);
}
END_TEST

START_TEST(what_is_no_configuration_is_refused)
{
	static const char *const bad[] = {
		"{}",
		"[1]",
		"[{}]",
		"[{\"name\":1}]",
		"[{\"name\":\"no-slash\"}]",
		"[{\"name\":\"a/b\",\"deviceNodes\":\"x\"}]",
		"[{\"name\":\"a/b\",\"info\":1}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *j = parsed(bad[i]);
		struct resource_set *s = NULL;
		struct err e = { .msg = "" };

		ck_assert_msg(resource_set_from_json(j, &s, &e) == -1, "%s", bad[i]);
		ck_assert_ptr_null(s);
	}
	struct resource_set *none = NULL;
	struct err e = { .msg = "" };
	ck_assert_int_eq(resource_set_from_json(NULL, &none, &e), -1);
}
END_TEST

static int through_json(void *arg, struct err *e)
{
	auto_resource_set struct resource_set *s = NULL;

	if (resource_set_from_json(arg, &s, e))
		return -1;
	auto_json struct json *again = resource_set_to_json(s);
	return again ? 0 : err_nomem(e);
}

START_TEST(a_configuration_without_memory_leaks_nothing)
{
	auto_json struct json *j = parsed("[{\"name\":\"a/b\",\"info\":{\"*\":{}}}]");

	ck_assert_str_eq(alloc_fail_each(through_json, j), "ok");
}
END_TEST

TEST_PROGRAM("set_json", a_configuration_goes_through_json, what_is_no_configuration_is_refused,
	     a_configuration_without_memory_leaks_nothing)
