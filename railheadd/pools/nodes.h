/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.h: asks the cluster store which nodes there are, whose heartbeat moves, and how many blocks
 * each has. Each question reads all objects of some kinds.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODES_H
#define RAILHEAD_RAILHEADD_POOLS_NODES_H

#include "lib/base/ctx.h"
#include "railheadd/pools/ask.h"

struct event_base;
struct nodes;

/* All borrowed. store NULL: there is none, and each question is refused. */
struct nodes_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	const char *node; /* this one */
	int64_t renew;    /* between two heartbeats, ns */
};

/* nodes_new - ERR_NOMEM. nodes_free - before the store is closed; cancels all. NULL is fine. */
int nodes_new(const struct nodes_conf *conf, struct nodes **out, struct err *e) must_check;
void nodes_free(struct nodes *n);

/*
 * nodes_ask - see node_table_json(). ERR_CONFIG: no cluster store. ERR_AGAIN: it is away.
 * nodes_ask_pool - which nodes have taken over the pool of this name, see pool_nodes_json(); also
 * ERR_NOTFOUND. nodes_ask_reserved - the same about the addresses that the cluster reserves;
 * without such an object, which nodes know that.
 */
struct ask *nodes_ask(struct nodes *n, const struct ask_end *end, struct err *e);
struct ask *nodes_ask_pool(struct nodes *n, const char *pool, const struct ask_end *end,
			   struct err *e);
struct ask *nodes_ask_reserved(struct nodes *n, const struct ask_end *end, struct err *e);

/*
 * nodes_ask_pools - the same about pools, see pool_table_json(). It reads all pools, reserved
 * addresses and blocks.
 * see: each pool of the list, before the answer; an error ends the question. NULL: not wanted.
 */
typedef int (*nodes_see_fn)(void *arg, const struct cluster_object *o, struct err *e);
struct ask *nodes_ask_pools(struct nodes *n, nodes_see_fn see, const struct ask_end *end,
			    struct err *e);
/*
 * nodes_ask_rails - {"nodes": [{"name", "rails"}], "more", "from"}: of the nodes behind the name
 * `after` ("": of all), as many as an answer has room for, in the order of names. A node that says
 * nothing of its rails has no "rails". more: 0: these were the last ones. from: where the store
 * goes on, for the next question; "": at the beginning. So each page of the store is read about
 * once.
 */
struct ask *nodes_ask_rails(struct nodes *n, const char *after, const char *from,
			    const struct ask_end *end, struct err *e);
#endif
