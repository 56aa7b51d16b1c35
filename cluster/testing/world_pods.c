/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world_pods.c: pods whose addresses move with them: where they start, and what must hold. No pod
 * lives twice, and a pod gets its old address unless that waited long enough or was needed.
 */
#include "cluster/testing/world_pods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void identity_of(unsigned n, char out[IDENTITY_LEN])
{
	(void)snprintf(out, IDENTITY_LEN, "ns/pod%u/eth0", n);
}

unsigned world_pod_of(const char *identity)
{
	const size_t len = strlen("ns/pod");
	char *end = NULL;
	unsigned long n;

	if (strncmp(identity, "ns/pod", len) != 0)
		return PODS;
	n = strtoul(identity + len, &end, 10);
	return end && *end == '/' && n < PODS ? (unsigned)n : PODS;
}

static bool has_pod(const struct machine *m, unsigned n, unsigned *ip)
{
	for (*ip = 0; *ip < IPS; ++*ip) {
		if (m->lease[*ip] && m->pods[*ip] == n)
			return true;
	}
	return false;
}

bool world_is_target(const struct object *o, const struct machine *m)
{
	return o && o->block.migrates && strcmp(o->block.asker.node, m->name) == 0;
}

/* Of two pods of one machine that migrates, one is the target. */
bool world_may_share(const struct world *w, const struct machine *m, unsigned n)
{
	unsigned sources = 0, ip;

	for (unsigned i = 0; i < w->set.nodes; i++) {
		const struct machine *other = &w->machines[i];

		if (other != m)
			sources += has_pod(other, n, &ip) && !other->target[n];
	}
	return sources + !m->target[n] <= 1;
}

/* ---- judging ---- */

static void judge_pod(struct world *w, const struct machine *m, unsigned n, unsigned ip)
{
	struct kept *k = &w->kept[n];

	/* A restored store may give two blocks to a pod, for good. */
	if (w->counts.restores || w->set.lies) {
		k->is = false;
		return;
	}
	if (!world_may_share(w, m, n))
		world_violated(w, "%s: pod %u gets address %u, and lives already", m->name, n, ip);
	if (k->is && k->ip != ip)
		world_violated(w, "%s: pod %u gets address %u instead of its own, %u", m->name, n,
			       ip, k->ip);
	w->counts.returned += k->is;
	*k = (struct kept){ true, ip };
}

void world_judge_identity(struct world *w, const struct object *o, const struct block *to)
{
	unsigned n = o->kind == CLUSTER_BLOCK ? world_pod_of(o->block.identity) : PODS, ip;
	bool parked = block_is_parked(&o->block);

	if (n == PODS)
		return;
	w->counts.shared += to && to->migrates && !o->block.migrates;
	w->counts.vouched += to && to->migrates && to->kept && !o->block.kept;
	w->counts.unshared += to && !to->migrates && o->block.migrates &&
			      strcmp(to->owner.node, o->block.owner.node) == 0;
	w->counts.followed +=
		to && o->block.migrates && strcmp(to->owner.node, o->block.asker.node) == 0;
	w->counts.parks += !parked && to && block_is_parked(to);
	w->counts.moves +=
		parked && to && *to->owner.node && strcmp(to->owner.node, o->block.parked_by) != 0;
	ip = world_slot_of(w, world_key(o->name).start);
	if (w->kept[n].ip != ip || !w->kept[n].is ||
	    (to && strcmp(to->identity, o->block.identity) == 0))
		return;
	w->kept[n].is = false;
	if (w->restored || !w->pool_there || w->pool.ending || w->set.disks)
		return;
	w->counts.evicted += parked && to && *to->identity;
	w->counts.expired += parked && !(to && *to->identity);
	if (!parked)
		world_violated(w, "the address of pod %u ends while %s has it", n,
			       o->block.owner.node);
	else if (!(to && *to->identity) && w->now < o->block.parked + KEEP)
		world_violated(w, "the address of pod %u ends too early", n);
}

/* ---- pods ---- */

/* A share that a dead process asked for may come late: then its next pod is the target. */
static bool is_shared_by(struct world *w, const struct machine *m, const struct block_record *r)
{
	char name[GRID_NAME_LEN];
	const struct object *o =
		world_find(w, CLUSTER_BLOCK, grid_name(r->key.pool, r->key.start, name));

	return world_is_target(o, m);
}

bool world_give_pod(struct world *w, struct machine *m, uint32_t choice)
{
	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct block_record *r = &m->blocks[(i + choice) % m->n_blocks];
		unsigned ip = world_slot_of(w, r->key.start), n = world_pod_of(r->identity);

		if (n == PODS || !m->starts[n] || m->lease[ip] || !world_may_give(m, r))
			continue;
		m->target[n] |= is_shared_by(w, m, r);
		judge_pod(w, m, n, ip);
		world_judge_give(w, m, r, ip);
		w->counts.gives++;
		m->lease[ip] = true;
		m->pods[ip] = n;
		m->starts[n] = false;
		world_trace(w, "%s: pod %u has %u", m->name, n, ip);
		return true;
	}
	return false;
}

bool world_start_pod(struct world *w, struct machine *m, unsigned n, bool target)
{
	char identity[IDENTITY_LEN];
	unsigned ip;

	identity_of(n, identity);
	/* A pod that runs here stays what it is. */
	if (has_pod(m, n, &ip))
		return false;
	/* One need of the agent is for all that start here. */
	m->target[n] = target || (m->starts[n] && m->target[n]);
	m->starts[n] = true;
	if (world_give_pod(w, m, 0) && !m->starts[n])
		return true;
	world_trace(w, "%s: pod %u starts", m->name, n);
	if (m->agent)
		(void)agent_need_identity(m->agent, w->pool.name, identity, target);
	return false;
}

/* The ADD runs now, or later, or never. */
void world_pod_told(struct world *w, struct machine *m, const char *identity,
		    enum need_result result)
{
	unsigned n = world_pod_of(identity);

	world_trace(w, "%s: pod %u is told %d", m->name, n, (int)result);
	if (result != NEED_MET)
		m->starts[n] = false;
	else if (w->adds || (w->random >> 20) % 4)
		(void)world_give_pod(w, m, 0);
}

/* ---- the end ---- */

static bool start(struct world *w, struct machine *m, unsigned n, unsigned *ip)
{
	for (unsigned i = 0; i < 4 && !has_pod(m, n, ip); i++) {
		(void)world_start_pod(w, m, n, false);
		world_settle(w);
	}
	return has_pod(m, n, ip);
}

static void end_all(struct world *w)
{
	for (unsigned i = 0; i < w->set.nodes; i++) {
		memset(w->machines[i].lease, 0, sizeof(w->machines[i].lease));
		memset(w->machines[i].starts, 0, sizeof(w->machines[i].starts));
	}
	world_settle(w);
}

/* Pods get every address, one more gets none, and no pod starts a second time. */
static void judge_all(struct world *w)
{
	struct machine *m = w->machines;
	unsigned held, full, ip;

	for (unsigned n = 0; n < w->set.blocks; n++) {
		if (!start(w, &m[n % w->set.nodes], n, &ip))
			world_violated(w, "pod %u gets no address of %u", n, w->set.blocks);
	}
	full = w->counts.needs[NEED_FULL];
	if (start(w, &m[0], w->set.blocks, &ip) || w->counts.needs[NEED_FULL] == full)
		world_violated(w, "a pod is not told that the pool is full");
	held = w->counts.needs[NEED_HELD];
	if (start(w, &m[1], 0, &ip) || w->counts.needs[NEED_HELD] == held)
		world_violated(w, "a pod is not told that it lives elsewhere");
}

/* A definition without "sticky": what was parked is free, and any pod may have it. */
static void loosen(struct world *w)
{
	w->pool.sticky = false;
	w->pool.keep = 0;
	w->pool_version++;
	w->set.pods = 0;
	memset(w->kept, 0, sizeof(w->kept));
	world_settle(w);
}

void world_judge_moves(struct world *w)
{
	struct machine *m = w->machines;
	unsigned ip, was;

	if (w->set.loosens) {
		loosen(w);
		world_judge_full(w);
		return;
	}
	/* No address ends while all is compared. */
	w->pool.keep = 0;
	w->adds = true;
	w->pool_version++;
	end_all(w);
	judge_all(w);
	if (*w->violation || !has_pod(&m[0], 0, &was))
		return;
	m[0].lease[was] = false;
	world_settle(w);
	if (!start(w, &m[1], 0, &ip) || ip != was)
		world_violated(w, "a pod does not move with its address");
}
