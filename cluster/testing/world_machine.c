/* SPDX-License-Identifier: Apache-2.0 */
/* world_machine.c: what a machine of the simulated cluster does: its disk, its agent, its pods. */
#include <stdio.h>
#include <string.h>

#include "cluster/testing/world_pods.h"

struct block_record *world_on_disk(struct machine *m, const struct block_key *key)
{
	for (size_t i = 0; i < m->n_blocks; i++) {
		if (block_key_equal(&m->blocks[i].key, key))
			return &m->blocks[i];
	}
	return NULL;
}

const struct lending *world_lends(const struct machine *m, const struct block_record *r)
{
	return &m->lent[r - m->blocks];
}

static unsigned slot_of(const struct machine *m, const struct block_key *key)
{
	return world_slot_of(m->world, block_key_ip(key));
}

static uint64_t next_random(void *arg)
{
	struct machine *m = arg;

	m->world->random =
		m->world->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return m->world->random >> 11;
}

static bool cools_down(const struct machine *m, const struct block_key *key)
{
	const unsigned n = key->one ? 1 : 1U << m->world->set.bits;

	for (unsigned i = 0; i < n; i++) {
		if (m->rests[slot_of(m, key) + i] > m->world->now)
			return true;
	}
	return false;
}

/* l NULL: what the block lends stays. */
static int put_loans(void *arg, const struct block_record *r, const struct lending *l)
{
	struct machine *m = arg;
	struct block_record *old = world_on_disk(m, &r->key);
	struct lending *lent = &m->lent[old ? old - m->blocks : (ptrdiff_t)m->n_blocks];

	if (!old) {
		old = &m->blocks[m->n_blocks++];
		*lent = (struct lending){ .key = r->key };
	}
	if (l)
		*lent = *l;
	m->world->counts.grants += r->state == BLOCK_GRANTED &&
				   (old->state != BLOCK_GRANTED || old->token != r->token);
	*old = *r;
	world_trace(m->world, "%s: %s %u is %s, epoch %u, lends %u", m->name,
		    r->key.one ? "loan" : "block", slot_of(m, &r->key),
		    (const char *[]){ "wanted", "asked", "granted", "returning", "contested",
				      "lost" }[r->state],
		    (unsigned)r->epoch, lent->n);
	if (r->key.one && r->state == BLOCK_RETURNING && cools_down(m, &r->key))
		world_violated(m->world, "%s gives back address %u, which cools down", m->name,
			       slot_of(m, &r->key));
	m->world->counts.lost += r->state == BLOCK_LOST;
	if (r->state == BLOCK_LOST && !m->world->restored && !m->world->set.lies)
		world_violated(m->world, "%s lost a block in which pods live", m->name);
	return 0;
}

static int put_block(void *arg, const struct block_record *r)
{
	return put_loans(arg, r, NULL);
}

/* Leases of the block: without those of loans, if this machine does not have the block. */
static uint32_t count_leases(struct machine *m, const struct block_key *key)
{
	const struct block_record *block = world_on_disk(m, key);
	const bool has = block && block->state >= BLOCK_GRANTED;
	struct block_key loan = *key;
	uint32_t n = 0;

	if (key->one)
		return m->lease[slot_of(m, key)];
	for (unsigned i = 0; i < 1U << m->world->set.bits; i++) {
		loan.one = i + 1;
		n += m->lease[slot_of(m, &loan)] && (has || !world_on_disk(m, &loan));
	}
	return n;
}

static uint32_t count_used(void *arg, const struct block_key *key)
{
	const struct block_record *r = world_on_disk(arg, key);

	return count_leases(arg, key) + (r ? world_lends(arg, r)->n : 0);
}

/* Its store has a definition by which loans go back. */
static bool knows_no_loans(const struct machine *m)
{
	return m->pool_seen == m->world->pool_version && !m->world->pool.lends;
}

/* May this machine assign from this block? As the transaction of an ADD asks. */
bool world_may_give(const struct machine *m, const struct block_record *r)
{
	if (r->key.one && knows_no_loans(m))
		return false;
	if (m->world->set.wrong == NO_EPOCH)
		return r->state == BLOCK_GRANTED;
	return node_may_give(&m->node, m->world->pool.strict, m->boot, m->world->now) &&
	       block_may_give(&m->node, r);
}

static void give_one(struct world *w, struct machine *m, const struct block_record *r, unsigned ip)
{
	world_judge_give(w, m, r, ip);
	w->counts.gives++;
	m->lease[ip] = true;
	world_trace(w, "%s: a pod has %u", m->name, ip);
}

static bool give(struct world *w, struct machine *m, uint32_t choice)
{
	if (w->set.pods)
		return world_give_pod(w, m, choice);
	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct block_record *r = &m->blocks[(i + choice) % m->n_blocks];
		unsigned first = world_slot_of(w, r->key.start);

		if (!world_may_give(m, r))
			continue;
		for (unsigned k = 0; k < 1U << w->set.bits; k++) {
			if (m->lease[first + k] || (r->key.one && k + 1 != r->key.one) ||
			    (block_lent(world_lends(m, r), k) && w->set.wrong != GIVE_LENT))
				continue;
			w->counts.borrowed += r->key.one > 0;
			give_one(w, m, r, first + k);
			return true;
		}
	}
	return false;
}

/*
 * Between two calls of an agent an ADD may have run: what a call told the agent is true no more at
 * the next one.
 */
static void between(struct machine *m)
{
	if (!m->world->set.quiet && next_random(m) % 4 == 0)
		(void)give(m->world, m, (uint32_t)next_random(m));
}

static uint32_t used(void *arg, const struct block_key *key)
{
	uint32_t n = count_used(arg, key);

	between(arg);
	return n;
}

static int drop_block(void *arg, const struct block_key *key)
{
	struct machine *m = arg;

	between(m);

	struct block_record *r = world_on_disk(m, key);

	if (!r)
		return 0;
	/* Of a loan that is in a block of this machine, too, only the record ends. */
	struct block_key whole = block_key_whole(key);
	const struct block_record *block = key->one ? world_on_disk(m, &whole) : NULL;
	bool stays = block && block->state >= BLOCK_GRANTED;

	if (!stays && (count_leases(m, key) || world_lends(m, r)->n) &&
	    m->world->set.wrong != DROP_USED)
		return 1;
	/* All that was kept about the addresses ends with it. */
	for (unsigned i = 0; i < (key->one ? 1U : 1U << m->world->set.bits) && !stays; i++)
		m->rests[slot_of(m, key) + i] = 0;
	m->n_blocks--;
	m->lent[r - m->blocks] = m->lent[m->n_blocks];
	*r = m->blocks[m->n_blocks];
	return 0;
}

static int retire_block(void *arg, const struct block_key *key)
{
	struct machine *m = arg;

	between(m);
	struct block_record *r = world_on_disk(m, key);

	if (!r)
		abort();
	if ((count_leases(m, key) && m->world->set.wrong != KEEP_USED) || world_lends(m, r)->n ||
	    cools_down(m, key) || (r->state != BLOCK_GRANTED && r->state != BLOCK_RETURNING))
		return 1;
	r->state = BLOCK_RETURNING;
	m->world->counts.returns++;
	world_trace(m->world, "%s: block %u is returning", m->name,
		    world_slot_of(m->world, key->start));
	return 0;
}

static int lend(void *arg, const struct block_key *key, uint32_t one, const struct block_party *to,
		struct loan *out)
{
	struct machine *m = arg;
	struct block_key at = *key;

	between(m);

	struct lending *l = &m->lent[world_on_disk(m, key) - m->blocks];

	for (uint32_t i = 0; i < 1U << m->world->set.bits; i++) {
		at.one = i + 1;
		if ((one != LOAN_ANY && one != at.one) || m->lease[slot_of(m, &at)] ||
		    block_lent(l, i) || l->n == LOANS_MAX)
			continue;
		*out = (struct loan){ .at = i, .to = *to };
		l->loans[l->n++] = *out;
		m->world->counts.lends++;
		world_trace(m->world, "%s: lends %u to %s", m->name, slot_of(m, &at), to->node);
		return 0;
	}
	return 1;
}

static int put_node(void *arg, const struct node_record *r)
{
	struct machine *m = arg;

	m->node = *r;
	world_trace(m->world, "%s: renewed, epoch %u, until %lld", m->name, (unsigned)r->epoch,
		    r->give_until == INT64_MAX ? -1LL : (long long)r->give_until);
	return 0;
}

static uint64_t spare(void *arg, const char *pool)
{
	struct machine *m = arg;
	uint64_t n = 0;

	(void)pool;
	for (size_t i = 0; i < m->n_blocks; i++) {
		const struct block_record *r = &m->blocks[i];

		uint64_t size = r->key.one ? 1 : UINT64_C(1) << m->world->set.bits;

		if (world_may_give(m, r))
			n += size - count_used(arg, &r->key);
	}
	return n;
}

static int64_t now(void *arg)
{
	return ((const struct machine *)arg)->world->now;
}

static void met(void *arg, const char *pool, enum need_result result)
{
	struct machine *m = arg;

	(void)pool;
	m->world->counts.needs[result]++;
}

/* A pod of the model probes before it has an address. */
static bool probed(void *arg, const struct block_key *key)
{
	struct machine *m = arg;

	return count_used(m, key) > 0 || m->world->set.wrong == VOUCH_ALWAYS;
}

static void identity_done(void *arg, const char *pool, const char *identity,
			  enum need_result result, const struct block_seen *held)
{
	struct machine *m = arg;

	(void)pool;
	(void)held;
	m->world->counts.needs[result]++;
	world_pod_told(m->world, m, identity, result);
}

static const struct agent_ops ops = { world_send, next_random,  now,  put_block, put_loans,
				      drop_block, retire_block, lend, put_node,  used,
				      spare,      probed,       met,  now,       identity_done };

/* ---- machines ---- */

void world_start_agent(struct world *w, struct machine *m)
{
	const struct agent_settings set = { .node = m->name,
					    .boot = m->boot,
					    .hold = HOLD,
					    .renew = RENEW,
					    .retry = RETRY,
					    .ask = ASK,
					    .machine = m->dmi,
					    .strict = w->set.strict,
					    .ranges = w->set.ranges };

	m->process++;
	m->wants = false;
	m->agent = agent_new(
		&set, &ops, m,
		&(struct agent_memory){ m->node, m->blocks, m->n_blocks, m->lent, m->n_blocks });
	if (!m->agent)
		abort();
	world_list_again(m);
	world_show_pool(w, m);
	world_tick(w, m);
}

struct block_key world_block(const struct world *w, unsigned ip)
{
	struct ip at = w->pool.grid.subnet.addr;
	struct block_key key = { 0 };

	at.v += ip;
	key.start = grid_start(&w->pool.grid, at);
	(void)snprintf(key.pool, sizeof(key.pool), "%s", w->pool.name);
	return key;
}

static struct block_key want_key(const struct world *w, unsigned ip)
{
	struct block_key key = world_block(w, ip);

	key.one = ip - world_slot_of(w, key.start) + 1;
	return key;
}

/* The answer came: the ADD that waits for it tries again. */
static void look_at_want(struct world *w, struct machine *m)
{
	struct block_key key = want_key(w, m->wanted), whole = block_key_whole(&key);
	const struct block_record *r;

	if (!m->wants)
		return;
	m->answer = agent_wanted(m->agent, &key);
	if (!m->answer.ended)
		return;
	m->wants = false;
	agent_unwant(m->agent, &key);
	w->counts.wants[m->answer.how]++;
	r = world_on_disk(m, &whole);
	if (!r || !world_may_give(m, r) || block_lent(world_lends(m, r), key.one - 1))
		r = world_on_disk(m, &key);
	if (r && world_may_give(m, r) && !m->lease[m->wanted])
		give_one(w, m, r, m->wanted);
}

void world_want(struct world *w, struct machine *m, unsigned ip)
{
	struct block_key key = want_key(w, ip);

	if (m->wants || !m->agent)
		return;
	m->wanted = ip;
	m->wants = agent_want(m->agent, &key);
	world_trace(w, "%s: a pod requests %u", m->name, ip);
}

void world_tick(struct world *w, struct machine *m)
{
	if (!m->agent)
		return;
	m->next = agent_tick(m->agent, w->now);
	look_at_want(w, m);
	if (m->next <= w->now)
		world_violated(w, "%s wants to be called in the past", m->name);
}

static void empty_store(struct world *w, struct machine *m)
{
	w->counts.disks++;
	m->n_blocks = 0;
	m->node = (struct node_record){ 0 };
	(void)snprintf(m->node.holder, sizeof(m->node.holder), "%s-%u", m->name, w->counts.disks);
}

void world_new_disk(struct world *w, struct machine *m)
{
	if (m->on)
		world_power_off(w, m);
	world_trace(w, "%s: a new disk", m->name);
	empty_store(w, m);
	world_boot(w, m);
}

void world_lose_store(struct world *w, struct machine *m)
{
	if (!m->on)
		return;
	world_stop_agent(m);
	/* If the cluster store was restored, too, nobody remembers. */
	for (unsigned i = 0; i < IPS && !w->restored; i++) {
		m->unknown[i] |= m->lease[i];
		w->taken[i] |= m->lease[i];
	}
	memset(m->lease, 0, sizeof(m->lease));
	memset(m->rests, 0, sizeof(m->rests));
	world_trace(w, "%s: its store is lost", m->name);
	empty_store(w, m);
	world_start_agent(w, m);
}

void world_stop_agent(struct machine *m)
{
	agent_free(m->agent);
	m->agent = NULL;
}

void world_boot(struct world *w, struct machine *m)
{
	m->on = true;
	m->cut = false;
	(void)snprintf(m->boot, sizeof(m->boot), "%s.%u", m->dmi, ++m->boots);
	world_trace(w, "%s: boots", m->name);
	world_start_agent(w, m);
}

void world_power_off(struct world *w, struct machine *m)
{
	world_trace(w, "%s: power off", m->name);
	m->on = false;
	world_stop_agent(m);
	/* No pod of this machine is left that a probe could find. */
	for (unsigned i = 0; i < IPS; i++)
		w->taken[i] &= !m->unknown[i];
	memset(m->unknown, 0, sizeof(m->unknown));
	memset(m->lease, 0, sizeof(m->lease));
	memset(m->rests, 0, sizeof(m->rests));
	memset(m->starts, 0, sizeof(m->starts));
}

bool world_add_pod(struct world *w, struct machine *m, uint32_t choice)
{
	if (w->set.pods)
		return world_start_pod(w, m, choice % w->set.pods,
				       w->set.migrates && choice / w->set.pods % 3 == 0);

	bool given = give(w, m, choice);

	w->counts.full += !given;
	if (m->agent)
		(void)agent_need(m->agent, w->pool.name, !given);
	return given;
}

void world_del_pod(struct world *w, struct machine *m, uint32_t choice)
{
	for (unsigned i = 0; i < IPS; i++) {
		unsigned ip = (i + choice) % IPS;

		if (!m->lease[ip])
			continue;
		m->lease[ip] = false;
		m->rests[ip] = w->now + w->set.cooldown;
		world_trace(w, "%s: the pod with %u ends", m->name, ip);
		return;
	}
}

void world_give_back(struct machine *m, uint32_t choice)
{
	if (m->agent && m->n_blocks)
		agent_return(m->agent, &m->blocks[choice % m->n_blocks].key);
}
