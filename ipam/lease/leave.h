/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave.h: a shared pool becomes a pool of this node with slices, under living pods.
 *
 * While the cluster's definition has the state "leaving", each node assigns only addresses of its
 * blocks that are in its own slice. So blocks still keep the nodes apart. A node reports when it
 * has no lease outside of its slice any more, and it never gets one again. When all nodes have
 * reported that, the slices keep them apart, too. Then the pool is "closed", and the blocks can go.
 */
#ifndef RAILHEAD_IPAM_LEASE_LEAVE_H
#define RAILHEAD_IPAM_LEASE_LEAVE_H

#include "ipam/lease/shared_pool.h"

/* Addresses that nodes lend each other: how many, and the first one with its borrower. */
struct pool_loans {
	uint64_t n;
	struct ip first;
	char node[NODE_NAME_LEN];
};

/*
 * Leases of a shared pool that are not in the slice of this node: held, also by pods that are gone
 * without a DEL, or in their cooldown. If the node has no slice, these are all of its leases. A
 * loan is one more obstacle, also of an address in the slice: lender and borrower keep their
 * records of it until the block says that it came back.
 */
struct pool_outside {
	struct err no_slice;   /* code 0: the node has one; else why not */
	uint32_t number;       /* of the node */
	struct ip_range slice; /* its addresses */
	struct lease_names held;
	struct pool_loans borrowed, lent; /* by this node, and of its blocks */
	uint64_t cooling;
	int64_t until; /* ns since 1970: when one has cooled down; INT64_MAX: none cools down */
};

/*
 * pool_outside - ERR_NOTFOUND: this node has no shared pool of this name with slices.
 * pool_outside_any - something keeps the node from its slice. pool_outside_explain - a text for
 * people; "": nothing does.
 */
int pool_outside(struct ipam *m, const char *name, struct pool_outside *out,
		 struct err *e) must_check;
bool pool_outside_any(const struct pool_outside *o);
void pool_outside_explain(const struct pool_outside *o, char *out, size_t size);

/*
 * pool_slice_own - reduce *s, a source of the whole pool, to the slice of this node. ERR_CONFIG: it
 * has none, as of node_file_number() and pool_slice_cut().
 */
int pool_slice_own(const struct ipam *m, struct source *s, uint32_t *number,
		   struct err *e) must_check;

/*
 * pool_leave - one transaction replaces the definition of a closed pool by that of a pool of this
 * node; durable. It gives each lease the source of the slice, and deletes the records of blocks. A
 * node without the pool gets the definition. Addresses that the cluster reserves are reserved in
 * it. ERR_CONFIG, ERR_DECODE: as shared_pool_put(). ERR_BUSY, and nothing changed:
 *
 * - A pool of this node alone has the name, with another subnet or other slices.
 * - The node has the pool with another uid.
 * - Addresses overlap with those of another pool of this node, or a lease of another pool has one.
 */
struct pool_leave {
	const struct shared_pool_def *def; /* of the cluster, with the state "closed" */
	bool left;  /* output: the node has the pool with slices. False: a lease is outside, or a
		       loan is left */
	bool moved; /* output: since now */
};
int pool_leave(struct ipam *m, struct pool_leave *p, struct err *e) must_check;

#endif
