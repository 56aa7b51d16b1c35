/* SPDX-License-Identifier: Apache-2.0 */
/* pool_figures.h: the status of a shared pool, of what pool_table.h counts. Pure. */
#ifndef RAILHEAD_RAILHEADD_REPORT_POOL_FIGURES_H
#define RAILHEAD_RAILHEADD_REPORT_POOL_FIGURES_H

#include "lib/json/json.h"

/*
 * pool_figures_json - of one of the "pools" of pool_table_json(): {"addresses", "inBlocks", "free",
 * "use", "blocks", "granted", "nodes", "reportedBy": node}. packaging/kubernetes/crds/ describes
 * them. NULL: no memory; the caller frees it. Only for a pool whose definition could be read.
 */
struct json *pool_figures_json(const struct json *counted, const char *node);

/* pool_figures_can - whether pool_figures_json() can be called. */
bool pool_figures_can(const struct json *counted);

/*
 * pool_figures_same - whether a status has the same figures. It ignores the reporter, and keys that
 * this release does not know.
 */
bool pool_figures_same(const struct json *figures, const struct json *status);

#endif
