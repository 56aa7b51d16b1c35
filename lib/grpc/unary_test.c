// SPDX-License-Identifier: Apache-2.0
/* A call against a server in memory: what each side sees, in pieces of any size. */
#include "lib/grpc/unary.h"

#include "lib/testing/alloc.h"
#include "lib/grpc/testing/server.h"
#include "lib/testing/testing.h"

#define PATH "/test.Service/Method"

static struct grpc_request request = { PATH, (const uint8_t *)"ping", 4, 64, 1500 };
static char seen[512];

/* One side's bytes for the other, in pieces; false: there were none. */
static int pump(struct grpc_unary *u, struct testing_grpc *g, size_t piece, bool *any,
		struct err *e)
{
	const uint8_t *data;
	size_t len;

	*any = false;
	for (;;) {
		if (grpc_unary_out(u, &data, &len, e))
			return -1;
		if (!len)
			break;
		alloc_fail_pause(true);
		testing_grpc_in(g, data, len);
		alloc_fail_pause(false);
		*any = true;
	}
	for (;;) {
		alloc_fail_pause(true);
		len = testing_grpc_out(g, &data);
		alloc_fail_pause(false);
		if (!len)
			return 0;
		*any = true;
		for (size_t at = 0, n; at < len; at += n) {
			n = len - at < piece ? len - at : piece;
			if (grpc_unary_in(u, data + at, n, e))
				return -1;
		}
	}
}

static int exchange(const struct grpc_script *s, size_t piece, struct grpc_answer *out,
		    struct err *e)
{
	auto_grpc_unary struct grpc_unary *u = NULL;
	bool any = true;

	if (grpc_unary_new(&request, &u, e))
		return -1;
	alloc_fail_pause(true);
	struct testing_grpc *g = testing_grpc_new(s);
	alloc_fail_pause(false);
	int rc = 0;
	while (!rc && any && !grpc_unary_is_done(u))
		rc = pump(u, g, piece, &any, e);
	(void)strcpy(seen, testing_grpc_seen(g));
	alloc_fail_pause(true);
	testing_grpc_free(g);
	alloc_fail_pause(false);
	if (!rc && !grpc_unary_is_done(u))
		return err_set(e, ERR_AGAIN, 0, "not done");
	return rc ? rc : grpc_unary_take(u, out, e);
}

static struct grpc_answer answered(const struct grpc_script *s, size_t piece)
{
	struct grpc_answer a = { .len = 0 };
	struct err e = { 0 };

	ck_assert_msg(exchange(s, piece, &a, &e) == 0, "%s", e.msg);
	return a;
}

static const char *refused(const struct grpc_script *s)
{
	static struct err e;
	struct grpc_answer a;

	ck_assert_int_eq(exchange(s, 1000, &a, &e), -1);
	return e.msg;
}

static struct grpc_script pong(void)
{
	return (struct grpc_script){ .body = testing_grpc_frame("pong", 4),
				     .n_body = 9,
				     .status = "0" };
}

START_TEST(a_call_is_answered)
{
	const struct grpc_script s = pong();

	for (size_t piece = 1; piece < 100; piece += 7) {
		auto_grpc_answer struct grpc_answer a = answered(&s, piece);
		ck_assert_uint_eq(a.status.code, GRPC_OK);
		ck_assert_uint_eq(a.len, 4);
		ck_assert_mem_eq(a.message, "pong", 4);
	}
	ck_assert_str_eq(seen, ":method: POST\n:scheme: http\n:path: " PATH
			       "\n:authority: localhost\ncontent-type: application/grpc\n"
			       "te: trailers\ngrpc-timeout: 1500m\n");
}
END_TEST

START_TEST(an_empty_answer_is_an_answer)
{
	const struct grpc_script s = { .body = testing_grpc_frame("", 0),
				       .n_body = 5,
				       .status = "0" };
	auto_grpc_answer struct grpc_answer a = answered(&s, 3);

	ck_assert_uint_eq(a.status.code, GRPC_OK);
	ck_assert_uint_eq(a.len, 0);
}
END_TEST

START_TEST(a_status_without_message_is_an_answer)
{
	const struct grpc_script s = { .status = "12", .text = "unknown method%21" };
	auto_grpc_answer struct grpc_answer a = answered(&s, 5);

	ck_assert_uint_eq(a.status.code, 12);
	ck_assert_str_eq(a.status.text, "unknown method!");
	ck_assert_ptr_null(a.message);
}
END_TEST

/* A message before a status that is not OK does not count. */
START_TEST(a_message_of_a_failed_call_is_dropped)
{
	struct grpc_script s = pong();

	s.status = "13";
	auto_grpc_answer struct grpc_answer a = answered(&s, 50);
	ck_assert_uint_eq(a.status.code, 13);
	ck_assert_ptr_null(a.message);
}
END_TEST

START_TEST(answers_of_other_servers_are_refused)
{
	struct grpc_script s = pong();

	s.status = NULL;
	ck_assert_ptr_nonnull(strstr(refused(&s), "without a grpc-status"));
	s.status = "x";
	ck_assert_ptr_nonnull(strstr(refused(&s), "without a grpc-status"));
	s = pong();
	s.http_status = "404";
	ck_assert_str_eq(refused(&s), "HTTP status 404: this is not a gRPC server");
	s = pong();
	s.content_type = "text/html";
	ck_assert_ptr_nonnull(strstr(refused(&s), "content type"));
	s.content_type = "";
	ck_assert_ptr_nonnull(strstr(refused(&s), "content type"));
	s = pong();
	s.n_body = 7;
	ck_assert_str_eq(refused(&s), "the answer has no whole message");
	s.body = NULL;
	ck_assert_str_eq(refused(&s), "the answer has no whole message");
}
END_TEST

START_TEST(a_message_that_is_too_long_ends_the_call)
{
	static const uint8_t zero[65];
	const struct grpc_script s = { .body = testing_grpc_frame(zero, 65),
				       .n_body = 70,
				       .status = "0" };

	ck_assert_str_eq(refused(&s), "the message has 65 bytes, allowed are 64");
}
END_TEST

START_TEST(a_call_that_the_server_resets)
{
	struct grpc_script s = { .reset = 7 };

	ck_assert_ptr_nonnull(strstr(refused(&s), "REFUSED_STREAM"));
	s.reset = 2;
	ck_assert_ptr_nonnull(strstr(refused(&s), "INTERNAL_ERROR"));
}
END_TEST

static int drain(struct grpc_unary *u, struct err *e)
{
	const uint8_t *data;
	size_t n = 1;
	int rc = 0;

	while (!rc && n)
		rc = grpc_unary_out(u, &data, &n, e);
	return rc;
}

/* The error after these bytes of a server; "": none. */
static const char *after(const void *bytes, size_t len)
{
	static struct err e;
	auto_grpc_unary struct grpc_unary *u = NULL;

	ck_assert(!grpc_unary_new(&request, &u, &e) && !drain(u, &e));
	return grpc_unary_in(u, bytes, len, &e) || drain(u, &e) ? e.msg : "";
}

START_TEST(other_protocols_are_an_error)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	/* SETTINGS, then DATA for a stream that nobody opened */
	static const uint8_t data[] = { 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 9, 'x' };
	/* a header block in a frame of 16 MB */
	static const uint8_t huge[] = { 0,    0,    0,    4, 0, 0, 0, 0, 0,
					0xff, 0xff, 0xff, 1, 4, 0, 0, 0, 1 };

	ck_assert_ptr_nonnull(strstr(after(http, sizeof(http) - 1), "HTTP/2: Remote peer"));
	ck_assert_str_ne(after(data, sizeof(data)), "");
	ck_assert_str_ne(after(huge, sizeof(huge)), "");
	ck_assert_str_eq(after("", 0), "");
}
END_TEST

START_TEST(a_long_request_is_sent_whole)
{
	static uint8_t message[40000];
	const struct grpc_script s = pong();

	request.message = message;
	request.len = sizeof(message);
	auto_grpc_answer struct grpc_answer a = answered(&s, 500);
	ck_assert_uint_eq(a.status.code, GRPC_OK);
	request = (struct grpc_request){ PATH, NULL, 0, 64, UINT32_MAX };
	auto_grpc_answer struct grpc_answer b = answered(&s, 500);
	ck_assert_uint_eq(b.len, 4);
	ck_assert_ptr_nonnull(strstr(seen, "grpc-timeout: 99999999m"));
}
END_TEST

static int once(void *arg, struct err *e)
{
	const struct grpc_script s = pong();
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	(void)arg;
	return exchange(&s, 20, &a, e);
}

START_TEST(no_memory_is_an_error)
{
	ck_assert_str_eq(alloc_fail_each(once, NULL), "ok");
}
END_TEST

TEST_PROGRAM("lib/grpc/unary", a_call_is_answered, an_empty_answer_is_an_answer,
	     a_status_without_message_is_an_answer, a_message_of_a_failed_call_is_dropped,
	     answers_of_other_servers_are_refused, a_message_that_is_too_long_ends_the_call,
	     a_call_that_the_server_resets, other_protocols_are_an_error,
	     a_long_request_is_sent_whole, no_memory_is_an_error)
