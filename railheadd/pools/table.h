/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h: the shared pools of a cluster, and how many blocks and addresses of them each node
 * has. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_TABLE_H
#define RAILHEAD_RAILHEADD_POOLS_TABLE_H

#include "ipam/block/object.h"
#include "cluster/store/cluster_object.h"
#include "ipam/conf/ranges.h"

#define POOL_TABLE_POOLS  4096
#define POOL_TABLE_BLOCKS (1u << 20)
#define POOL_TABLE_SHOWN  8000 /* rows of nodes: an answer has at most 1 MiB */

struct pool_row {
	char name[GRID_POOL_MAX + 1];
	bool ending;
	struct json *definition; /* owned; NULL: only blocks are left of the pool */
};

struct pool_block {
	char pool[GRID_POOL_MAX + 1];
	char node[NODE_NAME_LEN];
	struct ip start; /* its family is that of the pool */
};

/* All 0: empty. */
struct pool_table {
	struct pool_row *pools; /* owned */
	size_t n_pools;
	struct pool_block *blocks; /* owned */
	size_t n_blocks;
	struct ranges reserved; /* of the cluster */
};

void pool_table_clear(struct pool_table *t);

/*
 * pool_table_object - a pool, a block, or the reserved addresses of a list. A block without a node,
 * and an object that is not understood, are left out. ERR_NOMEM, ERR_STORE: there are too many.
 */
int pool_table_object(struct pool_table *t, const struct cluster_object *o,
		      struct err *e) must_check;

/*
 * pool_table_json - sorts the table, and returns {"pools": [{"name", "deleted", "definition",
 * "addresses", "reserved", "allBlocks", "inBlocks", "blocks", "nodes", "byNode": [{"node",
 * "blocks", "inBlocks"}]}], "more": rows of byNode that are left out}. reserved: addresses that
 * would be the pool's if the cluster did not reserve them. allBlocks: blocks that have an address
 * of the pool; blocks: those that nodes have; inBlocks: their addresses. A deleted pool that still
 * has blocks has no definition. Without a definition that can be read, addresses, reserved,
 * allBlocks and inBlocks are absent. NULL: no memory; the caller frees it.
 */
struct json *pool_table_json(struct pool_table *t);

#endif
