/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c: get and list. The pages of a list are all of the revision of the first one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cluster/etcd/priv.h"
#include "cluster/etcd/request.h"

/* ---- get ---- */

static void on_got(struct cluster_call *c, const struct json *answer)
{
	auto_json struct json *tree = NULL;
	auto_kv struct etcd_kv kv = { 0 };
	struct cluster_object object;
	struct err *e = &c->call.result.err;
	enum cluster_outcome outcome = CLUSTER_AWAY;
	struct etcd_range r = { .kvs = NULL };

	if (etcd_range_read(answer, &r, e)) {
		outcome = CLUSTER_AWAY;
	} else if (!json_len(r.kvs)) {
		(void)err_set(e, ERR_NOTFOUND, 0, "etcd: no key %s", c->key);
		outcome = CLUSTER_NOT_FOUND;
	} else if (!etcd_kv_read(json_first(r.kvs), &kv, e) &&
		   !etcd_value_read(&kv, c->kind, &object, &tree, e)) {
		outcome = CLUSTER_OK;
	}
	call_end(&c->call, outcome, outcome == CLUSTER_OK ? &object : NULL);
}

struct cluster_call *etcd_get(struct cluster_store *store, enum cluster_kind kind, const char *name,
			      cluster_done_fn done, void *arg)
{
	static const struct etcd_ask ask = { .path = "/v3/kv/range",
					     .verb = "read",
					     .next = on_got };
	struct etcd *s = (struct etcd *)store;
	struct cluster_call *c = etcd_call_new(s, etcd_call_done, arg);

	if (!c)
		return NULL;
	c->done = done;
	c->kind = kind;
	if (etcd_key_object(s->prefix, kind, name, c->key))
		call_bad_name(&c->call, name);
	else
		etcd_send(c, &ask, etcd_get_body(c->key));
	return c;
}

/* ---- list ---- */

static void read_list_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;
	char revision[CLUSTER_REVISION_LEN] = "";

	if (c->call.result.outcome == CLUSTER_OK)
		(void)snprintf(revision, sizeof(revision), "%" PRId64, c->revision);
	c->list.done(c->arg, &c->call.result, revision);
}

void etcd_next_key(struct cluster_call *c, const char *key)
{
	/* no object has a key between these two, nor one as long as a foreign key may be */
	if (strlen(key) < sizeof(c->key) - 1)
		(void)snprintf(c->key, sizeof(c->key), "%s\x01", key);
	else
		(void)snprintf(c->key, sizeof(c->key), "%.*s\xff", (int)sizeof(c->key) - 2, key);
}

/* Hand out one object, and go behind its key. */
static int read_list_item(struct cluster_call *c, const struct json *n)
{
	auto_json struct json *tree = NULL;
	auto_kv struct etcd_kv kv = { 0 };
	struct cluster_object object;
	struct err *e = &c->call.result.err;

	if (etcd_kv_read(n, &kv, e))
		return -1;
	etcd_next_key(c, kv.key);
	if (etcd_value_read(&kv, c->kind, &object, &tree, e))
		return etcd_stray(c, e) ? 0 : -1;
	c->list.item(c->arg, &object);
	return 0;
}

static void read_send_page(struct cluster_call *c);

static void on_page(struct cluster_call *c, const struct json *answer)
{
	struct err *e = &c->call.result.err;
	struct etcd_range r;

	if (etcd_range_read(answer, &r, e)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
		return;
	}
	if (!c->revision)
		c->revision = r.revision;
	json_each (n, r.kvs) {
		if (read_list_item(c, n)) {
			call_end(&c->call, CLUSTER_AWAY, NULL);
			return;
		}
		if (c->call.dead)
			return;
	}
	if (!r.more || !json_len(r.kvs) || (c->list.page && !c->list.page(c->arg, c->key))) {
		call_end(&c->call, CLUSTER_OK, NULL);
		return;
	}
	c->deadline = 0;
	read_send_page(c);
}

static void on_large_page(struct cluster_call *c)
{
	if (c->limit > 1) {
		c->limit /= 2;
		read_send_page(c);
	} else {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	}
}

static void read_send_page(struct cluster_call *c)
{
	static const struct etcd_ask ask = {
		.path = "/v3/kv/range", .verb = "list", .next = on_page, .too_large = on_large_page
	};

	etcd_send(c, &ask, etcd_page_body(c->key, c->end, c->revision, c->limit));
}

struct cluster_call *etcd_list(struct cluster_store *store, const struct cluster_selector *which,
			       const struct cluster_list_fns *fns, void *arg)
{
	struct etcd *s = (struct etcd *)store;
	struct cluster_call *c = etcd_call_new(s, read_list_done, arg);

	if (!c)
		return NULL;
	c->list = *fns;
	c->kind = which->kind;
	c->limit = s->page;
	if (etcd_key_selected(s->prefix, which, c->key)) {
		call_bad_name(&c->call, which->node ? which->node : which->prefix);
		return c;
	}
	etcd_key_end(c->key, c->end);
	/* A position is a key: it may not leave what is selected. */
	if (which->from && *which->from) {
		if (strncmp(which->from, c->key, strlen(c->key)) != 0 ||
		    strlen(which->from) >= sizeof(c->key)) {
			call_bad_name(&c->call, which->from);
			return c;
		}
		memcpy(c->key, which->from, strlen(which->from) + 1);
	}
	read_send_page(c);
	return c;
}
