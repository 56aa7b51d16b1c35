/* SPDX-License-Identifier: Apache-2.0 */
/* listener.c: one request and one answer for each connection, and a limit of connections. */
#include "railheadd/metrics/listener.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <errno.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "lib/sys/listen.h"
#include "lib/sys/timer.h"
#include "railheadd/metrics/exposition.h"
#include "railheadd/metrics/scrape.h"

#define LIMIT_S 10
#define SOCKET  "metrics.sock" /* in the folder of what lives as long as the boot */

/* Those who hold all connections of the port do not hinder who asks at the socket. */
struct gate {
	struct listener *listener;
	struct evconnlistener *at; /* NULL: it is not asked for */
	struct timer *retry;       /* after a failed accept() */
	unsigned n;                /* its connections */
};

struct connection {
	TAILQ_ENTRY(connection) all;
	struct gate *gate;
	struct bufferevent *io;
	struct timer *limit; /* for all of it: a client may send a byte from time to time */
	struct scrape scrape;
	bool waits; /* for what must happen before the answer */
};
TAILQ_HEAD(connections, connection);

struct listener {
	struct listener_conf conf;
	struct gate gates[2];       /* the unix socket, the port */
	char path[LISTEN_PATH_LEN]; /* "": there is no socket yet */
	struct connections all;
};

static void listener_close_connection(struct connection *c)
{
	struct gate *g = c->gate;
	const struct listener_prepare *p = &g->listener->conf.prepare;

	if (c->waits)
		p->cancel(p->arg, c);
	TAILQ_REMOVE(&g->listener->all, c, all);
	g->n--;
	timer_free(c->limit);
	bufferevent_free(c->io);
	free(c);
}

/* A client that holds connections and asks nothing must not keep others out. */
static void close_oldest(struct gate *g)
{
	struct connection *c = TAILQ_FIRST(&g->listener->all);

	while (c->gate != g)
		c = TAILQ_NEXT(c, all);
	listener_close_connection(c);
}

/* ---- one scrape ---- */

static void listener_written(struct bufferevent *io, void *arg)
{
	(void)io;
	listener_close_connection(arg);
}

static void listener_event_of_peer(struct bufferevent *io, short what, void *arg)
{
	(void)io;
	(void)what;
	listener_close_connection(arg);
}

static void too_long(void *arg)
{
	listener_close_connection(arg);
}

static const char *reason(unsigned status)
{
	return status == 200   ? "OK"
	       : status == 400 ? "Bad Request"
	       : status == 404 ? "Not Found"
	       : status == 405 ? "Method Not Allowed"
			       : "Service Unavailable";
}

static void listener_answer(struct connection *c)
{
	const struct listener *l = c->gate->listener;
	struct scrape s = c->scrape;
	struct evbuffer *out = bufferevent_get_output(c->io);
	auto_free char *text = NULL;
	struct err e;

	if (s.status == 200)
		text = l->conf.fn(l->conf.arg, s.open, &e);
	if (s.status == 200 && !text) {
		s.status = 503;
		log_warn(&l->conf.ctx->log, "metrics: %s", e.msg);
	}
	bufferevent_setcb(c->io, NULL, listener_written, listener_event_of_peer, c);
	if (evbuffer_add_printf(out,
				"HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
				"Connection: close\r\n\r\n",
				s.status, reason(s.status),
				!text    ? "text/plain"
				: s.open ? EXPOSITION_OPEN
					 : EXPOSITION_OLDER,
				text ? strlen(text) : 0) < 0 ||
	    (text && evbuffer_add(out, text, strlen(text))))
		listener_close_connection(c);
}

static void ready(void *scrape)
{
	struct connection *c = scrape;

	c->waits = false;
	listener_answer(c);
}

/* A client that goes meanwhile is noticed when its answer is written. */
static void metrics_listener_prepare(struct connection *c)
{
	const struct listener_prepare *p = &c->gate->listener->conf.prepare;

	c->waits = c->scrape.status == 200 && p->wait;
	if (c->waits)
		p->wait(p->arg, ready, c);
	else
		listener_answer(c);
}

static void listener_readable(struct bufferevent *io, void *arg)
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
	c->scrape = scrape_parse(text);
	metrics_listener_prepare(c);
}

static struct connection *listener_new_connection(struct gate *g, evutil_socket_t fd)
{
	struct event_base *base = g->listener->conf.base;
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->gate = g;
	c->limit = timer_new(base, too_long, c);
	if (c->limit)
		c->io = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (c->io)
		return c;
	timer_free(c->limit);
	free(c);
	return NULL;
}

static void listener_accepted(struct evconnlistener *from, evutil_socket_t fd,
			      struct sockaddr *peer, int len, void *arg)
{
	struct gate *g = arg;
	struct connection *c = listener_new_connection(g, fd);

	(void)from;
	(void)peer;
	(void)len;
	if (!c) {
		(void)close(fd);
		return;
	}
	if (g->n == LISTENER_CONNECTIONS_MAX)
		close_oldest(g);
	TAILQ_INSERT_TAIL(&g->listener->all, c, all);
	g->n++;
	bufferevent_setcb(c->io, listener_readable, NULL, listener_event_of_peer, c);
	bufferevent_setwatermark(c->io, EV_READ, 0, SCRAPE_REQUEST_MAX);
	(void)timer_arm(c->limit, LIMIT_S * INT64_C(1000));
	(void)bufferevent_enable(c->io, EV_READ | EV_WRITE);
}

/* ---- begin and end ---- */

/* Without a descriptor left, accept() would fail again at once. */
static void listener_not_accepted(struct evconnlistener *from, void *arg)
{
	const struct gate *g = arg;

	log_warn(&g->listener->conf.ctx->log, "metrics: a connection: %s", strerror(errno));
	(void)evconnlistener_disable(from);
	(void)timer_arm(g->retry, 1000);
}

static void listener_retry(void *arg)
{
	const struct gate *g = arg;

	(void)evconnlistener_enable(g->at);
}

static int listen_on(struct listener *l, size_t which, int fd, struct err *e)
{
	struct gate *g = &l->gates[which];

	if (fd < 0)
		return -1;
	g->listener = l;
	g->retry = timer_new(l->conf.base, listener_retry, g);
	if (g->retry)
		g->at = evconnlistener_new(l->conf.base, listener_accepted, g,
					   LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_CLOSE_ON_FREE, 0, fd);
	if (g->at) {
		evconnlistener_set_error_cb(g->at, listener_not_accepted);
		return 0;
	}
	(void)close(fd);
	return err_nomem(e);
}

/* libevent reads the address, so that IPv6 needs no code here. */
static int open_port(const char *port, struct err *e)
{
	struct sockaddr_storage at = { 0 };
	int len = sizeof(at);

	if (strrchr(port, ':') && !evutil_parse_sockaddr_port(port, (struct sockaddr *)&at, &len))
		return listen_at((struct sockaddr *)&at, (socklen_t)len, port, e);
	err_set(e, ERR_CONFIG, 0, "metrics.listen: \"%.80s\" is not an address with a port", port);
	return err_hint(e, "write it as \"127.0.0.1:9750\" or \"[::]:9750\"");
}

int listener_new(const struct listener_conf *conf, struct listener **out, struct err *e)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (!l)
		return err_nomem(e);
	l->conf = *conf;
	TAILQ_INIT(&l->all);
	if (listen_on(l, 0, listen_unix(conf->ctx->run_dir, SOCKET, l->path, e), e) ||
	    (conf->port && listen_on(l, 1, open_port(conf->port, e), e))) {
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
		listener_close_connection(TAILQ_FIRST(&l->all));
	for (size_t i = 0; i < ARRAY_SIZE(l->gates); i++) {
		timer_free(l->gates[i].retry);
		if (l->gates[i].at)
			evconnlistener_free(l->gates[i].at);
	}
	if (*l->path)
		(void)unlink(l->path);
	free(l);
}
