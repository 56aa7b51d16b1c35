/* SPDX-License-Identifier: Apache-2.0 */
/*
 * borrow.c: one address of another node's block.
 *
 * The borrower records the loan before it writes `taken`, and assigns the address only in the epoch
 * in which it sent that write. In a later epoch the address is only kept for the pod that has it. A
 * loan without a pod goes back: first the record says so, then the block. The record stays until
 * the block shows `returned`, so that no late write brings the address back.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"

/*
 * So many heartbeats between two looks at a loan: its owner may have lost it by a restore, and no
 * watch shows the block of another node.
 */
#define LOOK_BEATS 8
/* With so many heartbeats between two looks for loans that it does not know, a restart ends them.
 */
#define KEPT_BEATS 128

static bool is_to_us(const struct agent *a, const struct loan *l)
{
	return strcmp(l->to.node, a->set.node) == 0;
}

/*
 * The place of our loan in b->loans; b->n_loans: none is there. A restored ask may have got a
 * second address. One beyond the block is that of another block.
 */
static unsigned borrow_place_of(const struct agent *a, const struct block_key *key,
				const struct block *b, uint64_t token)
{
	const struct agent_pool *p = agent_find_pool(a, key->pool);
	unsigned i = 0;

	while (i < b->n_loans &&
	       !(is_to_us(a, &b->loans[i]) && b->loans[i].to.token == token &&
		 (key->one ? b->loans[i].at + 1 == key->one : loans_is_inside(p, &b->loans[i]))))
		i++;
	return i;
}

const struct loan *borrow_find(const struct agent *a, const struct block_key *key,
			       const struct block *b, uint64_t token)
{
	const unsigned i = borrow_place_of(a, key, b, token);

	return i < b->n_loans && !b->loans[i].returned ? &b->loans[i] : NULL;
}

bool borrow_has(const struct agent *a, const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		if (is_to_us(a, &b->loans[i]) && !b->loans[i].returned)
			return true;
	}
	return false;
}

int borrow_begin(struct agent *a, const struct block_key *block, const struct loan *loan)
{
	struct block_record r = { .key = *block, .state = BLOCK_WANTED, .token = loan->to.token };
	const struct block_record *old;

	r.key.one = loan->at + 1;
	old = agent_find(a, &r.key);
	/* One that was given back may still be there. */
	if (old && old->token != r.token)
		return -1;
	return old ? 0 : agent_put(a, &r);
}

static void put_loan_state(struct agent *a, struct op *op, enum block_state state)
{
	struct block_record r = *agent_find(a, &op->key);

	r.state = state;
	r.epoch = 0;
	agent_end_if(a, op, agent_put(a, &r));
}

/* The answer to a request that may not have been executed. */
static bool is_unknown(const struct agent_reply *r)
{
	return r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED;
}

/*
 * No pod has the address, but it may cool down: the loan goes back when it has rested. Until then
 * it is not confirmed.
 */
static void hold_unconfirmed(struct agent *a, struct op *op)
{
	put_loan_state(a, op, BLOCK_GRANTED);
}

/* ---- take what was offered ---- */

void borrow_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

/* Loans of the pool whose take is under way. */
static uint64_t takes(const struct agent *a, const struct agent_pool *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->n_ops; i++) {
		const struct op *op = a->ops_running[i];

		n += !op->done && op->kind == OP_BORROW && op->step == STEP_UPDATE && op->id &&
		     strcmp(op->key.pool, p->is.name) == 0;
	}
	return n;
}

/* Several owners were asked at once, and others have offered what the need waits for. */
static bool is_surplus(const struct agent *a, const struct agent_pool *p, const struct op *op)
{
	return p && !want_has(a, &op->key) && a->ops->used(a->arg, &op->key) == 0 &&
	       (!p->needed || a->ops->spare(a->arg, p->is.name) + takes(a, p) >= p->needed);
}

static void offered(struct agent *a, struct op *op, const struct block_record *record)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block b = op->seen.block;
	const unsigned i = borrow_place_of(a, &op->key, &b, record->token);

	if (i == b.n_loans || b.loans[i].returned) {
		/* The owner has withdrawn it: a take under way would find another version. */
		contest_begin(a, op);
	} else if ((!p || agent_is_closed(p) || !loans_are_lent(p) ||
		    strcmp(b.pool_uid, p->is.uid) != 0) &&
		   a->ops->used(a->arg, &op->key) == 0) {
		hold_unconfirmed(a, op);
	} else if (is_surplus(a, p, op)) {
		/* Its owner may use it at once. */
		hold_unconfirmed(a, op);
		a->loans_due = a->now;
	} else {
		b.loans[i].taken = true;
		b.touched++;
		agent_send(a, op, STEP_UPDATE, &b);
	}
}

static void was_taken(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct block_record record = *agent_find(a, &op->key);

	record.state = BLOCK_GRANTED;
	record.epoch = !p || agent_is_closed(p) || strcmp(r->block.pool_uid, p->is.uid) != 0
			       ? 0
			       : op->epoch;
	record.probe |= r->block.probe;
	record.taken = a->now;
	memcpy(record.lender, r->block.owner.node, sizeof(record.lender));
	agent_end_if(a, op, agent_put(a, &record));
}

void borrow_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);

	if (is_unknown(r))
		agent_later(a, op);
	else if (op->step == STEP_LOOK && r->outcome == CLUSTER_NOT_FOUND)
		contest_begin(a, op);
	else if (op->step == STEP_LOOK)
		offered(a, op, record);
	else if (r->outcome == CLUSTER_OK)
		was_taken(a, op, r);
	else
		borrow_go(a, op);
}

/* ---- give back ---- */

void give_back_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

/*
 * A restored store may lack the loan, and the owner writes it again, so it is returned all the
 * same. A free block has no owner who would, and without a restore the owner has removed it. If the
 * block shows another borrower of the address, the owner says first which of both is right. If that
 * stays so, the other one is.
 */
static void return_loan(struct agent *a, struct op *op, const struct block_record *record)
{
	struct block b = op->seen.block;
	const unsigned i = borrow_place_of(a, &op->key, &b, record->token);
	const bool there = i < b.n_loans;
	const bool other = !there && loans_find(b.loans, b.n_loans, op->key.one - 1);

	if (other && a->now < op->since + LOOK_BEATS * a->set.renew) {
		agent_later(a, op);
		return;
	}
	if (there ? b.loans[i].returned
		  : other || !*b.owner.node || !a->sweeps || b.n_loans == LOANS_MAX) {
		agent_end_if(a, op, agent_drop(a, &op->key));
		return;
	}
	if (!there) {
		b.n_loans++;
		b.loans[i] = (struct loan){ .at = op->key.one - 1 };
		b.loans[i].to = agent_party(a, record->token);
	}
	b.loans[i].taken = b.loans[i].returned = true;
	b.probe |= record->probe;
	b.touched++;
	agent_send(a, op, STEP_UPDATE, &b);
}

void give_back_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);

	/* The owner makes a block again that a restored store forgot. */
	const bool waits = r->outcome == CLUSTER_NOT_FOUND && a->now < a->node.frozen;

	if (is_unknown(r) || (waits && op->step == STEP_LOOK))
		agent_later(a, op);
	else if (op->step == STEP_LOOK && r->outcome == CLUSTER_OK)
		return_loan(a, op, record);
	else if (op->step == STEP_LOOK || r->outcome == CLUSTER_OK)
		agent_end_if(a, op, agent_drop(a, &op->key));
	else
		give_back_go(a, op);
}

/* ---- after a restore ---- */

/* The block does not show the loan. An ADD may run meanwhile, so the store of the node decides. */
static void reverify_loan(struct agent *a, struct op *op)
{
	int rc = agent_retire(a, agent_find(a, &op->key));

	if (rc > 0)
		put_loan_state(a, op, BLOCK_CONTESTED);
	else
		agent_end_if(a, op, rc);
}

void borrow_examined(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	const bool there = r->outcome == CLUSTER_OK;
	const struct loan *l;

	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		agent_later(a, op);
		return;
	}
	l = record && there ? borrow_find(a, &op->key, &r->block, record->token) : NULL;
	if (!record || record->state != BLOCK_GRANTED || (l && l->taken))
		agent_end(op);
	else if (l)
		put_loan_state(a, op, BLOCK_WANTED);
	else
		reverify_loan(a, op);
}

/* The owner, asked for the address, has not lent it: it is lost. */
static void ask_again(struct agent *a, struct op *op, const struct block_record *record)
{
	const struct block_party us = agent_party(a, record->token);
	struct block b = op->seen.block;
	const bool stands = party_equal(&b.asker, &us);

	if (op->won && !stands) {
		put_loan_state(a, op, BLOCK_LOST);
	} else if (block_is_asked_for(&b) || !*b.owner.node || agent_has_name(a, &b)) {
		agent_later(a, op);
	} else {
		b.asker = us;
		b.contested = b.kept = false;
		b.asks_one = op->key.one;
		agent_send(a, op, STEP_UPDATE, &b);
	}
}

/*
 * The owner of the block had no other use for it, and handed it over as a whole. Or this node has
 * claimed it after the restore. The pod is one of the block then. If the block lends its address to
 * another node, both have it.
 */
static void have_whole(struct agent *a, struct op *op, const struct block_record *loan)
{
	struct block_record r = { .key = block_key_whole(&op->key), .state = BLOCK_GRANTED };
	const struct block_record *whole = agent_find(a, &r.key);
	const struct loan *lent = block_lent(lend_of(a, &r.key), op->key.one - 1);

	r.token = loan->token;
	r.probe = loan->probe || op->seen.block.probe;
	if (lent && lent->taken)
		put_loan_state(a, op, BLOCK_LOST);
	else if (lent || (whole ? whole->state != BLOCK_GRANTED
				: !agent_is_ours(a, &op->seen.block, r.token) || agent_put(a, &r)))
		agent_later(a, op);
	else
		agent_end_if(a, op, agent_drop(a, &op->key) < 0 ? -1 : 0);
}

void borrow_contest(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);

	const bool there = r->outcome == CLUSTER_OK;

	op->won |= there && op->step != STEP_LOOK;
	if (op->step != STEP_LOOK || (!there && r->outcome != CLUSTER_NOT_FOUND)) {
		agent_later(a, op);
		return;
	}
	if (there && borrow_find(a, &op->key, &r->block, record->token))
		put_loan_state(a, op, BLOCK_WANTED);
	else if (there && agent_has_name(a, &r->block))
		have_whole(a, op, record);
	else if (a->ops->used(a->arg, &op->key) == 0)
		/* Its owner may write it again. */
		hold_unconfirmed(a, op);
	else if (there)
		ask_again(a, op, record);
	else
		agent_later(a, op);
}

/* ---- loans that are not needed ---- */

static bool borrow_is_known(const struct agent *a, const struct block_key *block,
			    const struct loan *l)
{
	struct block_key key = *block;
	const struct block_record *whole = agent_find(a, &key);

	key.one = l->at + 1;
	return agent_find(a, &key) || (whole && whole->token == l->to.token);
}

/*
 * Of an older store of this node, whose pods may live: the address is probed. After a restore a pod
 * of the whole block may have it, or its address may cool down. So it goes back as any other loan
 * that is not needed.
 */
static void give_back_stray(struct agent *a, const struct block_key *block, const struct loan *l)
{
	struct block_record r = { .key = *block, .state = BLOCK_GRANTED };

	r.key.one = l->at + 1;
	r.token = l->to.token;
	r.probe = strcmp(l->to.holder, a->node.holder) != 0;
	/* If it fails, the next list shows the loan again. */
	(void)!agent_put(a, &r);
}

void borrow_strays(struct agent *a, const struct agent_pool *p, const struct agent_reply *r)
{
	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[i];

		for (unsigned k = 0; k < s->block.n_loans && find_is_of(p, s); k++) {
			const struct loan *l = &s->block.loans[k];

			if (is_to_us(a, l) && !l->returned && loans_is_inside(p, l) &&
			    !borrow_is_known(a, &s->key, l))
				give_back_stray(a, &s->key, l);
		}
	}
}

void borrow_idle(struct agent *a)
{
	const bool looks = a->now >= a->loans_look;

	if (a->now < a->loans_due)
		return;
	a->loans_due = a->now + a->set.renew;
	if (looks)
		a->loans_look = a->now + LOOK_BEATS * a->set.renew;
	for (size_t i = 0; i < a->n_blocks; i++) {
		struct block_record *r = &a->blocks[i];
		const struct agent_pool *p = agent_find_pool(a, r->key.pool);
		const bool needed =
			p && p->needed && loans_are_lent(p) && block_may_give(&a->node, r);

		if (r->key.one && r->state == BLOCK_GRANTED && !needed &&
		    a->now >= r->taken + a->set.renew && !agent_is_busy(a, &r->key) &&
		    a->ops->used(a->arg, &r->key) == 0)
			(void)agent_retire(a, r);
		else if (looks && r->key.one && r->state == BLOCK_GRANTED)
			agent_look(a, &r->key);
	}
}

void borrow_sweep_at(const struct agent *a, struct agent_pool *p, int64_t from)
{
	const int64_t spread = LOOK_BEATS * a->set.renew;

	if (!loans_may_exist(p))
		return;
	p->sweep_due = from + (int64_t)(grid_hash(a->set.node, p->is.uid) % (uint64_t)spread);
	p->sweep_wait = spread;
}

void borrow_sweep_later(struct agent *a, int64_t from)
{
	a->sweeps = true;
	for (size_t i = 0; i < a->n_pools; i++)
		borrow_sweep_at(a, &a->pools[i], from);
}

/*
 * An owner that was away writes its loans again when it comes back, also those whose `returned` a
 * restored store has forgotten. Each pause is twice as long as the one before, because a list
 * is expensive. So the node lists the pool no later than after twice the time that the owner was
 * away.
 */
static bool is_swept(const struct agent_pool *p)
{
	/* The grid of a pool that is gone must not be read. */
	return !p->sweep_due || p->gone || !loans_may_exist(p);
}

/* After a restart the looks begin again, but not for ever. If the node's store fails, they do. */
static void forget_strays(struct agent *a)
{
	struct node_record n = a->node;

	for (size_t i = 0; i < a->n_pools; i++) {
		if (!is_swept(&a->pools[i]) && a->pools[i].sweep_wait < KEPT_BEATS * a->set.renew)
			return;
	}
	n.strays = false;
	if (a->node.strays && a->ops->put_node(a->arg, &n) == 0)
		a->node = n;
}

void borrow_sweep_done(struct agent *a, struct agent_pool *p)
{
	p->failed_sweeps = 0;
	p->sweep_due = a->now + p->sweep_wait;
	if (p->sweep_wait < INT64_MAX / 4)
		p->sweep_wait *= 2;
	forget_strays(a);
}

/* After 1, 2, 4, then 8 heartbeats: no pod waits for it. */
void borrow_sweep_failed(struct agent *a, struct agent_pool *p, const struct agent_reply *r)
{
	const int64_t wait = a->set.renew << (p->failed_sweeps < 3 ? p->failed_sweeps : 3);

	p->failed_sweeps++;
	p->sweep_due =
		a->now + wait / 2 + (int64_t)(a->ops->random(a->arg) % (uint64_t)(wait / 2 + 1));
	if (p->sweep_due < a->now + r->pause)
		p->sweep_due = a->now + r->pause;
}

void borrow_sweep(struct agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];
		struct block_key key = { .one = 0 };
		struct op *op;

		if (is_swept(p) || p->sweep_due > a->now)
			continue;
		memcpy(key.pool, p->is.name, sizeof(key.pool));
		op = agent_begin(a, OP_FIND, &key);
		if (op)
			op->sweep = true;
		p->sweep_due = agent_wait(a, 3);
	}
}

int64_t borrow_next(const struct agent *a)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < a->n_pools; i++) {
		if (!is_swept(&a->pools[i]) && a->pools[i].sweep_due < next)
			next = a->pools[i].sweep_due;
	}
	for (size_t i = 0; i < a->n_blocks; i++) {
		if (a->blocks[i].key.one && a->blocks[i].state == BLOCK_GRANTED)
			return a->loans_due < next ? a->loans_due : next;
	}
	return next;
}
