/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adopt.h: a pool of this node alone becomes the shared pool of its name, under living pods.
 *
 * While the cluster's definition has the state "adopting", each node brings its leases in. One
 * transaction replaces the definition, and gives each lease the source of its block. Each block
 * with a held or cooling lease gets a record, BLOCK_CONTESTED: the cluster store does not say yet
 * that it is ours. The agent then claims it. DEL, CHECK and GC find a lease by its owner, so they
 * go on as before.
 *
 * The definition on this node has the node's old addresses as "ranges", instead of those of the
 * cluster. So the node goes on to assign what it had, and nothing else, until the pool is open.
 */
#ifndef RAILHEAD_IPAM_LEASE_ADOPT_H
#define RAILHEAD_IPAM_LEASE_ADOPT_H

#include "ipam/lease/shared_pool.h"

struct pool_adopt {
	const struct shared_pool_def *def; /* of the cluster, with the state "adopting" */
	uint64_t (*random)(void *arg);     /* for the tokens of the blocks */
	void *arg;
	/* Output: the definition on this node, owned by the caller. NULL: the node has no pool of
	 * this name, so it assigns nothing of it yet, and nothing was put. */
	struct json *local;
	bool moved; /* output: leases were moved now, and there may be new records of blocks */
};

/*
 * pool_adopt - put the definition, and move the leases unless they were moved before; durable.
 * ERR_CONFIG, ERR_DECODE: as shared_pool_put(), or the node has no number for its slice. ERR_BUSY,
 * and nothing changed:
 *
 * - The own pool has another subnet, or a held lease is outside of it.
 * - Addresses overlap with those of another pool of this node.
 * - A held lease of another pool or network is in the subnet; the message names address and pod.
 * - The node has the pool with another uid, or has it open.
 */
int pool_adopt(struct ipam *m, struct pool_adopt *a, struct err *e) must_check;

#endif
