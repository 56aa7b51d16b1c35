/* SPDX-License-Identifier: Apache-2.0 */
/* full.c: who has the blocks of a pool that is full. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"

static int by_node(const void *a, const void *b)
{
	const struct block_seen *const *x = a, *const *y = b;

	return strcmp((*x)->block.owner.node, (*y)->block.owner.node);
}

/* Addresses of the block that its node does not use; it says so when it is asked. */
static uint64_t free_in(const struct agent_pool *p, const struct block_seen *s)
{
	struct ip_range range = { s->key.start, s->key.start };
	uint64_t capacity;

	range.last.v += ((u128)1 << p->is.grid.bits) - 1;
	capacity = (uint64_t)ranges_capacity_in(p->is.grid.usable, range);
	return capacity > s->block.used ? capacity - s->block.used : 0;
}

/* Those with the most blocks stay, in order. */
static void note_holder(struct pool_holders *h, const char *node, uint64_t blocks)
{
	size_t at = POOL_HOLDERS_MAX;

	h->nodes++;
	while (at > 0 && h->most[at - 1].blocks < blocks)
		at--;
	if (at == POOL_HOLDERS_MAX)
		return;
	memmove(&h->most[at + 1], &h->most[at], (POOL_HOLDERS_MAX - 1 - at) * sizeof(h->most[0]));
	(void)snprintf(h->most[at].node, sizeof(h->most[at].node), "%s", node);
	h->most[at].blocks = blocks;
}

static void count(const struct agent *a, struct agent_pool *p, const struct block_seen **owned,
		  size_t n)
{
	struct pool_holders h = { .blocks = n };
	uint64_t blocks = 0;

	qsort(owned, n, sizeof(*owned), by_node);
	for (size_t i = 0; i < n; i++) {
		blocks++;
		if (!agent_has_name(a, &owned[i]->block))
			h.free += free_in(p, owned[i]);
		if (i + 1 < n && by_node(&owned[i], &owned[i + 1]) == 0)
			continue;
		note_holder(&h, owned[i]->block.owner.node, blocks);
		blocks = 0;
	}
	p->holders = h;
}

void full_note(const struct agent *a, struct agent_pool *p, const struct agent_reply *r)
{
	const struct block_seen **owned = calloc(r->n_list + 1, sizeof(const struct block_seen *));
	size_t n = 0;

	p->holders = (struct pool_holders){ .blocks = 0 };
	for (size_t i = 0; owned && i < r->n_list; i++) {
		if (*r->list[i].block.owner.node && seek_is_of(p, &r->list[i]))
			owned[n++] = &r->list[i];
	}
	if (n)
		count(a, p, owned, n);
	free(owned);
}

struct pool_holders agent_holders(const struct agent *a, const char *pool)
{
	const struct agent_pool *p = agent_find_pool(a, pool);

	return p ? p->holders : (struct pool_holders){ .blocks = 0 };
}
