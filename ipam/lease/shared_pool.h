/* SPDX-License-Identifier: Apache-2.0 */
/* shared_pool.h: the definitions of shared pools, as the agent got them from the cluster store. */
#ifndef RAILHEAD_IPAM_LEASE_SHARED_POOL_H
#define RAILHEAD_IPAM_LEASE_SHARED_POOL_H

#include "ipam/block/object.h"
#include "ipam/lease/session.h"

struct shared_pool_def {
	const char *name, *uid; /* borrowed */
	int64_t generation;
	const struct json *definition; /* see railhead-pool(5); it has blockSize. Borrowed */
	/* What the cluster reserves in the subnet, as an array of ranges; NULL: nothing. Borrowed
	 */
	const struct json *reserved;
};

/*
 * shared_pool_decode - the pool as the agent wants it (struct shared_pool): ending and conflict are
 * false. out->pool borrows from out->source; do not copy it alone. The caller clears *out.
 * ERR_CONFIG, ERR_DECODE: pool NAME with key and value; also if it has no blocks.
 */
struct shared_pool_view {
	struct source source; /* the whole pool: policy, idle, fence */
	struct shared_pool pool;
};
int shared_pool_decode(const struct shared_pool_def *d, struct shared_pool_view *out,
		       struct err *e) must_check;
void shared_pool_view_clear(struct shared_pool_view *v);

/*
 * shared_pool_put - insert or replace a definition; durable. ERR_CONFIG, ERR_DECODE: as above.
 * ERR_BUSY, and nothing changed:
 *
 * - A pool of this name belongs to this node alone.
 * - It has another uid, subnet or blockSize, and a block record or a held lease is left.
 * - Addresses overlap with those of another pool, or a lease of another pool has one of them.
 */
int shared_pool_put(struct ipam *m, const struct shared_pool_def *d, struct err *e) must_check;

/*
 * shared_pool_remove - delete a definition with all its records. 0: it is gone, or was not there.
 * 1: a block record or a held lease is left, and nothing changed. -1: the store failed; ERR_BUSY: a
 * pool of this name belongs to this node alone.
 */
int shared_pool_remove(struct ipam *m, const char *name, struct err *e) must_check;

/*
 * shared_pool_list - all pools that were put here: [{"name", "uid", "generation", "definition",
 * "reserved"}], the last one only if there is any. The caller frees *out.
 */
int shared_pool_list(struct ipam *m, struct json **out, struct err *e) must_check;

#endif
