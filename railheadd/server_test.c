/* SPDX-License-Identifier: Apache-2.0 */
/* server_test.c: shows what the agent's socket does with requests that are wrong, late or too many.
 */
#include "railheadd/server.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"
#include "railheadd/socket.h"

struct bed {
	struct event_base *base;
	struct ctx ctx;
	struct server *server;
	struct server_request *waiting; /* of the call "wait" */
	unsigned calls, gone;
};

static void peer_gone(void *what)
{
	struct bed *b = what;

	b->gone++;
	b->waiting = NULL;
}

static void answer(void *arg, struct server_request *r, const struct agent_call *call)
{
	struct bed *b = arg;

	b->calls++;
	if (strcmp(call->call, "wait") == 0) {
		b->waiting = r;
		server_later(r, peer_gone, b);
	} else {
		server_answer(r, call->args);
	}
}

static struct bed bed_begin(void)
{
	struct bed b = { .base = loop_new(), .ctx = { .run_dir = testing_dir(), .log.fd = -1 } };

	return b;
}

static void bed_serve(struct bed *b)
{
	struct err e;

	ck_assert_msg(server_new(&(struct server_conf){ b->base, &b->ctx, answer, b }, &b->server,
				 &e) == 0,
		      "%s", e.msg);
}

static void bed_end(struct bed *b)
{
	server_free(b->server);
	loop_free(b->base);
}

static int connect_to(const struct bed *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/" AGENT_SOCKET, b->ctx.run_dir);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

struct reading {
	int fd;
	size_t len;
	bool ended;
	char text[4096];
};

static bool has_ended(const void *arg)
{
	return ((const struct reading *)arg)->ended;
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct reading *r = arg;
	ssize_t n = read(fd, r->text + r->len, sizeof(r->text) - r->len - 1);

	(void)what;
	if (n > 0)
		r->len += (size_t)n;
	else if (n == 0 || errno != EAGAIN)
		r->ended = true;
}

/* All that the agent sends until it closes the connection. */
static void read_all(struct bed *b, struct reading *r)
{
	struct event *ev = event_new(b->base, r->fd, EV_READ | EV_PERSIST, readable, r);

	ck_assert_int_eq(event_add(ev, NULL), 0);
	loop_until(b->base, has_ended, r);
	event_free(ev);
	(void)close(r->fd);
	r->text[r->len] = '\0';
}

static void ask(struct bed *b, const char *line, struct reading *r)
{
	*r = (struct reading){ .fd = connect_to(b) };
	ck_assert_int_eq(write(r->fd, line, strlen(line)), (ssize_t)strlen(line));
	read_all(b, r);
}

START_TEST(a_request_and_its_answer)
{
	struct bed b = bed_begin();
	struct reading r;
	struct stat st;

	bed_serve(&b);
	ask(&b, "{\"version\":1,\"call\":\"echo\",\"args\":{\"a\":1}}\n", &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"result\":{\"a\":1}}\n");
	ck_assert_int_eq(stat("/mnt/agent.sock", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	bed_end(&b);
	ck_assert_int_eq(stat("/mnt/agent.sock", &st), -1);
}
END_TEST

START_TEST(lines_that_are_no_request)
{
	static const char *const lines[] = { "\n", "x\n", "{\"version\":2,\"call\":\"echo\"}\n",
					     "{\"version\":1}\n" };
	struct bed b = bed_begin();

	bed_serve(&b);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct reading r;

		ask(&b, lines[i], &r);
		ck_assert_msg(strstr(r.text, "\"error\""), "%s: %s", lines[i], r.text);
	}
	ck_assert_uint_eq(b.calls, 0);
	bed_end(&b);
}
END_TEST

START_TEST(a_line_without_end)
{
	struct bed b = bed_begin();
	struct reading r;
	auto_free char *many = malloc(AGENT_REQUEST_MAX + 1);

	memset(many, 'x', AGENT_REQUEST_MAX);
	many[AGENT_REQUEST_MAX] = '\0';
	bed_serve(&b);
	ask(&b, many, &r);
	ck_assert_msg(strstr(r.text, "more than 65536 bytes"), "%s", r.text);
	bed_end(&b);
}
END_TEST

START_TEST(only_the_first_request_of_a_connection_counts)
{
	struct bed b = bed_begin();
	struct reading r;

	bed_serve(&b);
	ask(&b, "{\"version\":1,\"call\":\"echo\"}\n{\"version\":1,\"call\":\"echo\"}\n", &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"result\":{}}\n");
	ck_assert_uint_eq(b.calls, 1);
	bed_end(&b);
}
END_TEST

static bool is_waiting(const void *arg)
{
	return ((const struct bed *)arg)->waiting != NULL;
}

static bool is_gone(const void *arg)
{
	return ((const struct bed *)arg)->gone > 0;
}

static int begin_wait(struct bed *b)
{
	static const char line[] = "{\"version\":1,\"call\":\"wait\"}\n";
	int fd = connect_to(b);

	ck_assert_int_eq(write(fd, line, sizeof(line) - 1), (ssize_t)sizeof(line) - 1);
	loop_until(b->base, is_waiting, b);
	return fd;
}

START_TEST(a_peer_that_goes_ends_its_request)
{
	struct bed b = bed_begin();

	bed_serve(&b);
	(void)close(begin_wait(&b));
	loop_until(b.base, is_gone, &b);
	ck_assert_uint_eq(b.gone, 1);
	bed_end(&b);
	ck_assert_uint_eq(b.gone, 1);
}
END_TEST

START_TEST(an_answer_later)
{
	struct bed b = bed_begin();
	struct reading r = { 0 };
	struct err e;

	bed_serve(&b);
	r.fd = begin_wait(&b);
	err_set(&e, ERR_EXHAUSTED, 0, "full");
	server_refuse(b.waiting, &e);
	read_all(&b, &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"error\":{\"code\":101,\"message\":\"full\"}}\n");
	ck_assert_uint_eq(b.gone, 0);
	bed_end(&b);
}
END_TEST

START_TEST(the_end_of_the_server_ends_what_waits)
{
	struct bed b = bed_begin();
	int fd;

	bed_serve(&b);
	fd = begin_wait(&b);
	bed_end(&b);
	ck_assert_uint_eq(b.gone, 1);
	(void)close(fd);
}
END_TEST

/* A folder and a socket that are open by mistake: the mode is not what protects the agent. */
START_TEST(another_user_is_not_heard)
{
	static const char line[] = "{\"version\":1,\"call\":\"echo\"}\n";
	struct bed b = bed_begin();
	struct reading r;
	int status;

	if (geteuid() != 0)
		return;
	(void)signal(SIGPIPE, SIG_IGN); /* as in the agent */
	bed_serve(&b);
	ck_assert_int_eq(chmod(b.ctx.run_dir, 0777), 0);
	ck_assert_int_eq(chmod("/mnt/agent.sock", 0777), 0);
	pid_t pid = fork();
	if (pid == 0)
		_exit(setuid(65534) ||
		      write(connect_to(&b), line, sizeof(line) - 1) != (ssize_t)sizeof(line) - 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ask(&b, line, &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"result\":{}}\n");
	ck_assert_uint_eq(b.calls, 1);
	bed_end(&b);
}
END_TEST

START_TEST(one_agent_at_a_time)
{
	struct bed b = bed_begin();
	struct err e;
	int first = socket_lock(&b.ctx, &e);

	ck_assert_int_ge(first, 0);
	ck_assert_int_eq(socket_lock(&b.ctx, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	(void)close(first);
	first = socket_lock(&b.ctx, &e);
	ck_assert_int_ge(first, 0);
	(void)close(first);
	bed_end(&b);
}
END_TEST

START_TEST(a_socket_of_a_dead_agent_is_replaced)
{
	struct bed b = bed_begin();
	struct reading r;

	testing_file("/mnt/agent.sock", 0600, "left");
	bed_serve(&b);
	ask(&b, "{\"version\":1,\"call\":\"echo\"}\n", &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"result\":{}}\n");
	bed_end(&b);
}
END_TEST

START_TEST(connections_have_a_limit)
{
	struct bed b = bed_begin();
	int fds[SERVER_CONNECTIONS_MAX];
	struct reading r = { 0 };

	bed_serve(&b);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = connect_to(&b);
		loop_turn(b.base);
	}
	r.fd = connect_to(&b);
	read_all(&b, &r);
	ck_assert_str_eq(r.text, "");
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		(void)close(fds[i]);
	loop_turn(b.base);
	ask(&b, "{\"version\":1,\"call\":\"echo\"}\n", &r);
	ck_assert_str_eq(r.text, "{\"version\":1,\"result\":{}}\n");
	bed_end(&b);
}
END_TEST

TEST_PROGRAM("server", a_request_and_its_answer, lines_that_are_no_request, a_line_without_end,
	     only_the_first_request_of_a_connection_counts, a_peer_that_goes_ends_its_request,
	     an_answer_later, the_end_of_the_server_ends_what_waits, another_user_is_not_heard,
	     one_agent_at_a_time, a_socket_of_a_dead_agent_is_replaced, connections_have_a_limit)
