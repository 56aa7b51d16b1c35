/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_take.h: an operator takes one block of a node whose machine is off. The node keeps its
 * other blocks. The rules are those of cluster/protocol/reclaim.h; nothing is stored meanwhile.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_BLOCK_TAKE_H
#define RAILHEAD_RAILHEADD_POOLS_BLOCK_TAKE_H

#include "railheadd/pools/reclaim.h"

struct block_take;

/* How it ended. why NULL: the block is free, and each address is probed before its next use. */
struct block_take_end {
	void (*done)(void *arg, const struct err *why);
	void *arg;
};

/*
 * block_take_begin - the block is taken once the heartbeat of the node was silent for nodeHold.
 * conf is borrowed until the end. NULL: refused at once; e says why. Later ERR_BUSY: the node
 * lives, or another node has the block; ERR_NOTFOUND: there is no such block; ERR_AGAIN: no answer.
 * block_take_cancel - done is not called.
 */
struct block_take *block_take_begin(const struct reclaim_conf *conf, const char *node,
				    const char *block, const struct block_take_end *end,
				    struct err *e);
void block_take_cancel(struct block_take *t);

#endif
