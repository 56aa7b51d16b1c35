/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one_agent.h: one agent, whose requests the test answers by hand, and the node's own store with
 * one block.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_ONE_AGENT_H
#define RAILHEAD_CLUSTER_TESTING_ONE_AGENT_H

#include "cluster/protocol/agent.h"

#define ONE_AGENT_BOOT "boot"

struct one_agent {
	int64_t now;
	bool empty;       /* no pod lives in the block */
	unsigned failing; /* so many put_block fail */
	uint64_t spare;
	uint64_t random, stride; /* the last random number, and how far the next one is */
	struct agent_request sent[16];
	size_t n_sent;
	unsigned creates, needs; /* so many needs have ended */
	struct block_record block;
	struct node_record record;
};

/* one_agent_node - node n1 with a granted block of the pool rail0, token 7, holder h, epoch 3. */
struct one_agent one_agent_node(void);
/* one_agent_new - the agent of n, which stays the caller's. Free it with agent_free(). */
struct agent *one_agent_new(struct one_agent *n);
/* one_agent_set_pool - p becomes the pool rail0 with the uid u1. */
void one_agent_set_pool(struct agent *a, struct shared_pool *p);
/* one_agent_gives - an ADD gets an address of the block now. */
bool one_agent_gives(const struct one_agent *n);
/*
 * one_agent_write_until - let time pass until `end`; each read shows `block`. Returns the first
 * write of a block, which gets no answer; CALL_GET: there was none.
 */
struct agent_request one_agent_write_until(struct one_agent *n, struct agent *a, int64_t end,
					   const struct block *block);

#endif
