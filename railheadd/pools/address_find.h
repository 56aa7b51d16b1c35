/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address_find.h: asks the cluster store on which node a pod with a certain address would live. It
 * reads all pools, and one block of each pool that has the address.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_ADDRESS_FIND_H
#define RAILHEAD_RAILHEADD_POOLS_ADDRESS_FIND_H

#include "cluster/store/cluster_store.h"
#include "lib/base/ip.h"
#include "lib/json/json.h"

struct address_find;

/* Pools that overlap give nothing, so more than a few never have one address. */
#define ADDRESS_FIND_POOLS 8

/* done - once, from the loop. answer: borrowed; NULL: why. store NULL: there is none. */
struct address_find_ask {
	struct cluster_store *store;
	const char *node; /* this one; borrowed */
	struct ip ip;
	void (*done)(void *arg, const struct json *answer, const struct err *why);
	void *arg;
};

/*
 * address_find - begin. The answer is {"address", "here", "pools": [{"pool", "deleted", "first",
 * "last", "usable", "owner", "identity", "loan": {"node", "taken", "returned"}, "node"}]}. here:
 * this node. first, last: of the block. usable: the pool assigns the address. owner: the node that
 * has the block; null: none. identity: whose address it is in a pool with sticky addresses. loan:
 * the owner lends the address; both keys are absent if they do not apply. node: the node that may
 * assign the address, or whose pod has it; null: none. NULL: *e says why not (ERR_CONFIG: no store;
 * ERR_NOMEM), and done is not called; it is not called after address_find_cancel(), either. done
 * gets ERR_AGAIN if the store is away.
 */
struct address_find *address_find(const struct address_find_ask *ask, struct err *e);
void address_find_cancel(struct address_find *f);

#endif
