/* SPDX-License-Identifier: Apache-2.0 */
/* ask_test.c: questions have what a child needs, and answers that are no answers are errors. */
#include "railheadd/devices/ask.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static struct err e;

static struct json *parsed(const char *text)
{
	struct json *j = NULL;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", e.msg);
	return j;
}

static void is_text(char *text, const char *want)
{
	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(questions_as_texts)
{
	is_text(ask_look(NULL, "/p"), "{\"kubelet\":\"/p\"}");
	is_text(ask_look("/d", "/p"), "{\"folder\":\"/d\",\"kubelet\":\"/p\"}");
	is_text(ask_register("/k/kubelet.sock", "a.sock", "x.y/a"),
		"{\"kubelet\":\"/k/kubelet.sock\",\"endpoint\":\"a.sock\",\"resource\":\"x.y/a\"}");
}
END_TEST

/* Of thousands of devices the child gets those of the request. */
START_TEST(a_question_about_an_allocation)
{
	static const char *const ids[] = { "1", "9" };
	struct resource_device d[] = { { .id = "0" }, { .id = "1", .healthy = true } };
	const struct resource_devices all = { .device = d, .n = 2 };
	struct wire_ids containers[] = { { ids, 2 }, { ids, 0 } };
	const struct wire_allocate request = { .of = containers, .n = 2 };

	auto_json struct json *conf = parsed("{\"name\":\"x.y/a\",\"shared\":true}");

	auto_free char *text = ask_allocate(conf, &all, &request);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "\"set\":[{\"name\":\"x.y/a\",\"shared\":true}]"));
	ck_assert_ptr_nonnull(strstr(text, "\"id\":\"1\",\"healthy\":true"));
	ck_assert_ptr_null(strstr(text, "\"id\":\"0\""));
	ck_assert_ptr_nonnull(
		strstr(text, "\"containers\":[{\"ids\":[\"1\",\"9\"]},{\"ids\":[]}]}"));
}
END_TEST

#define LOOK(n) "\"look\":{\"resources\":[" n "],\"notes\":[\"note\"]}"

START_TEST(an_answer_of_a_look)
{
	auto_json struct json *j = parsed("{\"set\":[{\"name\":\"x.y/a\"}],\"interval\":30," LOOK(
		"{\"devices\":[{\"id\":\"0\"}]}") "}");
	auto_ask_seen struct ask_seen s = { .set = NULL };

	ck_assert_int_eq(ask_look_read(j, &s, &e), 0);
	ck_assert_uint_eq(json_len(s.set), 1);
	ck_assert_uint_eq(s.interval, 30);
	ck_assert_uint_eq(s.look.n, 1);
	ck_assert_uint_eq(s.look.of[0].n, 1);
	auto_free char *text = ask_publish(&s);
	ck_assert_ptr_nonnull(text);
	auto_json struct json *again = parsed(text);
	ck_assert(json_same(json_get(again, "set"), s.set));
	auto_json struct json *look = resource_look_to_json(&s.look);
	ck_assert(json_same(json_get(again, "look"), look));
}
END_TEST

START_TEST(answers_that_are_none)
{
	static const char *const texts[] = {
		"{}",
		"[]",
		"{\"set\":{}," LOOK("") "}",
		"{\"set\":[1]," LOOK("{}") "}",
		"{\"set\":[{\"name\":\"x.y/a\"}]," LOOK("") "}",
		"{\"set\":[{\"name\":\"x.y/a\"}]}",
		"{\"set\":[{\"name\":\"x.y/a\"}]," LOOK("{}") "}",
		"{\"set\":[{\"name\":\"x.y/a\"}],\"interval\":86401," LOOK("{}") "}",
		"{\"containers\":[]}",
		"{\"containers\":[{\"env\":{\"a\":1}}]}",
		"{\"containers\":{}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_json struct json *j = parsed(texts[i]);
		struct ask_seen s;
		struct ask_allocated a;

		ck_assert_msg(ask_look_read(j, &s, &e) == -1, "%s", texts[i]);
		ck_assert_int_eq(e.code, ERR_DECODE);
		ck_assert_msg(ask_allocate_read(j, 1, &a, &e) == -1, "%s", texts[i]);
		ck_assert_int_eq(e.code, ERR_DECODE);
	}
}
END_TEST

static int read_both(void *arg, struct err *err)
{
	auto_ask_seen struct ask_seen s = { .set = NULL };
	auto_ask_allocated struct ask_allocated a = { .n = 0 };
	auto_free char *text = NULL;

	if (ask_look_read(arg, &s, err) || ask_allocate_read(arg, 1, &a, err))
		return -1;
	text = ask_publish(&s);
	return text ? 0 : err_nomem(err);
}

START_TEST(no_memory_is_an_error)
{
	auto_json struct json *j = parsed("{\"set\":[{\"name\":\"x.y/a\"}],\"interval\":1," LOOK(
		"{\"devices\":[{\"id\":\"0\"}]}") ",\"containers\":[{\"env\":{\"a\":\"b\"}}]}");

	ck_assert_str_eq(alloc_fail_each(read_both, j), "ok");
}
END_TEST

/* json: the configuration of a resource */
static int ask_all(void *json, struct err *err)
{
	static const char *const ids[] = { "1", "0" };
	struct resource_device d[] = { { .id = "0" }, { .id = "1" } };
	const struct resource_devices all = { .device = d, .n = 2 };
	struct wire_ids containers[] = { { ids, 2 }, { ids, 1 } };
	const struct wire_allocate request = { .of = containers, .n = 2 };
	auto_free char *look = ask_look("/d", "/p");
	auto_free char *registration = look ? ask_register("/k", "a.sock", "x.y/a") : NULL;
	auto_free char *allocate = registration ? ask_allocate(json, &all, &request) : NULL;

	return allocate ? 0 : err_nomem(err);
}

START_TEST(a_question_is_whole_or_none)
{
	auto_json struct json *j = parsed("{\"name\":\"x.y/a\",\"shared\":true}");

	ck_assert_str_eq(alloc_fail_each(ask_all, j), "ok");
}
END_TEST

TEST_PROGRAM("railheadd/devices/ask", questions_as_texts, a_question_about_an_allocation,
	     an_answer_of_a_look, answers_that_are_none, no_memory_is_an_error,
	     a_question_is_whole_or_none)
