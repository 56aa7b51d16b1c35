/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_server.c: moves bytes between the sessions of clients and their sockets. */
#include "railheadd/devices/grpc_server.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "lib/sys/listen.h"
#include "lib/sys/timer.h"

#define READ_MAX  65536 /* bytes of a client that wait to be looked at */
#define WRITE_MAX 65536 /* bytes for a client that wait; a session gives no more until it reads */
#define STUCK_S   60    /* a client that has not read for so long is gone */

struct connection {
	TAILQ_ENTRY(connection) all;
	struct grpc_server *server;
	struct grpc_session *session;
	struct bufferevent *io;
	struct timer *flush; /* the session has bytes; never within one of its calls */
};
TAILQ_HEAD(connections, connection);

struct grpc_server {
	struct grpc_server_conf conf;
	struct evconnlistener *listener;
	struct timer *retry; /* after a failed accept() */
	struct connections all;
	unsigned n;
};

/* Connections beyond the limit wait in the backlog of the kernel. */
static void accept_more(struct grpc_server *s)
{
	if (s->n < GRPC_CONNECTIONS_MAX)
		(void)evconnlistener_enable(s->listener);
	else
		(void)evconnlistener_disable(s->listener);
}

static void free_connection(struct connection *c)
{
	grpc_session_free(c->session);
	timer_free(c->flush);
	if (c->io)
		bufferevent_free(c->io);
	free(c);
}

static void close_connection(struct connection *c)
{
	struct grpc_server *s = c->server;

	TAILQ_REMOVE(&s->all, c, all);
	s->n--;
	free_connection(c);
	accept_more(s);
}

static void grpc_server_fail(struct connection *c, const struct err *e)
{
	log_warn(&c->server->conf.ctx->log, "%s: %s", c->server->conf.path, e->msg);
	close_connection(c);
}

static void flush(void *arg)
{
	struct connection *c = arg;
	struct evbuffer *out = bufferevent_get_output(c->io);
	const uint8_t *bytes;
	size_t len = 1;
	struct err e;

	while (len && evbuffer_get_length(out) < WRITE_MAX) {
		if (grpc_session_out(c->session, &bytes, &len, &e)) {
			grpc_server_fail(c, &e);
			return;
		}
		if (len && evbuffer_add(out, bytes, len)) {
			(void)err_nomem(&e);
			grpc_server_fail(c, &e);
			return;
		}
	}
	if (!evbuffer_get_length(out) && grpc_session_is_over(c->session))
		close_connection(c);
}

static void wake(void *waker)
{
	struct connection *c = waker;

	timer_now(c->flush);
}

static void grpc_server_written(struct bufferevent *io, void *arg)
{
	(void)io;
	flush(arg);
}

static void grpc_server_readable(struct bufferevent *io, void *arg)
{
	struct connection *c = arg;
	struct evbuffer *in = bufferevent_get_input(io);
	size_t len = evbuffer_get_length(in);
	const uint8_t *bytes = evbuffer_pullup(in, -1);
	struct err e;

	if (!bytes && len)
		(void)err_nomem(&e);
	if ((!bytes && len) || grpc_session_in(c->session, bytes, len, &e)) {
		grpc_server_fail(c, &e);
		return;
	}
	(void)evbuffer_drain(in, len);
	flush(c);
}

/* It has closed, or does not read. */
static void grpc_server_event_of_peer(struct bufferevent *io, short what, void *arg)
{
	(void)io;
	(void)what;
	close_connection(arg);
}

static struct connection *new_connection(struct grpc_server *s, int fd)
{
	struct connection *c = calloc(1, sizeof(*c));
	const struct grpc_session_conf conf = { s->conf.service, s->conf.arg, wake, c };
	struct err e;

	if (!c)
		return NULL;
	c->server = s;
	c->flush = timer_new(s->conf.base, flush, c);
	if (c->flush && grpc_session_new(&conf, &c->session, &e) == 0)
		c->io = bufferevent_socket_new(s->conf.base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (c->io)
		return c;
	free_connection(c);
	return NULL;
}

static void grpc_server_accepted(struct evconnlistener *l, evutil_socket_t fd,
				 struct sockaddr *from, int len, void *arg)
{
	const struct timeval stuck = { .tv_sec = STUCK_S };
	struct grpc_server *s = arg;
	struct err e;
	struct connection *c = peer_check(fd, &e) ? NULL : new_connection(s, fd);

	(void)l;
	(void)from;
	(void)len;
	if (!c) {
		(void)close(fd);
		return;
	}
	TAILQ_INSERT_TAIL(&s->all, c, all);
	s->n++;
	accept_more(s);
	bufferevent_setcb(c->io, grpc_server_readable, grpc_server_written,
			  grpc_server_event_of_peer, c);
	bufferevent_setwatermark(c->io, EV_READ, 0, READ_MAX);
	(void)bufferevent_set_timeouts(c->io, NULL, &stuck);
	(void)bufferevent_enable(c->io, EV_READ | EV_WRITE);
	flush(c);
}

/* Without a descriptor left, accept() would fail again at once. */
static void not_accepted(struct evconnlistener *l, void *arg)
{
	const struct grpc_server *s = arg;

	log_warn(&s->conf.ctx->log, "%s: accept: %s", s->conf.path, strerror(errno));
	(void)evconnlistener_disable(l);
	(void)timer_arm(s->retry, 1000);
}

static void grpc_server_retry(void *arg)
{
	accept_more(arg);
}

int grpc_server_new(const struct grpc_server_conf *conf, int fd, struct grpc_server **out,
		    struct err *e)
{
	struct grpc_server *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->conf = *conf;
	TAILQ_INIT(&s->all);
	s->retry = timer_new(conf->base, grpc_server_retry, s);
	if (s->retry)
		s->listener = evconnlistener_new(conf->base, grpc_server_accepted, s,
						 LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (!s->listener) {
		grpc_server_free(s);
		return err_nomem(e);
	}
	evconnlistener_set_error_cb(s->listener, not_accepted);
	*out = s;
	return 0;
}

/* The loop sends nothing any more. Bytes for which the socket has no room are lost. */
static void send_rest(struct connection *c)
{
	struct evbuffer *out = bufferevent_get_output(c->io);
	const uint8_t *bytes;
	size_t len = 1;
	struct err e;

	while (len && grpc_session_out(c->session, &bytes, &len, &e) == 0) {
		if (len && evbuffer_add(out, bytes, len))
			return;
	}
	len = evbuffer_get_length(out);
	bytes = evbuffer_pullup(out, -1);
	if (bytes)
		(void)!send(bufferevent_getfd(c->io), bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void grpc_server_free(struct grpc_server *s)
{
	if (!s)
		return;
	while (!TAILQ_EMPTY(&s->all)) {
		struct connection *c = TAILQ_FIRST(&s->all);

		send_rest(c);
		TAILQ_REMOVE(&s->all, c, all);
		free_connection(c);
	}
	timer_free(s->retry);
	if (s->listener)
		evconnlistener_free(s->listener);
	free(s);
}

int grpc_listen(const char *folder, const char *name, struct grpc_server_conf *conf,
		struct grpc_listener *out, struct err *e)
{
	if (plugin_socket_open(folder, name, &out->socket, e))
		return -1;
	conf->path = out->socket.path;
	if (grpc_server_new(conf, out->socket.fd, &out->server, e) == 0)
		return 0;
	grpc_unlisten(out);
	return -1;
}

void grpc_unlisten(struct grpc_listener *l)
{
	grpc_server_free(l->server);
	l->server = NULL;
	plugin_socket_close(&l->socket);
}

void grpc_answer(struct grpc_call *call, struct proto_bytes m)
{
	auto_free uint8_t *data = m.data;
	struct err e;

	if (data) {
		grpc_call_answer(call, data, m.len);
		return;
	}
	(void)err_nomem(&e);
	grpc_call_refuse(call, &e);
}
