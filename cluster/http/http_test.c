/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_test.c: the client against a server in the same loop: answers, streams, limits, deadlines,
 * cancelling, and requests that must not be sent twice.
 */
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <sys/socket.h>

#include "cluster/http/http.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

struct seen {
	int done, end, status;
	unsigned retry_ms;
	char body[512], lines[512], why[256];
	struct http_call *call;
	int cancel_after; /* lines */
	bool free_client;
	bool finish; /* the server sends the rest once the first line is here */
};

static struct event_base *base;
static struct http *client;
static unsigned short port;
static int requests, connections;
static struct evhttp_request *stream;
static struct event *late; /* begins with the headers of a stream; NULL: none is wanted */

/* ---- the server ---- */

static void reply(struct evhttp_request *req, int status, const char *text)
{
	struct evbuffer *out = evbuffer_new();

	evbuffer_add(out, text, strlen(text));
	evhttp_send_reply(req, status, "x", out);
	evbuffer_free(out);
}

static void on_echo(struct evhttp_request *req, void *arg)
{
	struct evbuffer *in = evhttp_request_get_input_buffer(req);
	const char *header = evhttp_find_header(evhttp_request_get_input_headers(req), "X-Test");
	char text[256] = "";
	size_t len = evbuffer_get_length(in);

	(void)arg;
	requests++;
	(void)snprintf(text, sizeof(text), "%d %s ", (int)evhttp_request_get_command(req),
		       header ? header : "-");
	ck_assert_uint_lt(strlen(text) + len, sizeof(text));
	(void)evbuffer_copyout(in, text + strlen(text), len);
	reply(req, 200, text);
}

static void on_busy(struct evhttp_request *req, void *arg)
{
	(void)arg;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After", "7");
	reply(req, 429, "slow down");
}

static void on_moved(struct evhttp_request *req, void *arg)
{
	(void)arg;
	evhttp_add_header(evhttp_request_get_output_headers(req), "Location", "/echo");
	reply(req, 302, "moved");
}

/* The request was read, and the connection breaks. */
static void on_die(struct evhttp_request *req, void *arg)
{
	struct bufferevent *bev =
		evhttp_connection_get_bufferevent(evhttp_request_get_connection(req));

	(void)arg;
	requests++;
	(void)shutdown(bufferevent_getfd(bev), SHUT_RDWR);
}

static void on_silence(struct evhttp_request *req, void *arg)
{
	(void)req;
	(void)arg;
	requests++;
}

static void push(const char *text)
{
	struct evbuffer *out = evbuffer_new();

	evbuffer_add(out, text, strlen(text));
	evhttp_send_reply_chunk(stream, out);
	evbuffer_free(out);
}

static void on_headers(struct evhttp_request *req, void *arg)
{
	struct timeval silence = { 1, 500000 };

	(void)arg;
	stream = req;
	evhttp_send_reply_start(req, 200, "OK");
	ck_assert_int_eq(evtimer_add(late, &silence), 0);
}

static void on_stream(struct evhttp_request *req, void *arg)
{
	(void)arg;
	stream = req;
	evhttp_send_reply_start(req, 200, "OK");
	push("one\ntw");
}

static void on_large(struct evhttp_request *req, void *arg)
{
	(void)arg;
	stream = req;
	evhttp_send_reply_start(req, 200, "OK");
	for (int i = 0; i < 1000; i++)
		push("0123456789");
	push("\n");
	evhttp_send_reply_end(req);
}

static struct bufferevent *on_connection(struct event_base *b, void *arg)
{
	(void)arg;
	connections++;
	return bufferevent_socket_new(b, -1, 0);
}

static struct evhttp *server_new(void)
{
	struct evhttp *server = evhttp_new(base);
	struct evhttp_bound_socket *bound;
	struct sockaddr_in sa = { 0 };
	socklen_t len = sizeof(sa);

	evhttp_set_allowed_methods(server, 0xffff);
	evhttp_set_bevcb(server, on_connection, NULL);
	(void)evhttp_set_cb(server, "/echo", on_echo, NULL);
	(void)evhttp_set_cb(server, "/busy", on_busy, NULL);
	(void)evhttp_set_cb(server, "/moved", on_moved, NULL);
	(void)evhttp_set_cb(server, "/die", on_die, NULL);
	(void)evhttp_set_cb(server, "/silence", on_silence, NULL);
	(void)evhttp_set_cb(server, "/stream", on_stream, NULL);
	(void)evhttp_set_cb(server, "/headers", on_headers, NULL);
	(void)evhttp_set_cb(server, "/large", on_large, NULL);
	bound = evhttp_bind_socket_with_handle(server, "127.0.0.1", 0);
	ck_assert_ptr_nonnull(bound);
	ck_assert_int_eq(
		getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&sa, &len), 0);
	port = ntohs(sa.sin_port);
	return server;
}

/* ---- the client ---- */

static void begin(void)
{
	struct err e;

	base = event_base_new();
	ck_assert_int_eq(http_new(base, false, &client, &e), 0);
	(void)server_new();
}

static void send_rest(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	push("o\n\nthree\nrest");
	evhttp_send_reply_end(stream);
	(void)arg;
}

static void on_line(void *arg, const char *line, size_t len)
{
	struct seen *s = arg;
	char text[64];

	(void)snprintf(text, sizeof(text), "%.*s|", (int)len, line);
	testing_append(s->lines, sizeof(s->lines), text);
	if (s->finish)
		(void)event_base_once(base, -1, EV_TIMEOUT, send_rest, NULL, NULL);
	s->finish = false;
	if (s->cancel_after && !--s->cancel_after) {
		http_cancel(s->call);
		(void)event_base_loopbreak(base);
	}
	if (s->free_client)
		http_free(TAKE_PTR(client));
	if (s->free_client)
		(void)event_base_loopbreak(base);
}

static void on_done(void *arg, const struct http_answer *a)
{
	struct seen *s = arg;

	s->done++;
	s->end = (int)a->end;
	s->status = a->status;
	s->retry_ms = a->retry_ms;
	(void)snprintf(s->body, sizeof(s->body), "%.100s", a->body);
	(void)snprintf(s->why, sizeof(s->why), "%.200s", a->err.msg);
	(void)event_base_loopbreak(base);
}

static void start_at(struct seen *s, const char *method, const char *url, const char *body)
{
	static const char *const headers[] = { "X-Test: yes", NULL };
	const struct http_request r = { .method = method,
					.url = url,
					.headers = headers,
					.body = body,
					.body_len = body ? strlen(body) : 0,
					.connect_ms = 60000,
					.timeout_ms = 60000,
					.max_body = 400 };
	const struct http_fns fns = { strstr(url, "stream") || strstr(url, "lines") ? on_line
										    : NULL,
				      on_done };

	s->call = http_start(client, &r, &fns, s);
	ck_assert_ptr_nonnull(s->call);
	ck_assert_int_eq(s->done, 0);
}

static void start(struct seen *s, const char *method, const char *path, const char *body)
{
	char url[128];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	start_at(s, method, url, body);
}

static void run(struct seen *s, const char *method, const char *path, const char *body)
{
	*s = (struct seen){ 0 };
	start(s, method, path, body);
	(void)event_base_dispatch(base);
}

START_TEST(one_connection_serves_every_method_and_status)
{
	struct seen s;

	begin();
	run(&s, "GET", "/echo", NULL);
	ck_assert_int_eq(s.end, HTTP_ANSWERED);
	ck_assert_str_eq(s.body, "1 yes ");
	run(&s, "POST", "/echo", "text");
	ck_assert_str_eq(s.body, "2 yes text");
	run(&s, "DELETE", "/echo", "why");
	ck_assert_str_eq(s.body, "16 yes why");
	run(&s, "PUT", "/echo", "");
	ck_assert_str_eq(s.body, "8 yes ");
	run(&s, "GET", "/nowhere", NULL);
	ck_assert_int_eq(s.end, HTTP_ANSWERED);
	ck_assert_int_eq(s.status, 404);
	ck_assert_int_eq(connections, 1);
	run(&s, "GET", "/busy", NULL);
	ck_assert_int_eq(s.status, 429);
	ck_assert_uint_eq(s.retry_ms, 7000);
	ck_assert_str_eq(s.body, "slow down");
	run(&s, "GET", "/moved", NULL);
	ck_assert_int_eq(s.status, 302);
	ck_assert_int_eq(requests, 4);
	http_free(client);
}
END_TEST

#define MANY 64

/* 64 at once, twice: TLS makes a new connection dear. */
START_TEST(connections_are_kept)
{
	static struct seen s[MANY];

	begin();
	for (int round = 0; round < 2; round++) {
		memset(s, 0, sizeof(s));
		for (int i = 0; i < MANY; i++)
			start(&s[i], "GET", "/echo", NULL);
		for (int i = 0; i < MANY; i++)
			while (!s[i].done)
				(void)event_base_dispatch(base);
	}
	ck_assert_int_eq(requests, 2 * MANY);
	ck_assert_int_eq(connections, MANY);
	http_free(client);
}
END_TEST

START_TEST(a_write_is_not_sent_twice)
{
	struct seen s;

	begin();
	run(&s, "POST", "/echo", "first");
	ck_assert_int_eq(s.end, HTTP_ANSWERED);
	requests = 0;
	run(&s, "POST", "/die", "second");
	ck_assert_int_eq(s.end, HTTP_LOST);
	ck_assert_int_eq(requests, 1);
	ck_assert_msg(strstr(s.why, "POST http://127.0.0.1:") == s.why, "%s", s.why);
	http_free(client);
}
END_TEST

START_TEST(not_sent)
{
	struct seen s = { 0 };
	char url[64];

	begin();
	start_at(&s, "POST", "http://127.0.0.1:1/x", "text");
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_NOT_SENT);
	s = (struct seen){ 0 };
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%d/echo", port);
	start_at(&s, "POST", url, "text");
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_NOT_SENT);
	ck_assert_int_eq(requests, 0);
	s = (struct seen){ 0 };
	start_at(&s, "GET", "file:///etc/passwd", NULL);
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_NOT_SENT);
	ck_assert_str_eq(s.body, "");
	http_free(client);
}
END_TEST

static void start_short(struct seen *s, const char *path, unsigned timeout_ms)
{
	char url[64];
	const struct http_request r = { .method = "GET",
					.url = url,
					.connect_ms = 60000,
					.timeout_ms = timeout_ms,
					.max_body = 400 };
	const struct http_fns fns = { on_line, on_done };

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", port, path);
	s->call = http_start(client, &r, &fns, s);
}

START_TEST(silence_ends)
{
	struct seen s = { 0 };

	begin();
	start_short(&s, "/silence", 50);
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_LOST);
	ck_assert_msg(strstr(s.why, ": no answer within 50 ms"), "%s", s.why);
	s = (struct seen){ 0 };
	start_short(&s, "/stream", 50);
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_LOST);
	ck_assert_str_eq(s.lines, "one|");
	http_free(client);
}
END_TEST

static void push_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)arg;
	push("late\n");
	evhttp_send_reply_end(stream);
}

/* A watch of a server on which nothing happens: its headers come at once, its first line later. */
START_TEST(a_stream_may_begin_in_silence)
{
	struct http_request r = { .method = "GET",
				  .connect_ms = 60000,
				  .timeout_ms = 1000,
				  .idle_ms = 60000,
				  .max_body = 400 };
	const struct http_fns fns = { on_line, on_done };
	struct seen s = { 0 };
	char url[64];

	begin();
	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/headers", port);
	r.url = url;
	late = evtimer_new(base, push_late, NULL);
	s.call = http_start(client, &r, &fns, &s);
	(void)event_base_dispatch(base);
	ck_assert_msg(s.end == HTTP_ANSWERED, "%s", s.why);
	ck_assert_str_eq(s.lines, "late|");
	event_free(late);
	http_free(client);
}
END_TEST

START_TEST(streams_lines)
{
	struct seen s = { .finish = true };

	begin();
	start(&s, "GET", "/stream", NULL);
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.end, HTTP_ANSWERED);
	ck_assert_str_eq(s.lines, "one|two|three|");
	ck_assert_str_eq(s.body, "");
	http_free(client);
}
END_TEST

START_TEST(other_status_is_no_stream)
{
	struct seen s = { 0 };

	begin();
	start(&s, "GET", "/nostream", NULL);
	(void)event_base_dispatch(base);
	ck_assert_int_eq(s.status, 404);
	ck_assert_str_eq(s.lines, "");
	ck_assert_msg(strstr(s.body, "404"), "%s", s.body);
	http_free(client);
}
END_TEST

START_TEST(an_answer_that_is_too_large_ends_the_call)
{
	struct seen s;

	begin();
	run(&s, "GET", "/large", NULL);
	ck_assert_int_eq(s.end, HTTP_TOO_LARGE);
	run(&s, "GET", "/large?lines", NULL);
	ck_assert_int_eq(s.end, HTTP_TOO_LARGE);
	ck_assert_str_eq(s.lines, "");
	http_free(client);
}
END_TEST

START_TEST(cancelled_in_a_callback)
{
	struct seen s = { .cancel_after = 1 }, other = { 0 };

	begin();
	start(&s, "GET", "/stream", NULL);
	(void)event_base_dispatch(base);
	ck_assert_str_eq(s.lines, "one|");
	start(&other, "GET", "/silence", NULL);
	http_cancel(other.call);
	run(&other, "GET", "/echo", NULL);
	ck_assert_int_eq(other.end, HTTP_ANSWERED);
	ck_assert_int_eq(s.done, 0);
	http_free(client);
}
END_TEST

START_TEST(freed_in_a_callback)
{
	struct seen s = { .free_client = true }, other = { 0 };

	begin();
	start(&other, "GET", "/silence", NULL);
	start(&s, "GET", "/stream", NULL);
	(void)event_base_dispatch(base);
	ck_assert_str_eq(s.lines, "one|");
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
	ck_assert_int_eq(s.done + other.done, 0);
	ck_assert_ptr_null(client);
}
END_TEST

static int start_one(void *arg, struct err *e)
{
	struct http *h = NULL;
	const struct http_tls tls = { "ca", "cert", "key" };
	const struct http_request r = {
		.method = "POST", .url = "http://127.0.0.1:1/", .body = "x", .body_len = 1
	};
	const struct http_fns fns = { NULL, on_done };
	int rc = http_new(base, true, &h, e);

	rc = rc || http_set_tls(h, &tls, e) || !http_start(h, &r, &fns, arg) ? -1 : 0;
	http_free(h);
	return rc ? err_nomem(e) : 0;
}

START_TEST(no_memory)
{
	struct seen s = { 0 };

	base = event_base_new();
	ck_assert_str_eq(alloc_fail_each(start_one, &s), "ok");
}
END_TEST

TEST_PROGRAM("http", one_connection_serves_every_method_and_status, connections_are_kept,
	     a_write_is_not_sent_twice, not_sent, silence_ends, a_stream_may_begin_in_silence,
	     streams_lines, other_status_is_no_stream, an_answer_that_is_too_large_ends_the_call,
	     cancelled_in_a_callback, freed_in_a_callback, no_memory)
