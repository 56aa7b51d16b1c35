/* SPDX-License-Identifier: Apache-2.0 */
/* world_taker.c: who takes the blocks of dead nodes, by the rules of reclaim.h. */
#include <string.h>

#include "cluster/testing/world_priv.h"

static void look_at_beat(struct world *w, struct taker *t)
{
	const struct object *o = world_find(w, CLUSTER_HEARTBEAT, w->machines[t->node].name);
	const struct cluster_version none = { 0 };
	const struct machine *m = &w->machines[t->node];
	int64_t silent = beat_seen(&t->beat, o ? &o->at : &none, w->now, w->now);
	int64_t hold = w->set.wrong == SHORT_HOLD ? HOLD / 3 : HOLD;

	t->silent =
		silent >= hold && m->is_off && strcmp(m->evidence.version, t->beat.at.version) == 0;
}

static void look_at_block(struct world *w, struct taker *t, uint32_t choice)
{
	struct block_seen seen[OBJECTS];
	size_t n = world_list(w, seen);

	t->armed = n && strcmp(seen[choice % n].block.owner.node, w->machines[t->node].name) == 0;
	if (t->armed)
		t->block = seen[choice % n];
	t->silent = t->silent && w->set.wrong == BEAT_FIRST;
}

static void take(struct world *w, struct taker *t, uint32_t choice)
{
	struct agent_request r = {
		.call = CALL_UPDATE, .kind = CLUSTER_BLOCK, .at = t->block.at, .was = t->block.block
	};

	/* It is slow. */
	if (choice % 4)
		return;
	(void)grid_name(w->pool.name, t->block.key.start, r.name);
	r.block = reclaimed(&t->block.block);
	world_trace(w, "a taker takes block %u of %s: %d", world_slot_of(w, t->block.key.start),
		    w->machines[t->node].name, (int)world_write_object(w, &r));
	t->armed = t->silent = false;
}

/* The heartbeat until it is silent, the block, the heartbeat again, the block is taken. */
void world_step_taker(struct world *w, struct taker *t, uint32_t choice)
{
	if (choice % 64 == 0)
		*t = (struct taker){ .node = choice / 64 % w->set.nodes };
	else if (!t->armed && t->silent)
		look_at_block(w, t, choice / 64);
	else if (t->armed && t->silent)
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
