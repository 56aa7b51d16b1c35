/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold.c: blocks that this node has: confirmed in a new epoch, returned, handed over, idle. A
 * watch or a list may show old states, so the agent looks at a block before it changes it.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "cluster/protocol/moves_priv.h"
#include "lib/base/array.h"

/* ---- confirm ---- */

void confirm_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

/* The block as its owner writes it. The pool may have been made again under its name. */
static void send_confirmation(struct agent *a, struct op *op, struct block_record *record)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block b = op->seen.block;

	if (lend_store(a, record, &b)) {
		agent_later(a, op);
		return;
	}
	b.owner = agent_party(a, record->token);
	b.touched++;
	identity_own(&b, record);
	b.probe |= record->probe;
	b.used = a->ops->used(a->arg, &op->key);
	if (p && !p->is.ending && !p->is.conflict)
		memcpy(b.pool_uid, p->is.uid, sizeof(b.pool_uid));
	agent_send(a, op, STEP_UPDATE, &b);
}

/* A block that this node shares: only its version is new. */
static void touch(struct agent *a, struct op *op)
{
	struct block b = op->seen.block;

	b.touched++;
	agent_send(a, op, STEP_UPDATE, &b);
}

/*
 * The store of this node was lost, and with it the leases of pods that may live. An address of
 * such a block is probed before its first use. A machine with a new disk cannot tell the
 * difference, and probes, too.
 */
static bool is_probed(const struct agent *a, const struct block *b)
{
	return b->probe || strcmp(b->owner.holder, a->node.holder) != 0;
}

/* The token of the store counts: it has our name, so it is our older claim, or our older store. */
static void confirm_looked(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct block_record record = *agent_find(a, &op->key);

	if (r->outcome == CLUSTER_OK && agent_shares(a, &r->block, record.token)) {
		touch(a, op);
		return;
	}
	if (r->outcome != CLUSTER_OK || !agent_has_name(a, &r->block)) {
		contest_begin(a, op);
		return;
	}
	if (record.token != r->block.owner.token || record.probe < is_probed(a, &r->block)) {
		record.token = r->block.owner.token;
		record.probe |= is_probed(a, &r->block);
		record.epoch = 0;
		if (agent_put(a, &record)) {
			agent_later(a, op);
			return;
		}
	}
	send_confirmation(a, op, &record);
}

void confirm_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block_record record = *agent_find(a, &op->key);

	if (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED) {
		agent_later(a, op);
	} else if (op->step == STEP_LOOK) {
		confirm_looked(a, op, r);
	} else if (r->outcome == CLUSTER_OK) {
		record.epoch = !p || agent_is_closed(p) ? 0 : op->epoch;
		record.unwanted &= !record.epoch;
		agent_end_if(a, op, agent_put(a, &record) || lend_written(a, &op->key, &r->block));
	} else {
		confirm_go(a, op);
	}
}

/* ---- return, or hand over to who asks ---- */

int agent_retire(struct agent *a, struct block_record *r)
{
	int rc = a->ops->retire_block(a->arg, &r->key);

	if (rc == 0)
		r->state = BLOCK_RETURNING;
	return rc;
}

void agent_return(struct agent *a, const struct block_key *key)
{
	struct block_record *r = agent_find(a, key);

	agent_read_clock(a);
	if (r && r->state == BLOCK_GRANTED && !agent_is_busy(a, key) && agent_retire(a, r) == 0)
		(void)agent_begin(a, key->one ? OP_GIVE_BACK : OP_RETURN, key);
}

/*
 * The store has our name with another token: our older claim, or our older store. If an ADD may
 * assign its addresses, or pods have some, the confirmation decides about each loan.
 */
static void take_token(struct agent *a, struct op *op)
{
	const struct block_record *old = agent_find(a, &op->key);
	struct block_record r = old ? *old : (struct block_record){ .key = op->key };
	const bool assigns = old && old->state != BLOCK_RETURNING;
	struct lending l = lend_copy(a, &op->key);

	r.state = BLOCK_GRANTED;
	r.token = op->seen.block.owner.token;
	r.probe |= is_probed(a, &op->seen.block);
	r.epoch = 0;
	memcpy(r.identity, op->seen.block.identity, sizeof(r.identity));
	if (!assigns && a->ops->used(a->arg, &op->key) == 0)
		lend_adopt(a, &l, &op->seen.block);
	agent_end_if(a, op, agent_put_loans(a, &r, &l));
}

/*
 * Write op->seen as a free block, hand it over to who asks, or remove it.
 *
 * An object stays if it says that addresses are to be probed. In a pool that ends none stays,
 * because its deletion waits for that. One that was claimed after the pool had gone does not stay
 * either: perhaps no watch has shown the deletion yet.
 */
static void release(struct agent *a, struct op *op)
{
	const struct block_record *record = agent_find(a, &op->key);
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block b = op->seen.block;

	if (loans_hold(&b)) {
		take_token(a, op);
		return;
	}
	/* An offer that is not taken ends with this version. */
	b.n_loans = b.asks_one = 0;
	b.owner = b.asker;
	b.asker = (struct block_party){ 0 };
	b.contested = b.kept = b.migrates = false;
	b.used = 0;
	b.probe |= record && record->probe;
	if (op->seen.block.migrates)
		park_hand_over(a, record, &b);
	else
		park_free(a, record, p, &b);
	/* A machine that migrates has its address, also of a pool that ends. */
	if ((op->seen.block.migrates && *b.owner.node) ||
	    (p && !p->is.ending && strcmp(b.pool_uid, p->is.uid) == 0 &&
	     !(record && record->unwanted) && (*b.owner.node || b.probe || *b.identity)))
		agent_send(a, op, STEP_UPDATE, &b);
	else
		agent_send(a, op, STEP_REMOVE, NULL);
}

void return_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

void return_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);

	if (op->step == STEP_UPDATE && r->outcome == CLUSTER_OK && block_is_parked(&r->block))
		park_add(a, &op->key, &r->at);
	if (op->step == STEP_LOOK && r->outcome == CLUSTER_OK &&
	    agent_is_ours(a, &r->block, record->token))
		release(a, op);
	else if (op->step == STEP_LOOK && r->outcome == CLUSTER_OK &&
		 agent_shares(a, &r->block, record->token))
		share_end(a, op);
	else if (op->step != STEP_LOOK && r->outcome == CLUSTER_CONFLICT)
		/* An ask came in between, or another node took it. */
		return_go(a, op);
	else if (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED)
		agent_later(a, op);
	else
		contest_begin(a, op);
}

/* ---- blocks without pods ---- */

static bool was_empty(const struct agent_pool *p, struct ip start)
{
	for (size_t i = 0; i < p->n_empty; i++) {
		if (ip_equal(p->empty[i], start))
			return true;
	}
	return false;
}

/* Without the block the pool still has what is wanted ahead. */
static bool hold_is_surplus(struct agent *a, const struct agent_pool *p,
			    const struct block_record *r)
{
	uint64_t size = (uint64_t)grid_usable(&p->is.grid, r->key.start);
	uint64_t want = p->needed > p->is.warm ? p->needed : p->is.warm;

	return !r->key.one && block_may_give(&a->node, r) && !agent_is_busy(a, &r->key) &&
	       a->ops->used(a->arg, &r->key) == 0 &&
	       a->ops->spare(a->arg, p->is.name) >= want + size;
}

static void look_for_idle(struct agent *a, struct agent_pool *p)
{
	struct ip *empty = NULL;
	size_t n = 0;
	struct err ignored;

	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		struct block_key key = r->key;

		if (strcmp(key.pool, p->is.name) != 0 || !hold_is_surplus(a, p, r))
			continue;
		if (was_empty(p, key.start))
			agent_return(a, &key);
		else if (!ARRAY_GROW(empty, n, AGENT_BLOCKS_MAX, "empty blocks", &ignored))
			empty[n++] = key.start;
	}
	free(p->empty);
	p->empty = empty;
	p->n_empty = n;
	p->idle_due = a->now + p->is.idle;
}

/*
 * A block of a pool that ends has nothing to wait for, except for its loans. They count as used
 * until the node has left the pool and counts nothing more.
 */
static void hold_leave(struct agent *a, const struct agent_pool *p)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		struct block_key key = r->key;

		if (r->state == BLOCK_GRANTED && strcmp(key.pool, p->is.name) == 0 &&
		    lend_of(a, &key)->n == 0 && !agent_is_busy(a, &key) &&
		    a->ops->used(a->arg, &key) == 0)
			agent_return(a, &key);
	}
}

/* Ranges changed, or the pool returns to slices: this node cannot use such a block any more. */
static void return_useless(struct agent *a, const struct agent_pool *p)
{
	for (size_t i = 0; i < a->n_blocks && !p->is.sticky; i++) {
		const struct block_record *r = &a->blocks[i];
		struct block_key key = r->key;

		if (r->state == BLOCK_GRANTED && strcmp(key.pool, p->is.name) == 0 &&
		    grid_usable(&p->is.grid, key.start) == 0 && !agent_is_busy(a, &key) &&
		    a->ops->used(a->arg, &key) == 0)
			agent_return(a, &key);
	}
}

/* As long as the store is away, the node needs the addresses that it has. */
static bool can_return(const struct agent *a)
{
	return !a->away && a->now >= a->node.frozen;
}

static void return_some(struct agent *a, struct agent_pool *p)
{
	return_useless(a, p);
	if (p->is.idle && p->idle_due <= a->now)
		look_for_idle(a, p);
}

void hold_idle(struct agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];

		if (p->is.ending || p->is.conflict)
			hold_leave(a, p);
		else if (can_return(a))
			return_some(a, p);
		if (p->gone)
			agent_unset_pool(a, p->is.name);
	}
}

/* ---- what a watch or a list shows ---- */

/* The target of a migration waits until the block is given up. Until then it has the address. */
static bool is_target(const struct block *b)
{
	return b->migrates && *b->identity;
}

/*
 * Who asks is answered once: a contester that has its answer has not read it yet. A target is
 * answered if it would probe the address, because the source would answer the probe.
 */
static bool is_asked(const struct agent *a, const struct block_key *key, const struct block *b)
{
	if (is_target(b))
		return b->probe && !b->kept && a->ops->probed(a->arg, key);
	return *b->asker.node && !(b->contested && b->kept);
}

void agent_look(struct agent *a, const struct block_key *key)
{
	struct op *op = agent_op_of(a, key);

	if (op)
		op->again = true;
	else
		(void)agent_begin(a, OP_EXAMINE, key);
}

/* The answer to an ask has come: do not wait for the next look. */
static void hurry(struct agent *a, const struct block_key *key)
{
	struct op *op = agent_op_of(a, key);

	if (op && !op->id)
		op->due = a->now;
}

void agent_saw(struct agent *a, const struct block_seen *seen)
{
	const struct block_record *r = agent_find(a, &seen->key);
	bool known = r && agent_is_ours(a, &seen->block, r->token);

	agent_read_clock(a);
	if (known && r->state == BLOCK_ASKED)
		hurry(a, &seen->key);
	if (agent_has_name(a, &seen->block) &&
	    (!known || r->state == BLOCK_LOST ||
	     (r->state == BLOCK_GRANTED && (is_asked(a, &seen->key, &seen->block) ||
					    lend_differs(lend_of(a, &seen->key), &seen->block)))))
		agent_look(a, &seen->key);
}

/*
 * The block is perhaps not ours. Without a renewal by this process it cannot be confirmed yet. So
 * nothing is assigned from it until then.
 */
static void reverify(struct agent *a, struct block_record *r, bool unlisted)
{
	struct agent_pool *p = agent_find_pool(a, r->key.pool);
	struct block_record rechecked = *r;
	struct op *op = agent_op_of(a, &rechecked.key);

	rechecked.epoch = 0;
	/* If it fails, it is tried again with the whole pool. */
	if (r->state == BLOCK_GRANTED && !a->renewed && agent_put(a, &rechecked) && p)
		p->unverified = true;
	/* A claim may have been written before the store was restored: it confirms nothing. */
	if (op)
		op->epoch = op->won = 0;
	if (r->state == BLOCK_GRANTED || op)
		agent_look(a, &rechecked.key);
	op = agent_op_of(a, &rechecked.key);
	if (op)
		op->unlisted |= unlisted;
}

void agent_reverify_all(struct agent *a)
{
	for (size_t i = 0; i < a->n_blocks; i++)
		reverify(a, &a->blocks[i], false);
}

void agent_gone(struct agent *a, const struct block_key *key)
{
	struct block_record *r = agent_find(a, key);

	agent_read_clock(a);
	if (r)
		reverify(a, r, true);
}

void agent_listed(struct agent *a, const struct block_seen *seen, size_t n)
{
	for (size_t i = 0; i < n; i++)
		agent_saw(a, &seen[i]);
	for (size_t i = 0; i < a->n_blocks; i++) {
		struct block_record *r = &a->blocks[i];
		size_t k = 0;

		if (r->key.one)
			continue;
		while (k < n && !block_key_equal(&seen[k].key, &r->key))
			k++;
		if (k == n)
			reverify(a, r, true);
	}
}

/* ---- a look ---- */

static void go_on_as(struct agent *a, struct op *op, enum op_kind kind)
{
	op->kind = kind;
	op->step = STEP_IDLE;
	op->due = op->since = a->now;
}

void examine_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

static void answer_ask(struct agent *a, struct op *op, struct block_record *r)
{
	int rc = is_target(&op->seen.block) ? 1 : agent_retire(a, r);

	if (rc < 0)
		agent_later(a, op);
	else
		go_on_as(a, op, rc ? OP_ANSWER : OP_RETURN);
}

/* A block of a pool that ends, and of an older store, waits for its loans, unconfirmed. */
static bool is_left(const struct agent *a, const struct block_record *r, const struct block *b)
{
	return r->token == b->owner.token && agent_is_closed(agent_find_pool(a, r->key.pool)) &&
	       lend_waits(a, &r->key, b);
}

/*
 * The store has our name with another token. Or a restored store showed our ask for a lost block
 * again, and its owner had no pods any more.
 */
static bool comes_back(const struct agent *a, const struct block_record *r, const struct block *b)
{
	return r->state == BLOCK_LOST ||
	       (r->state == BLOCK_GRANTED && !agent_is_ours(a, b, r->token) && !is_left(a, r, b));
}

/* A restored store shows the block of the pool that had this name before. */
static bool is_older(const struct agent *a, const struct block_record *r, const struct block *b)
{
	const struct agent_pool *p = agent_find_pool(a, r->key.pool);

	return r->epoch && p && !agent_is_closed(p) && strcmp(b->pool_uid, p->is.uid) != 0;
}

static void confirm_anew(struct agent *a, struct op *op, const struct block_record *old)
{
	struct block_record r = *old;

	r.epoch = 0;
	agent_end_if(a, op, agent_put(a, &r));
}

void examine_reply(struct agent *a, struct op *op, const struct agent_reply *reply)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block_record *r = agent_find(a, &op->key);
	bool there = reply->outcome == CLUSTER_OK;
	bool has_name = there && agent_has_name(a, &reply->block);
	bool granted = r && r->state == BLOCK_GRANTED;
	bool shares = granted && there && agent_shares(a, &reply->block, r->token);

	if (op->key.one) {
		borrow_examined(a, op, reply);
		return;
	}
	if (!there && reply->outcome != CLUSTER_NOT_FOUND)
		agent_later(a, op);
	else if (granted && !has_name && !shares)
		contest_begin(a, op);
	else if (has_name && !r)
		go_on_as(a, op, OP_UNKNOWN_BLOCK);
	else if (has_name && comes_back(a, r, &reply->block))
		take_token(a, op);
	else if (has_name && granted && is_older(a, r, &reply->block))
		confirm_anew(a, op, r);
	else if (has_name && granted && is_asked(a, &op->key, &reply->block))
		answer_ask(a, op, r);
	else if (has_name && granted && lend_waits(a, &op->key, &reply->block))
		go_on_as(a, op, OP_ANSWER);
	else if (has_name && granted && op->unlisted && p && !agent_is_closed(p))
		go_on_as(a, op, OP_CONFIRM); /* once it is written, the lists show it */
	else
		agent_end(op);
}

/* Look again, at once after a conflict. */
static void examine_again(struct agent *a, struct op *op, enum cluster_outcome outcome)
{
	go_on_as(a, op, OP_EXAMINE);
	if (outcome == CLUSTER_CONFLICT)
		examine_go(a, op);
	else
		agent_later(a, op);
}

/* ---- an ask for a block that is in use ---- */

/* This node does not know which addresses the contester's pods have. */
static void probe_from_now_on(struct agent *a, struct op *op, struct block *b)
{
	const struct block_record *r = agent_find(a, &op->key);
	struct block_record probed;

	b->probe |= b->contested;
	if (!b->contested || !r || r->probe)
		return;
	probed = *r;
	probed.probe = true;
	/* If it fails, the block itself says so, and the next confirmation reads it. */
	(void)!agent_put(a, &probed);
}

/* A contester waits for the answer, and clears it. Its pods have addresses of the block. */
static void hold_answer(struct agent *a, struct op *op, struct block *b)
{
	b->kept = b->contested || is_target(b);
	probe_from_now_on(a, op, b);
	if (b->kept)
		return;
	lend_one(a, &op->key, b);
	b->asker = (struct block_party){ 0 };
	b->asks_one = 0;
}

void answer_go(struct agent *a, struct op *op)
{
	const struct block_record *old = agent_find(a, &op->key);
	struct block b = op->seen.block;
	struct block_record r;
	uint32_t used;

	if (!old) {
		agent_end(op);
		return;
	}
	r = *old;
	if (lend_store(a, &r, &b)) {
		agent_later(a, op);
		return;
	}
	if (is_asked(a, &op->key, &b))
		hold_answer(a, op, &b);
	used = a->ops->used(a->arg, &op->key);
	/* An address that cools down holds the block, too. */
	b.used = used ? used : 1;
	agent_send(a, op, STEP_UPDATE, &b);
}

void answer_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (r->outcome == CLUSTER_OK)
		agent_end_if(a, op, lend_written(a, &op->key, &r->block));
	else if (r->outcome == CLUSTER_NOT_FOUND)
		agent_end(op);
	else
		examine_again(a, op, r->outcome);
}

/* ---- a block without a record: a write that came late, or the record was lost ---- */

void unknown_block_go(struct agent *a, struct op *op)
{
	bool used = a->ops->used(a->arg, &op->key) > 0;

	op->seen.block.probe = is_probed(a, &op->seen.block);
	if (!used)
		release(a, op);
	else if (agent_has_name(a, &op->seen.block))
		take_token(a, op);
	else
		agent_end(op);
}

void unknown_block_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (r->outcome == CLUSTER_OK || r->outcome == CLUSTER_NOT_FOUND)
		agent_end(op);
	else
		examine_again(a, op, r->outcome);
}
