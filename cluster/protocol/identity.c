/* SPDX-License-Identifier: Apache-2.0 */
/*
 * identity.c: the address of a pod that starts here, in a pool whose sticky addresses move.
 *
 * A block of such a pool has one address and names its identity. The list of the pool's blocks
 * shows the block of an identity. If no node has it, one conditional update takes it. If a node has
 * it, its pod may live there. If there is none, a new block gets the identity; if the pool is full,
 * the one that has been parked for longest.
 *
 * Two nodes that start one pod at the same moment try the same block. If their lists differ, they
 * may give two blocks one identity. So a node lists them again after its write: one of the two sees
 * the other. Both know which block stays. The owner of the other one gives it up, and the owner of
 * the one that stays waits for that: it cannot tell whether the other one was granted before. If
 * that takes too long it gives its block up, too.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/moves_priv.h"

/* So many lists in a row show a living pod elsewhere. Its node may be about to park the block. */
#define HELD_MAX 3
/* So many claims that found another node quicker; and so many requests without an answer. */
#define CLAIMS_MAX 8
#define TRIES_MAX  3
/* So many pauses a block waits for the ADD of its pod. */
#define COMES 4
/* So many lists in a row show a block that does not stay. Its node is slow, off, or granted it. */
#define RIVALS_MAX 4

void identity_own(struct block *b, const struct block_record *r)
{
	memcpy(b->identity, r->identity, sizeof(b->identity));
	*b->parked_by = '\0';
	b->parked = 0;
}

bool identity_was_parked(const struct block_record *r, const struct block *b)
{
	return *b->parked_by && strcmp(b->identity, r->identity) == 0;
}

void identity_take(struct block *b, const struct block_record *r)
{
	char parked_by[sizeof(b->parked_by)] = "";

	/* Until it is confirmed: the next process of this agent may have to go on. */
	if (identity_was_parked(r, b))
		memcpy(parked_by, b->parked_by, sizeof(parked_by));
	identity_own(b, r);
	memcpy(b->parked_by, parked_by, sizeof(parked_by));
}

bool identity_may_take(const struct block_record *r, const struct block *b)
{
	return !*b->identity || strcmp(b->identity, r->identity) == 0;
}

static struct block_key identity_key_of(const char *pool, const char *identity)
{
	struct block_key key = { .start = { .family = IP_NONE } };

	memcpy(key.pool, pool, strlen(pool) + 1);
	key.start.v = (u128)grid_hash(identity, "a") << 64 | grid_hash(identity, "b");
	return key;
}

static struct op *search_of(const struct agent *a, const char *pool, const char *identity)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];

		if (op->seat && !op->done && strcmp(op->key.pool, pool) == 0 &&
		    strcmp(op->seat->identity, identity) == 0)
			return op;
	}
	return NULL;
}

static const struct block_record *record_of(const struct agent *a, const struct op *op)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct block_record *r = &a->blocks[i];

		if (strcmp(r->key.pool, op->key.pool) == 0 &&
		    strcmp(r->identity, op->seat->identity) == 0)
			return r;
	}
	return NULL;
}

bool identity_waits(const struct agent *a, const struct block_record *r)
{
	return search_of(a, r->key.pool, r->identity) != NULL;
}

/* The prefix has blocks of a pool "a-b" for "a", too. */
static void list_pool(struct agent *a, struct op *op, enum op_step step)
{
	struct agent_request r = { .call = CALL_LIST, .kind = CLUSTER_BLOCK };

	memcpy(r.name, op->key.pool, sizeof(op->key.pool));
	r.name[strlen(r.name)] = '-';
	agent_send_request(a, op, step, &r);
}

/* ---- how it ends ---- */

static void identity_tell(struct agent *a, struct op *op, enum need_result result,
			  const struct block_seen *held)
{
	if (*op->seat->identity)
		a->ops->identity_done(a->arg, op->key.pool, op->seat->identity, result, held);
	agent_end(op);
}

/* The block is kept for the waiting ADD. Then it is parked unless a pod has its address. */
static void tell_found(struct agent *a, struct op *op)
{
	a->ops->identity_done(a->arg, op->key.pool, op->seat->identity, NEED_MET, NULL);
	op->seat->found = true;
	op->step = STEP_IDLE;
	op->due = a->now + COMES * a->set.retry;
}

static void identity_is_held(struct agent *a, struct op *op, const struct block_seen *held)
{
	if (++op->seat->held >= HELD_MAX)
		identity_tell(a, op, NEED_HELD, held);
	else
		agent_later(a, op);
}

static void wait_for_claim(struct op *op)
{
	op->seat->waits = true;
	op->step = STEP_IDLE;
	op->due = INT64_MAX;
}

/* ---- a block of this node ---- */

static void held_here(struct agent *a, struct op *op, const struct block_record *r)
{
	struct block_seen seen = { .key = r->key };

	seen.block.owner = agent_party(a, r->token);
	memcpy(seen.block.identity, r->identity, sizeof(r->identity));
	identity_is_held(a, op, &seen);
}

static void go_on_with(struct agent *a, struct op *op, const struct block_record *r)
{
	bool in_use = r->state != BLOCK_WANTED && a->ops->used(a->arg, &r->key) > 0;

	if (r->state == BLOCK_WANTED)
		wait_for_claim(op);
	else if (in_use && op->seat->claims)
		/* Its pod was quicker than this agent. */
		identity_tell(a, op, NEED_MET, NULL);
	else if (in_use)
		held_here(a, op, r);
	else if (r->state == BLOCK_GRANTED && block_may_give(&a->node, r))
		tell_found(a, op);
	else
		/* It is being parked or confirmed. */
		agent_later(a, op);
}

void identity_go(struct agent *a, struct op *op)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	const struct block_record *record = record_of(a, op);

	if (op->seat->found) {
		agent_end(op);
	} else if (!p || agent_is_closed(p) || !park_is_of(p) || a->now < a->node.frozen) {
		identity_tell(a, op, NEED_REFUSED, NULL);
	} else if (record && *op->seat->identity) {
		go_on_with(a, op, record);
	} else {
		list_pool(a, op, STEP_LIST);
	}
}

/* ---- a block of the list ---- */

static bool identity_is_of(const struct op *op, const struct block_seen *s)
{
	return strcmp(s->key.pool, op->key.pool) == 0;
}

/* One that a node has comes before one that is parked. */
static const struct block_seen *identity_block_of(const struct op *op, const char *identity,
						  const struct agent_reply *r)
{
	const struct block_seen *found = NULL;

	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[i];

		if (identity_is_of(op, s) && strcmp(s->block.identity, identity) == 0 &&
		    (!found || *s->block.owner.node))
			found = s;
	}
	return found;
}

static const struct block_seen *oldest_parked(struct agent *a, const struct op *op,
					      const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	const struct block_seen *oldest = NULL;

	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[i];

		if (identity_is_of(op, s) && block_is_parked(&s->block) &&
		    grid_has(&p->is.grid, s->key.start) && agent_is_new(a, &s->key) &&
		    (!oldest || s->block.parked < oldest->block.parked))
			oldest = s;
	}
	return oldest;
}

/*
 * seen: take this block at this version, or share it if a node has it; NULL: create it.
 */
static void identity_claim(struct agent *a, struct op *op, const struct block_key *key,
			   const struct block_seen *seen)
{
	struct block_record r = { .key = *key, .state = BLOCK_WANTED };
	struct op *made = NULL;

	r.token = a->ops->random(a->arg);
	memcpy(r.identity, op->seat->identity, sizeof(r.identity));
	if (agent_is_new(a, key) && agent_put(a, &r) == 0)
		made = agent_begin(a, OP_CLAIM, key);
	if (made) {
		made->begun = made->take = seen != NULL;
		made->first = !seen;
		made->share = seen && *seen->block.owner.node;
		if (seen)
			block_seen_copy(&made->seen, seen);
	}
	op->seat->claims++;
	if (made || !agent_is_new(a, key))
		wait_for_claim(op);
	else
		agent_later(a, op);
}

static void identity_choose(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_seen *seen = NULL;
	struct block_key key = { 0 };
	bool there;

	/* The whole pool was listed. */
	op->open = GRID_NAME_LEN - GRID_POOL_MAX - 2;
	if (find_free_block(a, op, r, &key, &there)) {
		for (size_t i = 0; there && i < r->n_list; i++) {
			if (block_key_equal(&r->list[i]->key, &key))
				seen = r->list[i];
		}
		identity_claim(a, op, &key, seen);
		return;
	}
	seen = oldest_parked(a, op, r);
	if (seen)
		identity_claim(a, op, &seen->key, seen);
	else
		identity_tell(a, op, NEED_FULL, NULL);
}

/* Blocks that an earlier process of this agent parked end as if they had been parked now. */
static void adopt_parks(struct agent *a, const struct op *op, const struct agent_reply *r)
{
	struct agent_pool *p = agent_find_pool(a, op->key.pool);

	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[i];

		if (identity_is_of(op, s) && block_is_parked(&s->block) &&
		    strcmp(s->block.parked_by, a->set.node) == 0)
			park_add(a, &s->key, &s->at);
	}
	p->swept = true;
}

/* This node has no record of it, and no operation on it. */
static bool can_share(const struct agent *a, const struct block_seen *s)
{
	struct block_record of = { .key = s->key };

	memcpy(of.identity, s->block.identity, sizeof(of.identity));
	return share_may(a, &of, &s->block) && agent_is_new(a, &s->key);
}

static void no_list(struct agent *a, struct op *op, enum cluster_outcome outcome)
{
	if (op->tries + 1 < TRIES_MAX || !*op->seat->identity)
		agent_later(a, op);
	else
		identity_tell(a, op, outcome == CLUSTER_REFUSED ? NEED_REFUSED : NEED_AWAY, NULL);
}

void identity_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct agent_pool *p = agent_find_pool(a, op->key.pool);
	const char *identity = op->seat->identity;
	const struct block_seen *s;

	if (r->outcome != CLUSTER_OK) {
		no_list(a, op, r->outcome);
		return;
	}
	if (!p || !park_is_of(p) || agent_is_closed(p) || op->seat->claims >= CLAIMS_MAX) {
		identity_tell(a, op, NEED_REFUSED, NULL);
		return;
	}
	adopt_parks(a, op, r);
	if (!*identity) {
		agent_end(op);
		return;
	}
	s = identity_block_of(op, identity, r);
	if (!s)
		identity_choose(a, op, r);
	else if (*s->block.owner.node && !(op->seat->migrates && can_share(a, s)))
		identity_is_held(a, op, s);
	else
		identity_claim(a, op, &s->key, s);
}

/* ---- a machine that migrates ---- */

bool agent_shares(const struct agent *a, const struct block *b, uint64_t token)
{
	struct block_party us = agent_party(a, token);

	return b->migrates && party_equal(&b->asker, &us);
}

bool share_may(const struct agent *a, const struct block_record *r, const struct block *b)
{
	/* An earlier process or store of this node may have asked. */
	bool is_free = !*b->asker.node || (b->migrates && !strcmp(b->asker.node, a->set.node));

	return *b->owner.node && !agent_has_name(a, b) && is_free && *r->identity &&
	       strcmp(b->identity, r->identity) == 0;
}

void share_send(struct agent *a, struct op *op, const struct block_record *r)
{
	struct block b = op->seen.block;

	/* The owner may not have granted it yet, and another block may have the identity. */
	op->alone = false;
	b.asker = agent_party(a, r->token);
	b.migrates = true;
	b.contested = b.kept = false;
	agent_send(a, op, STEP_UPDATE, &b);
}

void share_end(struct agent *a, struct op *op)
{
	struct block b = op->seen.block;

	b.asker = (struct block_party){ 0 };
	b.migrates = b.kept = false;
	agent_send(a, op, STEP_UPDATE, &b);
}

/* ---- is it the only one? ---- */

bool identity_is_sure(struct agent *a, struct op *op)
{
	if (op->alone || !*agent_find(a, &op->key)->identity)
		return true;
	list_pool(a, op, STEP_ALONE);
	return false;
}

/*
 * Which of two blocks of one identity stays: the one whose address a pod rather had. That is one
 * which was parked, that has more versions, or that was taken from a dead node.
 */
static bool stays(const struct block_seen *s, const struct block_seen *beside)
{
	const struct block *b = &s->block, *other = &beside->block;

	if (!*b->parked_by != !*other->parked_by)
		return *b->parked_by;
	if (b->touched != other->touched)
		return b->touched > other->touched;
	if (b->probe != other->probe)
		return b->probe;
	return s->key.start.v < beside->key.start.v;
}

/* If no node has a block that does not stay, none can: who takes it sees the one that does. */
int identity_is_alone(const struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	bool waits = false;

	if (r->outcome != CLUSTER_OK)
		return -1;
	for (size_t i = 0; i < r->n_list; i++) {
		const struct block_seen *s = r->list[i];

		if (!identity_is_of(op, s) || strcmp(s->block.identity, record->identity) != 0 ||
		    block_key_equal(&s->key, &op->key))
			continue;
		if (!op->begun || stays(s, &op->seen))
			return 0;
		waits |= *s->block.owner.node;
	}
	if (!waits)
		return 1;
	return ++op->rivals < RIVALS_MAX ? -1 : 0;
}

/* ---- begin ---- */

static struct op *identity_begin(struct agent *a, const char *pool, const char *identity)
{
	const struct block_key key = identity_key_of(pool, identity);
	struct seat *seat = calloc(1, sizeof(*seat));
	struct op *op = seat ? agent_begin(a, OP_IDENTITY, &key) : NULL;

	if (!op) {
		free(seat);
		return NULL;
	}
	memcpy(seat->identity, identity, strlen(identity) + 1);
	op->seat = seat;
	return op;
}

bool agent_need_identity(struct agent *a, const char *pool, const char *identity, bool migrates)
{
	struct op *op = search_of(a, pool, identity);

	agent_read_clock(a);
	if (!agent_find_pool(a, pool) || !*identity || strlen(identity) >= IDENTITY_LEN)
		return false;
	if (!op)
		op = identity_begin(a, pool, identity);
	if (!op)
		return false;
	op->seat->migrates |= migrates;
	if (op->seat->found) {
		op->seat->found = false;
		op->due = a->now;
	}
	return true;
}

void identity_start(struct agent *a, struct agent_pool *p)
{
	struct op *op = search_of(a, p->is.name, "") ? NULL : identity_begin(a, p->is.name, "");
	const uint64_t most = (uint64_t)(p->is.keep ? p->is.keep / 2 : 0);

	/* Not all agents that start together. A pod that starts here is sooner. */
	if (op)
		op->due = a->now + (int64_t)(most ? a->ops->random(a->arg) % most : 0);
}

void identity_wake(struct agent *a)
{
	for (size_t i = 0; i < a->n_ops; i++) {
		struct op *op = a->ops_running[i];
		const struct block_record *r = op->seat && !op->done ? record_of(a, op) : NULL;

		if (!op->seat || op->done)
			continue;
		if (op->seat->waits && (!r || r->state != BLOCK_WANTED)) {
			op->seat->waits = false;
			op->due = a->now;
		}
		if (op->seat->found && r && a->ops->used(a->arg, &r->key) > 0)
			op->due = a->now;
	}
}
