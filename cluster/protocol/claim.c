/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c: a block of a pool becomes ours by one conditional write. */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "cluster/protocol/moves_priv.h"

/*
 * So many claims that find the block taken, and blocks of the pool are listed instead. A list of a
 * few blocks costs less than another miss, and one of the whole pool as much as many.
 */
#define MISSES_MAX       8
#define MISSES_MAX_RANGE 1
/* So many requests in a row without a usable answer: the need ends with NEED_AWAY. */
#define AWAY_MAX 3
/* So many refused ones, and it ends with NEED_REFUSED: a store that is busy refuses, too. */
#define REFUSED_MAX 3

void claim_start(struct agent *a, const struct block_key *key, bool there)
{
	struct block_record r = { .key = *key, .state = BLOCK_WANTED };

	if (!agent_is_new(a, key))
		return;
	r.token = a->ops->random(a->arg);
	if (agent_put(a, &r))
		return;

	struct op *op = agent_begin(a, OP_CLAIM, key);

	if (op) {
		op->begun = there;
		op->first = !there;
	}
}

/* A block that no node has. It may be left of an older pool of this name. */
static void claim_free(struct agent *a, struct op *op, const struct block_record *r,
		       const struct agent_pool *p)
{
	struct block b = op->seen.block;

	/* The node that parked it knew that no other block has the identity; a taker does not. */
	op->alone = identity_was_parked(r, &b);
	b.owner = agent_party(a, r->token);
	identity_take(&b, r);
	memcpy(b.pool_uid, p->is.uid, sizeof(b.pool_uid));
	agent_send(a, op, STEP_UPDATE, &b);
}

static void claim_create(struct agent *a, struct op *op, const struct agent_pool *p)
{
	const struct block_record *r = agent_find(a, &op->key);
	struct block b = { .owner = agent_party(a, r->token) };

	identity_own(&b, r);
	memcpy(b.pool_uid, p->is.uid, sizeof(b.pool_uid));
	op->begun = true;
	agent_send(a, op, STEP_CREATE, &b);
}

void claim_go(struct agent *a, struct op *op)
{
	const struct block_record *r = agent_find(a, &op->key);
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);

	op->won = 0;
	if (op->take && p) {
		op->take = false;
		if (op->share)
			share_send(a, op, r);
		else
			claim_free(a, op, r, p);
		return;
	}
	if (op->begun || !p) {
		op->first = false;
		agent_send(a, op, STEP_LOOK, NULL);
		return;
	}
	/* Since an earlier list showed no block of the identity, another node may have made one. */
	if (op->first || identity_is_sure(a, op))
		claim_create(a, op, p);
}

/* The block is another node's. If our write comes late, the block will be a stray. */
static void missed(struct agent *a, struct op *op)
{
	struct agent_pool *p = agent_find_pool(a, op->key.pool);

	if (p)
		p->misses++;
	want_missed(a, op);
	contest_begin(a, op);
}

/* A right or room is lacking: another block would be refused as well. */
static void claim_refused(struct agent *a, struct op *op)
{
	struct agent_pool *p = agent_find_pool(a, op->key.pool);

	if (p) {
		p->refused++;
		p->due = agent_wait(a, p->searches++);
	}
	missed(a, op);
}

/*
 * The block has our token. Whether the pool still wants it is asked after the write: a pool whose
 * deletion found no block has none that is granted later.
 */
void agent_ask_for_pool(struct agent *a, struct op *op)
{
	struct agent_request r = { .call = CALL_GET, .kind = CLUSTER_POOL };

	memcpy(r.name, op->key.pool, sizeof(op->key.pool));
	agent_send_request(a, op, STEP_POOL, &r);
}

bool agent_is_wanted(const struct op *op, const struct agent_reply *r)
{
	return r->outcome == CLUSTER_OK && !r->pool.ending && !r->pool.conflict &&
	       strcmp(r->pool.uid, op->seen.block.pool_uid) == 0;
}

/* The owner's pod has the address of a block that this node shares, and probed it. */
static bool is_vouched_for(const struct agent *a, const struct block *b, uint64_t token)
{
	return agent_shares(a, b, token) && b->kept;
}

static void claim_end(struct agent *a, struct op *op, enum block_state state, bool wanted)
{
	struct block_record b = *agent_find(a, &op->key);
	struct agent_pool *p = agent_find_pool(a, op->key.pool);
	struct lending l = lend_copy(a, &op->key);

	/* Another block may have the identity: no list has shown that yet. */
	if (state == BLOCK_RETURNING && !op->alone)
		*b.identity = '\0';
	b.state = state;
	b.unwanted = !wanted;
	b.epoch = agent_is_closed(p) ? 0 : op->won;
	b.probe = op->seen.block.probe && !is_vouched_for(a, &op->seen.block, b.token);
	lend_adopt(a, &l, &op->seen.block);
	/* Returned loans may be left: a free block has no owner who removes them. */
	op->again |= lend_differs(&l, &op->seen.block);
	if (agent_put_loans(a, &b, &l)) {
		agent_later(a, op);
		return;
	}
	if (p)
		p->misses = p->searches = 0;
	agent_end(op);
}

/* A source that lives would answer the probe. One whose agent is away says nothing. */
static bool awaits_source(const struct agent *a, const struct op *op)
{
	uint64_t token = agent_find(a, &op->key)->token;

	return op->seen.block.probe && agent_shares(a, &op->seen.block, token) &&
	       !op->seen.block.kept && op->tries < AWAY_MAX;
}

static void grant(struct agent *a, struct op *op, const struct agent_reply *r)
{
	bool wanted = agent_is_wanted(op, r);

	if ((r->outcome != CLUSTER_OK && r->outcome != CLUSTER_NOT_FOUND) || awaits_source(a, op))
		agent_later(a, op);
	else if (!wanted || identity_is_sure(a, op))
		claim_end(a, op, wanted ? BLOCK_GRANTED : BLOCK_RETURNING, wanted);
}

/* While another node has a block of the identity, none is granted: at most one is. */
static void check_alone(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct block_record b = *agent_find(a, &op->key);
	int alone = identity_is_alone(a, op, r);

	if (alone == 0)
		*b.identity = '\0';
	if (alone < 0 || (alone == 0 && agent_put(a, &b)))
		agent_later(a, op);
	else
		claim_end(a, op, alone ? BLOCK_GRANTED : BLOCK_RETURNING, true);
}

/* The block is not there. If another one has the identity, the search of the pod starts again. */
static void check_before(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	int alone = identity_is_alone(a, op, r);

	if (alone < 0 || !p)
		agent_later(a, op);
	else if (alone)
		claim_create(a, op, p);
	else
		missed(a, op);
}

static void claim_looked(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);

	if (r->outcome == CLUSTER_NOT_FOUND && p) {
		op->begun = op->alone = false;
		claim_go(a, op);
		return;
	}
	/* A newer agent may have written it: another block will do. */
	if (r->unreadable) {
		missed(a, op);
		return;
	}
	if (r->outcome != CLUSTER_OK && r->outcome != CLUSTER_NOT_FOUND) {
		agent_later(a, op);
		return;
	}

	bool there = r->outcome == CLUSTER_OK;

	if (there && (agent_is_ours(a, &r->block, record->token) ||
		      agent_shares(a, &r->block, record->token))) {
		op->alone |= !r->block.migrates && identity_was_parked(record, &r->block);
		agent_ask_for_pool(a, op);
	} else if (there && op->share && share_may(a, record, &r->block)) {
		share_send(a, op, record);
	} else if (there && p && !*r->block.owner.node && !borrow_has(a, &r->block) &&
		   (!park_waits(p, &r->block) || identity_may_take(record, &r->block))) {
		claim_free(a, op, record, p);
	} else {
		missed(a, op);
	}
}

/* The store may have read the pool in the step of the write: no deletion of it came between. */
static void won(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct agent_reply pool = *r;

	if (!r->pool_read) {
		agent_ask_for_pool(a, op);
		return;
	}
	pool.outcome = r->pool_there ? CLUSTER_OK : CLUSTER_NOT_FOUND;
	grant(a, op, &pool);
}

/* The store may have said which blocks beside it are free. Else a list will. */
static void missed_beside(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (find_beside(a, op, r))
		contest_begin(a, op);
	else
		missed(a, op);
}

void claim_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (op->step == STEP_LOOK) {
		claim_looked(a, op, r);
	} else if (op->step == STEP_POOL) {
		grant(a, op, r);
	} else if (op->step == STEP_ALONE) {
		(op->begun ? check_alone : check_before)(a, op, r);
	} else if (r->outcome == CLUSTER_OK) {
		op->won = op->epoch;
		op->seen = (struct block_seen){ op->key, r->at, r->block };
		won(a, op, r);
	} else if (r->outcome == CLUSTER_REFUSED) {
		claim_refused(a, op);
	} else if (r->outcome == CLUSTER_EXISTS && op->first) {
		/* No earlier write of this node made it. A list shows whether it is free. */
		missed_beside(a, op, r);
	} else if (r->outcome == CLUSTER_AWAY) {
		agent_later(a, op);
	} else {
		/* Taken, free, or ours by an earlier try. */
		agent_send(a, op, STEP_LOOK, NULL);
	}
}

/* ---- which block ---- */

/* The next position of the order whose block this node does not have in its records. */
static bool next_block(struct agent *a, struct agent_pool *p, struct block_key *key)
{
	struct grid_order o = agent_order(a, p);

	for (; p->tried < o.n; p->tried++) {
		key->start = grid_nth(&p->is.grid, grid_order_at(&o, p->tried));
		if (agent_is_new(a, key)) {
			p->tried++;
			return true;
		}
	}
	return false;
}

/* One that the last list of the pool showed as free. Its grid may have changed since. */
static bool known_block(const struct agent *a, struct agent_pool *p, struct block_key *key)
{
	while (p->n_known) {
		key->start = p->known[--p->n_known];
		if (grid_has(&p->is.grid, key->start) && agent_is_new(a, key))
			return true;
	}
	return false;
}

/*
 * A node that is slow or dead must not hide the answers of others. A block that cannot be
 * confirmed, or a loan that cannot be taken, must not hide the blocks that are free.
 */
static bool is_hopeful(const struct agent *a, const struct block_record *r)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		const struct op *op = a->ops_running[i];

		if (!op->done && block_key_equal(&op->key, &r->key))
			return r->state == BLOCK_ASKED ? a->now < op->since + a->set.ask / 4
						       : op->tries < REFUSED_MAX;
	}
	return r->state == BLOCK_GRANTED || r->key.one;
}

/* Addresses that claims, asks and confirmations under way will bring. */
static uint64_t claim_expected(const struct agent *a, const struct agent_pool *p)
{
	uint64_t blocks = 0, loans = 0;

	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];
		bool comes = (r->state == BLOCK_WANTED && (!r->key.one || is_hopeful(a, r))) ||
			     (r->state == BLOCK_ASKED && is_hopeful(a, r)) ||
			     (r->state == BLOCK_GRANTED && !block_may_give(&a->node, r) &&
			      is_hopeful(a, r));

		comes &= strcmp(r->key.pool, p->is.name) == 0;
		/* A loan is confirmed in no later epoch. */
		loans += comes && r->key.one && r->state == BLOCK_WANTED;
		blocks += comes && !r->key.one;
	}
	return (blocks << p->is.grid.bits) + loans;
}

static void claim_for(struct agent *a, struct agent_pool *p)
{
	uint64_t warm = a->now < p->tight_until ? 0 : p->is.warm;
	uint64_t want = p->needed > warm ? p->needed : warm;
	uint64_t have = want ? a->ops->spare(a->arg, p->is.name) : 0;
	const unsigned misses_max = a->set.ranges ? MISSES_MAX_RANGE : MISSES_MAX;
	struct block_key key = { 0 };

	memcpy(key.pool, p->is.name, sizeof(key.pool));
	for (have += claim_expected(a, p); have < want; have += (uint64_t)1 << p->is.grid.bits) {
		if (known_block(a, p, &key) || (p->misses < misses_max && next_block(a, p, &key))) {
			claim_start(a, &key, false);
			continue;
		}
		/* The order is exhausted, or the pool nearly is: see which blocks are left. */
		key.start = (struct ip){ 0 };
		(void)agent_begin(a, OP_FIND, &key);
		p->due = agent_wait(a, p->searches++);
		return;
	}
}

bool claim_is_open(const struct agent *a, const struct agent_pool *p)
{
	return a->renewed && !a->other && a->now >= a->node.frozen && !agent_is_closed(p) &&
	       node_may_give(&a->node, p->is.strict, a->set.boot, a->now);
}

void claim_more(struct agent *a)
{
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];

		if (claim_is_open(a, p) && p->due <= a->now)
			claim_for(a, p);
	}
}

/* ---- what becomes of a need ---- */

bool claim_cannot(const struct agent *a, const struct agent_pool *p, enum need_result *how)
{
	enum agent_health health = agent_health(a);

	*how = NEED_REFUSED;
	if (agent_is_closed(p) || p->refused >= REFUSED_MAX || health == AGENT_TWIN ||
	    health == AGENT_FROZEN)
		return true;
	*how = NEED_AWAY;
	return a->away >= AWAY_MAX;
}

static bool claim_has_ended(struct agent *a, const struct agent_pool *p, enum need_result *how)
{
	if (claim_cannot(a, p, how))
		return true;
	*how = NEED_FULL;
	/* A claim that is under way may still bring a block. */
	return p->full && !claim_expected(a, p);
}

void claim_tell(struct agent *a)
{
	enum need_result how;

	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];
		bool met = p->needed && a->ops->spare(a->arg, p->is.name) >= p->needed;

		if (!p->needed || (!met && !claim_has_ended(a, p, &how)))
			continue;
		p->needed = p->asked = 0;
		p->full_until = met ? 0 : p->full_until;
		p->full = false;
		p->refused = 0;
		a->ops->met(a->arg, p->is.name, met ? NEED_MET : how);
	}
}

/* ---- needs begin, and hurry when the store answers again ---- */

bool agent_need(struct agent *a, const char *pool, uint64_t addresses)
{
	struct agent_pool *p = agent_find_pool(a, pool);

	if (!p)
		return false;
	agent_read_clock(a);
	if (addresses && !p->needed) {
		find_begin(a, p);
		p->full = false;
		p->refused = 0;
		/* Sooner than a node that only wants addresses ahead. */
		p->searches = p->searches < 2 ? p->searches : 2;
		if (p->due > a->now + a->set.retry)
			p->due = a->now + a->set.retry;
	}
	p->needed = addresses;
	return true;
}

/*
 * The heartbeat, and what an ADD waits for. The rest keeps its pauses, so that a store that was
 * away does not get all requests of all nodes at once. A twin is waited for on purpose.
 */
static bool is_urgent(const struct agent *a, const struct op *op)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);

	return op->kind == OP_RENEW ? !a->other : op->seat || (p && p->needed);
}

void agent_heard(struct agent *a)
{
	if (!a->away)
		return;
	agent_read_clock(a);
	a->away = 0;
	/* Not all at once: other nodes hear of it at the same time. */
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (!op->id && op->due > a->now + a->set.retry && is_urgent(a, op))
			op->due = agent_wait(a, 0);
	}
	for (size_t i = 0; i < a->n_pools; i++) {
		struct agent_pool *p = &a->pools[i];

		if (p->needed && p->due > a->now + a->set.retry)
			p->due = agent_wait(a, 0);
	}
}
