/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.h: which groups have switches above their leaves in common, by a file of cables. Pure. */
#ifndef RAILHEAD_FABRIC_BLOCKS_H
#define RAILHEAD_FABRIC_BLOCKS_H

#include "fabric/groups.h"
#include "fabric/intent.h"

/*
 * fabric_blocks - block: of each group, the first group of its block, an index. Groups are in one
 * block if a switch has cables to leaves of both. A switch with a cable to a node is not above a
 * leaf. Names count up to their domain; one that two groups have says nothing. If one group has no
 * such switch, all are FABRIC_NO_GROUP: a level has all nodes, or is not there. node: n of the
 * cluster. -1: no memory.
 */
int fabric_blocks(const struct fabric_groups *g, const struct fabric_node *node, size_t n,
		  const struct intent *t, size_t *block) must_check;

#endif
