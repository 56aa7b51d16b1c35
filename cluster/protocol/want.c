/* SPDX-License-Identifier: Apache-2.0 */
/*
 * want.c: a certain block becomes ours by a claim or by an ask, or its owner is named. And what
 * comes of an ask.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"
#include "lib/base/array.h"

#define WANTS_MAX 4096
/* So many claims and looks; then another try would not help. */
#define TRIES_MAX 8
/* Owners asked for a block: it may go to another node meanwhile. */
#define ASKS_MAX 3

static struct want *find_want(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_wants; i++) {
		if (block_key_equal(&a->wants[i].key, key))
			return &a->wants[i];
	}
	return NULL;
}

bool want_has(const struct agent *a, const struct block_key *key)
{
	return find_want(a, key) != NULL;
}

bool agent_want(struct agent *a, const struct block_key *key)
{
	struct agent_pool *p = agent_find_pool(a, key->pool);
	struct err ignored;

	if (!p || !grid_has(&p->is.grid, key->start))
		return false;
	if (find_want(a, key))
		return true;
	if (ARRAY_GROW(a->wants, a->n_wants, WANTS_MAX, "wanted blocks", &ignored))
		return false;
	agent_read_clock(a);
	a->wants[a->n_wants++] = (struct want){ .key = *key, .due = a->now };
	if (!p->needed)
		p->refused = 0;
	return true;
}

struct want_answer agent_wanted(const struct agent *a, const struct block_key *key)
{
	const struct want *w = find_want(a, key);

	return w ? w->answer : (struct want_answer){ .ended = true, .how = NEED_REFUSED };
}

void agent_unwant(struct agent *a, const struct block_key *key)
{
	struct want *w = find_want(a, key);

	if (w)
		*w = a->wants[--a->n_wants];
}

void want_missed(struct agent *a, const struct op *op)
{
	/* One in our own name comes back as a stray. */
	if (agent_has_name(a, &op->seen.block))
		return;
	for (size_t i = 0; i < a->n_wants; i++) {
		const struct block_key whole = block_key_whole(&a->wants[i].key);

		if (block_key_equal(&whole, &op->key))
			a->wants[i].seen = op->seen;
	}
}

static void want_end(struct want *w, enum need_result how)
{
	w->answer.ended = true;
	w->answer.how = how;
	if (how != NEED_FULL)
		return;
	(void)snprintf(w->answer.node, sizeof(w->answer.node), "%s", w->seen.block.owner.node);
	w->answer.used = w->seen.block.used;
}

static bool want_is_held(const struct want *w)
{
	return *w->seen.block.owner.node;
}

/* Another node asks for it, too: its ask is answered first. */
static bool is_asked_for(const struct want *w)
{
	return block_is_asked_for(&w->seen.block);
}

/* The owner was asked and did not give it, or other asks never end. */
static bool is_kept(const struct want *w)
{
	const bool was_asked =
		strcmp(w->asked, w->seen.block.owner.node) == 0 || w->asks == ASKS_MAX;

	return want_is_held(w) && (is_asked_for(w) ? w->tries >= TRIES_MAX : was_asked);
}

/* The owner in w->seen has not been asked yet. */
static void want_ask(struct agent *a, const struct agent_pool *p, struct want *w)
{
	const struct block_seen seen = w->seen;

	(void)snprintf(w->asked, sizeof(w->asked), "%s", seen.block.owner.node);
	w->asks++;
	w->seen = (struct block_seen){ .key = block_key_whole(&w->key) };
	/* Without an answer the owner is still the one to name. */
	if (!find_ask(a, &seen, loans_are_lent(p) ? w->key.one : 0))
		w->seen = seen;
}

/* A look, and a claim if no node has it. */
static void want_claim(struct agent *a, struct want *w)
{
	const struct block_key whole = block_key_whole(&w->key);

	w->tries++;
	w->seen = (struct block_seen){ .key = whole };
	w->due = agent_wait(a, w->tries);
	claim_start(a, &whole, true);
}

/* A loan that cannot be assigned now is returned, and then asked for again. */
static void go_with_loan(struct agent *a, struct want *w, struct block_record *loan)
{
	if (block_is_in_conflict(loan))
		want_end(w, NEED_FULL);
	else if (loan->state == BLOCK_GRANTED && !agent_is_busy(a, &loan->key) &&
		 agent_retire(a, loan) > 0)
		/* A pod of this node has it: the ADD says which. */
		want_end(w, NEED_MET);
}

static void go(struct agent *a, struct want *w)
{
	const struct agent_pool *p = agent_find_pool(a, w->key.pool);
	const struct block_key whole = block_key_whole(&w->key);
	const struct block_record *r = agent_find(a, &whole);
	struct block_record *loan = w->key.one ? agent_find(a, &w->key) : NULL;
	const bool conflict = r && block_is_in_conflict(r);
	enum need_result how = NEED_REFUSED;

	if (!p || claim_cannot(a, p, &how))
		want_end(w, how);
	else if (((r && block_may_give(&a->node, r)) ||
		  (loan && loans_are_lent(p) && block_may_give(&a->node, loan))) &&
		 claim_is_open(a, p))
		want_end(w, NEED_MET);
	else if (loan)
		go_with_loan(a, w, loan);
	else if (!conflict && (r || agent_is_busy(a, &whole) || !claim_is_open(a, p)))
		return;
	else if (conflict || is_kept(w))
		want_end(w, NEED_FULL);
	else if (want_is_held(w) && !is_asked_for(w))
		want_ask(a, p, w);
	else if (w->tries >= TRIES_MAX)
		want_end(w, NEED_REFUSED);
	else if (w->due <= a->now)
		want_claim(a, w);
}

void want_more(struct agent *a)
{
	for (size_t i = 0; i < a->n_wants; i++) {
		if (!a->wants[i].answer.ended)
			go(a, &a->wants[i]);
	}
}

int64_t want_next(const struct agent *a)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < a->n_wants; i++) {
		const struct want *w = &a->wants[i];

		if (!w->answer.ended && w->due > a->now && w->due < next)
			next = w->due;
	}
	return next;
}

/* ---- the ask for a block, or for a loan ---- */

void ask_go(struct agent *a, struct op *op)
{
	const struct block_record *record = agent_find(a, &op->key);

	if (op->begun) {
		agent_send(a, op, STEP_LOOK, NULL);
		return;
	}
	op->begun = true;

	struct block b = op->seen.block;

	b.asker = agent_party(a, record->token);
	b.contested = b.kept = false;
	op->seen.block.asks_one = 0;
	agent_send(a, op, STEP_UPDATE, &b);
}

/* The owner lends one address: that is recorded first, and then the ask ends. */
static bool got_loan(struct agent *a, struct op *op, uint64_t token, const struct agent_reply *r)
{
	const struct loan *loan = borrow_find(a, &op->key, &r->block, token);

	if (!loan)
		return false;
	if (borrow_begin(a, &op->key, loan))
		agent_later(a, op);
	else
		contest_begin(a, op);
	return true;
}

/*
 * An ask that is not heard is taken back, so that others can ask. A block that comes all the same
 * is returned as a stray. A block that a newer agent wrote cannot be changed: the ask ends there.
 */
void ask_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct block_record record = *agent_find(a, &op->key);
	struct block_party us = agent_party(a, record.token);
	bool stands = r->outcome == CLUSTER_OK && party_equal(&r->block.asker, &us);
	bool unreadable = op->step == STEP_LOOK && r->unreadable;
	bool unknown = !unreadable && (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED);

	if (r->outcome == CLUSTER_OK && got_loan(a, op, record.token, r))
		return;
	if (unknown || (stands && a->now < op->since + a->set.ask)) {
		/* The owner's answer comes with a watch, or is seen at the next look. */
		agent_later(a, op);
	} else if (r->outcome == CLUSTER_OK && agent_is_ours(a, &r->block, record.token)) {
		/* Not confirmed: it may have come in an epoch that is over. */
		record.state = BLOCK_GRANTED;
		record.probe = r->block.probe;
		agent_end_if(a, op, agent_put(a, &record));
	} else if (op->step == STEP_LOOK && stands) {
		struct block b = r->block;

		find_silent(a, &op->key);
		b.asker = (struct block_party){ 0 };
		b.contested = b.kept = false;
		b.asks_one = 0;
		agent_send(a, op, STEP_UPDATE, &b);
	} else if (stands || (op->step == STEP_UPDATE && r->outcome == CLUSTER_CONFLICT)) {
		agent_send(a, op, STEP_LOOK, NULL);
	} else {
		want_missed(a, op);
		contest_begin(a, op);
	}
}
