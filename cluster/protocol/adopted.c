/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adopted.c: blocks with leases that were a node's before its pool became a shared one. To the
 * agent they are contested: pods live in them, and the store does not say that they are ours.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "lib/base/array.h"

int agent_know(struct agent *a, const struct block_record *r)
{
	struct err ignored;

	if (agent_find(a, &r->key))
		return 0;
	if (ARRAY_GROW(a->blocks, a->n_blocks, AGENT_BLOCKS_MAX, "blocks of a node", &ignored))
		return -1;
	a->blocks[a->n_blocks++] = *r;
	return 0;
}

size_t agent_pool_conflicts(const struct agent *a, const char *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_blocks; i++)
		n += block_is_in_conflict(&a->blocks[i]) &&
		     strcmp(a->blocks[i].key.pool, pool) == 0;
	return n;
}
