/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c: the agent's state, and which operation an event belongs to. */
#include "cluster/protocol/agent.h"

#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "cluster/protocol/moves_priv.h"
#include "lib/base/array.h"

#define OPS_MAX 4096

/* ---- records ---- */

struct block_record *agent_find(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		if (block_key_equal(&a->blocks[i].key, key))
			return &a->blocks[i];
	}
	return NULL;
}

struct agent_pool *agent_find_pool(const struct agent *a, const char *name)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		if (strcmp(a->pools[i].is.name, name) == 0)
			return &a->pools[i];
	}
	return NULL;
}

bool agent_is_closed(const struct agent_pool *p)
{
	return p && (p->is.ending || p->is.conflict);
}

struct grid_order agent_order(const struct agent *a, const struct agent_pool *p)
{
	struct grid_order o =
		grid_order(grid_count(&p->is.grid), grid_hash(a->set.node, p->is.uid));

	if (a->ranked && o.n)
		o.first = a->rank % o.n;
	return o;
}

int agent_put_loans(struct agent *a, const struct block_record *r, const struct lending *l)
{
	struct block_record *old = agent_find(a, &r->key);
	struct err ignored;

	if (!old &&
	    ARRAY_GROW(a->blocks, a->n_blocks, AGENT_BLOCKS_MAX, "blocks of a node", &ignored))
		return -1;
	if (l ? lend_reserve(a) || a->ops->put_loans(a->arg, r, l) : a->ops->put_block(a->arg, r))
		return -1;
	if (!old)
		old = &a->blocks[a->n_blocks++];
	*old = *r;
	if (l)
		lend_remember(a, l);
	return 0;
}

int agent_put(struct agent *a, const struct block_record *r)
{
	return agent_put_loans(a, r, NULL);
}

int agent_drop(struct agent *a, const struct block_key *key)
{
	struct block_record *r = agent_find(a, key);
	int rc = r ? a->ops->drop_block(a->arg, key) : 0;

	if (r && rc == 0)
		*r = a->blocks[--a->n_blocks];
	if (rc == 0)
		lend_remember(a, &(struct lending){ .key = *key });
	return rc;
}

void agent_read_clock(struct agent *a)
{
	int64_t now = a->ops->now(a->arg);

	if (now > a->now)
		a->now = now;
}

struct block_party agent_party(const struct agent *a, uint64_t token)
{
	struct block_party p = { .token = token };

	(void)snprintf(p.node, sizeof(p.node), "%s", a->set.node);
	(void)snprintf(p.holder, sizeof(p.holder), "%s", a->node.holder);
	return p;
}

bool agent_is_ours(const struct agent *a, const struct block *b, uint64_t token)
{
	struct block_party us = agent_party(a, token);

	return party_equal(&b->owner, &us);
}

bool agent_has_name(const struct agent *a, const struct block *b)
{
	return strcmp(b->owner.node, a->set.node) == 0;
}

/* ---- operations ---- */

struct op *agent_op_of(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		if (!a->ops_running[i]->done && block_key_equal(&a->ops_running[i]->key, key))
			return a->ops_running[i];
	}
	return NULL;
}

bool agent_is_busy(const struct agent *a, const struct block_key *key)
{
	return agent_op_of(a, key) != NULL;
}

bool agent_is_new(const struct agent *a, const struct block_key *key)
{
	return !agent_find(a, key) && !agent_is_busy(a, key);
}

struct op *agent_begin(struct agent *a, enum op_kind kind, const struct block_key *key)
{
	struct err ignored;

	if (agent_is_busy(a, key) ||
	    ARRAY_GROW(a->ops_running, a->n_ops, OPS_MAX, "operations", &ignored))
		return NULL;

	struct op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	op->kind = kind;
	op->key = *key;
	op->due = op->since = a->now;
	op->begun = true;
	a->ops_running[a->n_ops++] = op;
	return op;
}

void agent_send_request(struct agent *a, struct op *op, enum op_step step, struct agent_request *r)
{
	op->step = step;
	op->sent = a->now;
	op->epoch = a->node.epoch;
	/* 0 is "none". */
	if (++a->last_id == 0)
		a->last_id = 1;
	op->id = a->last_id;
	r->id = op->id;
	a->ops->send(a->arg, r);
}

/*
 * After a restore the owners say first what is theirs. Nothing is written while another machine has
 * our name.
 */
static bool must_wait(const struct agent *a, const struct op *op)
{
	bool is_free = op->kind == OP_CLAIM || op->kind == OP_ASK || op->kind == OP_RETURN ||
		       op->kind == OP_UNKNOWN_BLOCK || op->kind == OP_EXPIRE ||
		       op->kind == OP_BORROW || op->kind == OP_GIVE_BACK;

	return a->other || (is_free && a->now < a->node.frozen);
}

void agent_send(struct agent *a, struct op *op, enum op_step step, const struct block *b)
{
	static const enum agent_call calls[] = { [STEP_LOOK] = CALL_GET,
						 [STEP_CREATE] = CALL_CREATE,
						 [STEP_UPDATE] = CALL_UPDATE,
						 [STEP_REMOVE] = CALL_REMOVE };
	struct agent_request r = { .call = calls[step], .kind = CLUSTER_BLOCK };

	if (step != STEP_LOOK && must_wait(a, op)) {
		op->step = STEP_IDLE;
		op->id = 0;
		op->due = a->now < a->node.frozen ? a->node.frozen : a->now + a->set.retry;
		return;
	}
	(void)grid_name(op->key.pool, op->key.start, r.name);
	if (step == STEP_UPDATE || step == STEP_REMOVE) {
		r.at = op->seen.at;
		r.was = op->seen.block;
	}
	if (b)
		r.block = *b;
	/* Several changes of a block are one new version. */
	if (step == STEP_UPDATE && r.block.touched != r.was.touched)
		r.block.touched = r.was.touched + 1;
	r.unlisted = step == STEP_UPDATE && op->kind == OP_CONFIRM && op->unlisted;
	if (step == STEP_CREATE && op->kind == OP_CLAIM)
		find_ask_beside(a, op, &r);
	agent_send_request(a, op, step, &r);
}

int64_t agent_wait(struct agent *a, unsigned tries)
{
	int64_t wait = a->set.retry << (tries < 6 ? tries : 6);

	/* Between half of it and all of it: many nodes begin at the same time. */
	return a->now + wait / 2 + (int64_t)(a->ops->random(a->arg) % (uint64_t)(wait / 2 + 1));
}

void agent_later(struct agent *a, struct op *op)
{
	op->step = STEP_IDLE;
	op->id = 0;
	op->due = agent_wait(a, op->tries++);
	if (op->due < a->now + op->pause)
		op->due = a->now + op->pause;
	op->pause = 0;
}

void agent_end_if(struct agent *a, struct op *op, int rc)
{
	if (rc)
		agent_later(a, op);
	else
		agent_end(op);
}

static const struct {
	void (*go)(struct agent *a, struct op *op);
	void (*reply)(struct agent *a, struct op *op, const struct agent_reply *r);
} kinds[] = {
	[OP_RENEW] = { renew_go, renew_reply },
	[OP_FIND] = { find_go, find_reply },
	[OP_CLAIM] = { claim_go, claim_reply },
	[OP_ASK] = { ask_go, ask_reply },
	[OP_CONFIRM] = { confirm_go, confirm_reply },
	[OP_RETURN] = { return_go, return_reply },
	[OP_CONTEST] = { contest_go, contest_reply },
	[OP_ANSWER] = { answer_go, answer_reply },
	[OP_UNKNOWN_BLOCK] = { unknown_block_go, unknown_block_reply },
	[OP_IDENTITY] = { identity_go, identity_reply },
	[OP_EXPIRE] = { expire_go, expire_reply },
	[OP_EXAMINE] = { examine_go, examine_reply },
	[OP_BORROW] = { borrow_go, borrow_reply },
	[OP_GIVE_BACK] = { give_back_go, give_back_reply },
};

static void free_op(struct op *op)
{
	free(op->seat);
	free(op);
}

/* Remove what is done. If a watch showed a block of it meanwhile, look at the block now. */
static void remove_done(struct agent *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (op->done && op->again && !op->seat)
			*op = (struct op){ .kind = OP_EXAMINE,
					   .key = op->key,
					   .due = a->now,
					   .unlisted = op->unlisted };
		if (op->done)
			free_op(op);
		else
			a->ops_running[kept++] = op;
	}
	a->n_ops = kept;
}

/*
 * A store that is full answers reads and refuses writes, so that only a write ends the pauses. An
 * ask and a contest wait for another node after each write, too.
 */
static bool is_progress(const struct op *op, enum cluster_outcome outcome)
{
	bool wrote = op->step == STEP_CREATE || op->step == STEP_UPDATE || op->step == STEP_REMOVE;

	return wrote && outcome == CLUSTER_OK && op->kind != OP_ASK && op->kind != OP_CONTEST;
}

void agent_answer(struct agent *a, const struct agent_reply *reply)
{
	agent_read_clock(a);
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (op->done || op->id != reply->id)
			continue;
		op->id = 0;
		if (op->step == STEP_LOOK && op->kind != OP_RENEW && op->kind != OP_FIND)
			op->seen = (struct block_seen){ op->key, reply->at, reply->block };
		a->away = reply->outcome == CLUSTER_AWAY && !reply->unreadable ? a->away + 1 : 0;
		op->pause = reply->pause;
		if (is_progress(op, reply->outcome))
			op->tries = 0;
		kinds[op->kind].reply(a, op, reply);
		break;
	}
	remove_done(a);
}

/* A loan is confirmed in no later epoch: it is kept for the pod that has it. */
static int loan_needs_op(const struct block_record *r)
{
	static const int kind_of[] = {
		[BLOCK_WANTED] = OP_BORROW,     [BLOCK_ASKED] = -1,
		[BLOCK_GRANTED] = -1,           [BLOCK_LOST] = -1,
		[BLOCK_CONTESTED] = OP_CONTEST, [BLOCK_RETURNING] = OP_GIVE_BACK
	};

	return kind_of[r->state];
}

/* The operation that a record needs; -1: none. */
static int needs_op(const struct agent *a, const struct block_record *r)
{
	static const int kind_of[] = {
		[BLOCK_WANTED] = OP_CLAIM,      [BLOCK_ASKED] = OP_ASK,
		[BLOCK_GRANTED] = OP_CONFIRM,   [BLOCK_LOST] = -1,
		[BLOCK_CONTESTED] = OP_CONTEST, [BLOCK_RETURNING] = OP_RETURN
	};

	const struct agent_pool *p = agent_find_pool(a, r->key.pool);

	if (r->key.one)
		return loan_needs_op(r);
	/* A block of an unknown pool may be of an older one of its name. */
	if (r->state == BLOCK_GRANTED && (!p || r->epoch == a->node.epoch || agent_is_closed(p)))
		return -1;
	return kind_of[r->state];
}

/* Begin the operations that records need. False: there was no room for all. */
static bool begin_missing(struct agent *a)
{
	bool all = true;

	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		int kind = needs_op(a, r);

		if (r->state == BLOCK_LOST && a->ops->used(a->arg, &r->key) == 0 &&
		    agent_drop(a, &r->key) == 0)
			i--; /* the last record is here now */
		else if (kind >= 0 && !agent_is_busy(a, &r->key))
			all &= agent_begin(a, (enum op_kind)kind, &r->key) != NULL;
	}
	return all;
}

/* Only the heartbeat may run before it is known that no other machine has our name. */
static bool may_run(const struct agent *a, const struct op *op)
{
	return op->kind == OP_RENEW || (a->renewed && !a->other);
}

static void sooner(const struct agent *a, int64_t due, int64_t *next)
{
	if (due < *next)
		*next = due > a->now ? due : a->now + 1;
}

static int64_t next_time(const struct agent *a)
{
	int64_t next = INT64_MAX;
	bool beats = false;

	sooner(a, want_next(a), &next);
	for (size_t i = 0; i < a->n_ops; i++) {
		const struct op *op = a->ops_running[i];

		beats |= op->kind == OP_RENEW;
		if (!op->id && may_run(a, op))
			sooner(a, op->due, &next);
	}
	sooner(a, park_next(a), &next);
	if (a->renewed && !a->other) {
		sooner(a, lend_next(a), &next);
		sooner(a, borrow_next(a), &next);
	}
	if (!beats)
		sooner(a, a->beat_due, &next);
	if (a->now < a->node.frozen)
		sooner(a, a->node.frozen, &next);
	for (size_t i = 0; i < a->n_pools; i++) {
		if (a->pools[i].unverified)
			sooner(a, a->now + a->set.retry, &next);
	}
	for (size_t i = 0; i < a->n_pools && a->renewed && !a->other; i++) {
		const struct agent_pool *p = &a->pools[i];

		if (p->due > a->now)
			sooner(a, p->due, &next);
		if (p->tight_until > a->now)
			sooner(a, p->tight_until, &next);
		if (p->is.idle && !p->is.ending && !p->is.conflict)
			sooner(a, p->idle_due, &next);
	}
	return next;
}

/* The node's store failed when it was tried first. */
static void reverify_again(struct agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];

		if (p->unverified)
			p->unverified = agent_reverify_pool(a, p->is.name) != 0;
	}
}

int64_t agent_tick(struct agent *a, int64_t now)
{
	static const struct block_key none;
	bool all = true;

	if (now > a->now)
		a->now = now;
	reverify_again(a);
	if (a->now >= a->beat_due)
		(void)agent_begin(a, OP_RENEW, &none);
	if (a->renewed && !a->other) {
		all = begin_missing(a);
		hold_idle(a);
		park_due(a);
		lend_due(a);
		borrow_idle(a);
		borrow_sweep(a);
	}
	identity_wake(a);
	claim_more(a);
	want_more(a);
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (!op->done && !op->id && op->due <= a->now && may_run(a, op))
			kinds[op->kind].go(a, op);
	}
	remove_done(a);
	claim_tell(a);

	int64_t next = next_time(a);

	if (!all)
		sooner(a, a->now + a->set.retry, &next);
	return next;
}

/* ---- events ---- */

int agent_reverify_pool(struct agent *a, const char *pool)
{
	int rc = 0;

	for (size_t i = 0; i < a->n_blocks; i++) {
		struct block_record r = a->blocks[i];

		if (r.state != BLOCK_GRANTED || !r.epoch || strcmp(r.key.pool, pool) != 0)
			continue;
		r.epoch = 0;
		/* If it fails, the epoch stays here as it is there: so the next call tries again.
		 */
		if (agent_put(a, &r))
			rc = -1;
	}
	/* A write that is under way confirms nothing. */
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (strcmp(op->key.pool, pool) == 0)
			op->epoch = op->won = 0;
	}
	return rc;
}

/* A list of the old pool says nothing about the grid of a new one. */
static void forget_lists(struct agent *a, const char *pool)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (strcmp(op->key.pool, pool) != 0)
			continue;
		op->open = 0;
		if (op->kind == OP_FIND)
			agent_end(op);
	}
}

/* Else the lenders wait for each loan: the pool leaves or ends. */
static bool lends(const struct agent_pool *p)
{
	return loans_are_lent(p) && !agent_is_closed(p);
}

int agent_set_pool(struct agent *a, const struct shared_pool *pool, struct err *e)
{
	struct agent_pool *p = agent_find_pool(a, pool->name);
	const bool lent = !p || lends(p);
	int failed = 0;

	if (pool->grid.bits >= 32)
		return err_set(e, ERR_CONFIG, 0, "pool %s: a block of 2^%u addresses is too large",
			       pool->name, pool->grid.bits);
	agent_read_clock(a);
	if (!p) {
		if (ARRAY_GROW(a->pools, a->n_pools, AGENT_POOLS_MAX, "shared pools", e))
			return -1;
		p = &a->pools[a->n_pools++];
		*p = (struct agent_pool){ .due = a->now, .idle_due = a->now + pool->idle };
	} else if (strcmp(p->is.uid, pool->uid) != 0) {
		failed = agent_reverify_pool(a, pool->name);
		forget_lists(a, pool->name);
	}
	p->is = *pool;
	p->gone = false;
	if ((a->sweeps && !p->sweep_due) || (lent && !lends(p)))
		borrow_sweep_at(a, p, a->now);
	if (agent_is_closed(p))
		failed = agent_reverify_pool(a, pool->name);
	p->unverified |= failed != 0;
	return 0;
}

/* Until the last block of a pool is returned, the pool is one that ends. */
void agent_unset_pool(struct agent *a, const char *name)
{
	struct agent_pool *p = agent_find_pool(a, name);

	if (!p)
		return;
	p->unverified |= agent_reverify_pool(a, name) != 0;
	forget_lists(a, name);
	p->gone = false;
	for (size_t i = 0; i < a->n_blocks && !p->gone; i++)
		p->gone = strcmp(a->blocks[i].key.pool, name) == 0;
	p->is.ending = true;
	if (p->gone)
		return;
	free(p->empty);
	*p = a->pools[--a->n_pools];
}

/* ---- begin and end ---- */

struct agent *agent_new(const struct agent_settings *settings, const struct agent_ops *ops,
			void *arg, const struct agent_memory *memory)
{
	struct agent *a = calloc(1, sizeof(*a));
	struct err ignored;

	if (!a)
		return NULL;
	a->set = *settings;
	a->ops = ops;
	a->arg = arg;
	a->node = memory->node;
	a->sweeps = memory->node.frozen != 0 || memory->node.strays;
	if ((memory->n && ARRAY_GROW_BY(a->blocks, 0, memory->n, AGENT_BLOCKS_MAX,
					"blocks of a node", &ignored)) ||
	    lend_load(a, memory)) {
		agent_free(a);
		return NULL;
	}
	for (; a->n_blocks < memory->n; a->n_blocks++)
		a->blocks[a->n_blocks] = memory->blocks[a->n_blocks];
	return a;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n_ops; i++)
		free_op(a->ops_running[i]);
	free(a->parks);
	free(a->ops_running);
	for (size_t i = 0; i < a->n_pools; i++)
		free(a->pools[i].empty);
	free(a->blocks);
	free(a->lendings);
	free(a->wants);
	free(a->pools);
	free(a);
}
