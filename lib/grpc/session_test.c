// SPDX-License-Identifier: Apache-2.0
/* A server against clients in memory: ours, and one with several calls and small windows. */
#include "lib/grpc/session.h"

#include "lib/grpc/unary.h"
#include "lib/testing/alloc.h"
#include "lib/grpc/testing/client.h"
#include "lib/grpc/testing/service.h"
#include "lib/testing/testing.h"

#define OK_HEADERS ":status: 200\ncontent-type: application/grpc\n"
#define HI         "\0\0\0\0\2hi"

struct bed {
	struct testing_service t;
	struct grpc_session *s;
	struct testing_client *c;
};

static struct err e;

static struct grpc_session *new_session(struct testing_service *t)
{
	const struct grpc_session_conf conf = testing_service_conf(t);
	struct grpc_session *s = NULL;

	ck_assert_msg(grpc_session_new(&conf, &s, &e) == 0, "%s", e.msg);
	return s;
}

static void begin(struct bed *b, uint32_t window)
{
	*b = (struct bed){ .s = new_session(&b->t), .c = testing_client_new(window) };
}

static void end(struct bed *b)
{
	testing_client_free(b->c);
	grpc_session_free(b->s);
}

/* All bytes of both sides, in pieces. */
static void run(struct bed *b, size_t piece)
{
	const uint8_t *data;
	size_t len, any = 1;

	while (any) {
		any = 0;
		while ((len = testing_client_out(b->c, &data)) > 0) {
			any += len;
			for (size_t at = 0, n; at < len; at += n) {
				n = len - at < piece ? len - at : piece;
				ck_assert_msg(grpc_session_in(b->s, data + at, n, &e) == 0, "%s",
					      e.msg);
			}
		}
		for (;;) {
			ck_assert_msg(grpc_session_out(b->s, &data, &len, &e) == 0, "%s", e.msg);
			if (!len)
				break;
			any += len;
			testing_client_in(b->c, data, len);
		}
	}
}

static const struct testing_call *called(struct bed *b, const struct testing_request *r)
{
	size_t call = testing_client_call(b->c, r);

	run(b, 1000);
	return testing_client_got(b->c, call);
}

static struct testing_request request(const char *path, const void *body, size_t n_body)
{
	return (struct testing_request){ .path = path, .body = body, .n_body = n_body };
}

START_TEST(a_unary_call_is_answered)
{
	const struct testing_request r = request("/t.S/Echo", HI, 7);
	struct bed b = { .c = NULL };

	for (size_t piece = 1; piece < 60; piece += 7) {
		begin(&b, 0);
		size_t call = testing_client_call(b.c, &r);
		run(&b, piece);
		const struct testing_call *got = testing_client_got(b.c, call);
		ck_assert_str_eq(got->headers, OK_HEADERS "grpc-status: 0\n");
		ck_assert_uint_eq(got->n_body, 7);
		ck_assert_mem_eq(got->body, HI, 7);
		ck_assert(got->closed && got->reset == 0);
		ck_assert_uint_gt(b.t.woken, 0);
		ck_assert(!grpc_session_is_over(b.s));
		end(&b);
	}
}
END_TEST

START_TEST(an_error_is_a_status)
{
	struct bed b = { .c = NULL };

	begin(&b, 0);
	const struct testing_request r = request("/t.S/Fail", HI, 7);
	const struct testing_call *got = called(&b, &r);
	ck_assert_str_eq(got->headers, OK_HEADERS "grpc-status: 5\n"
						  "grpc-message: no device \"%251\" of %C3%BC\n");
	ck_assert_uint_eq(got->n_body, 0);
	ck_assert(got->closed);
	end(&b);
}
END_TEST

START_TEST(requests_that_are_refused)
{
	static const struct {
		struct testing_request r;
		const char *want;
	} all[] = {
		{ { .path = "/t.S/None", .body = HI, .n_body = 7 },
		  OK_HEADERS "grpc-status: 12\ngrpc-message: unknown method\n" },
		{ { .path = "/t.S/Ech", .body = HI, .n_body = 7 },
		  OK_HEADERS "grpc-status: 12\ngrpc-message: unknown method\n" },
		{ { .path = "/t.S/Echo", .body = "\1\0\0\0\2hi", .n_body = 7 },
		  OK_HEADERS "grpc-status: 12\ngrpc-message: the message is compressed, although "
			     "this side did not offer that\n" },
		{ { .path = "/t.S/Echo", .body = "\0\0\0\0\x21", .n_body = 5 },
		  OK_HEADERS "grpc-status: 8\n"
			     "grpc-message: the message has 33 bytes, allowed are 32\n" },
		{ { .path = "/t.S/Echo", .body = HI HI, .n_body = 14 },
		  OK_HEADERS "grpc-status: 13\n"
			     "grpc-message: a second message follows the one of 2 bytes\n" },
		{ { .path = "/t.S/Echo", .body = HI, .n_body = 6 },
		  OK_HEADERS "grpc-status: 13\ngrpc-message: the request has no whole message\n" },
		{ { .path = "/t.S/Echo" },
		  OK_HEADERS "grpc-status: 13\ngrpc-message: the request has no whole message\n" },
		{ { .method = "GET", .path = "/t.S/Echo" }, ":status: 415\n" },
		{ { .path = "/t.S/Echo", .type = "text/html", .body = HI, .n_body = 7 },
		  ":status: 415\n" },
	};
	struct bed b = { .c = NULL };

	begin(&b, 0);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct testing_call *got = called(&b, &all[i].r);
		ck_assert_str_eq(got->headers, all[i].want);
		ck_assert(got->closed);
		ck_assert_uint_eq(got->n_body, 0);
	}
	ck_assert_uint_eq(b.t.begun, 0);
	const struct testing_request good = request("/t.S/Echo", HI, 7);
	ck_assert_uint_eq(called(&b, &good)->n_body, 7);
	end(&b);
}
END_TEST

/* The rest of its request is not awaited. */
START_TEST(an_open_request_can_be_refused)
{
	struct testing_request r = { .path = "/t.S/None", .open = true };
	struct bed b = { .c = NULL };

	begin(&b, 0);
	const struct testing_call *got = called(&b, &r);
	ck_assert_ptr_nonnull(strstr(got->headers, "grpc-status: 12\n"));
	ck_assert(got->closed);
	r.path = "/t.S/Echo";
	got = called(&b, &r);
	ck_assert_str_eq(got->headers, "");
	ck_assert(!got->closed);
	end(&b);
}
END_TEST

START_TEST(a_stream_has_several_messages)
{
	static const struct grpc_status done = { 14, "the end" };
	const struct testing_request r = request("/t.S/Watch", HI, 7);
	struct bed b = { .c = NULL };

	begin(&b, 0);
	const struct testing_call *got = called(&b, &r);
	ck_assert_uint_eq(got->n_body, 7);
	ck_assert(!got->closed);
	unsigned woken = b.t.woken;
	ck_assert(grpc_call_send(b.t.waits, (const uint8_t *)"more", 4) == 0);
	ck_assert_uint_gt(b.t.woken, woken);
	run(&b, 1000);
	ck_assert_mem_eq(got->body, HI "\0\0\0\0\4more", 16);
	ck_assert(grpc_call_send(b.t.waits, NULL, 0) == 0);
	grpc_call_end(b.t.waits, &done);
	run(&b, 1000);
	ck_assert_uint_eq(got->n_body, 21);
	ck_assert_str_eq(got->headers, OK_HEADERS "grpc-status: 14\ngrpc-message: the end\n");
	ck_assert(got->closed);
	ck_assert_uint_eq(b.t.gone, 0);
	end(&b);
	ck_assert_uint_eq(b.t.gone, 0);
}
END_TEST

START_TEST(a_call_that_goes_is_told_once)
{
	const struct testing_request r = request("/t.S/Watch", HI, 7);
	struct bed b = { .c = NULL };

	begin(&b, 0);
	(void)called(&b, &r);
	testing_client_cancel(b.c, 0);
	run(&b, 1000);
	ck_assert_uint_eq(b.t.gone, 1);
	(void)called(&b, &r);
	end(&b);
	ck_assert_uint_eq(b.t.gone, 2);
}
END_TEST

/* ---- a client that leaves in the middle ---- */

static const struct testing_call *watched(struct bed *b)
{
	static const struct testing_request r = { .path = "/t.S/Watch", .body = HI, .n_body = 7 };

	return called(b, &r);
}

static void still_answers(struct bed *b)
{
	static const struct testing_request r = { .path = "/t.S/Echo", .body = HI, .n_body = 7 };

	ck_assert_uint_eq(called(b, &r)->n_body, 7);
}

/* Part of a message is sent, another one waits, and the rest of both is forgotten. */
START_TEST(a_stream_is_reset_within_a_message)
{
	static const uint8_t big[100];
	struct bed b = { .c = NULL };

	begin(&b, 50);
	const struct testing_call *got = watched(&b);
	ck_assert(grpc_call_send(b.t.waits, big, sizeof(big)) == 0);
	run(&b, 1000);
	ck_assert(grpc_call_send(b.t.waits, big, sizeof(big)) == 0);
	ck_assert_uint_eq(got->n_body, 50);
	testing_client_cancel(b.c, 0);
	run(&b, 1000);
	ck_assert_uint_eq(b.t.gone, 1);
	ck_assert_uint_eq(got->n_body, 50);
	still_answers(&b);
	end(&b);
	ck_assert_uint_eq(b.t.gone, 1);
}
END_TEST

/* The service has ended the call and forgotten it, but the client has not read the answer. */
START_TEST(a_stream_is_reset_after_its_end)
{
	static const struct grpc_status done = { 14, "the end" };
	static const uint8_t big[100];
	struct bed b = { .c = NULL };

	begin(&b, 50);
	(void)watched(&b);
	ck_assert(grpc_call_send(b.t.waits, big, sizeof(big)) == 0);
	grpc_call_end(b.t.waits, &done);
	run(&b, 1000);
	testing_client_cancel(b.c, 0);
	run(&b, 1000);
	ck_assert_uint_eq(b.t.gone, 0);
	still_answers(&b);
	end(&b);
	ck_assert_uint_eq(b.t.gone, 0);
}
END_TEST

/* Of a message of 7 bytes the client has sent 6. */
START_TEST(a_request_is_reset_before_its_end)
{
	static const struct testing_request half = {
		.path = "/t.S/Watch", .body = HI, .n_body = 6, .open = true
	};
	struct bed b = { .c = NULL };

	begin(&b, 0);
	(void)called(&b, &half);
	testing_client_cancel(b.c, 0);
	run(&b, 1000);
	ck_assert_uint_eq(b.t.begun, 0);
	still_answers(&b);
	(void)called(&b, &half);
	end(&b);
	ck_assert_uint_eq(b.t.gone, 0);
}
END_TEST

START_TEST(a_client_that_says_goodbye_gets_the_rest)
{
	static const struct grpc_status done = { 14, "the end" };
	struct bed b = { .c = NULL };

	begin(&b, 0);
	const struct testing_call *got = watched(&b);
	testing_client_goaway(b.c);
	run(&b, 1000);
	ck_assert(!grpc_session_is_over(b.s));
	ck_assert_uint_eq(b.t.gone, 0);
	ck_assert(grpc_call_send(b.t.waits, (const uint8_t *)"more", 4) == 0);
	run(&b, 1000);
	ck_assert_mem_eq(got->body, HI "\0\0\0\0\4more", 16);
	grpc_call_end(b.t.waits, &done);
	run(&b, 1000);
	ck_assert_str_eq(got->headers, OK_HEADERS "grpc-status: 14\ngrpc-message: the end\n");
	ck_assert(grpc_session_is_over(b.s));
	end(&b);
}
END_TEST

START_TEST(a_client_that_says_goodbye_and_resets)
{
	struct bed b = { .c = NULL };

	begin(&b, 0);
	(void)watched(&b);
	testing_client_goaway(b.c);
	testing_client_cancel(b.c, 0);
	run(&b, 1000);
	ck_assert_uint_eq(b.t.gone, 1);
	ck_assert(grpc_session_is_over(b.s));
	end(&b);
	ck_assert_uint_eq(b.t.gone, 1);
}
END_TEST

/* Between one message and the last one there is none: the client did not read. */
START_TEST(a_slow_client_gets_the_newest_message)
{
	static uint8_t big[100];
	const struct testing_request r = request("/t.S/Watch", HI, 7);
	struct bed b = { .c = NULL };

	begin(&b, 50);
	const struct testing_call *got = called(&b, &r);
	for (uint8_t i = 1; i <= 5; i++) {
		memset(big, '0' + i, sizeof(big));
		ck_assert(grpc_call_send(b.t.waits, big, sizeof(big)) == 0);
		run(&b, 1000);
	}
	ck_assert_uint_eq(got->n_body, 50);
	for (int i = 0; i < 20; i++) {
		testing_client_read(b.c, 50);
		run(&b, 1000);
	}
	ck_assert_uint_eq(got->n_body, 7 + 105 + 105);
	ck_assert_int_eq(got->body[7 + 104], '1');
	ck_assert_int_eq(got->body[7 + 105 + 5], '5');
	end(&b);
}
END_TEST

START_TEST(calls_of_a_connection_have_a_limit)
{
	const struct testing_request r = request("/t.S/Watch", HI, 7);
	unsigned open = 0, refused = 0;
	struct bed b = { .c = NULL };

	begin(&b, 0);
	/* The client does not know the limit yet. */
	for (size_t i = 0; i < 12; i++)
		(void)testing_client_call(b.c, &r);
	run(&b, 1000);
	for (size_t i = 0; i < 12; i++) {
		const struct testing_call *got = testing_client_got(b.c, i);
		open += !got->closed;
		refused += got->closed && got->reset == 7;
	}
	ck_assert_uint_eq(open, TESTING_CALLS);
	ck_assert_uint_eq(refused, 12 - TESTING_CALLS);
	end(&b);
	ck_assert_uint_eq(b.t.gone, TESTING_CALLS);
}
END_TEST

START_TEST(another_protocol_ends_the_connection)
{
	static const char http[] = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
	struct testing_service t = { .begun = 0 };
	auto_grpc_session struct grpc_session *s = new_session(&t);

	ck_assert_int_eq(grpc_session_in(s, (const uint8_t *)http, sizeof(http) - 1, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_msg(strncmp(e.msg, "HTTP/2: ", 8) == 0, "%s", e.msg);
}
END_TEST

/* ---- our own client ---- */

static int call_ours(const char *path, struct grpc_answer *out, struct err *err)
{
	const struct grpc_request r = { path, (const uint8_t *)"ping", 4, 64, 1500 };
	auto_grpc_unary struct grpc_unary *u = NULL;
	auto_grpc_session struct grpc_session *s = NULL;
	struct testing_service t = { .begun = 0 };
	const struct grpc_session_conf conf = testing_service_conf(&t);
	const uint8_t *data;
	size_t len;

	if (grpc_session_new(&conf, &s, err) || grpc_unary_new(&r, &u, err))
		return -1;
	while (!grpc_unary_is_done(u)) {
		do {
			if (grpc_unary_out(u, &data, &len, err) ||
			    (len && grpc_session_in(s, data, len, err)))
				return -1;
		} while (len);
		do {
			if (grpc_session_out(s, &data, &len, err) ||
			    (len && grpc_unary_in(u, data, len, err)))
				return -1;
		} while (len && !grpc_unary_is_done(u));
	}
	return grpc_unary_take(u, out, err);
}

START_TEST(our_client_is_answered)
{
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	ck_assert_msg(call_ours("/t.S/Echo", &a, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(a.status.code, GRPC_OK);
	ck_assert_uint_eq(a.len, 4);
	ck_assert_mem_eq(a.message, "ping", 4);
	struct grpc_answer b;
	ck_assert_msg(call_ours("/t.S/Fail", &b, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(b.status.code, GRPC_NOT_FOUND);
	ck_assert_str_eq(b.status.text, "no device \"%1\" of \xc3\xbc");
}
END_TEST

static int once(void *arg, struct err *err)
{
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	return call_ours(arg, &a, err);
}

START_TEST(no_memory_is_an_error)
{
	ck_assert_str_eq(alloc_fail_each(once, "/t.S/Echo"), "ok");
	ck_assert_str_eq(alloc_fail_each(once, "/t.S/Fail"), "ok");
}
END_TEST

TEST_PROGRAM("lib/grpc/session", a_unary_call_is_answered, an_error_is_a_status,
	     requests_that_are_refused, an_open_request_can_be_refused,
	     a_stream_has_several_messages, a_call_that_goes_is_told_once,
	     a_stream_is_reset_within_a_message, a_stream_is_reset_after_its_end,
	     a_request_is_reset_before_its_end, a_client_that_says_goodbye_gets_the_rest,
	     a_client_that_says_goodbye_and_resets, a_slow_client_gets_the_newest_message,
	     calls_of_a_connection_have_a_limit, another_protocol_ends_the_connection,
	     our_client_is_answered, no_memory_is_an_error)
