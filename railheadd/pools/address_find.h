/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_find.h: asks the cluster store on which node a pod with a certain address would live. It
 * reads all pools, and one block of each pool that has the address.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_ADDRESS_FIND_H
#define RAILHEAD_RAILHEADD_POOLS_ADDRESS_FIND_H

#include "lib/base/ip.h"
#include "railheadd/pools/ask.h"

/* Pools that overlap give nothing, so more than a few never have one address. */
#define ADDRESS_FIND_POOLS 8

/* store NULL: there is none. */
struct address_find_ask {
	struct event_base *base;
	struct cluster_store *store;
	const char *node; /* this one; borrowed */
	struct ip ip;
	struct ask_end end;
};

/*
 * address_find - begin. The answer is {"address", "here", "pools": [{"pool", "deleted", "first",
 * "last", "usable", "owner", "identity", "loan": {"node", "taken", "returned"}, "node"}]}. here:
 * this node. first, last: of the block. usable: the pool assigns the address. owner: the node that
 * has the block; null: none. identity: whose address it is in a pool with sticky addresses. loan:
 * the owner lends the address; both keys are absent if they do not apply. node: the node that may
 * assign the address, or whose pod has it; null: none. ERR_CONFIG: no store; ERR_AGAIN: it is away.
 * It ends before the store is closed.
 */
struct ask *address_find(const struct address_find_ask *ask, struct err *e);

#endif
