/* SPDX-License-Identifier: Apache-2.0 */
/* agent_wire_test.c: shows that both sides read what the other one wrote, and refuse the rest. */
#include "ipam/alloc/agent_wire.h"

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

START_TEST(a_request_arrives_as_it_was_sent)
{
	auto_json struct json *args = json_new_object(), *tree = NULL;
	struct agent_call got;
	struct err e;

	ck_assert_int_eq(json_add_str(args, "pool", "rail\n0"), 0);
	auto_free char *line = agent_wire_request(&(struct agent_call){ "need", args });
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
	ck_assert_int_eq(agent_wire_read_request(line, strlen(line) - 1, &tree, &got, &e), 0);
	ck_assert_str_eq(got.call, "need");
	ck_assert_str_eq(json_str(json_get(got.args, "pool")), "rail\n0");
}
END_TEST

START_TEST(the_lines_stay_the_same)
{
	const struct err why = { .code = ERR_BUSY, .msg = "m", .detail = "d" },
			 bare = { .msg = "m" };
	auto_json struct json *args = json_new_object();
	auto_free char *request = agent_wire_request(&(struct agent_call){ "need", args });
	auto_free char *plain = agent_wire_request(&(struct agent_call){ "status", NULL });
	auto_free char *result = agent_wire_result(NULL);
	auto_free char *error = agent_wire_error(&why, "ns/p/i");
	auto_free char *least = agent_wire_error(&bare, NULL);

	ck_assert_str_eq(request, "{\"version\":1,\"call\":\"need\",\"args\":{}}\n");
	ck_assert_str_eq(plain, "{\"version\":1,\"call\":\"status\"}\n");
	ck_assert_str_eq(result, "{\"version\":1,\"result\":{}}\n");
	ck_assert_str_eq(
		error, "{\"version\":1,\"error\":{\"code\":103,\"message\":\"m\",\"detail\":\"d\","
		       "\"identity\":\"ns/p/i\"}}\n");
	ck_assert_str_eq(least, "{\"version\":1,\"error\":{\"code\":0,\"message\":\"m\"}}\n");
}
END_TEST

START_TEST(another_version_is_refused_with_both_numbers)
{
	static const char line[] = "{\"version\":7,\"call\":5}";
	struct json *tree = NULL;
	struct agent_call got;
	struct err e;

	ck_assert_int_eq(agent_wire_read_request(line, sizeof(line) - 1, &tree, &got, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_str_eq(e.msg, "request.version: the agent speaks 1 to 1, the client 7");
}
END_TEST

START_TEST(requests_that_are_none)
{
	static const struct {
		const char *line, *why;
	} all[] = {
		{ "", "request is empty" },
		{ "{}", "request.version: " },
		{ "{\"version\":1}", "request.call: " },
		{ "{\"version\":1,\"call\":\"\"}", "request.call: " },
		{ "{\"version\":1,\"call\":\"x\",\"args\":[]}", "request.args: " },
		{ "{\"version\":1,\"call\":\"a-name-that-is-longer-than-32-bytes\"}",
		  "request.call: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct json *tree = NULL;
		struct agent_call got;
		struct err e;

		ck_assert_int_eq(
			agent_wire_read_request(all[i].line, strlen(all[i].line), &tree, &got, &e),
			-1);
		ck_assert_msg(strncmp(e.msg, all[i].why, strlen(all[i].why)) == 0, "%s: %s",
			      all[i].line, e.msg);
	}
}
END_TEST

START_TEST(an_error_arrives_with_code_and_hint)
{
	auto_json struct json *result = NULL;
	struct err sent, got;

	err_set(&sent, ERR_EXHAUSTED, 0, "pool \"rail0\" is full");
	err_hint(&sent, "delete a pod");
	auto_free char *line = agent_wire_error(&sent, NULL);
	ck_assert_int_eq(agent_wire_read_answer(line, strlen(line) - 1, &result, &got), -1);
	ck_assert_int_eq(got.code, ERR_EXHAUSTED);
	ck_assert_str_eq(got.msg, sent.msg);
	ck_assert_str_eq(got.detail, sent.detail);
}
END_TEST

START_TEST(a_result_or_an_error_names_the_machine)
{
	static const struct {
		const char *line, *identity;
	} each[] = {
		{ "{\"result\":{\"identity\":\"ns/vm:web/net1\"}}", "ns/vm:web/net1" },
		{ "{\"error\":{\"code\":11,\"message\":\"x\"}}", "" },
		{ "{\"result\":{\"identity\":\"longer than there is room\"}}", "" },
		{ "{\"result\":{\"identity\":7}}", "" },
		{ "nothing", "" },
	};
	auto_json struct json *result = NULL;
	struct err sent, got;
	char out[16];

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		agent_wire_identity(each[i].line, strlen(each[i].line), out, sizeof(out));
		ck_assert_str_eq(out, each[i].identity);
	}
	err_set(&sent, ERR_AGAIN, 0, "the address is held");
	auto_free char *line = agent_wire_error(&sent, "ns/vm:web/net1");
	agent_wire_identity(line, strlen(line) - 1, out, sizeof(out));
	ck_assert_str_eq(out, "ns/vm:web/net1");
	ck_assert_int_eq(agent_wire_read_answer(line, strlen(line) - 1, &result, &got), -1);
	ck_assert_str_eq(got.msg, sent.msg);
}
END_TEST

START_TEST(an_answer_is_a_result_or_an_error)
{
	static const char *const wrong[] = { "{}", "{\"error\":{}}", "[]", "{\"result\":1}",
					     "{\"error\":{\"code\":0,\"message\":\"x\"}}" };
	auto_json struct json *result = NULL;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		ck_assert_int_eq(agent_wire_read_answer(wrong[i], strlen(wrong[i]), &result, &e),
				 -1);
	ck_assert_ptr_null(result);
	auto_free char *line = agent_wire_result(NULL);
	ck_assert_int_eq(agent_wire_read_answer(line, strlen(line) - 1, &result, &e), 0);
	ck_assert_uint_eq(json_len(result), 0);
}
END_TEST

static int write_all(void *arg, struct err *e)
{
	const struct err sent = { .code = ERR_BUSY, .msg = "message", .detail = "hint" };

	(void)arg;
	auto_json struct json *n = json_new_object();
	auto_free char *a = n ? agent_wire_request(&(struct agent_call){ "x", n }) : NULL;
	auto_free char *b = a ? agent_wire_result(n) : NULL;
	auto_free char *c = b ? agent_wire_error(&sent, "ns/vm:web/net1") : NULL;

	return c ? 0 : err_nomem(e);
}

static int read_all(void *arg, struct err *e)
{
	static const char request[] = "{\"version\":1,\"call\":\"x\",\"args\":{\"a\":1}}";
	static const char answer[] = "{\"result\":{\"a\":[1]}}";
	auto_json struct json *tree = NULL, *result = NULL;
	struct agent_call got;

	(void)arg;
	return agent_wire_read_request(request, sizeof(request) - 1, &tree, &got, e) ||
	       agent_wire_read_answer(answer, sizeof(answer) - 1, &result, e);
}

START_TEST(memory_runs_out_anywhere)
{
	ck_assert_str_eq(alloc_fail_each(write_all, NULL), "ok");
	ck_assert_str_eq(alloc_fail_each(read_all, NULL), "ok");
}
END_TEST

TEST_PROGRAM("agent_wire", the_lines_stay_the_same, a_request_arrives_as_it_was_sent,
	     another_version_is_refused_with_both_numbers, requests_that_are_none,
	     an_error_arrives_with_code_and_hint, a_result_or_an_error_names_the_machine,
	     an_answer_is_a_result_or_an_error, memory_runs_out_anywhere)
