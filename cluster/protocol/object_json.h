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
 *	           "migrates": true } }
 *
 * node is absent in a free block, ask if no node asks, parked unless a block with an identity is
 *free. A heartbeat: { "holder", "boot", "machine", "twin", "count" }. A node: { "holder", "boot",
 *"machine", "version", "forgotten": { "uid", "version" } }; forgotten is absent unless an operator
 *said that it is off. Unknown keys are ignored: a newer agent may write them.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_OBJECT_JSON_H
#define RAILHEAD_CLUSTER_PROTOCOL_OBJECT_JSON_H

#include "cluster/protocol/object.h"
#include "lib/json/json.h"

/* block_to_json, heartbeat_to_json, node_to_json - the value, owned by the caller. NULL: no memory.
 */
struct json *block_to_json(const struct block *b);
struct json *heartbeat_to_json(const struct heartbeat *h);
struct json *node_to_json(const struct cluster_node *n);

/*
 * block_from_json, heartbeat_from_json, node_from_json - read a value. where names it in errors
 * ("block NAME"). ERR_DECODE, ERR_CONFIG with the key: a text that is too long, a token that is no
 * number.
 */
int block_from_json(const struct json *value, const char *where, struct block *out,
		    struct err *e) must_check;
int heartbeat_from_json(const struct json *value, const char *where, struct heartbeat *out,
			struct err *e) must_check;
int node_from_json(const struct json *value, const char *where, struct cluster_node *out,
		   struct err *e) must_check;

#endif
