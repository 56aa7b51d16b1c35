// SPDX-License-Identifier: Apache-2.0
/* Calls at a unix socket: a server that answers, and the ways in which one does not. */
#include "lib/grpc/call.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/ctx.h"
#include "lib/testing/dir.h"
#include "lib/grpc/testing/server.h"
#include "lib/testing/testing.h"

#define AT "/mnt/server.sock"

static const struct grpc_request request = { "/test.Service/Method", NULL, 0, 64, 1000 };
static struct err e;

static int call_within(int64_t ms, struct grpc_answer *out)
{
	return grpc_call(AT, &request, ctx_mono_ms() + ms, out, &e);
}

static enum err_code refused(int64_t ms, const char *want)
{
	struct grpc_answer a;

	ck_assert_int_eq(call_within(ms, &a), -1);
	ck_assert_msg(strncmp(e.msg, AT ": ", strlen(AT) + 2) == 0, "%s", e.msg);
	ck_assert_msg(strstr(e.msg, want) != NULL, "%s", e.msg);
	return e.code;
}

START_TEST(a_server_answers)
{
	const struct grpc_script s = { .body = testing_grpc_frame("pong", 4),
				       .n_body = 9,
				       .status = "0" };

	(void)testing_dir();
	pid_t server = testing_grpc_serve(AT, &s);
	for (int i = 0; i < 3; i++) {
		auto_grpc_answer struct grpc_answer a = { .len = 0 };
		ck_assert_msg(call_within(60000, &a) == 0, "%s", e.msg);
		ck_assert_uint_eq(a.status.code, GRPC_OK);
		ck_assert_uint_eq(a.len, 4);
		ck_assert_mem_eq(a.message, "pong", 4);
	}
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_status_is_no_error_of_the_call)
{
	const struct grpc_script s = { .status = "8", .text = "rejected by rate limit" };
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	(void)testing_dir();
	pid_t server = testing_grpc_serve(AT, &s);
	ck_assert_msg(call_within(60000, &a) == 0, "%s", e.msg);
	ck_assert_uint_eq(a.status.code, GRPC_RESOURCE_EXHAUSTED);
	ck_assert_str_eq(a.status.text, "rejected by rate limit");
	testing_grpc_stop(server);
}
END_TEST

START_TEST(no_server_is_there)
{
	(void)testing_dir();
	ck_assert_int_eq(refused(60000, "connect: No such file"), ERR_AGAIN);
	ck_assert_int_eq(mkdir(AT, 0700), 0);
	ck_assert_int_eq(refused(60000, "connect: Connection refused"), ERR_AGAIN);
}
END_TEST

START_TEST(a_server_that_has_ended)
{
	const struct grpc_script s = { .status = "0" };

	(void)testing_dir();
	testing_grpc_stop(testing_grpc_serve(AT, &s));
	ck_assert_int_eq(refused(60000, "connect: Connection refused"), ERR_AGAIN);
}
END_TEST

START_TEST(a_server_of_another_user_is_not_asked)
{
	const struct grpc_script s = { .body = testing_grpc_frame("pong", 4),
				       .n_body = 9,
				       .status = "0" };

	(void)testing_dir();
	/* Without root the test is root of its own user alone, and can become nobody else. */
	if (chmod("/mnt", 0777) || seteuid(65534)) {
		puts("SKIP: it needs root, to listen as another user");
		return;
	}
	pid_t server = testing_grpc_serve(AT, &s);
	ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(refused(60000, "user 65534 listens there, not root"), ERR_FORBIDDEN);
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_silent_server_meets_the_deadline)
{
	const struct grpc_script s = { .silent = true };

	(void)testing_dir();
	pid_t server = testing_grpc_serve(AT, &s);
	int64_t start = ctx_mono_ms();
	ck_assert_int_eq(refused(100, "no answer in time"), ERR_AGAIN);
	ck_assert_int_ge(ctx_mono_ms() - start, 100);
	ck_assert_int_eq(refused(-1, "no answer in time"), ERR_AGAIN);
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_server_that_closes_the_connection)
{
	(void)testing_dir();
	pid_t server = testing_grpc_raw(AT, "", 0, true);
	ck_assert_int_eq(refused(60000, "closed the connection without an answer"), ERR_AGAIN);
	testing_grpc_stop(server);
	server = testing_grpc_raw(AT, "\0\0\0\4\0\0\0\0\0", 9, true);
	ck_assert_int_eq(refused(60000, "closed the connection without an answer"), ERR_AGAIN);
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_server_of_another_protocol)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n";

	(void)testing_dir();
	pid_t server = testing_grpc_raw(AT, http, sizeof(http) - 1, false);
	ck_assert_int_eq(refused(60000, "HTTP/2: "), ERR_IO);
	testing_grpc_stop(server);
}
END_TEST

START_TEST(a_path_that_is_too_long)
{
	struct grpc_answer a;
	char path[300];

	memset(path, 'p', sizeof(path));
	path[108] = '\0';
	ck_assert_int_eq(grpc_call(path, &request, ctx_mono_ms() + 1000, &a, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "may have 107 bytes, this one has 108"));
}
END_TEST

TEST_PROGRAM("lib/grpc/call", a_server_answers, a_status_is_no_error_of_the_call,
	     no_server_is_there, a_server_that_has_ended, a_server_of_another_user_is_not_asked,
	     a_silent_server_meets_the_deadline, a_server_that_closes_the_connection,
	     a_server_of_another_protocol, a_path_that_is_too_long)
