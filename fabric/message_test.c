/* SPDX-License-Identifier: Apache-2.0 */
/* message_test.c: the message as a hook reads it, and what is refused. */
#include "fabric/message.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct sm_member full = {
	.pkey = 0x8001,
	.guid = { { 2, 0, 0, 0, 0, 0, 0x0a, 1 } },
	.who = { "ib0", "id-1", "net1", "demo", "pod-a" },
};

#define TEXT                                                                                       \
	"{\"version\":1,\"action\":\"add\",\"pkey\":\"0x8001\",\"membership\":\"full\",\"guids\":" \
	"[\"02:00:00:00:00:00:0a:01\"],\"node\":\"gpu-1\",\"who\":{\"network\":\"ib0\","           \
	"\"container\":\"id-1\",\"ifname\":\"net1\",\"podNamespace\":\"demo\",\"podName\":"        \
	"\"pod-a\"}}"

START_TEST(the_message_is_one_document)
{
	const struct sm_member limited = { .pkey = 1, .guid = full.guid };
	auto_free char *a = sm_message_print(SM_ADD, &full, "gpu-1");
	auto_free char *b = sm_message_print(SM_REMOVE, &limited, "");

	ck_assert_str_eq(a, TEXT);
	ck_assert_str_eq(b, "{\"version\":1,\"action\":\"remove\",\"pkey\":\"0x0001\","
			    "\"membership\":\"limited\",\"guids\":[\"02:00:00:00:00:00:0a:01\"],"
			    "\"who\":{}}");
}
END_TEST

START_TEST(a_message_is_read_back)
{
	auto_sm_message struct sm_message m = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(sm_message_parse(TEXT, strlen(TEXT), &m, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(m.action, SM_ADD);
	ck_assert_uint_eq(m.pkey, 0x8001);
	ck_assert_uint_eq(m.n, 1);
	ck_assert(guid_equal(m.guid[0], full.guid));
	ck_assert_str_eq(m.node, "gpu-1");
	ck_assert_str_eq(m.who.pod_name, "pod-a");
}
END_TEST

START_TEST(the_membership_decides_and_not_the_bit_of_the_key)
{
	static const char text[] = "{\"version\":1,\"action\":\"remove\",\"pkey\":\"0x8001\","
				   "\"membership\":\"limited\",\"guids\":[\"0200:0:0:1\"]}";
	static const char two[] = "{\"version\":1,\"action\":\"add\",\"pkey\":\"0x1\",\"new\":1,"
				  "\"membership\":\"full\",\"guids\":[\"0200:0000:0000:0001\","
				  "\"0200:0000:0000:0002\"]}";
	auto_sm_message struct sm_message m = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(sm_message_parse(text, strlen(text), &m, &e), -1);
	ck_assert_msg(sm_message_parse(two, strlen(two), &m, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(m.pkey, 0x8001);
	ck_assert_uint_eq(m.n, 2);
	ck_assert_str_eq(m.node, "");
	ck_assert_ptr_null(m.who.container);
}
END_TEST

static void refused(const char *text, const char *words)
{
	struct sm_message m = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(sm_message_parse(text, strlen(text), &m, &e) == -1, "%s", text);
	ck_assert_msg(strstr(e.msg, words) != NULL, "%s: %s", text, e.msg);
}

#define HEAD "{\"version\":1,\"action\":\"add\",\"membership\":\"full\","

START_TEST(what_is_no_message_is_refused)
{
	refused("", "message");
	refused("[]", "must be an object, got an array");
	refused("{\"version\":2}", "version");
	refused("{\"version\":1,\"action\":\"list\"}", "action");
	refused(HEAD "\"pkey\":\"0x8000\",\"guids\":[\"02:00:00:00:00:00:00:01\"]}", "0x8000");
	refused(HEAD "\"pkey\":\"0x1\",\"guids\":[]}", "1 to 64 GUIDs, got 0");
	refused(HEAD "\"pkey\":\"0x1\",\"guids\":[1]}", "guids[0]: 1 is not");
	refused(HEAD "\"pkey\":\"0x1\",\"guids\":[\"00:00:00:00:00:00:00:00\"]}", "guids[0]");
	refused(HEAD "\"pkey\":\"0x1\",\"guids\":[\"x\"]}", "guids[0]");
	refused(HEAD "\"pkey\":\"0x1\",\"guids\":[\"02:00:00:00:00:00:00:01\"],\"who\":"
		     "{\"network\":1}}",
		"who.network");
}
END_TEST

static int print_message(void *arg, struct err *e)
{
	auto_free char *text = sm_message_print(SM_ADD, arg, "gpu-1");

	(void)e;
	return text ? 0 : -1;
}

static int parse_message(void *arg, struct err *e)
{
	auto_sm_message struct sm_message m = { .n = 0 };

	return sm_message_parse(arg, strlen(arg), &m, e);
}

START_TEST(allocations_may_fail)
{
	struct sm_member m = full;
	char text[] = TEXT;

	ck_assert_str_eq(alloc_fail_each(print_message, &m), "ok");
	ck_assert_str_eq(alloc_fail_each(parse_message, text), "ok");
}
END_TEST

TEST_PROGRAM("message", the_message_is_one_document, a_message_is_read_back,
	     the_membership_decides_and_not_the_bit_of_the_key, what_is_no_message_is_refused,
	     allocations_may_fail)
