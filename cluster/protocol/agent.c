/* SPDX-License-Identifier: Apache-2.0 */
/* agent.c: the agent's state, and which operation an event belongs to. */
#include "cluster/protocol/agent.h"

#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
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

struct grid_order agent_order(const struct agent *a, const struct agent_pool *p)
{
	return grid_order(grid_count(&p->is.grid), grid_hash(a->set.node, p->is.uid));
}

int agent_put(struct agent *a, const struct block_record *r)
{
	struct block_record *old = agent_find(a, &r->key);
	struct err ignored;

	if (!old &&
	    ARRAY_GROW(a->blocks, a->n_blocks, AGENT_BLOCKS_MAX, "blocks of a node", &ignored))
		return -1;
	if (a->ops->put_block(a->arg, r))
		return -1;
	if (!old)
		old = &a->blocks[a->n_blocks++];
	*old = *r;
	return 0;
}

int agent_drop(struct agent *a, const struct block_key *key)
{
	struct block_record *r = agent_find(a, key);
	int rc = r ? a->ops->drop_block(a->arg, key) : 0;

	if (r && rc == 0)
		*r = a->blocks[--a->n_blocks];
	return rc;
}

/* Time that passed since the last event counts for all that is decided now. */
static void read_clock(struct agent *a)
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

/* ---- operations ---- */

bool agent_is_busy(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		if (!a->ops_running[i]->done && block_key_equal(&a->ops_running[i]->key, key))
			return true;
	}
	return false;
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

void agent_send(struct agent *a, struct op *op, enum op_step step, const struct block *b)
{
	static const enum agent_call calls[] = { [STEP_LOOK] = CALL_GET,
						 [STEP_CREATE] = CALL_CREATE,
						 [STEP_UPDATE] = CALL_UPDATE,
						 [STEP_REMOVE] = CALL_REMOVE };
	struct agent_request r = { .call = calls[step], .kind = CLUSTER_BLOCK };

	(void)grid_name(op->key.pool, op->key.start, r.name);
	if (step == STEP_UPDATE || step == STEP_REMOVE) {
		r.at = op->seen.at;
		r.was = op->seen.block;
	}
	if (b)
		r.block = *b;
	agent_send_request(a, op, step, &r);
}

void agent_later(struct agent *a, struct op *op)
{
	unsigned shift = op->tries < 6 ? op->tries : 6;
	int64_t wait = a->set.retry << shift;

	op->tries++;
	op->step = STEP_IDLE;
	op->id = 0;
	/* Between half of it and all of it: many nodes begin at the same time. */
	op->due = a->now + wait / 2 + (int64_t)(a->ops->random(a->arg) % (uint64_t)(wait / 2 + 1));
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
	[OP_RENEW] = { renew_go, renew_reply },       [OP_SEEK] = { seek_go, seek_reply },
	[OP_CLAIM] = { claim_go, claim_reply },       [OP_ASK] = { ask_go, ask_reply },
	[OP_CONFIRM] = { confirm_go, confirm_reply }, [OP_RETURN] = { return_go, return_reply },
	[OP_CONTEST] = { contest_go, contest_reply }, [OP_ANSWER] = { answer_go, answer_reply },
	[OP_STRAY] = { stray_go, stray_reply },
};

static void remove_done(struct agent *a)
{
	size_t kept = 0;

	for (size_t i = 0; i < a->n_ops; i++) {
		if (a->ops_running[i]->done)
			free(a->ops_running[i]);
		else
			a->ops_running[kept++] = a->ops_running[i];
	}
	a->n_ops = kept;
}

void agent_answer(struct agent *a, const struct agent_reply *reply)
{
	read_clock(a);
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (op->done || op->id != reply->id)
			continue;
		op->id = 0;
		if (op->step == STEP_LOOK && op->kind != OP_RENEW && op->kind != OP_SEEK)
			op->seen = (struct block_seen){ op->key, reply->at, reply->block };
		a->away = reply->outcome == CLUSTER_AWAY ? a->away + 1 : 0;
		/* An answer ends the count of tries in vain; agent_later() begins a new one. */
		if (reply->outcome != CLUSTER_AWAY)
			op->tries = 0;
		kinds[op->kind].reply(a, op, reply);
		break;
	}
	remove_done(a);
}

/* A record that no operation works on, and that needs one. */
static void begin_missing(struct agent *a)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];

		if (r->state == BLOCK_LOST && a->ops->used(a->arg, &r->key) == 0 &&
		    agent_drop(a, &r->key) == 0)
			i--; /* the last record is here now */
		else if (r->state == BLOCK_WANTED)
			(void)agent_begin(a, OP_CLAIM, &r->key);
		else if (r->state == BLOCK_RETURNING)
			(void)agent_begin(a, OP_RETURN, &r->key);
		else if (r->state == BLOCK_ASKED)
			(void)agent_begin(a, OP_ASK, &r->key);
		else if (r->state == BLOCK_CONTESTED && a->renewed)
			(void)agent_begin(a, OP_CONTEST, &r->key);
		else if (r->state == BLOCK_GRANTED && a->renewed && r->epoch != a->node.epoch)
			(void)agent_begin(a, OP_CONFIRM, &r->key);
	}
}

int64_t agent_tick(struct agent *a, int64_t now)
{
	static const struct block_key none;
	int64_t next = INT64_MAX;

	a->now = now;
	if (now >= a->beat_due)
		(void)agent_begin(a, OP_RENEW, &none);
	begin_missing(a);
	claim_more(a);
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (!op->done && !op->id && op->due <= now)
			kinds[op->kind].go(a, op);
	}
	remove_done(a);
	claim_tell(a);
	for (size_t i = 0; i < a->n_ops; i++) {
		if (!a->ops_running[i]->id && a->ops_running[i]->due < next)
			next = a->ops_running[i]->due;
	}
	return next < a->beat_due ? next : a->beat_due;
}

/* ---- events ---- */

int agent_set_pool(struct agent *a, const struct shared_pool *pool, struct err *e)
{
	struct agent_pool *p = agent_find_pool(a, pool->name);

	if (!p) {
		if (ARRAY_GROW(a->pools, a->n_pools, AGENT_POOLS_MAX, "shared pools", e))
			return -1;
		p = &a->pools[a->n_pools++];
		*p = (struct agent_pool){ .due = a->now };
	}
	p->is = *pool;
	return 0;
}

void agent_unset_pool(struct agent *a, const char *name)
{
	struct agent_pool *p = agent_find_pool(a, name);

	if (p)
		*p = a->pools[--a->n_pools];
}

bool agent_need(struct agent *a, const char *pool, uint64_t addresses)
{
	struct agent_pool *p = agent_find_pool(a, pool);

	if (!p)
		return false;
	p->needed = addresses;
	p->full = false;
	return true;
}

enum agent_health agent_health(const struct agent *a)
{
	if (a->other)
		return AGENT_TWIN;
	if (!a->renewed || !node_may_give(&a->node, a->set.boot, a->now))
		return AGENT_UNCONFIRMED;
	return a->now < a->frozen ? AGENT_FROZEN : AGENT_OK;
}

/* 0: nothing is assigned from the block any more. */
static int retire(struct agent *a, struct block_record *r)
{
	int rc = a->ops->retire_block(a->arg, &r->key);

	if (rc == 0)
		r->state = BLOCK_RETURNING;
	return rc;
}

void agent_return(struct agent *a, const struct block_key *key)
{
	struct block_record *r = agent_find(a, key);

	if (r && r->state == BLOCK_GRANTED && !agent_is_busy(a, key) && retire(a, r) == 0)
		(void)agent_begin(a, OP_RETURN, &r->key);
}

void agent_saw(struct agent *a, const struct block_seen *seen)
{
	read_clock(a);

	struct block_record *r = agent_find(a, &seen->key);
	bool ours = strcmp(seen->block.owner.node, a->set.node) == 0 &&
		    strcmp(seen->block.owner.holder, a->node.holder) == 0;
	bool known = r && r->token == seen->block.owner.token;
	enum op_kind kind = OP_STRAY;

	if (!ours || agent_is_busy(a, &seen->key))
		return;
	if (known && (r->state != BLOCK_GRANTED || !*seen->block.asker.node))
		return;
	if (known)
		kind = retire(a, r) == 0 ? OP_RETURN : OP_ANSWER;

	struct op *op = agent_begin(a, kind, &seen->key);

	if (op)
		op->seen = *seen;
}

void agent_gone(struct agent *a, const struct block_key *key)
{
	const struct block_record *r = agent_find(a, key);

	read_clock(a);
	if (r && r->state == BLOCK_GRANTED && a->renewed)
		(void)agent_begin(a, OP_CONFIRM, key);
}

void agent_listed(struct agent *a, const struct block_seen *seen, size_t n)
{
	for (size_t i = 0; i < n; i++)
		agent_saw(a, &seen[i]);
	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		size_t k = 0;

		while (k < n && !block_key_equal(&seen[k].key, &r->key))
			k++;
		if (k == n && r->state == BLOCK_GRANTED && a->renewed)
			(void)agent_begin(a, OP_CONFIRM, &r->key);
	}
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
	if (memory->n && ARRAY_GROW_BY(a->blocks, 0, memory->n, AGENT_BLOCKS_MAX,
				       "blocks of a node", &ignored)) {
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
		free(a->ops_running[i]);
	free(a->ops_running);
	free(a->blocks);
	free(a->pools);
	free(a);
}
