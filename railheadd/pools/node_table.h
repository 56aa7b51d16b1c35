/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_table.h: what the cluster store has about each node, and how long this agent has seen a
 * heartbeat unchanged. Times of other machines are never compared. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODE_TABLE_H
#define RAILHEAD_RAILHEADD_POOLS_NODE_TABLE_H

#include "cluster/store/cluster_store.h"
#include "ipam/block/object_json.h"
#include "cluster/protocol/reclaim.h"

#define NODE_TABLE_MAX   65536
#define NODE_TABLE_SHOWN 2000 /* of more, the first ones by name: an answer has at most 1 MiB */

struct node_row {
	char name[NODE_NAME_LEN];
	bool described, beats; /* it has an object, a heartbeat */
	struct cluster_node is;
	struct heartbeat beat;
	struct beat_watch watch;
	int64_t silent; /* ns */
	uint64_t blocks;
	int64_t number;        /* of the node, for pools with slices; -1: none */
	struct node_pool pool; /* what it says about the question; name "": nothing */
};

/* Rows in the order of names. All 0: empty. */
struct node_table {
	struct node_row *rows; /* owned */
	size_t n;
};

void node_table_clear(struct node_table *t);
#define auto_node_table auto_clean(node_table_clear)

/* node_table_find - NULL: no such row. */
struct node_row *node_table_find(const struct node_table *t, const char *name);

/* All pools of the cluster, and the sum of their marks (ipam/block/object_json.h). */
struct pool_marks {
	struct pool_mark {
		char name[GRID_POOL_MAX + 1], uid[CLUSTER_UID_LEN];
		int64_t generation;
	} * at; /* owned; by name, once it is sorted */
	size_t n;
	uint64_t sum;
};

/* pool_marks_add - a pool of a list. ERR_NOMEM, ERR_STORE. pool_marks_sort - after the last one. */
int pool_marks_add(struct pool_marks *m, const struct cluster_object *o, struct err *e) must_check;
void pool_marks_sort(struct pool_marks *m);

/*
 * node_table_object - an object of a list: a node, a heartbeat, or a block, which counts for its
 * node. An object that is not understood, or without a node, is left out. seen: the table of the
 * last question. sent: when the list began, now: ns of one clock that never goes back. pool: the
 * name of the pool of the question; NULL: it is about none. marks: a node without a report of it
 * has taken it over if its sum is that of all pools without one. reserved: it is about the reserved
 * addresses. ERR_NOMEM.
 */
struct node_table_look {
	const struct node_table *seen;
	int64_t sent, now;
	const char *pool;
	bool reserved;
	const struct pool_marks *marks; /* of a question about a pool; else NULL */
};
int node_table_object(struct node_table *t, const struct cluster_object *o,
		      const struct node_table_look *look, struct err *e) must_check;

/*
 * node_table_json - {"nodes": [{"name", "holder", "machine", "boot", "version", "forgotten",
 * "heartbeat": {"seconds", "count", "twin"} or null, "blocks", "number", "thisNode"}], "more": of
 * how many nodes nothing is said}. No number: the key is absent. Unknown texts are left out. NULL:
 * no memory; the caller frees it.
 */
struct json *node_table_json(const struct node_table *t, const char *this_node);

/* node_row_is_forgotten - an operator said that the machine is off, and it has been silent since.
 */
bool node_row_is_forgotten(const struct node_row *row);

#endif
