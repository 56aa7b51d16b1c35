/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c: one request and one answer for each connection, and a limit of connections. */
#include "railheadd/metrics/listener.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "railheadd/metrics/bind.h"
#include "railheadd/metrics/exposition.h"
#include "railheadd/metrics/scrape.h"

#define LIMIT_S 10

struct connection {
	TAILQ_ENTRY(connection) all;
	struct listener *listener;
	struct bufferevent *io;
};
TAILQ_HEAD(connections, connection);

struct listener {
	struct listener_conf conf;
	struct evconnlistener *at[2]; /* the unix socket, the port; NULL: none */
	char path[BIND_PATH_LEN];     /* "": there is no socket yet */
	struct connections all;
	unsigned n;
};

/* Connections beyond the limit wait in the backlog of the kernel. */
static void accept_more(struct listener *l)
{
	for (size_t i = 0; i < ARRAY_SIZE(l->at); i++) {
		if (l->at[i] && l->n < LISTENER_CONNECTIONS_MAX)
			(void)evconnlistener_enable(l->at[i]);
		else if (l->at[i])
			(void)evconnlistener_disable(l->at[i]);
	}
}

static void close_connection(struct connection *c)
{
	struct listener *l = c->listener;

	TAILQ_REMOVE(&l->all, c, all);
	l->n--;
	bufferevent_free(c->io);
	free(c);
	accept_more(l);
}

/* ---- one scrape ---- */

static void written(struct bufferevent *io, void *arg)
{
	(void)io;
	close_connection(arg);
}

static void event_of_peer(struct bufferevent *io, short what, void *arg)
{
	(void)io;
	(void)what;
	close_connection(arg);
}

static const char *reason(unsigned status)
{
	return status == 200   ? "OK"
	       : status == 400 ? "Bad Request"
	       : status == 404 ? "Not Found"
	       : status == 405 ? "Method Not Allowed"
			       : "Service Unavailable";
}

static void answer(struct connection *c, struct scrape s)
{
	const struct listener *l = c->listener;
	struct evbuffer *out = bufferevent_get_output(c->io);
	auto_free char *text = NULL;
	struct err e;

	if (s.status == 200)
		text = l->conf.fn(l->conf.arg, s.open, &e);
	if (s.status == 200 && !text) {
		s.status = 503;
		log_warn(&l->conf.ctx->log, "metrics: %s", e.msg);
	}
	bufferevent_setcb(c->io, NULL, written, event_of_peer, c);
	if (evbuffer_add_printf(out,
				"HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
				"Connection: close\r\n\r\n",
				s.status, reason(s.status),
				!text    ? "text/plain"
				: s.open ? EXPOSITION_OPEN
					 : EXPOSITION_OLDER,
				text ? strlen(text) : 0) < 0 ||
	    (text && evbuffer_add(out, text, strlen(text))))
		close_connection(c);
}

static void readable(struct bufferevent *io, void *arg)
{
	struct connection *c = arg;
	struct evbuffer *in = bufferevent_get_input(io);
	struct evbuffer_ptr end = evbuffer_search(in, "\r\n\r\n", 4, NULL);
	char text[SCRAPE_REQUEST_MAX + 1];
	ev_ssize_t n;

	if (end.pos < 0 && evbuffer_get_length(in) < SCRAPE_REQUEST_MAX)
		return;
	(void)bufferevent_disable(io, EV_READ);
	n = evbuffer_remove(in, text,
			    end.pos < 0 || end.pos > SCRAPE_REQUEST_MAX ? 0 : (size_t)end.pos);
	text[n > 0 ? n : 0] = '\0';
	answer(c, scrape_parse(text));
}

static void accepted(struct evconnlistener *from, evutil_socket_t fd, struct sockaddr *peer,
		     int len, void *arg)
{
	const struct timeval limit = { .tv_sec = LIMIT_S };
	struct listener *l = arg;
	struct connection *c = calloc(1, sizeof(*c));

	(void)peer;
	(void)len;
	if (c)
		c->io = bufferevent_socket_new(evconnlistener_get_base(from), fd,
					       BEV_OPT_CLOSE_ON_FREE);
	if (!c || !c->io) {
		free(c);
		(void)close(fd);
		return;
	}
	c->listener = l;
	TAILQ_INSERT_TAIL(&l->all, c, all);
	l->n++;
	accept_more(l);
	bufferevent_setcb(c->io, readable, NULL, event_of_peer, c);
	bufferevent_setwatermark(c->io, EV_READ, 0, SCRAPE_REQUEST_MAX);
	(void)bufferevent_set_timeouts(c->io, &limit, &limit);
	(void)bufferevent_enable(c->io, EV_READ | EV_WRITE);
}

/* ---- begin and end ---- */

static int listen_on(struct listener *l, size_t which, int fd, struct err *e)
{
	if (fd < 0)
		return -1;
	l->at[which] = evconnlistener_new(l->conf.base, accepted, l,
					  LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
	if (l->at[which])
		return 0;
	(void)close(fd);
	return err_nomem(e);
}

int listener_new(const struct listener_conf *conf, struct listener **out, struct err *e)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (!l)
		return err_nomem(e);
	l->conf = *conf;
	TAILQ_INIT(&l->all);
	if (listen_on(l, 0, bind_socket(conf->ctx, l->path, e), e) ||
	    (conf->port && listen_on(l, 1, bind_port(conf->port, e), e))) {
		listener_free(l);
		return -1;
	}
	*out = l;
	return 0;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	while (!TAILQ_EMPTY(&l->all))
		close_connection(TAILQ_FIRST(&l->all));
	for (size_t i = 0; i < ARRAY_SIZE(l->at); i++) {
		if (l->at[i])
			evconnlistener_free(l->at[i]);
	}
	if (*l->path)
		(void)unlink(l->path);
	free(l);
}
