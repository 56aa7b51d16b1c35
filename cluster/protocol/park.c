/* SPDX-License-Identifier: Apache-2.0 */
/*
 * park.c: blocks whose pod has gone, in a pool whose sticky addresses move. The node gives the
 * block up and leaves the identity in it, so that any node may take it for that pod. The node that
 * parked it ends it after a while, unless a node had it since. If that node is away, the block
 * waits until the pool is full.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/moves_priv.h"
#include "lib/base/array.h"

bool park_is_of(const struct agent_pool *p)
{
	return p->is.sticky;
}

bool park_waits(const struct agent_pool *p, const struct block *b)
{
	return park_is_of(p) && block_is_parked(b);
}

/*
 * A block that was claimed in vain has a record without an identity, and ends unless another node
 * had granted it before. One without a record may have been granted, to an older store of this node
 * or to the source of a migration: its pod may come back. It may not be the only one of the
 * identity, so no node is written as the one that parked it.
 */
void park_free(struct agent *a, const struct block_record *r, const struct agent_pool *p,
	       struct block *b)
{
	bool was_granted = !r || *r->identity || *b->parked_by;
	bool parks = p && park_is_of(p) && !*b->owner.node && *b->identity && was_granted;

	if (!parks) {
		identity_own(b, &(struct block_record){ .token = 0 });
		return;
	}
	(void)snprintf(b->parked_by, sizeof(b->parked_by), "%s", r ? a->set.node : "");
	b->parked = a->ops->wall(a->arg);
	b->touched++;
}

/*
 * A source that had granted the block says so, as if it parked it. The target may just give up its
 * claim, because another block had the identity once.
 */
void park_hand_over(const struct agent *a, const struct block_record *r, struct block *b)
{
	if (r && *r->identity)
		(void)snprintf(b->parked_by, sizeof(b->parked_by), "%s", a->set.node);
}

static struct park *find_park(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_parks; i++) {
		if (block_key_equal(&a->parks[i].key, key))
			return &a->parks[i];
	}
	return NULL;
}

void park_add(struct agent *a, const struct block_key *key, const struct cluster_version *at)
{
	struct park *p = find_park(a, key);
	struct err ignored;

	if (p && strcmp(p->at.version, at->version) == 0 && strcmp(p->at.uid, at->uid) == 0)
		return;
	/* Without memory the block waits until the pool is full, or until a restart. */
	if (!p && ARRAY_GROW(a->parks, a->n_parks, AGENT_BLOCKS_MAX, "parked blocks", &ignored))
		return;
	if (!p)
		p = &a->parks[a->n_parks++];
	*p = (struct park){ .key = *key, .at = *at, .since = a->now };
}

static int64_t park_end_of(const struct agent *a, const struct park *k)
{
	const struct agent_pool *p = agent_find_pool(a, k->key.pool);

	if (!p)
		return INT64_MAX;
	/* Its address is reserved or excluded now, or no address of the pool waits for a pod. */
	if (!grid_has(&p->is.grid, k->key.start) || !park_is_of(p))
		return k->since;
	return p->is.keep ? k->since + p->is.keep : INT64_MAX;
}

int64_t park_next(const struct agent *a)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < a->n_parks && a->renewed && !a->other; i++) {
		int64_t end = park_end_of(a, &a->parks[i]);

		if (end < next && end > a->now)
			next = end;
	}
	return next;
}

/* ---- park ---- */

static void park_unused(struct agent *a, const struct agent_pool *p)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		struct block_key key = r->key;

		if (strcmp(key.pool, p->is.name) == 0 && block_may_give(&a->node, r) &&
		    !agent_is_busy(a, &key) && !identity_waits(a, r) &&
		    a->ops->used(a->arg, &key) == 0)
			agent_return(a, &key);
	}
}

static void end_parks(struct agent *a)
{
	for (size_t i = 0; i < a->n_parks; i++) {
		const struct park *k = &a->parks[i];
		struct op *op;

		if (!agent_find_pool(a, k->key.pool) || agent_find(a, &k->key)) {
			a->parks[i--] = a->parks[--a->n_parks];
			continue;
		}
		if (park_end_of(a, k) > a->now || agent_is_busy(a, &k->key))
			continue;
		op = agent_begin(a, OP_EXPIRE, &k->key);
		if (op)
			op->seen.at = k->at;
	}
}

void park_due(struct agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];

		if (!park_is_of(p) || agent_is_closed(p) || a->away || a->now < a->node.frozen)
			continue;
		park_unused(a, p);
		if (!p->swept)
			identity_start(a, p);
	}
	if (a->now >= a->node.frozen)
		end_parks(a);
}

/* ---- the end of a parked block ---- */

void expire_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

static void park_forget(struct agent *a, struct op *op)
{
	struct park *k = find_park(a, &op->key);

	if (k)
		*k = a->parks[--a->n_parks];
	agent_end(op);
}

/* The block as this node parked it: no node had it since. */
static void end_block(struct agent *a, struct op *op)
{
	struct block b = op->seen.block;

	identity_own(&b, &(struct block_record){ .token = 0 });
	b.touched++;
	if (b.probe)
		agent_send(a, op, STEP_UPDATE, &b);
	else
		agent_send(a, op, STEP_REMOVE, NULL);
}

void expire_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct park *k = find_park(a, &op->key);
	bool same =
		k && strcmp(k->at.version, r->at.version) == 0 && strcmp(k->at.uid, r->at.uid) == 0;

	if (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED)
		agent_later(a, op);
	else if (op->step == STEP_LOOK && r->outcome == CLUSTER_OK && same &&
		 block_is_parked(&r->block))
		end_block(a, op);
	else
		park_forget(a, op);
}
