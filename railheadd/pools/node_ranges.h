/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_ranges.h: the addresses that nodes have themselves, as their objects in the cluster say:
 * RailReserved of the name of the node, {"ranges": ["10.1.0.2", ...]}. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_NODE_RANGES_H
#define RAILHEAD_RAILHEADD_POOLS_NODE_RANGES_H

#include "ipam/block/object.h"
#include "cluster/store/cluster_object.h"
#include "ipam/conf/range_list.h"

#define NODE_RANGES_MAX  65536 /* nodes */
#define NODE_RANGES_EACH 64    /* addresses of one node */
#define NODE_RANGES_ALL  704   /* ranges of people and of all nodes; this one has its own besides */

struct node_range {
	char node[NODE_NAME_LEN];
	struct ranges ranges; /* owned */
	bool listed;
};

/* All 0: empty. */
struct node_ranges {
	struct node_range *items; /* owned */
	size_t n;
};

/*
 * node_ranges_begun - a list begins. node_ranges_listed - it is complete: what it had not is gone.
 * node_ranges_see - an object of a list or of a watch. ERR_CONFIG, ERR_DECODE: it says nothing;
 * ERR_NOMEM. Its earlier addresses stay then. node_ranges_gone - it was deleted.
 */
void node_ranges_begun(struct node_ranges *t);
void node_ranges_listed(struct node_ranges *t);
int node_ranges_see(struct node_ranges *t, const struct cluster_object *o,
		    struct err *e) must_check;
void node_ranges_gone(struct node_ranges *t, const char *node);
void node_ranges_clear(struct node_ranges *t);

/*
 * node_ranges_add - to *all, which has the ranges of people, and those of this node. Beyond
 * NODE_RANGES_ALL ranges the highest addresses are left out, the same on each node; *left is how
 * many. A node always has its own. ERR_NOMEM.
 */
int node_ranges_add(const struct node_ranges *t, const struct ranges *own, struct ranges *all,
		    size_t *left, struct err *e) must_check;

/* node_ranges_who - the node that has the address; NULL: none. */
const char *node_ranges_who(const struct node_ranges *t, struct ip ip);

#endif
