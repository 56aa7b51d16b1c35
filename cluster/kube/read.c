/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c: get and list. A page without resourceVersion is read from a quorum, and its
 * continuation is of the same revision.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/kube/priv.h"
#include "cluster/store/cluster_name.h"

/* ---- get ---- */

static void on_read_got(struct cluster_call *c, const struct json *answer)
{
	auto_json struct json *tree = NULL;
	struct cluster_object object;

	if (kube_object_read(answer, c->kind, &object, &tree, &c->call.result.err))
		call_end(&c->call, CLUSTER_AWAY, NULL);
	else
		call_end(&c->call, CLUSTER_OK, &object);
}

struct cluster_call *kube_get(struct cluster_store *store, enum cluster_kind kind, const char *name,
			      cluster_done_fn done, void *arg)
{
	static const struct kube_ask ask = { .method = "GET", .verb = "get", .next = on_read_got };
	struct cluster_call *c = kube_call_new(store, kube_call_done, arg);

	if (!c)
		return NULL;
	c->done = done;
	c->kind = kind;
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	if (cluster_name_valid(name))
		kube_send(c, &ask, kube_object_url(&kube_store(c)->place, kind, name), NULL);
	else
		call_bad_name(&c->call, name);
	return c;
}

/* ---- list ---- */

static void kube_read_list_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->list.done(c->arg, &call->result, call->result.outcome == CLUSTER_OK ? c->revision : "");
}

/* Hand out one object, if it is selected. -1: no memory. */
static int kube_read_list_item(struct cluster_call *c, const struct json *n)
{
	auto_json struct json *tree = NULL;
	struct cluster_object object;
	struct err *e = &c->call.result.err;

	if (kube_object_read(n, c->kind, &object, &tree, e))
		return kube_stray(c, e) ? 0 : -1;
	if (kube_has_prefix(c, &object) && kube_has_node(c, &object))
		c->list.item(c->arg, &object);
	return 0;
}

static void kube_read_send_page(struct cluster_call *c);

/* Keep what the next page needs. -1: the call has ended. */
static int keep_page(struct cluster_call *c, const struct kube_page *p)
{
	if (*c->revision && strcmp(c->revision, p->revision) != 0) {
		(void)err_set(&c->call.result.err, ERR_AGAIN, 0,
			      "Kubernetes: list of revision %s went on with %s", c->revision,
			      p->revision);
		call_end(&c->call, CLUSTER_EXPIRED, NULL);
		return -1;
	}
	(void)snprintf(c->revision, sizeof(c->revision), "%s", p->revision);
	free(c->more);
	c->more = strdup(p->more);
	if (c->more)
		return 0;
	(void)err_nomem(&c->call.result.err);
	call_end(&c->call, CLUSTER_AWAY, NULL);
	return -1;
}

static void on_read_page(struct cluster_call *c, const struct json *answer)
{
	struct kube_page p;

	if (kube_page_read(answer, &p, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
		return;
	}
	if (keep_page(c, &p))
		return;
	json_each (n, p.items) {
		if (kube_read_list_item(c, n)) {
			call_end(&c->call, CLUSTER_AWAY, NULL);
			return;
		}
		if (c->call.dead)
			return;
	}
	if (!*c->more || (c->list.page && !c->list.page(c->arg, c->more))) {
		call_end(&c->call, CLUSTER_OK, NULL);
		return;
	}
	c->deadline = 0;
	kube_read_send_page(c);
}

static void on_read_large_page(struct cluster_call *c)
{
	if (c->limit > 1) {
		c->limit /= 2;
		kube_read_send_page(c);
	} else {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	}
}

/* The fields of the types have changed in the middle of a list: it cannot go on. */
static void on_wider(struct cluster_call *c)
{
	if (c->more)
		call_end(&c->call, CLUSTER_EXPIRED, NULL);
	else
		kube_read_send_page(c);
}

static void kube_read_send_page(struct cluster_call *c)
{
	static const struct kube_ask ask = { .method = "GET",
					     .verb = "list",
					     .next = on_read_page,
					     .too_large = on_read_large_page,
					     .wider = on_wider };

	kube_send(c, &ask,
		  kube_page_url(&kube_store(c)->place, &c->where, c->limit, c->more ? c->more : ""),
		  NULL);
}

struct cluster_call *kube_list(struct cluster_store *store, const struct cluster_selector *which,
			       const struct cluster_list_fns *fns, void *arg)
{
	struct cluster_call *c = kube_call_new(store, kube_read_list_done, arg);

	if (!c)
		return NULL;
	c->list = *fns;
	c->limit = kube_store(c)->conf.page;
	if (which->from && *which->from && !(c->more = strdup(which->from))) {
		call_drop(&c->call);
		return NULL;
	}
	if (kube_select(c, which))
		kube_read_send_page(c);
	return c;
}
