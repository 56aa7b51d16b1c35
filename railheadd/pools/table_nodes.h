/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_nodes.h: which nodes have taken over the present definition of a shared pool, or the
 * addresses that the cluster reserves. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_TABLE_NODES_H
#define RAILHEAD_RAILHEADD_POOLS_TABLE_NODES_H

#include "railheadd/pools/node_table.h"

/* A pool as a list shows it, or the object that reserves addresses. */
struct pool_asked {
	char name[GRID_POOL_MAX + 1];
	char uid[CLUSTER_UID_LEN]; /* "": the cluster has none of this name */
	int64_t generation;
	struct json *definition; /* owned; NULL: there is none */
};

/* pool_asked_note - an object of a list. ERR_NOMEM. */
int pool_asked_note(struct pool_asked *p, const struct cluster_object *o, struct err *e) must_check;

/*
 * pool_node_of - the state of a node. A silent node may still have pods. A node that an operator
 * has forgotten has none.
 */
enum pool_node {
	POOL_NODE_DONE,
	POOL_NODE_WAITS,
	POOL_NODE_SILENT, /* not done, and its heartbeat has not moved for so long as `silent` */
	POOL_NODE_FORGOTTEN,
};
enum pool_node pool_node_of(const struct pool_asked *p, const struct node_row *row, int64_t silent);

/*
 * pool_nodes_json - {"name", "uid", "generation", "definition", "nodes": [{"name", "state": "done",
 * "waits", "silent" or "forgotten", "generation", "why", "heartbeatSeconds"}], "done", "waits",
 * "silent", "forgotten": numbers of nodes, "more"}. generation of a node: what it has taken over,
 * absent if it has not reported this object. definition is absent if the cluster has none. Nodes
 * that are not done come first. NULL: no memory.
 */
struct json *pool_nodes_json(const struct pool_asked *p, const struct node_table *t,
			     int64_t silent);

#endif
