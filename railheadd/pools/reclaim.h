/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h: takes the blocks of nodes whose machine an operator said to be off
 * (railheadd/pools/node_forget.h), once their heartbeat was silent for nodeHold. It also reports
 * how full the pools are, if the store has a place for it (railheadd/pools/report.h).
 *
 * Several of these programs may run: each take is one conditional update. Nothing waits for them.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_RECLAIM_H
#define RAILHEAD_RAILHEADD_POOLS_RECLAIM_H

#include "cluster/store/cluster_store.h"
#include "lib/base/ctx.h"

struct event_base;
struct reclaim;
struct node_pool;

/* Everything but the store is borrowed. */
struct reclaim_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store; /* taken over, also on failure */
	const char *node;            /* this one */
	int64_t hold;                /* nodeHold, ns */
	int64_t look;                /* between two looks, ns */
	/* As in struct pool_report_conf. */
	bool (*state)(const void *arg, const char *pool, struct node_pool *out);
	const void *arg;
};

/* reclaim_new - begin; it works from the loop. reclaim_free - end. NULL is fine. */
int reclaim_new(const struct reclaim_conf *conf, struct reclaim **out, struct err *e) must_check;
void reclaim_free(struct reclaim *r);

#endif
