/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h: the unix socket of the agent: one request of a connection at a time.
 *
 * Only root may ask: the peer's credentials are compared, whatever the mode of the file is. A
 * connection that sends nothing, or too much, is closed.
 */
#ifndef RAILHEAD_RAILHEADD_SERVER_H
#define RAILHEAD_RAILHEADD_SERVER_H

#include "ipam/alloc/agent_wire.h"
#include "lib/base/ctx.h"
#include "railheadd/pools/ask.h"

struct event_base;
struct server;

/* A request that waits for its answer. It is gone when the peer is. */
struct server_request;

/*
 * What answers requests: with server_answer() or server_refuse(), now or later, once. call is
 * borrowed until the function returns.
 */
typedef void (*server_fn)(void *arg, struct server_request *r, const struct agent_call *call);

#define SERVER_CONNECTIONS_MAX 256

/* base and ctx are borrowed; arg is handed to fn. */
struct server_conf {
	struct event_base *base;
	const struct ctx *ctx;
	server_fn fn;
	void *arg;
};

/*
 * server_new - listen at <run_dir>/agent.sock. The caller has socket_lock(). server_free - close
 * all connections and remove the socket.
 */
int server_new(const struct server_conf *conf, struct server **out, struct err *e) must_check;
void server_free(struct server *s);

/* server_answer - result NULL: empty. server_refuse - an error. The request is gone then. */
void server_answer(struct server_request *r, const struct json *result);
void server_refuse(struct server_request *r, const struct err *why);
/* server_refuse_as - of a need; identity: what the pod runs, or NULL. */
void server_refuse_as(struct server_request *r, const struct err *why, const char *identity);

/* server_later - if the peer goes before the answer, gone(what) is called, once. */
void server_later(struct server_request *r, void (*gone)(void *what), void *what);

/*
 * server_end - how an ask ends whose answer is that of the request. server_await - such an ask was
 * begun; a NULL: it was not, and why.
 */
struct ask_end server_end(struct server_request *r);
void server_await(struct server_request *r, struct ask *a, const struct err *why);

#endif
