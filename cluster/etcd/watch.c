/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: changes of the selected keys. A line's header has the revision of the store, which
 * may be ahead of its events. Only the events say how far the watch has come.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cluster/etcd/priv.h"
#include "cluster/etcd/request.h"
#include "lib/base/ctx.h"
#include "lib/base/parse.h"
#include "lib/json/long.h"

static void watch_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->watch.ended(c->arg, &c->call.result);
}

void etcd_watch_over(struct cluster_call *c)
{
	call_end(&c->call, CLUSTER_OK, NULL);
}

/* The object before it was deleted, as far as etcd still knows. */
static void deleted_object(const struct etcd_event *ev, enum cluster_kind kind,
			   struct cluster_object *out, struct json **tree)
{
	const char *name = etcd_key_name(ev->kv.key);
	struct err ignored;

	if (ev->was.key && !etcd_value_read(&ev->was, kind, out, tree, &ignored))
		return;
	*out = (struct cluster_object){ .kind = kind };
	(void)snprintf(out->name, sizeof(out->name), "%s", name ? name : "");
}

static int watch_event(struct cluster_call *c, const struct json *n)
{
	auto_json struct json *tree = NULL;
	struct etcd_event ev;
	struct cluster_object object;
	struct err *e = &c->call.result.err;

	if (etcd_event_read(n, &ev, e))
		return -1;
	if (ev.deleted)
		deleted_object(&ev, c->kind, &object, &tree);
	int rc = ev.deleted ? 0 : etcd_value_read(&ev.kv, c->kind, &object, &tree, e);

	if (ev.kv.revision > c->revision)
		c->revision = ev.kv.revision;
	if (!rc && *object.name)
		c->watch.changed(c->arg, &object, ev.deleted);
	etcd_event_clear(&ev);
	return rc && !etcd_stray(c, e) ? -1 : 0;
}

static void say_revision(struct cluster_call *c)
{
	char text[CLUSTER_REVISION_LEN];

	(void)snprintf(text, sizeof(text), "%" PRId64, c->revision);
	c->watch.revision(c->arg, text);
}

static void watch_events(struct cluster_call *c, const struct etcd_watch *w)
{
	json_each (n, w->events) {
		if (watch_event(c, n)) {
			call_end(&c->call, CLUSTER_AWAY, NULL);
			return;
		}
		if (c->call.dead)
			return;
	}
	if (w->fragment)
		return;
	if (!json_len(w->events) && w->revision > c->revision)
		c->revision = w->revision;
	say_revision(c);
}

static void expired(struct cluster_call *c, const char *why, int64_t revision)
{
	(void)err_set(&c->call.result.err, ERR_AGAIN, 0,
		      "etcd: watch %s from revision %" PRId64 ": %s %" PRId64, c->key, c->revision,
		      why, revision);
	call_end(&c->call, CLUSTER_EXPIRED, NULL);
}

static void watch_canceled(struct cluster_call *c, const struct etcd_watch *w)
{
	const struct etcd_problem p = { w->code ? w->code : 14, w->reason };

	if (w->compacted) {
		expired(c, "the oldest one is", w->compacted);
		return;
	}
	if (c->call.http)
		http_cancel(TAKE_PTR(c->call.http));
	/* should it ask again, then for what comes behind the last event */
	free(c->body);
	c->body = etcd_watch_body(c->key, c->end, c->revision + 1);
	c->deadline = ctx_mono_ms() + c->etcd->timeout_ms;
	etcd_refused(c, &p, 0);
}

void etcd_watch_line(void *arg, const char *line, size_t len)
{
	struct cluster_call *c = arg;
	auto_json struct json *tree = NULL;
	struct etcd_watch w;
	struct err *e = &c->call.result.err;

	call_enter(&c->call);
	if (json_parse_long(line, len, "etcd's answer", &tree, e) || etcd_watch_read(tree, &w, e)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (w.canceled || w.code) {
		watch_canceled(c, &w);
	} else if (w.created) {
		c->began = true;
		/* a store that was restored would be silent until it has caught up */
		if (w.revision < c->revision)
			expired(c, "the store has only", w.revision);
	} else {
		watch_events(c, &w);
	}
	call_leave(&c->call);
}

/* More changes at once than fit: a list has pages. */
static void on_large_line(struct cluster_call *c)
{
	call_end(&c->call, CLUSTER_EXPIRED, NULL);
}

struct cluster_call *etcd_watch(struct cluster_store *store, const struct cluster_selector *which,
				const char *revision, const struct cluster_watch_fns *fns,
				void *arg)
{
	static const struct etcd_ask ask = { .path = "/v3/watch",
					     .verb = "watch",
					     .too_large = on_large_line };
	struct etcd *s = (struct etcd *)store;
	struct cluster_call *c = etcd_call_new(s, watch_done, arg);
	uint64_t from;

	if (!c)
		return NULL;
	c->watch = *fns;
	c->kind = which->kind;
	if (etcd_key_selected(s->prefix, which, c->key)) {
		call_bad_name(&c->call, which->node ? which->node : which->prefix);
		return c;
	}
	if (parse_u64(revision, 1, INT64_MAX - 1, &from)) {
		(void)err_set(&c->call.result.err, ERR_AGAIN, 0,
			      "etcd: \"%s\" is not the revision of a list", revision);
		call_end_later(&c->call, CLUSTER_EXPIRED);
		return c;
	}
	etcd_key_end(c->key, c->end);
	c->revision = (int64_t)from;
	etcd_send(c, &ask, etcd_watch_body(c->key, c->end, c->revision + 1));
	return c;
}
