/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h: the status of a shared pool, of what table.h counts. Pure. */
#ifndef RAILHEAD_RAILHEADD_POOLS_FIGURES_H
#define RAILHEAD_RAILHEADD_POOLS_FIGURES_H

#include "ipam/block/object_json.h"
#include "lib/json/json.h"

/*
 * pool_figures_json - of one of the "pools" of pool_table_json(): {"addresses", "inBlocks", "free",
 * "use", "blocks", "granted", "nodes", "reportedBy": node}. packaging/kubernetes/crds/ describes
 * them. NULL: no memory; the caller frees it. A pool whose definition could not be read has no
 * figures.
 */
struct json *pool_figures_json(const struct json *counted, const char *node);

/*
 * pool_figures_ready - add the condition Ready to a status: whether the reporter has taken over
 * this generation, as its report `is` says. Without an answer, that of the old status stays, as
 * does the time (ns) of an equal one. -1: no memory.
 */
int pool_figures_ready(struct json *figures, const struct node_pool *is, int64_t generation,
		       const struct json *old, int64_t now) must_check;

/*
 * pool_figures_same - whether a status has the same figures. It ignores the reporter, and keys that
 * this release does not know.
 */
bool pool_figures_same(const struct json *figures, const struct json *status);

#endif
