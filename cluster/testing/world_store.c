/* SPDX-License-Identifier: Apache-2.0 */
/* world_store.c: what the store of the simulated cluster does, and what becomes of requests. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cluster/testing/world_pods.h"

struct object *world_find(struct world *w, enum cluster_kind kind, const char *name)
{
	for (size_t i = 0; i < OBJECTS; i++) {
		struct object *o = &w->objects[i];

		if (o->there && o->kind == kind && strcmp(o->name, name) == 0)
			return o;
	}
	return NULL;
}

/* A restored store uses versions again, uids never. */
static void new_version(struct world *w, struct object *o, bool created)
{
	w->versions++;
	if (created)
		(void)snprintf(o->at.uid, sizeof(o->at.uid), "u%llu",
			       (unsigned long long)++w->uids);
	(void)snprintf(o->at.version, sizeof(o->at.version), "%llu",
		       (unsigned long long)w->versions);
}

static void count_update(struct world *w, const struct block *from, const struct block *to)
{
	struct world_counts *c = &w->counts;

	c->confirms += to->touched != from->touched;
	c->contests += to->contested && !from->contested;
	c->takes += !*to->owner.node;
	c->taken_free += !*from->owner.node;
	for (unsigned i = 0; i < to->n_loans; i++)
		c->given_back += to->loans[i].returned;
	c->handed_over += *from->owner.node && *to->owner.node &&
			  strcmp(from->owner.node, to->owner.node) != 0;
}

/* The precondition that versions alone do not give after a restore. */
static bool is_as_it_was(const struct world *w, const struct object *o,
			 const struct agent_request *r)
{
	const struct block *is = &o->block, *was = &r->was;

	return o->kind != CLUSTER_BLOCK || w->set.wrong == NO_VALUE ||
	       (party_equal(&is->owner, &was->owner) && party_equal(&is->asker, &was->asker) &&
		is->touched == was->touched && strcmp(is->pool_uid, was->pool_uid) == 0);
}

/* No agent can read another one. */
static void judge_loans(struct world *w, const struct agent_request *r)
{
	for (unsigned i = 0; i < r->block.n_loans; i++) {
		if (r->block.loans[i].at >> w->set.bits)
			world_violated(w, "%s lends an address of another block", r->name);
		for (unsigned k = 0; k < i; k++) {
			if (r->block.loans[i].at == r->block.loans[k].at)
				world_violated(w, "%s lends an address twice", r->name);
		}
	}
}

/*
 * As an admission policy of Kubernetes demands, so that an owner can always count one more. A lower
 * one is an update of another value than the writer has read.
 */
static void judge_touched(struct world *w, const struct object *o, const struct agent_request *r)
{
	const uint64_t before = r->call == CALL_CREATE ? 0 : o->block.touched;

	if (r->kind == CLUSTER_BLOCK && r->block.touched - before > 1)
		world_violated(w, "%s: touched goes from %" PRIu64 " to %" PRIu64, r->name, before,
			       r->block.touched);
}

enum cluster_outcome world_write_object(struct world *w, const struct agent_request *r)
{
	struct object *o = world_find(w, r->kind, r->name);
	bool blind = r->call == CALL_REMOVE && w->set.wrong == BLIND_REMOVE;

	if (r->call == CALL_CREATE) {
		if (o)
			return CLUSTER_EXISTS;
		for (o = w->objects; o->there; o++)
			;
		*o = (struct object){ .there = true, .kind = r->kind };
		(void)snprintf(o->name, sizeof(o->name), "%s", r->name);
	} else if (!o || (strcmp(o->at.uid, r->at.uid) != 0 && !blind)) {
		return CLUSTER_NOT_FOUND;
	} else if ((strcmp(o->at.version, r->at.version) != 0 || !is_as_it_was(w, o, r)) &&
		   !blind) {
		return CLUSTER_CONFLICT;
	} else if (r->call == CALL_REMOVE) {
		world_judge_identity(w, o, NULL);
		o->there = false;
		if (o->kind == CLUSTER_BLOCK)
			world_changed(w, o, &o->block);
		return CLUSTER_OK;
	} else if (w->set.wrong == LOOK_ONLY && o->block.touched != r->block.touched) {
		return CLUSTER_OK;
	}
	struct block before = o->block;

	world_judge_identity(w, o, &r->block);

	if (r->kind == CLUSTER_BLOCK && r->call == CALL_UPDATE)
		count_update(w, &o->block, &r->block);
	if (r->beat.twin && !w->set.clones)
		world_violated(w, "%s has two machines", r->name);
	judge_loans(w, r);
	judge_touched(w, o, r);
	o->block = r->block;
	o->block.probe &= w->set.wrong != LOSE_PROBE;
	o->block.migrates &= w->set.wrong != LOSE_MIGRATES;
	if (w->set.wrong == LOSE_LOANS && !*o->block.owner.node)
		o->block.n_loans = 0;
	/* As JSON has it. */
	if (!*o->block.asker.node)
		o->block.asks_one = 0;
	if (w->set.wrong == LOSE_IDENTITY && !*o->block.owner.node)
		*o->block.identity = '\0';
	o->beat = r->beat;
	new_version(w, o, r->call == CALL_CREATE);
	if (o->kind == CLUSTER_BLOCK)
		world_changed(w, o, &before);
	return CLUSTER_OK;
}

static void fill(struct world *w, const struct agent_request *r, struct agent_reply *reply)
{
	const struct object *o = world_find(w, r->kind, r->name);

	if (r->kind == CLUSTER_POOL) {
		reply->pool = w->pool;
		reply->outcome = w->pool_there ? CLUSTER_OK : CLUSTER_NOT_FOUND;
		return;
	}
	if (!o) {
		if (r->call == CALL_GET)
			reply->outcome = CLUSTER_NOT_FOUND;
		return;
	}
	reply->at = o->at;
	reply->block = o->block;
	reply->beat = o->beat;
}

struct block_key world_key(const char *name)
{
	struct block_key key = { 0 };

	if (grid_parse(name, IP_V4, key.pool, &key.start))
		abort();
	return key;
}

static size_t list_prefix(const struct world *w, const char *prefix, struct block_seen *out)
{
	size_t n = 0;

	for (size_t i = 0; i < OBJECTS; i++) {
		const struct object *o = w->set.wrong == STALE_LIST ? &w->stale[i] : &w->objects[i];

		if (!o->there || o->kind != CLUSTER_BLOCK ||
		    strncmp(o->name, prefix, strlen(prefix)) != 0)
			continue;
		out[n] = (struct block_seen){ .at = o->at, .block = o->block };
		out[n++].key = world_key(o->name);
	}
	return n;
}

/* As a reply has a list. */
struct listed {
	struct block_seen items[OBJECTS];
	const struct block_seen *list[OBJECTS];
};

/* Few messages need a list, and 256 of them would be most of the world. */
static struct listed *list_room(struct message *m)
{
	if (!m->list && !(m->list = calloc(1, sizeof(*m->list))))
		abort();
	for (size_t i = 0; i < OBJECTS; i++)
		m->list->list[i] = &m->list->items[i];
	return m->list;
}

/* What a store like etcd tells in the step of a creation: the pool, or the names beside it. */
static void fill_beside(const struct world *w, struct message *m)
{
	struct agent_reply *reply = &m->reply;

	if (!w->set.ranges)
		return;
	for (size_t i = 0; m->request.rank && i < OBJECTS; i++) {
		const struct object *o = &w->objects[i];
		bool beats = o->there && o->kind == CLUSTER_HEARTBEAT;

		reply->rank += beats && strcmp(o->name, m->request.name) < 0;
		reply->ranked = true;
	}
	if (!*m->request.pool)
		return;
	if (reply->outcome == CLUSTER_OK) {
		reply->pool = w->pool;
		reply->pool_there = w->pool_there;
		reply->pool_read = true;
	} else if (reply->outcome == CLUSTER_EXISTS && *m->request.names) {
		reply->list = list_room(m)->list;
		reply->n_list = list_prefix(w, m->request.names, m->list->items);
		for (size_t i = 0; i < reply->n_list; i++)
			m->list->items[i].block = (struct block){ .owner.node = "?" };
	}
}

size_t world_list(const struct world *w, struct block_seen *out)
{
	return list_prefix(w, "", out);
}

static bool is_stray(struct world *w, const struct message *m)
{
	struct block_key key = world_key(m->request.name);

	return !world_on_disk(&w->machines[m->node], &key);
}

void world_execute(struct world *w, struct message *m)
{
	struct agent_reply *reply = &m->reply;

	*reply = (struct agent_reply){ .id = m->request.id, .outcome = CLUSTER_OK };
	m->executed = true;
	w->counts.strays += m->request.call == CALL_REMOVE && is_stray(w, m);
	w->counts.late += m->late && m->request.call != CALL_GET && m->request.call != CALL_LIST;
	if (m->request.call == CALL_LIST) {
		reply->list = list_room(m)->list;
		reply->n_list = list_prefix(w, m->request.name, m->list->items);
		return;
	}
	if (m->request.call != CALL_GET)
		reply->outcome = world_write_object(w, &m->request);
	fill(w, &m->request, reply);
	fill_beside(w, m);
	world_trace(
		w, "store: %s %s for %s: %d",
		(const char *[]){ "get", "list", "create", "update", "remove" }[m->request.call],
		m->request.name, w->machines[m->node].name, (int)reply->outcome);
}

/* ---- the network ---- */

void world_send(void *arg, const struct agent_request *r)
{
	struct machine *m = arg;
	struct world *w = m->world;

	for (size_t i = 0; i < MESSAGES; i++) {
		struct message *msg = &w->messages[i];

		if (msg->used)
			continue;
		/* The list is kept, and is written before it is read. */
		memset(msg, 0, offsetof(struct message, list));
		msg->used = true;
		msg->node = (unsigned)(m - w->machines);
		msg->process = m->process;
		msg->restores = w->counts.restores;
		msg->request = *r;
		return;
	}
	world_violated(w, "more than %d requests under way", MESSAGES);
}

void world_deliver(struct world *w, struct message *msg)
{
	struct machine *m = &w->machines[msg->node];

	msg->used = false;
	if (m->agent && m->process == msg->process && !msg->late)
		agent_answer(m->agent, &msg->reply);
}

/* The caller waits no longer. What was not executed may be executed later. */
static void time_out(struct world *w, struct message *msg)
{
	struct machine *m = &w->machines[msg->node];
	struct agent_reply away = { .id = msg->request.id, .outcome = CLUSTER_AWAY };
	bool waits = m->agent && m->process == msg->process && !msg->late;

	msg->late = true;
	msg->used = !msg->executed;
	if (waits)
		agent_answer(m->agent, &away);
}

struct message *world_pick(struct world *w, uint32_t choice, bool executed)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct message *m = &w->messages[(i + choice) % MESSAGES];

		if (m->used && m->executed == executed)
			return m;
	}
	return NULL;
}

void world_step_network(struct world *w, uint32_t choice)
{
	struct message *m = world_pick(w, choice / 16, choice % 2);

	if (!m)
		return;
	if (choice / 2 % 8 == 0 && (!w->set.calm || choice / 16 % 8 == 0)) {
		time_out(w, m);
	} else if (m->late && choice / 2 % 8 == 1) {
		m->used = false;
	} else if (m->executed) {
		world_deliver(w, m);
	} else if (!w->machines[m->node].cut || m->late) {
		world_execute(w, m);
	}
}
