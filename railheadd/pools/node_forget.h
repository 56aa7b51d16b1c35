/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_forget.h: an operator says that the machine of another node is off.
 *
 * The statement goes into the object of that node, with the version of its heartbeat. It is void
 * once the heartbeat is another one. railheadd --reclaim acts upon it.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODE_FORGET_H
#define RAILHEAD_RAILHEADD_POOLS_NODE_FORGET_H

#include "lib/base/err.h"

struct cluster_store;
struct driver;
struct node_forget;

/* done - once, from the loop. why NULL: the statement is in the cluster store. */
struct node_forget_end {
	void (*done)(void *arg, const struct err *why);
	void *arg;
};

/*
 * node_forget_begin - look at the heartbeat for two of its periods, then write. ERR_BUSY: the
 * heartbeat moves, or it is this node. ERR_NOTFOUND: the cluster knows no such node. ERR_AGAIN: the
 * cluster store is away. NULL: *e says why not, and done is not called.
 */
struct node_forget *node_forget_begin(struct driver *d, const char *node,
				      const struct node_forget_end *end, struct err *e);

/*
 * node_refuse_alive - *e: the heartbeat of node moves. node_refuse_here - ERR_BUSY if node is
 * `here`, which runs; ERR_CONFIG without a store.
 */
void node_refuse_alive(const char *node, struct err *e);
int node_refuse_here(const struct cluster_store *store, const char *here, const char *node,
		     struct err *e) must_check;

/* node_forget_cancel - done is not called any more. A write that was sent may be executed. */
void node_forget_cancel(struct node_forget *f);

#endif
