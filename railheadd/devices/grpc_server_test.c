/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_server_test.c: clients at a socket: ours, one that vanishes, too many, of another user. */
#include "railheadd/devices/grpc_server.h"

#include <event2/event.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cluster/testing/loop.h"
#include "lib/grpc/call.h"
#include "lib/grpc/testing/service.h"
#include "lib/sys/listen.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/testing/grpc_peer.h"

#define AT "/mnt/s.sock"
#define HI "\0\0\0\0\2hi"

static const struct testing_request echo = { .path = "/t.S/Echo", .body = HI, .n_body = 7 },
				    watch = { .path = "/t.S/Watch", .body = HI, .n_body = 7 };
static struct event_base *base;
static struct testing_service service;
static struct grpc_server *server;
static struct ctx ctx;
static int listener;

static void begin(void)
{
	const struct grpc_session_conf s = testing_service_conf(&service);
	const struct grpc_server_conf conf = { NULL, &ctx, AT, s.service, &service };
	struct grpc_server_conf c = conf;
	char path[LISTEN_PATH_LEN];
	struct err e;

	(void)signal(SIGPIPE, SIG_IGN); /* as in the agent */
	ctx.log.fd = -1;
	c.base = base = loop_new();
	listener = listen_unix(testing_dir(), "s.sock", path, &e);
	ck_assert_msg(listener >= 0 && grpc_server_new(&c, listener, &server, &e) == 0, "%s",
		      e.msg);
}

static void end(void)
{
	grpc_server_free(server);
	(void)close(listener);
	loop_free(base);
}

static void join(struct grpc_peer *p, const struct testing_request *r)
{
	grpc_peer_join(p, base, AT);
	grpc_peer_call(p, r, 7);
}

static bool is_gone(const void *arg)
{
	return service.gone == *(const unsigned *)arg;
}

START_TEST(a_stream_at_a_socket)
{
	struct grpc_peer p;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert(grpc_call_send(service.waits, (const uint8_t *)"more", 4) == 0);
	p.want = 16;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_mem_eq(p.call->body, HI "\0\0\0\0\4more", 16);
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* More than the buffers of both sides hold. */
START_TEST(a_large_message_arrives_whole)
{
	static uint8_t big[900000];
	struct grpc_peer p;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert(grpc_call_send(service.waits, big, sizeof(big)) == 0);
	p.want = 7 + 5 + sizeof(big);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_uint_eq(p.call->n_body, p.want);
	grpc_peer_leave(&p);
	end();
}
END_TEST

START_TEST(a_client_that_vanishes)
{
	unsigned want = 1;
	struct grpc_peer p;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	grpc_peer_leave(&p);
	loop_until(base, is_gone, &want);
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	grpc_peer_leave(&p);
	end();
	ck_assert_uint_eq(service.gone, 2);
}
END_TEST

START_TEST(a_stream_that_is_reset)
{
	unsigned want = 1;
	struct grpc_peer p;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	grpc_peer_cancel(&p);
	loop_until(base, is_gone, &want);
	grpc_peer_call(&p, &echo, 7);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert(!p.ended);
	grpc_peer_leave(&p);
	end();
	ck_assert_uint_eq(service.gone, 1);
}
END_TEST

/* Much of a message waits in the buffers of the server. */
START_TEST(a_connection_that_is_dropped_within_a_message)
{
	static uint8_t big[900000];
	unsigned want = 1;
	struct grpc_peer p;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert(grpc_call_send(service.waits, big, sizeof(big)) == 0);
	p.want = 8;
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_uint_lt(p.call->n_body, sizeof(big));
	grpc_peer_leave(&p);
	loop_until(base, is_gone, &want);
	join(&p, &echo);
	loop_until(base, grpc_peer_has_answer, &p);
	grpc_peer_leave(&p);
	end();
}
END_TEST

/* More of them than there may be connections at a time. */
START_TEST(clients_that_say_goodbye)
{
	struct grpc_peer p;

	begin();
	for (unsigned i = 1; i <= GRPC_CONNECTIONS_MAX + 2; i++) {
		join(&p, &watch);
		loop_until(base, grpc_peer_has_answer, &p);
		grpc_peer_goaway(&p);
		ck_assert(grpc_call_send(service.waits, (const uint8_t *)"more", 4) == 0);
		p.want = 16;
		loop_until(base, grpc_peer_has_answer, &p);
		grpc_peer_cancel(&p);
		loop_until(base, grpc_peer_has_ended, &p);
		ck_assert_uint_eq(service.gone, i);
		grpc_peer_leave(&p);
	}
	end();
}
END_TEST

START_TEST(a_client_of_another_protocol_is_left)
{
	static const char http[] = "GET / HTTP/1.1\r\n\r\n";
	struct grpc_peer p, q;

	begin();
	join(&p, &watch);
	loop_until(base, grpc_peer_has_answer, &p);
	ck_assert_int_eq(send(p.fd, http, sizeof(http) - 1, 0), sizeof(http) - 1);
	loop_until(base, grpc_peer_has_ended, &p);
	ck_assert_uint_eq(service.gone, 1);
	join(&q, &echo);
	loop_until(base, grpc_peer_has_answer, &q);
	grpc_peer_leave(&p);
	grpc_peer_leave(&q);
	end();
}
END_TEST

START_TEST(connections_have_a_limit)
{
	struct grpc_peer p[GRPC_CONNECTIONS_MAX], late;

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(p); i++) {
		join(&p[i], &watch);
		loop_until(base, grpc_peer_has_answer, &p[i]);
	}
	join(&late, &echo);
	for (int i = 0; i < 10; i++)
		loop_turn(base);
	ck_assert_uint_eq(late.call->n_body, 0);
	grpc_peer_leave(&p[0]);
	loop_until(base, grpc_peer_has_answer, &late);
	for (size_t i = 1; i < ARRAY_SIZE(p); i++)
		grpc_peer_leave(&p[i]);
	grpc_peer_leave(&late);
	end();
}
END_TEST

/* ---- our own client, in a process of its own ---- */

struct child {
	int fd; /* it ends when the child does */
	bool ended;
};

static void child_ended(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	((struct child *)arg)->ended = true;
}

static bool child_is_over(const void *arg)
{
	return ((const struct child *)arg)->ended;
}

static int call_echo(uid_t user)
{
	const struct grpc_request r = { "/t.S/Echo", (const uint8_t *)"ping", 4, 64, 60000 };
	auto_grpc_answer struct grpc_answer a = { .len = 0 };
	struct err e;

	/* The client asks for a server of root or its own user: as one of another user does not. */
	if (user && (setegid(user) || setreuid(user, 0) || seteuid(user)))
		return 3;
	if (grpc_call(AT, &r, ctx_mono_ms() + 60000, &a, &e))
		return e.code == ERR_AGAIN ? 2 : 4;
	return a.status.code == GRPC_OK && a.len == 4 && !memcmp(a.message, "ping", 4) ? 0 : 1;
}

/* The exit status of a child that calls as that user. */
static int call_as(uid_t user)
{
	int pipes[2], status;
	struct child c = { .ended = false };

	ck_assert_int_eq(pipe(pipes), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(pipes[0]);
		_exit(call_echo(user));
	}
	(void)close(pipes[1]);
	struct event *ev = event_new(base, pipes[0], EV_READ, child_ended, &c);
	ck_assert_int_eq(event_add(ev, NULL), 0);
	loop_until(base, child_is_over, &c);
	event_free(ev);
	(void)close(pipes[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WEXITSTATUS(status);
}

START_TEST(our_client_is_answered)
{
	begin();
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(call_as(0), 0);
	ck_assert_uint_eq(service.begun, 3);
	end();
}
END_TEST

/* The mode of the socket is not what protects the agent. */
START_TEST(another_user_is_not_heard)
{
	int rc;

	begin();
	ck_assert_int_eq(chmod("/mnt", 0777) | chmod(AT, 0777), 0);
	rc = call_as(65534);
	ck_assert_uint_eq(service.begun, 0);
	if (rc == 3)
		puts("SKIP: it needs root, to call as another user");
	else
		ck_assert_int_eq(rc, 2);
	ck_assert_int_eq(call_as(0), 0);
	end();
}
END_TEST

TEST_PROGRAM("railheadd/devices/grpc_server", a_stream_at_a_socket, a_large_message_arrives_whole,
	     a_client_that_vanishes, a_stream_that_is_reset,
	     a_connection_that_is_dropped_within_a_message, clients_that_say_goodbye,
	     a_client_of_another_protocol_is_left, connections_have_a_limit, our_client_is_answered,
	     another_user_is_not_heard)
