/* SPDX-License-Identifier: Apache-2.0 */
/* world.c: the steps of a schedule, and what must hold when all is well again. */
#include "cluster/testing/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cluster/testing/world_priv.h"

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
	switch (choice % 16) {
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
	default:
		world_show(w, m, choice / 16);
	}
}

static void tick(struct world *w, int64_t by)
{
	w->now += by;
	for (unsigned i = 0; i < w->set.nodes; i++) {
		struct machine *m = &w->machines[i];

		if (m->agent)
			(void)agent_tick(m->agent, w->now);
	}
}

void world_restore(struct world *w)
{
	world_trace(w, "the store is restored");
	memcpy(w->objects, w->snapshot, sizeof(w->objects));
	w->restored = true;
	w->counts.restores++;
}

static void step_restore(struct world *w, uint32_t choice)
{
	if (choice % 4 == 0)
		memcpy(w->snapshot, w->objects, sizeof(w->objects));
	else if (choice % 4 == 1)
		world_restore(w);
}

const char *world_step(struct world *w, uint32_t choice)
{
	uint32_t rest = choice / 16;

	switch (choice % 16) {
	case 0:
	case 1:
		tick(w, rest % 32 ? 1 + rest / 32 % 4 : HOLD / 2);
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
		else
			world_step_network(w, rest);
	}
	return *w->violation ? w->violation : NULL;
}

/* ---- the end ---- */

void world_settle(struct world *w)
{
	unsigned quiet = 0;

	for (unsigned round = 0; round < 1000 && quiet < 2 * HOLD / RETRY; round++) {
		struct message *m;
		bool any = false;

		for (unsigned i = 0; i < w->set.nodes; i++) {
			struct machine *on = &w->machines[i];

			for (uint32_t k = 0; on->agent && k < 4 * w->set.blocks && round % 8 == 0;
			     k++)
				world_show(w, on, k);
		}
		while ((m = world_pick(w, 0, false))) {
			any |= m->request.kind == CLUSTER_BLOCK && m->request.call != CALL_LIST;
			world_execute(w, m);
		}
		while ((m = world_pick(w, 0, true)))
			world_deliver(w, m);
		quiet = any ? 0 : quiet + 1;
		tick(w, RETRY);
	}
}

static void judge_records(struct world *w)
{
	struct block_seen seen[OBJECTS];
	size_t n = world_list(w, seen);

	for (size_t i = 0; i < n; i++) {
		const struct block_seen *s = &seen[i];

		for (unsigned k = 0; k < w->set.nodes; k++) {
			struct machine *m = &w->machines[k];
			const struct block_record *r = world_on_disk(m, &s->key);
			bool owns = strcmp(s->block.owner.node, m->name) == 0;

			if (owns && (!r || r->token != s->block.owner.token))
				world_violated(w, "%s has a block that it does not know", m->name);
			if (!owns && r && r->state == BLOCK_GRANTED)
				world_violated(w, "%s thinks that it has a block", m->name);
		}
	}
	for (unsigned k = 0; k < w->set.nodes; k++) {
		for (size_t i = 0; i < w->machines[k].n_blocks; i++) {
			enum block_state state = w->machines[k].blocks[i].state;

			/* An ask may always stand: the pool may be full. */
			if (state != BLOCK_GRANTED && state != BLOCK_ASKED)
				world_violated(w, "%s: a block never comes to rest",
					       w->machines[k].name);
		}
	}
}

static bool is_lost(const struct world *w, struct machine *m, unsigned ip)
{
	struct ip at = w->pool.grid.subnet.addr;
	struct block_key key = { 0 };

	at.v += ip;
	key.start = grid_start(&w->pool.grid, at);
	(void)snprintf(key.pool, sizeof(key.pool), "%s", w->pool.name);

	const struct block_record *r = world_on_disk(m, &key);

	return r && r->state == BLOCK_LOST;
}

/* Pods of two nodes with one address: the block is lost to one of them, which an operator sees. */
static void judge_doubles(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		struct machine *m = &w->machines[k];

		for (unsigned ip = 0; ip < IPS; ip++) {
			for (unsigned j = k + 1; j < w->set.nodes && m->lease[ip]; j++) {
				if (w->machines[j].lease[ip] && !is_lost(w, m, ip) &&
				    !is_lost(w, &w->machines[j], ip))
					world_violated(w, "%s and %s have address %u in silence",
						       m->name, w->machines[j].name, ip);
			}
		}
	}
}

/* The operator ends the pods of a block that is lost. */
static void end_lost_pods(struct world *w)
{
	for (unsigned k = 0; k < w->set.nodes; k++) {
		for (unsigned ip = 0; ip < IPS; ip++) {
			if (is_lost(w, &w->machines[k], ip))
				w->machines[k].lease[ip] = false;
		}
	}
}

/* Pods until the pool is full, at one machine after the other: every address must be had. */
static void judge_full(struct world *w)
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
		for (unsigned k = 0; k < w->set.nodes; k++) {
			for (unsigned ip = 0; ip < IPS; ip++)
				pods += w->machines[k].lease[ip];
		}
	}
	if (pods != total)
		world_violated(w, "%u of %u addresses could be had", pods, total);
}

const char *world_heal(struct world *w)
{
	world_trace(w, "all is well from now on");
	for (unsigned i = 0; i < w->set.nodes; i++) {
		struct machine *m = &w->machines[i];

		m->cut = false;
		if (!m->on)
			world_boot(w, m);
		else if (!m->agent)
			world_start_agent(w, m);
	}
	world_settle(w);
	judge_doubles(w);
	end_lost_pods(w);
	world_settle(w);
	judge_records(w);
	judge_full(w);
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
	(void)snprintf(w->pool.uid, sizeof(w->pool.uid), "pool-uid");
	if (ip_parse_prefix("10.0.0.0/26", &w->pool.grid.subnet))
		abort();
	w->pool.grid.bits = settings->bits;

	struct ip first = w->pool.grid.subnet.addr, last = first;

	last.v += (settings->blocks << settings->bits) - 1;
	if (ranges_add(&w->usable, (struct ip_range){ first, last }, &e))
		abort();
	w->pool.grid.usable = &w->usable;
	w->pool.warm = 1;
	for (unsigned i = 0; i < settings->nodes; i++) {
		struct machine *m = &w->machines[i];

		m->world = w;
		(void)snprintf(m->name, sizeof(m->name), "node%u", i);
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
	ranges_clear(&w->usable);
	free(w);
}
