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
#include "lib/base/array.h"

_Static_assert(sizeof(struct block_record) < 560, "a node has thousands of records");

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

static bool lend_is_same(const struct loan *x, const struct loan *y)
{
	return x->at == y->at && x->to.token == y->to.token && strcmp(x->to.node, y->to.node) == 0;
}

static const struct loan *find_same(const struct loan *loans, unsigned n, const struct loan *like)
{
	for (unsigned i = 0; i < n; i++) {
		if (lend_is_same(&loans[i], like))
			return &loans[i];
	}
	return NULL;
}

static const struct loan *find_in(const struct block *b, const struct loan *like)
{
	return find_same(b->loans, b->n_loans, like);
}

static const struct loan *find_mark(const struct lending *l, const struct loan *like)
{
	return find_same(l->loans, l->n, like);
}

/* ---- what the blocks of this node lend ---- */

static struct lending *find_lending(const struct agent *a, const struct block_key *key)
{
	for (size_t i = 0; i < a->n_lendings; i++) {
		if (block_key_equal(&a->lendings[i].key, key))
			return &a->lendings[i];
	}
	return NULL;
}

const struct lending *lend_of(const struct agent *a, const struct block_key *key)
{
	static const struct lending none;
	const struct lending *l = find_lending(a, key);

	return l ? l : &none;
}

struct lending lend_copy(const struct agent *a, const struct block_key *key)
{
	struct lending l = *lend_of(a, key);

	l.key = *key;
	return l;
}

int lend_reserve(struct agent *a)
{
	struct err ignored;

	return ARRAY_GROW(a->lendings, a->n_lendings, AGENT_BLOCKS_MAX, "blocks that lend",
			  &ignored);
}

void lend_remember(struct agent *a, const struct lending *l)
{
	struct lending *old = find_lending(a, &l->key);

	if (old && !l->n)
		*old = a->lendings[--a->n_lendings];
	else if (l->n)
		*(old ? old : &a->lendings[a->n_lendings++]) = *l;
}

int lend_load(struct agent *a, const struct agent_memory *memory)
{
	for (size_t i = 0; i < memory->n_lendings; i++) {
		if (lend_reserve(a))
			return -1;
		lend_remember(a, &memory->lendings[i]);
	}
	return 0;
}

/* The node's store has one more loan of the block. */
static void add_loan(struct agent *a, const struct block_key *key, const struct loan *loan)
{
	struct lending l = lend_copy(a, key);

	l.loans[l.n++] = *loan;
	lend_remember(a, &l);
}

void lend_adopt(const struct agent *a, struct lending *to, const struct block *b)
{
	const struct agent_pool *p = agent_find_pool(a, to->key.pool);

	for (unsigned i = 0; i < b->n_loans && to->n < LOANS_MAX; i++) {
		struct loan l = b->loans[i];

		l.since = a->now;
		if (!l.returned && loans_is_inside(p, &l) && !block_lent(to, l.at))
			to->loans[to->n++] = l;
	}
}

bool lend_differs(const struct lending *l, const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		const struct loan *mark = find_mark(l, &b->loans[i]);

		if (!mark || b->loans[i].returned || b->loans[i].taken != mark->taken)
			return true;
	}
	for (unsigned i = 0; i < l->n; i++) {
		if (l->loans[i].taken && !find_in(b, &l->loans[i]))
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

bool lend_waits(const struct agent *a, const struct block_key *key, const struct block *b)
{
	const struct lending *l = lend_of(a, key);

	for (unsigned i = 0; i < l->n; i++) {
		if (is_over(a, &l->loans[i]))
			return true;
	}
	return lend_differs(l, b);
}

/* The record gets what the borrowers wrote. */
static void read_loans(struct block_record *r, struct lending *l, const struct block *b)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < l->n; i++) {
		const struct loan *seen = find_in(b, &l->loans[i]);

		if (seen && seen->returned)
			continue;
		l->loans[i].taken |= seen && seen->taken;
		l->loans[kept++] = l->loans[i];
	}
	l->n = kept;
	/* A taker may have returned it for a borrower that is dead. */
	r->probe |= b->probe;
}

/*
 * The record, which is stored, gets each taken loan of the block that it lacks, unless a pod of
 * this node has the address: a restored store shows what was given back, or a later take.
 */
static int accept_taken(struct agent *a, const struct block_key *key, const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		const struct loan *l = &b->loans[i];
		const struct lending *own = lend_of(a, key);
		struct loan mark;

		if (!l->taken || l->returned || find_mark(own, l) || own->n == LOANS_MAX)
			continue;
		if (lend_reserve(a))
			return -1;
		if (a->ops->lend(a->arg, key, l->at + 1, &l->to, &mark))
			continue;
		mark.taken = true;
		add_loan(a, key, &mark);
	}
	return 0;
}

/*
 * A loan that the record does not have was given back before a restore, or is an offer that was
 * withdrawn. One that was taken and that the block lacks was forgotten by a restored store.
 */
static void lend_settle(const struct agent *a, struct block_record *r, struct lending *own,
			struct block *b)
{
	struct loan loans[LOANS_MAX] = { 0 };
	bool changed = false;
	unsigned n = 0;

	read_loans(r, own, b);
	for (unsigned i = 0; i < own->n; i++) {
		const struct loan *mark = &own->loans[i], *l = find_in(b, mark);
		const bool stays = mark->taken || (l && !is_over(a, mark));

		changed |= !l || !stays;
		if (stays)
			loans[n++] = *mark;
	}
	for (unsigned i = 0; i < b->n_loans; i++)
		changed |= !find_mark(own, &b->loans[i]);
	b->n_loans = n;
	memcpy(b->loans, loans, n * sizeof(*loans));
	b->touched += changed;
}

int lend_store(struct agent *a, struct block_record *r, struct block *b)
{
	const bool any = lend_of(a, &r->key)->n || b->n_loans;
	struct lending own;

	if (accept_taken(a, &r->key, b))
		return -1;
	*r = *agent_find(a, &r->key);
	own = lend_copy(a, &r->key);
	lend_settle(a, r, &own, b);
	return any ? agent_put_loans(a, r, &own) : 0;
}

/* ---- lend ---- */

/* A restored store shows an ask that was answered. */
static bool has_got(const struct lending *own, const struct block_party *asker)
{
	for (unsigned i = 0; i < own->n; i++) {
		if (party_equal(&own->loans[i].to, asker))
			return true;
	}
	return false;
}

void lend_one(struct agent *a, const struct block_key *key, struct block *b)
{
	const struct agent_pool *p = agent_find_pool(a, key->pool);
	const struct lending *own = lend_of(a, key);
	struct loan loan;

	if (!b->asks_one || has_got(own, &b->asker) || !p || agent_is_closed(p) ||
	    !loans_are_lent(p) || b->n_loans == LOANS_MAX || own->n == LOANS_MAX ||
	    lend_reserve(a) || a->ops->lend(a->arg, key, b->asks_one, &b->asker, &loan))
		return;
	loan.since = a->now;
	add_loan(a, key, &loan);
	b->loans[b->n_loans++] = loan;
	b->touched++;
}

int lend_written(struct agent *a, const struct block_key *key, const struct block *b)
{
	const struct block_record *r = agent_find(a, key);
	struct lending own = lend_copy(a, key);
	const unsigned n = own.n;

	own.n = 0;
	for (unsigned i = 0; i < n; i++) {
		if (own.loans[i].taken || find_in(b, &own.loans[i]))
			own.loans[own.n++] = own.loans[i];
	}
	return r && own.n != n ? agent_put_loans(a, r, &own) : 0;
}

/* ---- offers that are not taken ---- */

static const struct loan *first_offer(const struct agent *a, const struct lending *l)
{
	const struct block_record *r = agent_find(a, &l->key);
	const struct loan *first = NULL;

	for (unsigned i = 0; i < l->n && r && r->state == BLOCK_GRANTED; i++) {
		if (!l->loans[i].taken && (!first || l->loans[i].since < first->since))
			first = &l->loans[i];
	}
	return first;
}

void lend_due(struct agent *a)
{
	for (size_t i = 0; i < a->n_lendings; i++) {
		const struct lending *l = &a->lendings[i];
		const struct loan *offer = first_offer(a, l);

		if (offer && is_over(a, offer) && !agent_is_busy(a, &l->key))
			agent_look(a, &l->key);
	}
}

int64_t lend_next(const struct agent *a)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < a->n_lendings; i++) {
		const struct loan *offer = first_offer(a, &a->lendings[i]);

		if (offer && end_of(a, offer) < next && end_of(a, offer) > a->now)
			next = end_of(a, offer);
	}
	return next;
}
