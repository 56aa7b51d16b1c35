/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.h: an operator puts or deletes the definition of a shared pool in the cluster.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_CHANGE_H
#define RAILHEAD_RAILHEADD_POOLS_CHANGE_H

#include "ipam/conf/source.h"
#include "lib/json/json.h"

struct driver;
struct pool_change;

/* done - once, from the loop. why NULL: it is done. created: there was none of this name. */
struct pool_change_end {
	void (*done)(void *arg, const struct err *why, bool created);
	void *arg;
};

/*
 * pool_change_put - create the pool, or replace its definition. ERR_CONFIG, ERR_DECODE: not a
 * definition of a shared pool. ERR_BUSY: subnet or blockSize differ from the present ones, or
 * addresses overlap those of another shared pool. ERR_AGAIN: the cluster store is away; the change
 * may have been made all the same. pool_change_open - an adopting pool is open, if it still
 * has the generation that all nodes have reported; else ERR_AGAIN.
 * pool_change_remove - delete it; ERR_NOTFOUND. All NULL: *e says why not, and done is not called.
 */
struct pool_change *pool_change_put(struct driver *d, const char *name,
				    const struct json *definition,
				    const struct pool_change_end *end, struct err *e);
struct pool_change *pool_change_open(struct driver *d, const char *name, int64_t generation,
				     const struct pool_change_end *end, struct err *e);
struct pool_change *pool_change_remove(struct driver *d, const char *name,
				       const struct pool_change_end *end, struct err *e);

/* pool_change_cancel - done is not called any more. A write that was sent may be executed. */
void pool_change_cancel(struct pool_change *c);

#endif
