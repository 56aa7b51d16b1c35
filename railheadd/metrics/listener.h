/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listener.h: answers scrapes of the metrics, at a unix socket for root and, if asked for, at a
 * port without any check of who asks. The text has no secrets.
 */
#ifndef RAILHEAD_RAILHEADD_METRICS_LISTENER_H
#define RAILHEAD_RAILHEADD_METRICS_LISTENER_H

#include "lib/base/ctx.h"

/*
 * Of the socket, and of the port. One more ends the oldest one. A connection ends after one answer,
 * or after 10 seconds.
 */
#define LISTENER_CONNECTIONS_MAX 32

struct event_base;
struct listener;

/* The whole text, owned by the caller; NULL: e says why. */
typedef char *(*listener_fn)(void *arg, bool open, struct err *e);

/*
 * A step before the text can be made. wait leads to one ready(scrape), now or later,
 * unless cancel(arg, scrape) comes first: the client has gone.
 */
typedef void (*listener_ready)(void *scrape);
struct listener_prepare {
	void (*wait)(void *arg, listener_ready ready, void *scrape);
	void (*cancel)(void *arg, void *scrape);
	void *arg;
};

/* Everything is borrowed. prepare.wait NULL: nothing need happen. port NULL: only the unix socket;
 * else "127.0.0.1:9750", "[::]:9750". */
struct listener_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *port;
	listener_fn fn;
	void *arg;
	struct listener_prepare prepare;
};

/*
 * listener_new - listen. The caller holds the lock of the agent, so that a socket that is there is
 * a dead agent's. ERR_CONFIG: port is not an address; ERR_IO: it cannot be bound. listener_free -
 * close all; NULL is fine.
 */
int listener_new(const struct listener_conf *conf, struct listener **out, struct err *e) must_check;
void listener_free(struct listener *l);

#endif
