/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest.c: a block of this node that the store gives to no node, or to another one. Without a
 * restored store that block was taken, and no pod lives in it.
 *
 * A restored store may have forgotten a claim. Then another node may have claimed the same block. A
 * node whose pods live there asks for the block in a way that the owner must answer. An owner
 * without pods hands it over. If both have pods, both keep them. The one that asked assigns nothing
 * more, and an operator sees it.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"

static void put_state(struct agent *a, struct op *op, enum block_state state)
{
	struct block_record r = *agent_find(a, &op->key);

	r.state = state;
	r.epoch = 0;
	agent_end_if(a, op, agent_put(a, &r));
}

void contest_begin(struct agent *a, struct op *op)
{
	int rc = agent_drop(a, &op->key);

	if (rc > 0)
		put_state(a, op, BLOCK_CONTESTED);
	else
		agent_end_if(a, op, rc);
}

void contest_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

/* No node has the block. */
static void take_again(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block b = { .owner = agent_party(a, record->token) };

	if (!p) {
		agent_later(a, op);
	} else if (r->outcome == CLUSTER_NOT_FOUND) {
		memcpy(b.pool_uid, p->is.uid, sizeof(b.pool_uid));
		agent_send(a, op, STEP_CREATE, &b);
	} else {
		b = r->block;
		b.owner = agent_party(a, record->token);
		agent_send(a, op, STEP_UPDATE, &b);
	}
}

static void ask_owner(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	struct block_party us = agent_party(a, record->token);
	struct block b = r->block;

	if (!party_equal(&b.asker, &us) || !b.contested) {
		b.asker = us;
		b.contested = true;
		b.kept = false;
		agent_send(a, op, STEP_UPDATE, &b);
	} else if (b.kept) {
		put_state(a, op, BLOCK_LOST);
	} else {
		agent_later(a, op);
	}
}

void contest_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	bool there = op->step == STEP_LOOK && r->outcome == CLUSTER_OK;

	if (op->step != STEP_LOOK || r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED)
		/* The next look shows what came of a write. */
		agent_later(a, op);
	else if (there && agent_is_ours(a, &r->block, record->token))
		put_state(a, op, BLOCK_GRANTED);
	else if (a->ops->used(a->arg, &op->key) == 0)
		contest_begin(a, op);
	else if (!there || !*r->block.owner.node)
		take_again(a, op, r);
	else
		ask_owner(a, op, r);
}
