/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: connections of the agent's socket, each with one line in and one line out. */
#include "railheadd/server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "railheadd/socket.h"

#define READ_LIMIT 10 /* seconds for a whole request, and for a peer that does not read */

struct server_request {
	TAILQ_ENTRY(server_request) all;
	struct server *server;
	struct bufferevent *io;
	bool asked;               /* fn has the request */
	void (*gone)(void *what); /* NULL: there is nothing to end */
	void *what;
};
TAILQ_HEAD(server_requests, server_request);

struct server {
	struct server_conf conf;
	struct agent_socket at;
	struct evconnlistener *listener;
	struct server_requests requests;
	unsigned n;
};

static void close_request(struct server_request *r)
{
	TAILQ_REMOVE(&r->server->requests, r, all);
	r->server->n--;
	if (r->gone)
		r->gone(r->what);
	bufferevent_free(r->io);
	free(r);
}

/* ---- the answer ---- */

static void server_written(struct bufferevent *io, void *arg)
{
	(void)io;
	close_request(arg);
}

static void server_event_of_peer(struct bufferevent *io, short what, void *arg)
{
	(void)io;
	(void)what;
	close_request(arg);
}

static void server_send_line(struct server_request *r, char *line)
{
	const struct timeval limit = { .tv_sec = READ_LIMIT };

	r->gone = NULL;
	bufferevent_setcb(r->io, NULL, server_written, server_event_of_peer, r);
	(void)bufferevent_set_timeouts(r->io, &limit, &limit);
	/* Without memory the peer sees the end of the connection, and asks again. */
	if (!line || bufferevent_write(r->io, line, strlen(line)))
		close_request(r);
	free(line);
}

void server_answer(struct server_request *r, const struct json *result)
{
	server_send_line(r, agent_wire_result(result));
}

void server_refuse(struct server_request *r, const struct err *why)
{
	server_refuse_as(r, why, NULL);
}

void server_refuse_as(struct server_request *r, const struct err *why, const char *identity)
{
	server_send_line(r, agent_wire_error(why, identity));
}

void server_later(struct server_request *r, void (*gone)(void *what), void *what)
{
	r->gone = gone;
	r->what = what;
}

static void server_done(void *arg, const struct json *answer, const struct err *why)
{
	if (why)
		server_refuse(arg, why);
	else
		server_answer(arg, answer);
}

struct ask_end server_end(struct server_request *r)
{
	return (struct ask_end){ server_done, r };
}

static void server_forget(void *what)
{
	ask_cancel(what);
}

void server_await(struct server_request *r, struct ask *a, const struct err *why)
{
	if (a)
		server_later(r, server_forget, a);
	else
		server_refuse(r, why);
}

/* ---- the request ---- */

static void server_ask(struct server_request *r, const char *line, size_t len)
{
	auto_json struct json *tree = NULL;
	struct agent_call call;
	struct err e;

	r->asked = true;
	/* How long an answer takes is the matter of who answers. */
	(void)bufferevent_set_timeouts(r->io, NULL, NULL);
	if (agent_wire_read_request(line, len, &tree, &call, &e))
		server_refuse(r, &e);
	else
		r->server->conf.fn(r->server->conf.arg, r, &call);
}

static void server_readable(struct bufferevent *io, void *arg)
{
	struct server_request *r = arg;
	struct evbuffer *in = bufferevent_get_input(io);
	size_t len = 0;
	struct err e;

	if (r->asked)
		return; /* what follows the request is not read */
	auto_free char *line = evbuffer_readln(in, &len, EVBUFFER_EOL_LF);
	if (line && len < AGENT_REQUEST_MAX) {
		server_ask(r, line, len);
	} else if (line || evbuffer_get_length(in) >= AGENT_REQUEST_MAX) {
		r->asked = true;
		err_set(&e, ERR_DECODE, 0, "request: more than %d bytes", AGENT_REQUEST_MAX);
		server_refuse(r, &e);
	}
}

static void server_accepted(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *from,
			    int len, void *arg)
{
	const struct timeval limit = { .tv_sec = READ_LIMIT };
	struct server *s = arg;
	struct server_request *r = NULL;

	(void)from;
	(void)len;
	if (s->n < SERVER_CONNECTIONS_MAX && socket_peer_is_root(fd))
		r = calloc(1, sizeof(*r));
	if (r)
		r->io = bufferevent_socket_new(evconnlistener_get_base(l), fd,
					       BEV_OPT_CLOSE_ON_FREE);
	if (!r || !r->io) {
		free(r);
		(void)close(fd);
		return;
	}
	r->server = s;
	TAILQ_INSERT_TAIL(&s->requests, r, all);
	s->n++;
	bufferevent_setcb(r->io, server_readable, NULL, server_event_of_peer, r);
	bufferevent_setwatermark(r->io, EV_READ, 0, AGENT_REQUEST_MAX);
	(void)bufferevent_set_timeouts(r->io, &limit, NULL);
	(void)bufferevent_enable(r->io, EV_READ | EV_WRITE);
}

/* No descriptor or no memory: those that wait are accepted when others have gone. */
static void accept_failed(struct evconnlistener *l, void *arg)
{
	const struct server *s = arg;

	(void)l;
	log_warn(&s->conf.ctx->log, "%s: accept: %s", s->at.path, strerror(errno));
}

/* ---- begin and end ---- */

int server_new(const struct server_conf *conf, struct server **out, struct err *e)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->conf = *conf;
	TAILQ_INIT(&s->requests);
	s->at = (struct agent_socket){ .fd = -1 };
	if (socket_open(conf->ctx, &s->at, e)) {
		free(s);
		return -1;
	}
	s->listener = evconnlistener_new(conf->base, server_accepted, s, LEV_OPT_CLOSE_ON_EXEC, 0,
					 s->at.fd);
	if (!s->listener) {
		server_free(s);
		return err_nomem(e);
	}
	evconnlistener_set_error_cb(s->listener, accept_failed);
	*out = s;
	return 0;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	while (!TAILQ_EMPTY(&s->requests))
		close_request(TAILQ_FIRST(&s->requests));
	if (s->listener)
		evconnlistener_free(s->listener);
	socket_close(&s->at);
	free(s);
}
