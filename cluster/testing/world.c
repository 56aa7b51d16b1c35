/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: the steps of a schedule, and what must hold when all is well again. */
#include "cluster/testing/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cluster/testing/world_pods.h"

#define SETTLE_ROUNDS 2000

void world_trace(const struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (!w->set.trace)
		return;
	printf("  %6lld  ", (long long)w->now);
	va_start(ap, fmt);
	(void)vprintf(fmt, ap);
	va_end(ap);
	(void)putchar('\n');
}

void world_violated(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (*w->violation)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(w->violation, sizeof(w->violation), fmt, ap);
	va_end(ap);
	world_trace(w, "VIOLATED: %s", w->violation);
}

unsigned world_slot_of(const struct world *w, struct ip ip)
{
	return (unsigned)(ip.v - w->pool.grid.subnet.addr.v);
}

/* ---- steps ---- */

static void step_machine(struct world *w, struct machine *m, uint32_t choice)
{
	bool spared = w->set.calm && choice % 16 < 3 && choice / 16 % 16 && m->on && m->agent;

	switch (spared && !m->cut ? 11 : choice % 16) {
	case 0:
		if (m->on)
			world_power_off(w, m);
		else
			world_boot(w, m);
		break;
	case 1:
		m->cut = !m->cut;
		break;
	case 2:
		if (m->agent) {
			world_stop_agent(m);
			world_trace(w, "%s: the agent ends", m->name);
		} else if (m->on) {
			world_start_agent(w, m);
		}
		break;
	case 3:
		world_notice_off(w, m);
		break;
	case 4:
	case 5:
	case 6:
		if (m->on)
			(void)world_add_pod(w, m, choice / 16);
		break;
	case 7:
	case 8:
		world_del_pod(w, m, choice / 16);
		break;
	case 9:
		world_give_back(m, choice / 16);
		break;
	case 10:
		if (w->set.disks && choice / 16 % 32 == 0)
			world_new_disk(w, m);
		else if (w->set.disks && choice / 16 % 32 == 1)
			world_lose_store(w, m);
		break;
	case 11:
		world_tick(w, m);
		break;
	case 12:
		if (w->set.wants && m->on) {
			world_want(w, m, choice / 16 % (w->set.blocks << w->set.bits));
			break;
		}
		/* fall through */
	default:
		(void)world_show(w, m);
	}
}

/* Time passes; an agent may hang. */
static void pass(struct world *w, uint32_t choice)
{
	if (w->set.wrong == STALE_LIST)
		memcpy(w->stale, w->objects, sizeof(w->stale));
	w->now += choice % 32 ? 1 + choice / 32 % 4 : HOLD / 2;
	for (unsigned i = 0; i < w->set.nodes; i++) {
		if (choice >> (8 + 2 * i) & 3)
			world_tick(w, &w->machines[i]);
	}
	world_judge_again(w);
}

void world_restore(struct world *w)
{
	world_trace(w, "the store is restored");
	memcpy(w->objects, w->snapshot, sizeof(w->objects));
	w->versions = w->snapshot_versions;
	w->restored = true;
	memset(w->taken, 0, sizeof(w->taken));
	/* Who takes blocks sees that the revision went back, and begins anew. */
	for (unsigned i = 0; i < TAKERS; i++)
		w->takers[i] = (struct world_taker){ .node = w->takers[i].node };
	for (unsigned i = 0; i < w->set.nodes; i++) {
		w->machines[i].is_off = false;
		world_list_again(&w->machines[i]);
	}
	w->counts.restores++;
}

static void step_restore(struct world *w, uint32_t choice)
{
	if (choice % 4 == 0) {
		memcpy(w->snapshot, w->objects, sizeof(w->objects));
		w->snapshot_versions = w->versions;
	} else if (choice % 4 == 1) {
		world_restore(w);
	}
}

/* The deletion of a pool is complete when a list shows no block of it. */
static void end_pool(struct world *w)
{
	bool left = false;

	for (size_t i = 0; i < OBJECTS; i++) {
		struct object *o = &w->objects[i];

		if (o->there && o->kind == CLUSTER_BLOCK && !*o->block.owner.node)
			o->there = false;
		left |= o->there && o->kind == CLUSTER_BLOCK;
	}
	if (left)
		return;
	world_trace(w, "the pool is gone");
	w->counts.pools_gone++;
	w->pool_there = false;
	w->pool_version++;
	memset(w->taken, 0, sizeof(w->taken));
	memset(w->kept, 0, sizeof(w->kept));
}

static void new_pool(struct world *w)
{
	(void)snprintf(w->pool.uid, sizeof(w->pool.uid), "pool%u", ++w->pools);
	w->pool.ending = false;
	w->pool_there = true;
	w->pool_version++;
	world_trace(w, "%s", w->pool.uid);
}

static void step_pool(struct world *w, uint32_t choice)
{
	if (!w->pool_there) {
		new_pool(w);
	} else if (w->pool.ending) {
		end_pool(w);
	} else if (choice % 4 == 0) {
		world_trace(w, "the pool ends");
		w->pool.ending = true;
		w->pool_version++;
	}
}

static void set_lends(struct world *w, bool lends)
{
	w->pool.lends = lends;
	w->pool_version++;
	w->counts.recalls += !lends;
	world_trace(w, "the pool lends: %d", lends);
}

const char *world_step(struct world *w, uint32_t choice)
{
	uint32_t rest = choice / 16;

	switch (choice % 16) {
	case 0:
	case 1:
		pass(w, rest);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
		step_machine(w, &w->machines[rest % w->set.nodes], rest / w->set.nodes);
		break;
	case 6:
	case 7:
		world_step_taker(w, &w->takers[rest % TAKERS], rest / TAKERS);
		break;
	default:
		if (w->set.restores && choice % 16 == 15 && rest % 8 == 0)
			step_restore(w, rest / 8);
		else if (w->set.pools && choice % 16 == 14 && rest % 16 == 0)
			step_pool(w, rest / 16);
		else if (w->set.recalls && choice % 16 == 13 && rest % 32 == 0)
			set_lends(w, rest / 32 % 2);
		else
			world_step_network(w, rest);
	}
	return *w->violation ? w->violation : NULL;
}

/* ---- the end ---- */

/* Who waits may look; what changes blocks must end. */
static bool is_at_rest(const struct message *m)
{
	return m->request.kind != CLUSTER_BLOCK || m->request.call == CALL_LIST ||
	       m->request.call == CALL_GET;
}

/* Everything that is under way arrives. False: nothing was. *rest: nothing of a block was. */
static bool arrive(struct world *w, bool *rest)
{
	struct message *m;
	bool any = false;
	unsigned blocks = 0;

	for (unsigned i = 0; i < w->set.nodes; i++) {
		while (world_show(w, &w->machines[i]))
			any = true;
	}
	while ((m = world_pick(w, 0, false))) {
		blocks += !is_at_rest(m);
		world_execute(w, m);
	}
	*rest = !any && !blocks;
	while ((m = world_pick(w, 0, true))) {
		world_deliver(w, m);
		any = true;
	}
	return any;
}

void world_settle(struct world *w)
{
	unsigned quiet = 0;

	for (unsigned round = 0; round < SETTLE_ROUNDS && quiet < 2 * HOLD / RETRY; round++) {
		bool rest, any = arrive(w, &rest);

		quiet = rest ? quiet + 1 : 0;
		w->now += RETRY;
		/* An agent is called after an event, and when it wanted to be. */
		for (unsigned i = 0; i < w->set.nodes; i++) {
			if (any || w->machines[i].next <= w->now)
				world_tick(w, &w->machines[i]);
		}
	}
	if (quiet < 2 * HOLD / RETRY)
		world_violated(w, "the cluster never comes to rest");
}

/* The pool is deleted for good, and made again. */
static void renew_pool(struct world *w)
{
	for (unsigned i = 0; i < w->set.nodes; i++)
		memset(w->machines[i].lease, 0, sizeof(w->machines[i].lease));
	world_settle(w);
	if (w->pool_there)
		end_pool(w);
	if (w->pool_there)
		world_violated(w, "the pool can never be deleted");
	new_pool(w);
	world_settle(w);
}

/* Without pods each loan comes back, although none is needed elsewhere. */
static void recall(struct world *w)
{
	world_end_lent_pods(w);
	world_settle(w);
	world_judge_recalled(w);
	set_lends(w, true);
	world_settle(w);
}

const char *world_heal(struct world *w)
{
	world_trace(w, "all is well from now on");
	if (w->set.recalls)
		set_lends(w, false);
	for (unsigned i = 0; i < w->set.nodes; i++) {
		struct machine *m = &w->machines[i];

		m->cut = false;
		if (!m->on)
			world_boot(w, m);
		else if (!m->agent)
			world_start_agent(w, m);
		else
			world_tick(w, m); /* the last step may have been a reply */
	}
	world_settle(w);
	world_judge_doubles(w);
	world_end_lost_pods(w);
	world_settle(w);
	if (!w->pool_there || w->pool.ending)
		renew_pool(w);
	world_judge_again(w);
	if (w->restored)
		world_violated(w, "the restore is never over");
	if (w->set.recalls)
		recall(w);
	world_judge_records(w);
	world_judge_wants(w);
	(w->set.pods ? world_judge_moves : world_judge_full)(w);
	return *w->violation ? w->violation : NULL;
}

struct world *world_new(const struct world_settings *settings)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err e;

	if (!w)
		abort();
	w->set = *settings;
	w->now = 1000;
	(void)snprintf(w->pool.name, sizeof(w->pool.name), "rail0");
	new_pool(w);
	if (ip_parse_prefix("10.0.0.0/26", &w->pool.grid.subnet))
		abort();
	w->pool.grid.bits = settings->bits;

	struct ip first = w->pool.grid.subnet.addr, last = first;

	last.v += (settings->blocks << settings->bits) - 1;
	if (ranges_add(&w->usable, (struct ip_range){ first, last }, &e))
		abort();
	w->pool.grid.usable = &w->usable;
	w->pool.warm = settings->pods ? 0 : 1;
	w->pool.strict = settings->strict_pool;
	w->pool.sticky = settings->pods;
	w->pool.lends = settings->bits > 0;
	w->pool.keep = settings->pods ? KEEP : 0;
	w->pool.idle = settings->idle ? 3 * RENEW : 0;
	for (unsigned i = 0; i < settings->nodes; i++) {
		struct machine *m = &w->machines[i];

		m->world = w;
		(void)snprintf(m->name, sizeof(m->name), "node%u", settings->clones ? 0 : i);
		(void)snprintf(m->dmi, sizeof(m->dmi), "dmi%u", i);
		(void)snprintf(m->node.holder, sizeof(m->node.holder), "holder%u", i);
		world_boot(w, m);
	}
	return w;
}

void world_add_counts(const struct world *w, struct world_counts *sum)
{
	const unsigned *from = (const unsigned *)&w->counts;
	unsigned *to = (unsigned *)sum;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void world_free(struct world *w)
{
	for (unsigned i = 0; i < w->set.nodes; i++)
		agent_free(w->machines[i].agent);
	for (size_t i = 0; i < MESSAGES; i++)
		free(w->messages[i].list);
	ranges_clear(&w->usable);
	free(w);
}
