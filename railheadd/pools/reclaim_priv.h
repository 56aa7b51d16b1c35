/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim_priv.h: the nodes that are said to be off, for railheadd/pools only. */
#ifndef RAILHEAD_RAILHEADD_POOLS_RECLAIM_PRIV_H
#define RAILHEAD_RAILHEADD_POOLS_RECLAIM_PRIV_H

#include <sys/queue.h>

#include "cluster/protocol/reclaim.h"
#include "railheadd/pools/reclaim.h"

/* A block of the node, or one that it shares, as the last list shows it. */
struct dead_block {
	char name[CLUSTER_NAME_LEN];
	struct cluster_version at;
	struct block block;
};

struct dead_node {
	TAILQ_ENTRY(dead_node) all;
	const struct reclaim_conf *conf; /* borrowed */
	char name[NODE_NAME_LEN];
	struct taker taker;
	struct cluster_selector which;
	struct cluster_call *call; /* NULL: it waits for the next look */
	int64_t sent;
	struct dead_block *blocks; /* of the last list; owned */
	size_t n_blocks, n_taken;
	struct err broken; /* of a list: an object that could not be read; code 0: none */
	bool listed;       /* the present list of nodes has it */
	bool progress;     /* a block of this round was taken */
	bool every;        /* the next list has blocks of all nodes, for loans */
	bool reported;     /* that no block is left */
	/* Since then: lists of its own blocks in a row, and how many until one of all blocks. */
	unsigned own_lists, until_all;
};

/*
 * dead_node_new - evidence about a node; NULL: no memory. dead_node_set - other evidence: its
 * heartbeat is watched again from now on. dead_node_free - cancel what runs.
 */
struct dead_node *dead_node_new(const struct reclaim_conf *conf, const char *name,
				const struct cluster_version *evidence);
void dead_node_set(struct dead_node *d, const struct cluster_version *evidence);
void dead_node_free(struct dead_node *d);

/* dead_node_look - go on, unless a call runs. */
void dead_node_look(struct dead_node *d);

#endif
