/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_json.h: blocks, heartbeats and nodes as values of objects in the cluster store. Pure.
 *
 * A block:
 *
 *	{ "poolUID": "...", "node": "gpu-17", "holder": "32 digits", "token": "16 digits",
 *	  "touched": 3, "used": 12, "probe": false,
 *	  "identity": "default/web-0/net1", "parked": { "by": "gpu-17", "at": 1764000000 },
 *	  "ask": { "node": ..., "holder": ..., "token": ..., "contested": true, "kept": true,
 *	           "migrates": true, "any": true, "loan": 4 },
 *	  "loans": [ { "at": 3, "node": ..., "holder": ..., "token": ..., "taken": true,
 *	               "returned": true } ] }
 *
 * "loan" is one more than `at`. The token of a block with loans ends with "+": an agent that does
 * not know them cannot read the block, and does not write it.
 *
 * node is absent in a free block, ask if no node asks, parked unless a block with an identity is
 * free. A heartbeat: { "holder", "boot", "machine", "twin", "count" }. A node: { "holder", "boot",
 * "machine", "version", "forgotten": { "uid", "version" } }; forgotten is absent unless an operator
 * said that it is off. Unknown keys are ignored: a newer agent may write them.
 */
#ifndef RAILHEAD_IPAM_BLOCK_OBJECT_JSON_H
#define RAILHEAD_IPAM_BLOCK_OBJECT_JSON_H

#include "ipam/block/object.h"
#include "lib/json/json.h"

/* block_to_json, heartbeat_to_json, node_to_json - the value, owned by the caller. NULL: no memory.
 */
struct json *block_to_json(const struct block *b);
struct json *heartbeat_to_json(const struct heartbeat *h);
struct json *node_to_json(const struct cluster_node *n);

/*
 * block_from_json, heartbeat_from_json, node_from_json - read a value. where names it in errors
 * ("block NAME"). ERR_DECODE, ERR_CONFIG with the key: a text that is too long, a token that is not
 * a number.
 */
int block_from_json(const struct json *value, const char *where, struct block *out,
		    struct err *e) must_check;
/*
 * loans_to_json, loans_from_json - the array of loans. key: its name in *to; no loan: nothing is
 * added. array NULL: none. As block_to_json(), block_from_json(); `since` is not there.
 */
int loans_to_json(struct json *to, const char *key, const struct loan *loans,
		  unsigned n) must_check;
int loans_from_json(const struct json *array, const char *where, struct loan out[LOANS_MAX],
		    unsigned *n, struct err *e) must_check;
int heartbeat_from_json(const struct json *value, const char *where, struct heartbeat *out,
			struct err *e) must_check;
int node_from_json(const struct json *value, const char *where, struct cluster_node *out,
		   struct err *e) must_check;

/*
 * Which definitions of shared pools a node has taken over, and which reserved addresses of the
 * cluster, as members of the value of its object:
 *
 *	"pools": [{ "name": "rail0", "uid": "...", "generation": 3, "waits": "why not" }],
 *	"reserved": { "name": "cluster", "uid": "...", "generation": 2 }
 */
#define NODE_POOL_WAITS_LEN 256

struct node_pool {
	char name[GRID_POOL_MAX + 1];
	char uid[CLUSTER_UID_LEN];
	int64_t generation; /* the definition that the node has taken over has it; 0: none */
	/* Why it has not taken over the present one, or what else is in the way; "": nothing. */
	char waits[NODE_POOL_WAITS_LEN];
};

/*
 * node_reserved_put - the report about the object that reserves addresses, as the member
 * "reserved"; its name is CLUSTER_RESERVED_NAME. uid "": the node knows that there is none. -1: no
 * memory. node_reserved_find - as node_pool_find().
 */
int node_reserved_put(struct json *value, const struct node_pool *p) must_check;
bool node_reserved_find(const struct json *value, struct node_pool *out);

/*
 * A pool that is for other nodes, and of which the node has nothing, has no report. Else each node
 * of a large cluster would have a row for the pools of all others. The member "elsewhere" has 16
 * digits: the sum of the marks of such pools, as the node has taken them over. Without such pools
 * it is absent.
 */
uint64_t node_pool_mark(const char *uid, int64_t generation);
int node_elsewhere_put(struct json *value, uint64_t sum) must_check;
/* node_elsewhere_find - 0: there is none, or it cannot be read. */
uint64_t node_elsewhere_find(const struct json *value);

/* node_pool_add - append one to a list, the member "pools". -1: no memory. */
int node_pool_add(struct json *list, const struct node_pool *p) must_check;

/*
 * node_pool_find - what the value of a node says about the pool of this name. False: nothing, or
 * it cannot be read.
 */
bool node_pool_find(const struct json *value, const char *name, struct node_pool *out);

#endif
