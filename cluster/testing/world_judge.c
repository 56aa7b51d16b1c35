/* SPDX-License-Identifier: Apache-2.0 */
/* world_judge.c: what must hold at each assignment, after a restore, and when all is well again. */
#include <string.h>

#include "cluster/testing/world_pods.h"

static const struct object *object_of(struct world *w, const struct block_record *r)
{
	char name[GRID_NAME_LEN];

	return world_find(w, CLUSTER_BLOCK, grid_name(r->key.pool, r->key.start, name));
}

static bool has_loan(const struct object *o, const struct machine *m, const struct block_record *r)
{
	for (unsigned i = 0; i < o->block.n_loans; i++) {
		const struct loan *l = &o->block.loans[i];

		if (l->at + 1 == r->key.one && l->taken && !l->returned &&
		    strcmp(l->to.node, m->name) == 0 && l->to.token == r->token)
			return true;
	}
	return false;
}

static bool has_it(const struct object *o, const struct machine *m, const struct block_record *r)
{
	const struct block_party *has;

	if (!o)
		return false;
	if (r->key.one)
		return has_loan(o, m, r);
	has = world_is_target(o, m) ? &o->block.asker : &o->block.owner;
	return strcmp(has->node, m->name) == 0 && strcmp(has->holder, m->node.holder) == 0 &&
	       has->token == r->token;
}

/* The rest is world_may_share()'s. */
static bool is_same_pod(const struct machine *m, const struct block_record *r, unsigned ip)
{
	return world_pod_of(r->identity) == m->pods[ip];
}

/*
 * A pod of a lost store has the address, and it is one of the same migrating machine. A probe would
 * find it, or the source that has the address by right, and there is nothing else to find.
 */
static bool is_beside_its_pod(struct world *w, const struct machine *m,
			      const struct block_record *r, unsigned ip)
{
	const bool is_target = world_is_target(object_of(w, r), m);

	for (unsigned i = 0; i < w->set.nodes && w->set.migrates; i++) {
		const struct machine *other = &w->machines[i];

		if ((other != m || is_target) && other->unknown[ip] && is_same_pod(other, r, ip))
			return true;
	}
	return false;
}

/* At this moment the store says that the block is ours, and no pod has the address. */
void world_judge_give(struct world *w, const struct machine *m, const struct block_record *r,
		      unsigned ip)
{
	const struct object *o = object_of(w, r);
	/* Whoever has the address next, and is another pod, must probe it. */
	const bool beside = is_beside_its_pod(w, m, r, ip);

	if (w->taken[ip] && !r->probe && !w->restored && !beside)
		world_violated(w, "%s does not probe address %u of a block that was taken", m->name,
			       ip);
	w->taken[ip] &= beside && !r->probe;
	if (w->restored)
		return;
	if (!has_it(o, m, r))
		world_violated(w, "%s gave address %u of a block that %s has", m->name, ip,
			       o && *o->block.owner.node ? o->block.owner.node : "nobody");
	else if (!w->pool_there || strcmp(o->block.pool_uid, w->pool.uid) != 0)
		world_violated(w, "%s gave address %u of a pool that is gone", m->name, ip);
	for (unsigned i = 0; i < w->set.nodes && !w->set.lies; i++) {
		if (w->machines[i].lease[ip] &&
		    !(w->set.migrates && is_same_pod(&w->machines[i], r, ip)))
			world_violated(w, "%s gave address %u, which a pod of %s has", m->name, ip,
				       w->machines[i].name);
	}
}

/* ---- after a restore ---- */

/*
 * A restored store may show an offer that its owner had withdrawn before. Its borrower may take it
 * until the owner has read the block again. If both have a pod then, the borrower's loan is lost,
 * which world_judge_doubles() demands.
 */
static bool knows_its_loans(const struct object *o, const struct lending *lent)
{
	for (unsigned i = 0; o && i < o->block.n_loans; i++) {
		const struct loan *l = &o->block.loans[i];
		bool known = l->returned;

		for (unsigned k = 0; k < lent->n; k++)
			known |= lent->loans[k].at == l->at &&
				 lent->loans[k].to.token == l->to.token;
		if (!known)
			return false;
	}
	return true;
}

/* A restored store shows the pool that had this name before: the block is confirmed anew. */
static bool is_of_older_pool(const struct world *w, const struct machine *m,
			     const struct block_record *r, const struct object *o)
{
	return o && block_may_give(&m->node, r) && strcmp(o->block.pool_uid, w->pool.uid) != 0;
}

static bool machine_is_consistent(struct world *w, const struct machine *m)
{
	if (m->on && (m->node.frozen > w->now || m->lists != LIST_DONE || m->n_events))
		return false;
	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct block_record *r = &m->blocks[i];

		if (r->state == BLOCK_GRANTED && !r->key.one &&
		    !knows_its_loans(object_of(w, r), world_lends(m, r)))
			return false;
		if (!m->on)
			continue;
		/* The store shows the loan of a living pod as one that is not taken. */
		if (r->key.one && r->state != BLOCK_GRANTED &&
		    m->lease[world_slot_of(w, block_key_ip(&r->key))])
			return false;
		if (r->state >= BLOCK_CONTESTED ||
		    (r->state == BLOCK_GRANTED && !has_it(object_of(w, r), m, r)) ||
		    is_of_older_pool(w, m, r, object_of(w, r)))
			return false;
	}
	return true;
}

static unsigned owners_of(const struct world *w, unsigned ip)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->set.nodes; i++)
		n += w->machines[i].lease[ip];
	return n;
}

static bool is_shared(struct world *w, unsigned ip)
{
	const struct block_record r = { .key = world_block(w, ip) };
	const struct object *o = object_of(w, &r);

	return o && o->block.migrates;
}

void world_judge_again(struct world *w)
{
	for (size_t i = 0; i < MESSAGES; i++) {
		if (w->messages[i].used && w->messages[i].restores != w->counts.restores)
			return;
	}
	for (unsigned i = 0; i < w->set.nodes; i++) {
		if (!machine_is_consistent(w, &w->machines[i]))
			return;
	}
	for (unsigned ip = 0; ip < IPS; ip++) {
		if (owners_of(w, ip) > 1U + is_shared(w, ip))
			return;
	}
	w->counts.judged_again += w->restored;
	w->restored = false;
}

void world_judge_records(struct world *w)
{
	struct block_seen seen[OBJECTS];
	size_t n = world_list(w, seen);

	for (unsigned k = 0; k < w->set.nodes; k++) {
		struct machine *m = &w->machines[k];

		for (size_t i = 0; i < n; i++) {
			const struct block_record *r = world_on_disk(m, &seen[i].key);

			if (strcmp(seen[i].block.owner.node, m->name) == 0 &&
			    (!r || r->token != seen[i].block.owner.token))
				world_violated(w, "%s has a block that it does not know", m->name);
		}
		for (size_t i = 0; i < m->n_blocks; i++) {
			const struct block_record *r = &m->blocks[i];

			if (r->state == BLOCK_GRANTED && !has_it(object_of(w, r), m, r))
				world_violated(w, "%s thinks that it has a block", m->name);
			/* An ask may always stand: the pool may be full. */
			if (r->state != BLOCK_GRANTED && r->state != BLOCK_ASKED)
				world_violated(w, "%s: a block never comes to rest", m->name);
		}
	}
}

static bool is_lost(const struct world *w, struct machine *m, unsigned ip)
{
	struct block_key key = world_block(w, ip);
	const struct block_record *r = world_on_disk(m, &key), *loan;

	key.one = ip - world_slot_of(w, key.start) + 1;
	loan = world_on_disk(m, &key);
	if (loan)
		r = loan;
	/* In a pool that ends nobody takes the block, and both are named. */
	return r && (r->state == BLOCK_LOST ||
		     (r->state == BLOCK_CONTESTED && (w->pool.ending || !w->pool_there)));
}

/* Pods of two nodes with one address: the block is lost to one of them, which an operator sees. */
void world_judge_doubles(struct world *w)
{
	for (unsigned ip = 0; ip < IPS; ip++) {
		unsigned lost = 0;

		for (unsigned k = 0; k < w->set.nodes; k++)
			lost += w->machines[k].lease[ip] && is_lost(w, &w->machines[k], ip);
		if (owners_of(w, ip) > lost + 1 + is_shared(w, ip))
			world_violated(w, "%u nodes have address %u in silence", owners_of(w, ip),
				       ip);
	}
}

static void judge_no_wants(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		if (w->machines[k].wants)
			world_violated(w, "%s waits for address %u for ever", w->machines[k].name,
				       w->machines[k].wanted);
	}
}

/* A block comes to the node that wants it, or its owner has pods in it and is named. */
static void judge_want(struct world *w, struct machine *m, unsigned ip)
{
	const struct block_record at = { .key = world_block(w, ip) };
	const unsigned first = world_slot_of(w, at.key.start);

	world_want(w, m, ip);
	world_settle(w);
	judge_no_wants(w);

	const struct object *o = object_of(w, &at);
	bool used = false;

	for (unsigned k = 0; k < w->set.nodes && o; k++) {
		const struct machine *owner = &w->machines[k];

		/* One that is free is lent. */
		if (w->pool.lends)
			used |= owner->lease[ip];
		for (unsigned i = 0;
		     !w->pool.lends && strcmp(owner->name, o->block.owner.node) == 0 &&
		     i < 1U << w->set.bits;
		     i++)
			used |= owner->lease[first + i];
	}
	if (m->answer.how == NEED_MET)
		return;
	if (m->answer.how != NEED_FULL || !used || !m->answer.used ||
	    strcmp(m->answer.node, o->block.owner.node) != 0)
		world_violated(w, "%s wants address %u, and hears %d of node \"%s\"", m->name, ip,
			       (int)m->answer.how, m->answer.node);
}

void world_judge_wants(struct world *w)
{
	judge_no_wants(w);
	for (unsigned b = 0; b < w->set.blocks && w->set.wants; b++)
		judge_want(w, &w->machines[b % w->set.nodes], b << w->set.bits);
}

void world_end_lost_pods(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		for (unsigned ip = 0; ip < IPS; ip++) {
			const struct block_key key = world_block(w, ip);
			const struct block_record *r = world_on_disk(&w->machines[k], &key);

			/* A pod of a lost block may have its address as a loan, too. */
			if (is_lost(w, &w->machines[k], ip) || (r && r->state == BLOCK_LOST))
				w->machines[k].lease[ip] = false;
		}
	}
}

void world_end_lent_pods(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		struct machine *m = &w->machines[k];

		for (size_t i = 0; i < m->n_blocks; i++) {
			if (m->blocks[i].key.one)
				m->lease[world_slot_of(w, block_key_ip(&m->blocks[i].key))] = false;
		}
	}
}

void world_judge_recalled(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		const struct machine *m = &w->machines[k];

		for (size_t i = 0; i < m->n_blocks; i++) {
			if (m->blocks[i].key.one)
				world_violated(w, "%s never gives back a loan", m->name);
			if (m->lent[i].n)
				world_violated(w, "%s never gets back what it lent", m->name);
		}
	}
}

/* Pods until the pool is full, at one machine after the other: every address must be had. */
void world_judge_full(struct world *w)
{
	unsigned total = w->set.blocks << w->set.bits, pods = 0;

	for (unsigned round = 0; round < 6 * total && pods < total; round++) {
		for (unsigned k = 0; k < w->set.nodes; k++) {
			struct machine *m = &w->machines[(k + round) % w->set.nodes];

			while (world_add_pod(w, m, 0))
				;
		}
		world_settle(w);
		pods = 0;
		for (unsigned ip = 0; ip < IPS; ip++)
			pods += owners_of(w, ip) > 0;
	}
	if (pods != total)
		world_violated(w, "%u of %u addresses could be had", pods, total);

	/* One more cannot be had, and who waits for it is told. */
	unsigned full = w->counts.needs[NEED_FULL];

	(void)world_add_pod(w, &w->machines[0], 0);
	world_settle(w);
	if (w->counts.needs[NEED_FULL] == full)
		world_violated(w, "a need of a full pool does not end");
}
