/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contest.c: a block of this node that the store gives to no node, or to another one. Without a
 * restored store that block was taken, and no pod lives in it.
 *
 * A restored store may have forgotten a claim. Then another node may have claimed the same block. A
 * node whose pods live there asks for the block in a way that the owner must answer. An owner
 * without pods hands it over. If both have pods, both keep them. The one that asked takes its ask
 * back, so that others can ask, and assigns nothing more. An operator sees it.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "cluster/protocol/moves_priv.h"
#include "lib/base/array.h"

static int put_no_loans(struct agent *a, const struct block_record *r)
{
	return agent_put_loans(a, r, &(struct lending){ .key = r->key });
}

static void put_state(struct agent *a, struct op *op, enum block_state state)
{
	struct block_record r = *agent_find(a, &op->key);

	r.state = state;
	r.epoch = 0;
	r.probe |= op->seen.block.probe;
	/* Nothing is assigned from it any more: the new owner says what is lent. */
	if (state == BLOCK_LOST)
		agent_end_if(a, op, put_no_loans(a, &r));
	else
		agent_end_if(a, op, agent_put(a, &r));
}

void contest_begin(struct agent *a, struct op *op)
{
	int rc = agent_drop(a, &op->key);

	/* With another token it is a stray now. */
	op->again |= agent_has_name(a, &op->seen.block);
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
	bool there = r->outcome == CLUSTER_OK;
	struct block b = { .probe = false };

	if (!p || p->is.ending || p->is.conflict) {
		agent_later(a, op);
		return;
	}
	if (there)
		b = r->block;
	b.owner = agent_party(a, record->token);
	b.probe |= record->probe;
	identity_own(&b, record);
	memcpy(b.pool_uid, p->is.uid, sizeof(b.pool_uid));
	agent_send(a, op, there ? STEP_UPDATE : STEP_CREATE, &b);
}

static void ask_owner(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	struct block_party us = agent_party(a, record->token);
	bool asked = party_equal(&r->block.asker, &us) && r->block.contested;
	struct block b = r->block;

	/* The target of a migration has the address, and gets the block. */
	bool taken = r->block.migrates && *r->block.asker.node;
	/* One contester after the other: else two of them write over each other's ask for ever. */
	bool other = r->block.contested && *r->block.asker.node && !asked;

	if (taken || ((asked || other) && !b.kept)) {
		agent_later(a, op);
		return;
	}
	b.asker = us;
	if (asked)
		b.asker = (struct block_party){ 0 };
	b.contested = !asked;
	b.asks_one = 0;
	b.kept = false;
	agent_send(a, op, STEP_UPDATE, &b);
}

/* The block has our name again. The pool must still want it, as after a claim. */
static void have_again(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct block_record record = *agent_find(a, &op->key);

	if (!agent_shares(a, &r->block, record.token) && record.token != r->block.owner.token) {
		record.token = r->block.owner.token;
		if (agent_put(a, &record)) {
			agent_later(a, op);
			return;
		}
	}
	agent_ask_for_pool(a, op);
}

/* The pool was made again under its name: as any block with pods, this one goes over to it. */
static bool is_newer(const struct agent *a, const struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);

	return r->outcome == CLUSTER_OK && p && !agent_is_closed(p) &&
	       strcmp(r->pool.uid, p->is.uid) == 0;
}

static void pool_known(struct agent *a, struct op *op, const struct agent_reply *r)
{
	/*
	 * Loans come back to a block that is granted, also if it is never confirmed. The next look
	 * writes those that the block lacks, so that their borrowers return them. Until a watch
	 * shows that the pool is gone, the block would be confirmed.
	 */
	const bool lends = lend_of(a, &op->key)->n > 0;
	const bool waits = lends && agent_is_closed(agent_find_pool(a, op->key.pool));

	op->again |= lends;
	if (agent_is_wanted(op, r) || is_newer(a, op, r) || (r->outcome != CLUSTER_AWAY && waits))
		put_state(a, op, BLOCK_GRANTED);
	else if (r->outcome != CLUSTER_AWAY && a->ops->used(a->arg, &op->key) == 0)
		put_state(a, op, BLOCK_RETURNING);
	else
		/* The pods of a pool that ends keep the block until they end. */
		agent_later(a, op);
}

/* The last pod has gone while the ask stands: nobody else could ask for the block. */
static bool withdraw(struct agent *a, struct op *op, const struct block *seen)
{
	const struct block_party us = agent_party(a, agent_find(a, &op->key)->token);
	struct block b = *seen;

	if (!seen->contested || !party_equal(&seen->asker, &us) ||
	    a->ops->used(a->arg, &op->key) > 0)
		return false;
	b.asker = (struct block_party){ 0 };
	b.contested = b.kept = false;
	agent_send(a, op, STEP_UPDATE, &b);
	return true;
}

/* Loans without a pod of this node: it needs the block no more. */
static int give_up_loans(struct agent *a, const struct op *op)
{
	const unsigned n = lend_of(a, &op->key)->n;

	if (!n || a->ops->used(a->arg, &op->key) > n)
		return 0;
	return put_no_loans(a, agent_find(a, &op->key));
}

/*
 * A pool that ends lends nothing. If no node has the block, this node takes it again for its loans.
 * Another node that has it, and does not know them, is asked as for pods: it probes addresses of
 * the block from then on.
 */
static bool stands_for_loans(const struct agent *a, const struct op *op,
			     const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	const bool owned = r->outcome == CLUSTER_OK && *r->block.owner.node;

	return p && !agent_is_closed(p) &&
	       (!owned || lend_differs(lend_of(a, &op->key), &r->block));
}

static void contest_looked(struct agent *a, struct op *op, const struct agent_reply *r)
{
	bool there = r->outcome == CLUSTER_OK;
	int rc;

	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		agent_later(a, op);
		return;
	}
	if (there && (agent_has_name(a, &r->block) ||
		      agent_shares(a, &r->block, agent_find(a, &op->key)->token))) {
		have_again(a, op, r);
		return;
	}
	if (there && withdraw(a, op, &r->block))
		return;
	rc = !stands_for_loans(a, op, r) && give_up_loans(a, op) ? -1 : agent_drop(a, &op->key);
	if (rc <= 0)
		agent_end_if(a, op, rc);
	else if (!there || !*r->block.owner.node)
		take_again(a, op, r);
	else
		ask_owner(a, op, r);
}

/* The owner has pods in it, or this node has none any more. */
static void lose(struct agent *a, struct op *op)
{
	int rc = give_up_loans(a, op) ? -1 : agent_drop(a, &op->key);

	/* It may have come meanwhile. */
	op->again = true;
	if (rc > 0)
		put_state(a, op, BLOCK_LOST);
	else
		agent_end_if(a, op, rc);
}

void contest_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	bool written = op->step == STEP_UPDATE && r->outcome == CLUSTER_OK;

	if (op->key.one) {
		borrow_contest(a, op, r);
		return;
	}

	if (op->step == STEP_LOOK)
		contest_looked(a, op, r);
	else if (op->step == STEP_POOL)
		pool_known(a, op, r);
	else if (written && !agent_has_name(a, &r->block) && !*r->block.asker.node)
		lose(a, op);
	else
		/* The next look shows what came of a write. */
		agent_later(a, op);
}

/*
 * ---- what the node already has ----
 *
 * Blocks with leases may have been a node's before its pool became a shared one. To the agent they
 * are contested: pods live in them, and the store does not say that they are ours.
 */

int agent_know(struct agent *a, const struct block_record *r)
{
	struct err ignored;

	if (agent_find(a, &r->key))
		return 0;
	return ARRAY_PUSH(a->blocks, a->n_blocks, AGENT_BLOCKS_MAX, "blocks of a node", *r,
			  &ignored);
}

size_t agent_pool_conflicts(const struct agent *a, const char *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_blocks; i++)
		n += block_is_in_conflict(&a->blocks[i]) &&
		     strcmp(a->blocks[i].key.pool, pool) == 0;
	return n;
}

size_t agent_pool_blocks(const struct agent *a, const char *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_blocks; i++)
		n += strcmp(a->blocks[i].key.pool, pool) == 0;
	for (size_t i = 0; i < a->n_ops; i++)
		n += !a->ops_running[i]->done && strcmp(a->ops_running[i]->key.pool, pool) == 0;
	return n;
}

size_t agent_conflicts(const struct agent *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->n_blocks; i++)
		n += block_is_in_conflict(&a->blocks[i]);
	return n;
}
