/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen.h: a shared pool as the cluster store shows it, and whether its addresses may be those
 * of blocks of another pool. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_SEEN_H
#define RAILHEAD_RAILHEADD_POOLS_SEEN_H

#include <sys/queue.h>

#include "ipam/block/object_json.h"
#include "cluster/store/cluster_store.h"
#include "ipam/conf/source.h"
#include "lib/base/ip.h"

struct json;
struct pool_look;

struct pool_seen {
	TAILQ_ENTRY(pool_seen) all;
	char name[CLUSTER_NAME_LEN], uid[CLUSTER_UID_LEN], created[CLUSTER_CREATED_LEN];
	struct ip_prefix subnet; /* family IP_NONE: none can be read */
	struct json *definition; /* owned */
	int64_t generation;
	int64_t taken;                   /* the generation that this node has taken over; 0: none */
	char waits[NODE_POOL_WAITS_LEN]; /* why not this one; "": nothing is known */
	char lost[NODE_POOL_WAITS_LEN];  /* a block with pods that another node has */
	enum pool_state state;           /* see ipam/conf/pool_blocks.h */
	bool ending;
	bool elsewhere;                /* taken, and for nodes with other labels */
	bool listed;                   /* the list that runs has it */
	bool fresh;                    /* what it says has not reached the node yet */
	int64_t again, pause;          /* fresh, and the node's store failed: when to try, ns */
	const struct pool_seen *rival; /* an older pool that it overlaps; NULL: none */
	int64_t rival_since;           /* ns since 1970 */
	struct pool_look *look;        /* owned; NULL: none was begun */
};
TAILQ_HEAD(pools_seen, pool_seen);

/* pool_seen_read - *out borrows its definition from the object. */
void pool_seen_read(const struct cluster_object *o, struct pool_seen *out);
/* pool_seen_overlaps - they have an address in common. */
bool pool_seen_overlaps(const struct pool_seen *a, const struct pool_seen *b);

/*
 * block_clashes - a block object may have addresses of the subnet: a node has the block or a loan
 * of it, or it was taken from one that may live, or it cannot be read. harmless says of which pools
 * no block is in the way; value is the block's. *why: ERR_BUSY, and what to do.
 */
typedef bool (*pool_harmless_fn)(const void *arg, const char *pool, const struct json *value);
bool block_clashes(const struct cluster_object *o, struct ip_prefix subnet,
		   pool_harmless_fn harmless, const void *arg, struct err *why);

#endif
