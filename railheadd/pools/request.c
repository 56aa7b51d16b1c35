/* SPDX-License-Identifier: Apache-2.0 */
/* request.c: each request of the protocol is one call of the store; nothing is repeated here. */
#include "railheadd/pools/request.h"

#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "ipam/block/object_json.h"
#include "lib/base/array.h"
#include "lib/sys/timer.h"

#define LIST_MAX (1u << 20)
#define MS       INT64_C(1000000)

struct inflight {
	TAILQ_ENTRY(inflight) all;
	struct requests *in;
	struct agent_request request;
	struct cluster_selector which; /* of a list */
	struct block_seen **list;      /* owned, as are its items */
	size_t n_list;
	struct err broken; /* of a list: there was no memory */
	bool unsent;
};

TAILQ_HEAD(ones, inflight);

struct requests {
	struct cluster_store *store;
	const struct request_fns *fns;
	void *arg;
	struct ones ones;
	/* The heartbeat of this node, as the last answer showed it; NULL: none did. */
	struct cluster_version beat_at;
	struct json *beat;
	struct timer *unsent; /* reports those that could not be begun */
};

static void request_end(struct inflight *o)
{
	TAILQ_REMOVE(&o->in->ones, o, all);
	for (size_t i = 0; i < o->n_list; i++)
		free(o->list[i]);
	free(o->list);
	free(o);
}

/* ---- objects out ---- */

static struct json *request_value_of(const struct agent_request *r)
{
	return r->kind == CLUSTER_BLOCK ? block_to_json(&r->block) : heartbeat_to_json(&r->beat);
}

/* The owner of a block, so that it finds its blocks; the node of a heartbeat is its name. */
static void object_of(const struct agent_request *r, const struct json *value,
		      struct cluster_object *out)
{
	*out = (struct cluster_object){ .kind = r->kind, .at = r->at, .value = value };
	memcpy(out->name, r->name, sizeof(out->name));
	(void)snprintf(out->node, sizeof(out->node), "%s",
		       r->kind == CLUSTER_BLOCK ? r->block.owner.node : r->name);
}

/* ---- replies in ---- */

/* The pool that the name of a block begins with; NULL: we do not know it. */
static const struct shared_pool *pool_of(struct requests *all, const char *name)
{
	const char *dash = strrchr(name, '-');
	size_t len = dash ? (size_t)(dash - name) : 0;
	char pool[GRID_POOL_MAX + 1];

	if (len == 0 || len > GRID_POOL_MAX)
		return NULL;
	memcpy(pool, name, len);
	pool[len] = '\0';
	return all->fns->pool(all->arg, pool);
}

static int request_read_object(struct requests *all, const struct cluster_object *o,
			       struct agent_reply *r, struct err *e)
{
	r->at = o->at;
	if (o->kind == CLUSTER_BLOCK)
		return block_from_json(o->value, o->name, &r->block, e);
	if (o->kind == CLUSTER_HEARTBEAT)
		return heartbeat_from_json(o->value, o->name, &r->beat, e);
	return all->fns->decode(all->arg, o, &r->pool, e);
}

/* Without memory for it the next renewal compares versions only. */
static void keep_beat(struct requests *all, const struct cluster_object *o)
{
	json_free(all->beat);
	all->beat = json_dup(o->value);
	all->beat_at = o->at;
}

static const struct json *known_beat(const struct requests *all, const struct agent_request *r)
{
	bool same = strcmp(all->beat_at.uid, r->at.uid) == 0 &&
		    strcmp(all->beat_at.version, r->at.version) == 0;

	return r->kind == CLUSTER_HEARTBEAT && same ? all->beat : NULL;
}

/* A copy of *s, as the agent expects it. */
static int add_to_list(struct inflight *o, const struct block_seen *s, const char *what,
		       struct err *e)
{
	struct block_seen *item = malloc(block_seen_size(s));

	if (!item)
		return err_nomem(e);
	memcpy(item, s, block_seen_size(s));
	if (ARRAY_GROW(o->list, o->n_list, LIST_MAX, what, e)) {
		free(item);
		return -1;
	}
	o->list[o->n_list++] = item;
	return 0;
}

/* A pool that cannot be read is asked for again, and then its error is said. */
static void read_also(struct inflight *o, const struct cluster_also *also, struct agent_reply *r)
{
	struct requests *all = o->in;
	struct block_seen seen = { .block.owner.node = "?" };
	struct err ignored;

	r->ranked = also->ranked;
	r->rank = also->rank;
	if (r->outcome == CLUSTER_OK && *o->request.pool) {
		r->pool_there = also->object != NULL;
		r->pool_read = !also->object ||
			       all->fns->decode(all->arg, also->object, &r->pool, &ignored) == 0;
	}
	for (size_t i = 0; r->outcome == CLUSTER_EXISTS && i < also->n_names; i++) {
		if (request_key(all, also->names[i], &seen.key))
			continue;
		if (add_to_list(o, &seen, "blocks beside one", &ignored))
			return; /* a claim of one that was not named finds it taken, no more */
	}
	r->list = (const struct block_seen *const *)o->list;
	r->n_list = o->n_list;
}

/*
 * An object that cannot be read is as good as no answer: it may be of a newer version, and nothing
 * may be concluded from it.
 */
static void request_done(void *arg, const struct cluster_result *result)
{
	struct inflight *o = arg;
	struct requests *all = o->in;
	struct agent_reply r = { .id = o->request.id,
				 .outcome = result->outcome,
				 .pause = result->retry_ms * MS };
	struct err why = result->err;

	if (result->object && result->object->kind == CLUSTER_HEARTBEAT)
		keep_beat(all, result->object);
	if (result->object && request_read_object(all, result->object, &r, &why)) {
		r.outcome = CLUSTER_AWAY;
		r.unreadable = why.code != ERR_NOMEM;
	}
	if (result->also)
		read_also(o, result->also, &r);
	all->fns->reply(all->arg, &r, &why);
	request_end(o);
}

int request_key(struct requests *all, const char *name, struct block_key *key)
{
	const struct shared_pool *known = pool_of(all, name);

	*key = (struct block_key){ .one = 0 };
	return known ? grid_parse(name, known->grid.subnet.addr.family, key->pool, &key->start)
		     : -1;
}

int request_read_block(struct requests *all, const struct cluster_object *object,
		       struct block_seen *out, struct err *e)
{
	*out = (struct block_seen){ .at = object->at };
	if (request_key(all, object->name, &out->key))
		return 1;
	return block_from_json(object->value, object->name, &out->block, e);
}

static void request_list_item(void *arg, const struct cluster_object *object)
{
	struct inflight *o = arg;
	struct block_seen seen;
	struct err e;
	int rc = request_read_block(o->in, object, &seen, &e);

	/* Another node has it: it is neither claimed nor asked for. */
	if (rc < 0 && e.code != ERR_NOMEM) {
		o->in->fns->unreadable(o->in->arg, &e);
		seen.block = (struct block){ .owner.node = "?" };
		rc = 0;
	}
	if (rc < 0 || (rc == 0 && add_to_list(o, &seen, "blocks of a list", &e)))
		o->broken = e;
}

static void request_list_done(void *arg, const struct cluster_result *result, const char *revision)
{
	struct inflight *o = arg;
	struct requests *all = o->in;
	struct agent_reply r = { .id = o->request.id,
				 .outcome = result->outcome,
				 .pause = result->retry_ms * MS };
	struct err why = result->err;

	(void)revision;
	if (r.outcome == CLUSTER_OK && o->broken.code) {
		r.outcome = CLUSTER_AWAY;
		why = o->broken;
	}
	r.list = (const struct block_seen *const *)o->list;
	r.n_list = o->n_list;
	all->fns->reply(all->arg, &r, &why);
	request_end(o);
}

/* ---- send ---- */

static struct cluster_call *call_list(struct inflight *o)
{
	static const struct cluster_list_fns fns = { .item = request_list_item,
						     .done = request_list_done };
	struct cluster_store *s = o->in->store;

	o->which = (struct cluster_selector){ .kind = o->request.kind, .prefix = o->request.name };
	return s->ops->list(s, &o->which, &fns, o);
}

/* The agent asks for this with a creation. */
static bool fill_beside(const struct agent_request *r, struct cluster_beside *out)
{
	*out = (struct cluster_beside){ .kind = CLUSTER_POOL,
					.name = *r->pool ? r->pool : NULL,
					.names = *r->names ? r->names : NULL,
					.rank = r->rank };
	return out->name || out->rank;
}

static bool call_write(struct inflight *o)
{
	const struct agent_request *r = &o->request;
	struct cluster_store *s = o->in->store;
	auto_json struct json *value = request_value_of(r), *was = NULL;
	bool changes = r->call == CALL_UPDATE || r->call == CALL_REMOVE;
	struct cluster_object object;
	struct cluster_beside beside;

	if (changes && r->kind == CLUSTER_BLOCK && !(was = block_to_json(&r->was)))
		return false;
	if (!value)
		return false;
	object_of(r, value, &object);
	object.was = was ? was : known_beat(o->in, r);
	object.beside = fill_beside(r, &beside) ? &beside : NULL;
	if (r->call == CALL_CREATE)
		return s->ops->create(s, &object, request_done, o) != NULL;
	if (r->call == CALL_UPDATE)
		return s->ops->update(s, &object, request_done, o) != NULL;
	return s->ops->remove(s, &object, request_done, o) != NULL;
}

static bool send_one(struct inflight *o)
{
	const struct agent_request *r = &o->request;
	struct cluster_store *s = o->in->store;

	if (r->call == CALL_GET)
		return s->ops->get(s, r->kind, r->name, request_done, o) != NULL;
	return r->call == CALL_LIST ? call_list(o) != NULL : call_write(o);
}

int requests_send(struct requests *all, const struct agent_request *r)
{
	struct inflight *o = calloc(1, sizeof(*o));

	if (!o)
		return -1;
	o->in = all;
	o->request = *r;
	TAILQ_INSERT_TAIL(&all->ones, o, all);
	if (!send_one(o)) {
		o->unsent = true;
		timer_now(all->unsent);
	}
	return 0;
}

static void report_unsent(void *arg)
{
	struct requests *all = arg;
	struct inflight *o, *next;

	for (o = TAILQ_FIRST(&all->ones); o; o = next) {
		struct agent_reply r = { .id = o->request.id, .outcome = CLUSTER_AWAY };
		struct err why;

		next = TAILQ_NEXT(o, all);
		if (!o->unsent)
			continue;
		(void)err_nomem(&why);
		request_end(o);
		all->fns->reply(all->arg, &r, &why);
		next = TAILQ_FIRST(&all->ones);
	}
}

struct requests *requests_new(struct event_base *base, struct cluster_store *store,
			      const struct request_fns *fns, void *arg)
{
	struct requests *all = calloc(1, sizeof(*all));

	if (!all || !(all->unsent = timer_new(base, report_unsent, all))) {
		free(all);
		return NULL;
	}
	all->store = store;
	all->fns = fns;
	all->arg = arg;
	TAILQ_INIT(&all->ones);
	return all;
}

/* The calls themselves end with the store, which is closed first. */
void requests_free(struct requests *all)
{
	struct inflight *o;

	if (!all)
		return;
	while ((o = TAILQ_FIRST(&all->ones)))
		request_end(o);
	timer_free(all->unsent);
	json_free(all->beat);
	free(all);
}
