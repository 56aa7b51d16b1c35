/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_watch.c: what others see of the store of the simulated cluster. Machines see a list when
 * they begin, then each change of their blocks once, and the pool. Takers take the blocks of dead
 * nodes, by the rules of reclaim.h.
 */
#include <string.h>

#include "cluster/testing/world_pods.h"

static bool is_owner(const struct machine *m, const struct block *b)
{
	return b && strcmp(b->owner.node, m->name) == 0;
}

void world_list_again(struct machine *m)
{
	m->n_events = 0;
	m->lists = LIST_WANTED;
}

void world_changed(struct world *w, const struct object *o, const struct block *before)
{
	struct block_seen seen = { .at = o->at, .block = o->block };

	seen.key = world_key(o->name);
	for (unsigned i = 0; i < w->set.nodes; i++) {
		struct machine *m = &w->machines[i];
		bool has = o->there && is_owner(m, &o->block);

		if (!m->agent || m->lists == LIST_WANTED || (!has && !is_owner(m, before)))
			continue;
		if (m->n_events == EVENTS)
			world_list_again(m);
		else
			m->events[m->n_events++] = (struct event){ !has, seen };
	}
}

static bool is_heard(struct machine *m, const struct block_seen *s)
{
	const struct block_record *r = world_on_disk(m, &s->key);

	return m->world->set.wrong != DEAF || (r && r->token == s->block.owner.token);
}

static void begin_list(struct world *w, struct machine *m)
{
	struct block_seen seen[OBJECTS];
	size_t n = world_list(w, seen);

	m->n_listed = 0;
	for (size_t i = 0; i < n; i++) {
		if (is_owner(m, &seen[i].block) && is_heard(m, &seen[i]))
			m->listed[m->n_listed++] = seen[i];
	}
	m->lists = LIST_UNDER_WAY;
}

static void show_event(struct machine *m)
{
	struct event e = m->events[0];

	memmove(m->events, m->events + 1, --m->n_events * sizeof(*m->events));
	if (e.gone)
		agent_gone(m->agent, &e.seen.key);
	else if (is_heard(m, &e.seen))
		agent_saw(m->agent, &e.seen);
}

void world_show_pool(struct world *w, struct machine *m)
{
	struct err e;

	m->pool_seen = w->pool_version;
	if (!w->pool_there)
		agent_unset_pool(m->agent, w->pool.name);
	else if (agent_set_pool(m->agent, &w->pool, &e))
		abort();
}

bool world_show(struct world *w, struct machine *m)
{
	if (!m->agent || m->cut)
		return false;
	if (m->lists == LIST_WANTED) {
		begin_list(w, m);
	} else if (m->lists == LIST_UNDER_WAY) {
		m->lists = LIST_DONE;
		agent_listed(m->agent, m->listed, m->n_listed);
	} else if (m->pool_seen != w->pool_version) {
		world_show_pool(w, m);
	} else if (m->n_events) {
		show_event(m);
	} else {
		return false;
	}
	return true;
}

/* ---- takers ---- */

/* Another machine or another evidence, or nothing is known of them yet. */
static void begin(struct world *w, struct world_taker *t, unsigned node)
{
	const struct machine *m = &w->machines[node];
	const int64_t hold = w->set.wrong == SHORT_HOLD ? HOLD / 3 : HOLD;

	*t = (struct world_taker){ .node = node };
	if (m->is_off)
		taker_begin(&t->is, &m->evidence, hold);
}

static struct cluster_version beat_of(struct world *w, const struct world_taker *t)
{
	const struct object *o = world_find(w, CLUSTER_HEARTBEAT, w->machines[t->node].name);

	return o ? o->at : (struct cluster_version){ 0 };
}

static void look_at_beat(struct world *w, struct world_taker *t)
{
	const struct cluster_version at = beat_of(w, t), old = t->is.beat.at;
	const bool stale = w->set.wrong == BEAT_FIRST && t->is.read;

	if (w->set.wrong == OLD_EVIDENCE)
		t->is.evidence = at;
	taker_saw_beat(&t->is, stale ? &old : &at, w->now, w->now);
}

static void look_at_block(struct world *w, struct world_taker *t, uint32_t choice)
{
	struct block_seen seen[OBJECTS];
	size_t n = world_list(w, seen);

	if (!n || !reclaim_concerns(&seen[choice % n].block, w->machines[t->node].name))
		return;
	t->block = seen[choice % n];
	taker_saw_blocks(&t->is);
}

/* A pod of the dead machine may have had address i of the block. before: the same, until now. */
static bool is_taken(const struct world_taker *t, const struct block *now, uint32_t i, bool before)
{
	const struct block *was = &t->block.block;
	const bool is_handed_over = strcmp(was->owner.node, now->owner.node) != 0;

	for (unsigned k = 0; k < was->n_loans; k++) {
		const struct loan *l = &was->loans[k];

		if (l->at == i && l->taken)
			return before || (!l->returned && now->loans[k].returned);
	}
	/* The target of a migration shared the address with the dead machine before. */
	return is_handed_over ? !*now->owner.node : before;
}

static void take(struct world *w, struct world_taker *t, uint32_t choice)
{
	struct agent_request r = {
		.call = CALL_UPDATE, .kind = CLUSTER_BLOCK, .at = t->block.at, .was = t->block.block
	};

	/* It is slow. */
	if (choice % 4)
		return;
	(void)grid_name(w->pool.name, t->block.key.start, r.name);
	r.block = reclaimed(&t->block.block, w->machines[t->node].name);

	unsigned first = world_slot_of(w, t->block.key.start);
	enum cluster_outcome outcome = world_write_object(w, &r);

	w->counts.asks_back += outcome == CLUSTER_OK && t->block.block.migrates &&
			       !r.block.migrates &&
			       strcmp(t->block.block.owner.node, w->machines[t->node].name) != 0;
	for (unsigned i = 0; i < 1U << w->set.bits && outcome == CLUSTER_OK; i++)
		w->taken[first + i] = is_taken(t, &r.block, i, w->taken[first + i]);
	world_trace(w, "a taker takes block %u of %s: %d", first, w->machines[t->node].name,
		    (int)outcome);
	taker_took(&t->is);
}

void world_step_taker(struct world *w, struct world_taker *t, uint32_t choice)
{
	const struct machine *m = &w->machines[t->node];

	if (choice % 64 == 0)
		begin(w, t, choice / 64 % w->set.nodes);
	else if (!m->is_off)
		return;
	else if (!t->is.hold || (strcmp(t->is.evidence.version, m->evidence.version) != 0 &&
				 w->set.wrong != OLD_EVIDENCE))
		begin(w, t, t->node);
	else if (taker_next(&t->is) == TAKER_BLOCKS)
		look_at_block(w, t, choice / 64);
	else if (taker_next(&t->is) == TAKER_TAKES)
		take(w, t, choice / 64);
	else
		look_at_beat(w, t);
}

void world_notice_off(struct world *w, struct machine *m)
{
	const struct object *o = world_find(w, CLUSTER_HEARTBEAT, m->name);

	if (m->on && !w->set.lies)
		return;
	m->is_off = true;
	m->evidence = o ? o->at : (struct cluster_version){ 0 };
	world_trace(w, "%s is said to be off", m->name);
}
