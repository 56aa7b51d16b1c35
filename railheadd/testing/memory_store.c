/* SPDX-License-Identifier: Apache-2.0 */
/* memory_store.c: calls wait in a queue, and end one after the other from the loop. */
#include "railheadd/testing/memory_store.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"

struct object {
	TAILQ_ENTRY(object) all;
	struct cluster_object is;
	struct json *value, *status;
};
TAILQ_HEAD(objects, object);

enum what { GET, LIST, WATCH, CREATE, UPDATE, REMOVE, TELL, REPORT };

struct cluster_call {
	TAILQ_ENTRY(cluster_call) all;
	struct memory_store *store;
	enum what what;
	struct cluster_object object; /* of a write; its name and kind of a get */
	struct json *value;
	char *told;                    /* of an event: its line */
	struct cluster_selector which; /* without is in the text below */
	char *without;                 /* "UID,UID," */
	cluster_done_fn done;
	const struct cluster_list_fns *list;
	const struct cluster_watch_fns *watch;
	void *arg;
};
TAILQ_HEAD(calls_waiting, cluster_call);

struct memory_store {
	struct cluster_store store;
	struct event *next;
	struct objects objects;
	struct calls_waiting calls, watches;
	unsigned long revision, uids;
	enum cluster_outcome outcome;
	unsigned failing;
	bool hold, only_reports; /* only_reports: of failing */
	bool denies;
	struct text told;
	struct cluster_result tell_result;
	unsigned tells_failing;
	uint64_t told_id;
	struct memory_counts counts;
};

static void end_call(struct cluster_call *c)
{
	TAILQ_REMOVE(c->what == WATCH ? &c->store->watches : &c->store->calls, c, all);
	json_free(c->value);
	free(c->told);
	free(c->without);
	free(c);
}

/* ---- objects ---- */

static struct object *find(const struct memory_store *m, enum cluster_kind kind, const char *name)
{
	struct object *o = TAILQ_FIRST(&m->objects);

	while (o && (o->is.kind != kind || strcmp(o->is.name, name) != 0))
		o = TAILQ_NEXT(o, all);
	return o;
}

/* As Kubernetes does it. */
static bool leaves_out(const struct cluster_call *c, const struct cluster_object *o)
{
	const char *uid = o->value ? json_str(json_get(o->value, "poolUID")) : NULL;
	struct slice rest = { c->without, c->without ? strlen(c->without) : 0 }, one;

	while (uid && c->without && slice_next(&rest, ',', &one)) {
		if (slice_is(one, uid))
			return true;
	}
	return false;
}

static bool selects(const struct cluster_selector *w, const struct cluster_object *o)
{
	return w->kind == o->kind && (!w->node || strcmp(w->node, o->node) == 0) &&
	       (!w->prefix || strncmp(w->prefix, o->name, strlen(w->prefix)) == 0);
}

static void show(struct memory_store *m, const struct cluster_object *before,
		 const struct cluster_object *now)
{
	struct cluster_call *c, *next;

	for (c = TAILQ_FIRST(&m->watches); c; c = next) {
		bool was = before && selects(&c->which, before),
		     is = now && selects(&c->which, now);

		next = TAILQ_NEXT(c, all);
		if (was || is)
			c->watch->changed(c->arg, is ? now : before, !is);
	}
}

static void next_version(struct memory_store *m, struct object *o)
{
	(void)snprintf(o->is.at.version, sizeof(o->is.at.version), "%lu", ++m->revision);
}

/* status is taken over. */
static void set_status(struct memory_store *m, struct object *o, struct json *status)
{
	struct cluster_object before = o->is;
	struct json *old = o->status;

	next_version(m, o);
	o->status = status;
	o->is.status = status;
	show(m, &before, &o->is);
	json_free(old);
}

/* value is taken over. */
static void set(struct memory_store *m, struct object *o, const char *node, struct json *value)
{
	struct cluster_object before = o->is;
	struct json *old = o->value;

	(void)snprintf(o->is.node, sizeof(o->is.node), "%s", node);
	next_version(m, o);
	o->is.generation++;
	o->value = value;
	o->is.value = value;
	show(m, *before.at.version ? &before : NULL, &o->is);
	json_free(old);
}

static struct object *make(struct memory_store *m, enum cluster_kind kind, const char *name)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	o->is.kind = kind;
	(void)snprintf(o->is.name, sizeof(o->is.name), "%s", name);
	(void)snprintf(o->is.at.uid, sizeof(o->is.at.uid), "uid-%lu", ++m->uids);
	(void)snprintf(o->is.created, sizeof(o->is.created), "%020lu", m->revision + 1);
	TAILQ_INSERT_TAIL(&m->objects, o, all);
	return o;
}

static void free_object(struct memory_store *m, struct object *o)
{
	TAILQ_REMOVE(&m->objects, o, all);
	json_free(o->value);
	json_free(o->status);
	free(o);
}

static void delete (struct memory_store *m, struct object *o)
{
	m->revision++;
	show(m, &o->is, NULL);
	free_object(m, o);
}

static struct json *parse(const char *name, const char *text)
{
	struct json *tree;
	struct err e;

	if (json_parse(text, strlen(text), name, &tree, &e))
		abort();
	return tree;
}

void memory_store_put(struct memory_store *m, enum cluster_kind kind, const char *name,
		      const char *node, const char *value)
{
	struct object *o = find(m, kind, name);
	struct json *tree = parse(name, value);

	set(m, o ? o : make(m, kind, name), node, tree);
}

void memory_store_put_status(struct memory_store *m, const char *pool, const char *status)
{
	set_status(m, find(m, CLUSTER_POOL, pool), parse(pool, status));
}

char *memory_store_status(const struct memory_store *m, const char *pool)
{
	const struct object *o = find(m, CLUSTER_POOL, pool);

	return o && o->status ? json_print(o->status, false) : NULL;
}

void memory_store_delete(struct memory_store *m, enum cluster_kind kind, const char *name)
{
	struct object *o = find(m, kind, name);

	if (o)
		delete (m, o);
}

bool memory_store_has(const struct memory_store *m, enum cluster_kind kind, const char *name)
{
	return find(m, kind, name) != NULL;
}

char *memory_store_text(const struct memory_store *m, enum cluster_kind kind, const char *name)
{
	const struct object *o = find(m, kind, name);

	return o ? json_print(o->value, false) : NULL;
}

/* ---- calls ---- */

static void soon(struct memory_store *m)
{
	event_active(m->next, EV_TIMEOUT, 0);
}

static enum cluster_outcome write_object(struct cluster_call *c, struct object **out)
{
	struct memory_store *m = c->store;
	struct object *o = find(m, c->object.kind, c->object.name);

	if (c->what == CREATE && o)
		return CLUSTER_EXISTS;
	if (c->what != CREATE && (!o || strcmp(o->is.at.uid, c->object.at.uid) != 0))
		return CLUSTER_NOT_FOUND;
	if (c->what != CREATE && strcmp(o->is.at.version, c->object.at.version) != 0)
		return CLUSTER_CONFLICT;
	if (c->what == REPORT) {
		m->counts.reports++;
		set_status(m, o, TAKE_PTR(c->value));
		*out = o;
		return CLUSTER_OK;
	}
	m->counts.writes++;
	if (c->what == REMOVE) {
		delete (m, o);
		return CLUSTER_OK;
	}
	*out = o ? o : make(m, c->object.kind, c->object.name);
	set(m, *out, c->object.node, TAKE_PTR(c->value));
	return CLUSTER_OK;
}

static void execute_list(struct cluster_call *c, const struct cluster_result *r)
{
	struct memory_store *m = c->store;
	const size_t from = c->which.from ? strtoul(c->which.from, NULL, 10) : 0;
	char revision[CLUSTER_REVISION_LEN] = "", next[24];
	struct object *o;
	size_t at = 0;

	if (r->outcome == CLUSTER_OK) {
		(void)snprintf(revision, sizeof(revision), "%lu", m->revision + 1);
		for (o = TAILQ_FIRST(&m->objects); o; o = TAILQ_NEXT(o, all)) {
			if (!selects(&c->which, &o->is) || at++ < from)
				continue;
			(void)snprintf(next, sizeof(next), "%zu", at - 1);
			if (at - 1 > from && (at - 1) % MEMORY_PAGE == 0 && c->list->page &&
			    !c->list->page(c->arg, next))
				break;
			if (leaves_out(c, &o->is))
				m->counts.left_out++;
			else
				c->list->item(c->arg, &o->is);
		}
	}
	c->list->done(c->arg, r, revision);
}

static void execute_tell(struct cluster_call *c)
{
	struct memory_store *m = c->store;
	struct cluster_result r = { .outcome = CLUSTER_OK };
	cluster_done_fn done = c->done;
	void *arg = c->arg;

	m->counts.tells++;
	if (m->tells_failing) {
		m->tells_failing--;
		r = m->tell_result;
	} else {
		text_add(&m->told, c->told);
	}
	end_call(c);
	done(arg, &r);
}

static void execute(struct cluster_call *c)
{
	struct memory_store *m = c->store;
	struct cluster_result r = { .outcome = CLUSTER_OK };
	struct object *o = NULL;

	if (m->denies) {
		r.outcome = CLUSTER_REFUSED;
		err_set(&r.err, ERR_LOGIN, 0, "the test does not know who asks");
		(void)err_hint(&r.err, "the test needs another token");
	} else if (m->failing && (!m->only_reports || c->what == REPORT)) {
		m->failing--;
		r.outcome = m->outcome;
		err_set(&r.err, ERR_FORBIDDEN, 0, "the test says so");
		(void)err_hint(&r.err, "the test may say otherwise");
	} else if (c->what == GET) {
		o = find(m, c->object.kind, c->object.name);
		r.outcome = o ? CLUSTER_OK : CLUSTER_NOT_FOUND;
	} else if (c->what != LIST) {
		r.outcome = write_object(c, &o);
	}
	if (r.outcome != CLUSTER_OK && !r.err.code)
		err_set(&r.err, ERR_STATE, 0, "outcome %d", (int)r.outcome);
	r.object = o ? &o->is : NULL;

	struct cluster_call ended = *c;

	c->value = NULL;
	c->without = NULL;
	end_call(c);
	if (ended.what == LIST)
		execute_list(&ended, &r);
	else
		ended.done(ended.arg, &r);
	json_free(ended.value);
	free(ended.without);
}

void memory_store_deny(struct memory_store *m, bool deny)
{
	m->denies = deny;
}

/* One call for each turn of the loop. */
static void next(evutil_socket_t fd, short what, void *arg)
{
	struct memory_store *m = arg;
	struct cluster_call *c = TAILQ_FIRST(&m->calls);

	(void)fd;
	(void)what;
	if (!c || m->hold)
		return;
	if (TAILQ_NEXT(c, all))
		soon(m);
	if (c->what == TELL)
		execute_tell(c);
	else
		execute(c);
}

static struct cluster_call *begin(struct cluster_store *s, enum what what, void *arg)
{
	struct memory_store *m = (struct memory_store *)s;
	struct cluster_call *c = calloc(1, sizeof(*c));

	if (!c)
		abort();
	c->store = m;
	c->what = what;
	c->arg = arg;
	TAILQ_INSERT_TAIL(what == WATCH ? &m->watches : &m->calls, c, all);
	soon(m);
	return c;
}

static struct cluster_call *get(struct cluster_store *s, enum cluster_kind kind, const char *name,
				cluster_done_fn done, void *arg)
{
	struct cluster_call *c = begin(s, GET, arg);

	c->store->counts.node_gets += kind == CLUSTER_NODE;
	c->done = done;
	c->object.kind = kind;
	(void)snprintf(c->object.name, sizeof(c->object.name), "%s", name);
	return c;
}

static struct cluster_call *list(struct cluster_store *s, const struct cluster_selector *which,
				 const struct cluster_list_fns *fns, void *arg)
{
	struct cluster_call *c = begin(s, LIST, arg);

	auto_text struct text without = { 0 };

	c->store->counts.lists++;
	c->which = *which;
	for (size_t i = 0; i < which->n_without; i++)
		text_addf(&without, "%s,", which->without[i]);
	c->which.without = NULL;
	c->without = text_take(&without);
	c->list = fns;
	return c;
}

static struct cluster_call *watch(struct cluster_store *s, const struct cluster_selector *which,
				  const char *revision, const struct cluster_watch_fns *fns,
				  void *arg)
{
	struct cluster_call *c = begin(s, WATCH, arg);

	(void)revision;
	c->store->counts.watches++;
	c->which = *which;
	c->watch = fns;
	return c;
}

static struct cluster_call *write_call(struct cluster_store *s, enum what what,
				       const struct cluster_object *o, cluster_done_fn done,
				       void *arg)
{
	struct cluster_call *c = begin(s, what, arg);

	c->object = *o;
	c->value = o->value ? json_dup(o->value) : NULL;
	c->done = done;
	return c;
}

static struct cluster_call *create(struct cluster_store *s, const struct cluster_object *o,
				   cluster_done_fn done, void *arg)
{
	return write_call(s, CREATE, o, done, arg);
}

static struct cluster_call *update(struct cluster_store *s, const struct cluster_object *o,
				   cluster_done_fn done, void *arg)
{
	struct cluster_call *c = write_call(s, UPDATE, o, done, arg);
	auto_free char *now = memory_store_text(c->store, o->kind, o->name);
	auto_free char *was = o->was ? json_print(o->was, false) : NULL;

	if (o->kind == CLUSTER_HEARTBEAT && now && was)
		c->store->counts.tested += strcmp(now, was) == 0;
	return c;
}

static struct cluster_call *remove_object(struct cluster_store *s, const struct cluster_object *o,
					  cluster_done_fn done, void *arg)
{
	return write_call(s, REMOVE, o, done, arg);
}

static struct cluster_call *report(struct cluster_store *s, const struct cluster_object *o,
				   cluster_done_fn done, void *arg)
{
	struct cluster_object with = *o;

	with.value = o->status;
	return write_call(s, REPORT, &with, done, arg);
}

static struct cluster_call *tell(struct cluster_store *s, const struct cluster_event *event,
				 cluster_done_fn done, void *arg)
{
	struct cluster_call *c = begin(s, TELL, arg);
	bool pod = *event->pod;

	c->done = done;
	((struct memory_store *)s)->told_id = event->id;
	if (asprintf(&c->told, "%s %s%s%s%s%s: %s\n", event->reason,
		     pod ? event->namespace : event->node, pod ? "/" : "", event->pod,
		     pod ? " " : "", event->uid, event->note) < 0)
		abort();
	return c;
}

/* The store lives as long as the test; the driver's calls end with the driver. */
static void close_store(struct cluster_store *s)
{
	struct memory_store *m = (struct memory_store *)s;
	struct object *o;

	while (!TAILQ_EMPTY(&m->calls))
		end_call(TAILQ_FIRST(&m->calls));
	while (!TAILQ_EMPTY(&m->watches))
		end_call(TAILQ_FIRST(&m->watches));
	while ((o = TAILQ_FIRST(&m->objects)))
		free_object(m, o);
	event_free(m->next);
	text_clear(&m->told);
	free(m);
}

static const struct cluster_store_ops ops = {
	.name = "memory",
	.has_nodes = true,
	.get = get,
	.list = list,
	.watch = watch,
	.create = create,
	.update = update,
	.remove = remove_object,
	.tell = tell,
	.report = report,
	.cancel = end_call,
	.close = close_store,
};

struct memory_store *memory_store_new(struct event_base *base)
{
	struct memory_store *m = calloc(1, sizeof(*m));

	if (!m)
		abort();
	m->store.ops = &ops;
	TAILQ_INIT(&m->objects);
	TAILQ_INIT(&m->calls);
	TAILQ_INIT(&m->watches);
	m->next = event_new(base, -1, EV_PERSIST, next, m);
	if (!m->next)
		abort();
	return m;
}

struct cluster_store *memory_store_ops(struct memory_store *m)
{
	return &m->store;
}

void memory_store_fail(struct memory_store *m, enum cluster_outcome outcome, unsigned times)
{
	m->outcome = outcome;
	m->failing = times;
	m->only_reports = false;
}

void memory_store_fail_reports(struct memory_store *m, enum cluster_outcome outcome, unsigned times)
{
	memory_store_fail(m, outcome, times);
	m->only_reports = true;
}

void memory_store_hold(struct memory_store *m, bool hold)
{
	m->hold = hold;
	if (!hold)
		soon(m);
}

const char *memory_store_told(const struct memory_store *m)
{
	return m->told.s ? m->told.s : "";
}

uint64_t memory_store_told_id(const struct memory_store *m)
{
	return m->told_id;
}

void memory_store_fail_tell(struct memory_store *m, const struct cluster_result *how,
			    unsigned times)
{
	m->tell_result = *how;
	m->tells_failing = times;
}

struct memory_counts memory_store_counts(const struct memory_store *m)
{
	struct memory_counts counts = m->counts;
	const struct cluster_call *c;

	counts.running = 0;
	for (c = TAILQ_FIRST(&m->calls); c; c = TAILQ_NEXT(c, all))
		counts.running += c->what == LIST;
	for (c = TAILQ_FIRST(&m->watches); c; c = TAILQ_NEXT(c, all))
		counts.running++;
	return counts;
}
