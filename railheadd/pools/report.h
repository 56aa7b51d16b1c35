/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: counts the blocks of all shared pools from time to time, and writes what has
 * changed into the status of each pool. The status also says whether this node has taken over the
 * definition.
 *
 * One agent reports. If another one runs, too, it leaves the pools of the first one alone until
 * their figures were wrong for some rounds.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_REPORT_H
#define RAILHEAD_RAILHEADD_POOLS_REPORT_H

#include "cluster/store/cluster_store.h"
#include "lib/base/ctx.h"

struct event_base;
struct pool_report;
struct node_pool;

/* All borrowed. */
struct pool_report_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store; /* it has report() */
	const char *node;            /* this one */
	int64_t every;               /* between two rounds, ns */
	/* What this node says about a pool; false: it has not seen it. NULL: no condition. */
	bool (*state)(const void *arg, const char *pool, struct node_pool *out);
	const void *arg;
};

/*
 * pool_report_new - begin; it works from the loop. ERR_NOMEM. pool_report_free - before the store
 * is closed. NULL is fine.
 */
int pool_report_new(const struct pool_report_conf *conf, struct pool_report **out,
		    struct err *e) must_check;
void pool_report_free(struct pool_report *r);

#endif
