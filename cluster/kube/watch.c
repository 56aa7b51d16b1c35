/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: changes of the selected objects. An API server whose etcd was restored is silent to
 * a watch of a revision that it has not reached. A watch asks first for the newest revision.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cluster/kube/priv.h"
#include "lib/json/long.h"

static void kube_watch_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->watch.ended(c->arg, &call->result);
}

/* ---- events ---- */

static int watch_object(struct cluster_call *c, const struct kube_event *ev)
{
	auto_json struct json *tree = NULL;
	struct cluster_object object;
	struct err *e = &c->call.result.err;

	if (kube_object_read(ev->object, c->kind, &object, &tree, e))
		return kube_stray(c, e) ? 0 : -1;
	/* Without the field it is not known whether the object was of the node before. */
	if (kube_has_prefix(c, &object))
		c->watch.changed(c->arg, &object,
				 ev->type == KUBE_DELETED || !kube_has_node(c, &object));
	return 0;
}

static void kube_watch_event(struct cluster_call *c, const struct kube_event *ev)
{
	if (ev->type != KUBE_BOOKMARK && watch_object(c, ev)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
		return;
	}
	(void)snprintf(c->revision, sizeof(c->revision), "%s", ev->revision);
	if (!c->call.dead)
		c->watch.revision(c->arg, c->revision);
}

void kube_watch_line(void *arg, const char *line, size_t len)
{
	struct cluster_call *c = arg;
	auto_json struct json *tree = NULL;
	struct kube_event ev;
	struct err *e = &c->call.result.err;

	call_enter(&c->call);
	if (json_parse_long(line, len, "event of Kubernetes", &tree, e) ||
	    kube_event_read(tree, &ev, e)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (ev.type == KUBE_ERROR) {
		if (c->call.http)
			http_cancel(TAKE_PTR(c->call.http));
		c->again = true; /* a new token is for the next watch */
		kube_refused(c, 500, ev.object, 0);
	} else {
		kube_watch_event(c, &ev);
	}
	call_leave(&c->call);
}

/* ---- the beginning ---- */

static void kube_watch_begin(struct cluster_call *c);

static void on_now(struct cluster_call *c, const struct json *answer)
{
	static const struct kube_ask ask = { .method = "GET",
					     .verb = "watch",
					     .wider = kube_watch_begin };
	struct kube *s = kube_store(c);
	struct err *e = &c->call.result.err;
	struct kube_page p;
	uint64_t from, now;

	if (kube_page_read(answer, &p, e)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (kube_revision(c->revision, &from) && kube_revision(p.revision, &now) &&
		   now < from) {
		(void)err_set(e, ERR_AGAIN, 0,
			      "Kubernetes: watch %s from revision %s: the store has only %s",
			      kube_resource(c->kind)->plural, c->revision, p.revision);
		(void)err_hint(e, "etcd was restored from a snapshot");
		call_end(&c->call, CLUSTER_EXPIRED, NULL);
	} else {
		c->deadline = 0;
		kube_send(c, &ask,
			  kube_watch_url(&s->place, &c->where, c->revision, s->conf.watch_s), NULL);
	}
}

static void kube_watch_begin(struct cluster_call *c)
{
	static const struct kube_ask ask = {
		.method = "GET", .verb = "list", .next = on_now, .wider = kube_watch_begin
	};

	c->deadline = 0;
	kube_send(c, &ask, kube_page_url(&kube_store(c)->place, &c->where, 1, ""), NULL);
}

struct cluster_call *kube_watch(struct cluster_store *store, const struct cluster_selector *which,
				const char *revision, const struct cluster_watch_fns *fns,
				void *arg)
{
	struct cluster_call *c = kube_call_new(store, kube_watch_done, arg);
	uint64_t from;

	if (!c)
		return NULL;
	c->watch = *fns;
	if (!kube_select(c, which))
		return c;
	if (!kube_revision(revision, &from)) {
		(void)err_set(&c->call.result.err, ERR_AGAIN, 0,
			      "Kubernetes: \"%s\" is not the revision of a list", revision);
		call_end_later(&c->call, CLUSTER_EXPIRED);
		return c;
	}
	(void)snprintf(c->revision, sizeof(c->revision), "%" PRIu64, from);
	kube_watch_begin(c);
	return c;
}
