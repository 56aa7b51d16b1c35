/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lend.c: the owner of a block lends single addresses of it, when a pool is nearly full.
 *
 * The record of the block says which addresses are lent, and an ADD assigns none of them. It is
 * written before the block is, and a loan leaves it only when the borrower cannot assign the
 * address any more: the borrower has written `returned`, or never wrote `taken` and cannot do so
 * since, because the version of the block has changed.
 */
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"

bool loans_are_lent(const struct agent_pool *p)
{
	return p->is.lends;
}

bool loans_may_exist(const struct agent_pool *p)
{
	return p->is.grid.bits > 0 && !p->is.sticky;
}

bool loans_is_inside(const struct agent_pool *p, const struct loan *l)
{
	return !p || !((uint64_t)l->at >> p->is.grid.bits);
}

bool loans_hold(const struct block *b)
{
	return block_borrower(b) != NULL;
}

static bool is_same(const struct loan *x, const struct loan *y)
{
	return x->at == y->at && x->to.token == y->to.token && strcmp(x->to.node, y->to.node) == 0;
}

static const struct loan *find_same(const struct loan *loans, unsigned n, const struct loan *like)
{
	for (unsigned i = 0; i < n; i++) {
		if (is_same(&loans[i], like))
			return &loans[i];
	}
	return NULL;
}

static const struct loan *find_in(const struct block *b, const struct loan *like)
{
	return find_same(b->loans, b->n_loans, like);
}

void lend_adopt(const struct agent *a, struct block_record *r, const struct block *b)
{
	const struct agent_pool *p = agent_find_pool(a, r->key.pool);

	for (unsigned i = 0; i < b->n_loans && r->n_lent < LOANS_MAX; i++) {
		struct loan l = b->loans[i];

		l.since = a->now;
		if (!l.returned && loans_is_inside(p, &l) && !block_lent(r, l.at))
			r->lent[r->n_lent++] = l;
	}
}

bool lend_differs(const struct block_record *r, const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		const struct loan *mark = find_same(r->lent, r->n_lent, &b->loans[i]);

		if (!mark || b->loans[i].returned || b->loans[i].taken != mark->taken)
			return true;
	}
	for (unsigned i = 0; i < r->n_lent; i++) {
		if (r->lent[i].taken && !find_in(b, &r->lent[i]))
			return true;
	}
	return false;
}

/* ---- settle ---- */

/* An offer that is not taken ends after a heartbeat, and not before asks end. */
static int64_t end_of(const struct agent *a, const struct loan *offer)
{
	return offer->since + (a->set.ask > a->set.renew ? a->set.ask : a->set.renew);
}

static bool is_over(const struct agent *a, const struct loan *mark)
{
	return !mark->taken && a->now >= end_of(a, mark);
}

bool lend_waits(const struct agent *a, const struct block_record *r, const struct block *b)
{
	for (unsigned i = 0; i < r->n_lent; i++) {
		if (is_over(a, &r->lent[i]))
			return true;
	}
	return lend_differs(r, b);
}

/* The record gets what the borrowers wrote. */
static void read_loans(struct block_record *r, const struct block *b)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->n_lent; i++) {
		const struct loan *l = find_in(b, &r->lent[i]);

		if (l && l->returned)
			continue;
		r->lent[i].taken |= l && l->taken;
		r->lent[kept++] = r->lent[i];
	}
	r->n_lent = kept;
	/* A taker may have returned it for a borrower that is dead. */
	r->probe |= b->probe;
}

/*
 * The record, which is stored, gets each taken loan of the block that it lacks, unless a pod of
 * this node has the address: a restored store shows what was given back, or a later take.
 */
static void accept_taken(struct agent *a, struct block_record *r, const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		const struct loan *l = &b->loans[i];
		struct loan mark;

		if (!l->taken || l->returned || find_same(r->lent, r->n_lent, l) ||
		    r->n_lent == LOANS_MAX ||
		    a->ops->lend(a->arg, &r->key, l->at + 1, &l->to, &mark))
			continue;
		mark.taken = true;
		r->lent[r->n_lent++] = mark;
	}
}

/*
 * A loan that the record does not have was given back before a restore, or is an offer that was
 * withdrawn. One that was taken and that the block lacks was forgotten by a restored store.
 */
static void settle(const struct agent *a, struct block_record *r, struct block *b)
{
	struct loan loans[LOANS_MAX] = { 0 };
	bool changed = false;
	unsigned n = 0;

	read_loans(r, b);
	for (unsigned i = 0; i < r->n_lent; i++) {
		const struct loan *mark = &r->lent[i], *l = find_in(b, mark);
		const bool stays = mark->taken || (l && !is_over(a, mark));

		changed |= !l || !stays;
		if (stays)
			loans[n++] = *mark;
	}
	for (unsigned i = 0; i < b->n_loans; i++)
		changed |= !find_same(r->lent, r->n_lent, &b->loans[i]);
	b->n_loans = n;
	memcpy(b->loans, loans, n * sizeof(*loans));
	b->touched += changed;
}

int lend_store(struct agent *a, struct block_record *r, struct block *b)
{
	struct block_record *stored = agent_find(a, &r->key);
	bool any = r->n_lent || b->n_loans;

	accept_taken(a, stored, b);
	*r = *stored;
	settle(a, r, b);
	return any ? agent_put(a, r) : 0;
}

/* ---- lend ---- */

/* A restored store shows an ask that was answered. */
static bool has_got(const struct block_record *r, const struct block_party *asker)
{
	for (unsigned i = 0; i < r->n_lent; i++) {
		if (party_equal(&r->lent[i].to, asker))
			return true;
	}
	return false;
}

void lend_one(struct agent *a, struct block_record *r, struct block *b)
{
	const struct agent_pool *p = agent_find_pool(a, r->key.pool);
	struct loan loan;

	if (!b->asks_one || has_got(r, &b->asker) || !p || agent_is_closed(p) ||
	    !loans_are_lent(p) || b->n_loans == LOANS_MAX || r->n_lent == LOANS_MAX ||
	    a->ops->lend(a->arg, &r->key, b->asks_one, &b->asker, &loan))
		return;
	loan.since = a->now;
	r->lent[r->n_lent++] = loan;
	b->loans[b->n_loans++] = loan;
	b->touched++;
}

int lend_written(struct agent *a, const struct block_key *key, const struct block *b)
{
	const struct block_record *old = agent_find(a, key);
	struct block_record r;
	unsigned kept = 0;

	if (!old)
		return 0;
	r = *old;
	for (unsigned i = 0; i < r.n_lent; i++) {
		if (r.lent[i].taken || find_in(b, &r.lent[i]))
			r.lent[kept++] = r.lent[i];
	}
	if (kept == r.n_lent)
		return 0;
	r.n_lent = kept;
	return agent_put(a, &r);
}

/* ---- offers that are not taken ---- */

static const struct loan *first_offer(const struct block_record *r)
{
	const struct loan *first = NULL;

	for (unsigned i = 0; i < r->n_lent && r->state == BLOCK_GRANTED; i++) {
		if (!r->lent[i].taken && (!first || r->lent[i].since < first->since))
			first = &r->lent[i];
	}
	return first;
}

void lend_due(struct agent *a)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		struct block_record *r = &a->blocks[i];
		const struct loan *offer = first_offer(r);

		if (offer && is_over(a, offer) && !agent_is_busy(a, &r->key))
			agent_look(a, &r->key);
	}
}

int64_t lend_next(const struct agent *a)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < a->n_blocks; i++) {
		const struct loan *offer = first_offer(&a->blocks[i]);

		if (offer && end_of(a, offer) < next && end_of(a, offer) > a->now)
			next = end_of(a, offer);
	}
	return next;
}
