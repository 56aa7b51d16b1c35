/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h: an operator puts or deletes the definition of a shared pool in the cluster.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_CHANGE_H
#define RAILHEAD_RAILHEADD_POOLS_CHANGE_H

#include "railheadd/pools/ask.h"

struct driver;

/*
 * pool_change_put - create the pool, or replace its definition: {"created"}, whether there was none
 * of this name. ERR_CONFIG, ERR_DECODE: not a definition of a shared pool. ERR_BUSY: subnet or
 * blockSize differ from the present ones, or addresses overlap those of another shared pool.
 * ERR_AGAIN: the cluster store is away; the change may have been made all the same.
 * pool_change_open - {"opened": true}: an adopting pool is open, if it still has the generation
 * that all nodes have reported; else ERR_AGAIN. pool_change_remove - {"deleted": true};
 * ERR_NOTFOUND.
 */
struct ask *pool_change_put(struct driver *d, const char *name, const struct json *definition,
			    const struct ask_end *end, struct err *e);
struct ask *pool_change_open(struct driver *d, const char *name, int64_t generation,
			     const struct ask_end *end, struct err *e);
struct ask *pool_change_remove(struct driver *d, const char *name, const struct ask_end *end,
			       struct err *e);

#endif
