/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_pools.h: which definitions of shared pools a node has taken over, and which reserved
 * addresses of the cluster, as members of the value of its object. Pure.
 *
 *	"pools": [{ "name": "rail0", "uid": "...", "generation": 3, "waits": "why not", "number": 7
 *		  }],
 *	"reserved": { "name": "cluster", "uid": "...", "generation": 2 }
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_NODE_POOLS_H
#define RAILHEAD_CLUSTER_PROTOCOL_NODE_POOLS_H

#include "cluster/protocol/object.h"

#define NODE_POOL_WAITS_LEN 256

struct node_pool {
	char name[GRID_POOL_MAX + 1];
	char uid[CLUSTER_UID_LEN];
	int64_t generation; /* the definition that the node has taken over has it; 0: none */
	/* Why it has not taken over the present one, or what else is in the way; "": nothing. */
	char waits[NODE_POOL_WAITS_LEN];
	/* Of a pool that returns to slices: which one the node has; -1: none, or no such pool. */
	int64_t number;
};

/*
 * node_reserved_put - the report about the object that reserves addresses, as the member
 * "reserved"; its name is CLUSTER_RESERVED_NAME. uid "": the node knows that there is none. -1: no
 * memory. node_reserved_find - as node_pool_find().
 */
int node_reserved_put(struct json *value, const struct node_pool *p) must_check;
bool node_reserved_find(const struct json *value, struct node_pool *out);

/* node_pool_add - append one to a list, the member "pools". -1: no memory. */
int node_pool_add(struct json *list, const struct node_pool *p) must_check;

/*
 * node_pool_find - what the value of a node says about the pool of this name. False: nothing, or
 * it cannot be read.
 */
bool node_pool_find(const struct json *value, const char *name, struct node_pool *out);

#endif
