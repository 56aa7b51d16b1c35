/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.c: copies that are not as their objects any more. railhead writes both in one
 * transaction, so they have one revision. A person who deletes or changes one key breaks that, and
 * the watch of the node, which sees the copies only, shows nothing of it.
 *
 * Such a copy is deleted, and the watch shows the object as gone: the node then looks at it.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/etcd/priv.h"
#include "cluster/etcd/request.h"

/* Keys of one page. etcd allows 128 operations in one transaction. */
#define COPIES 100

/* A page: the keys of copies and objects, with their revisions; 0: there is none. */
struct etcd_copies {
	char copies[COPIES][ETCD_KEY_LEN], objects[COPIES][ETCD_KEY_LEN];
	int64_t of_copies[COPIES], of_objects[COPIES];
	size_t n, at; /* at: which one is looked at */
	bool more;    /* there is another page */
};

static void copies_done(struct call *call)
{
	struct cluster_call *c = (struct cluster_call *)call;

	c->copies_fns.done(c->arg, &c->call.result);
}

static void end_away(struct cluster_call *c)
{
	call_end(&c->call, CLUSTER_AWAY, NULL);
}

/* ---- a wrong copy ---- */

static void drop_next(struct cluster_call *c);

static void tell_wrong(struct cluster_call *c)
{
	const struct etcd_copies *p = c->copies;
	const char *copy = p->copies[p->at], *object = p->objects[p->at];
	struct err e;

	if (p->of_objects[p->at])
		err_set(&e, ERR_STATE, 0, "etcd: keys %s and %s were written one without the other",
			object, copy);
	else
		err_set(&e, ERR_STATE, 0, "etcd: key %s is missing, and its copy %s was there",
			object, copy);
	(void)err_hint(&e, "the copy is deleted, and its node looks at the object again; use "
			   "`railctl cluster` instead of changing keys");
	c->copies_fns.wrong(c->arg, &e);
}

static void on_dropped(struct cluster_call *c, const struct json *answer)
{
	struct etcd_txn t;

	if (etcd_txn_read(answer, &t, &c->call.result.err)) {
		end_away(c);
		return;
	}
	/* else one of both was written meanwhile, with the other */
	if (t.succeeded)
		tell_wrong(c);
	if (c->call.dead)
		return;
	c->copies->at++;
	drop_next(c);
}

static void copies_send_page(struct cluster_call *c);

static void drop_next(struct cluster_call *c)
{
	static const struct etcd_ask ask = {
		.path = "/v3/kv/txn", .verb = "delete", .writes = true, .next = on_dropped
	};
	struct etcd_copies *p = c->copies;

	while (p->at < p->n && p->of_copies[p->at] == p->of_objects[p->at])
		p->at++;
	c->deadline = 0;
	if (p->at < p->n) {
		const struct etcd_drop d = { p->copies[p->at], p->objects[p->at],
					     p->of_copies[p->at], p->of_objects[p->at] };

		etcd_send(c, &ask, etcd_drop_body(&d));
	} else if (p->more) {
		copies_send_page(c);
	} else {
		call_end(&c->call, CLUSTER_OK, NULL);
	}
}

/* ---- a page ---- */

static void on_objects(struct cluster_call *c, const struct json *answer)
{
	struct etcd_copies *p = c->copies;

	if (etcd_look_read(answer, p->of_objects, p->n, &c->call.result.err)) {
		end_away(c);
		return;
	}
	p->at = 0;
	drop_next(c);
}

/* A key that no object can have is left alone. */
static int add_copy(struct cluster_call *c, const struct json *n)
{
	auto_kv struct etcd_kv kv = { 0 };
	struct etcd_copies *p = c->copies;
	const char *name;

	if (etcd_kv_read(n, &kv, &c->call.result.err))
		return -1;
	etcd_next_key(c, kv.key);
	name = etcd_key_name(kv.key);
	if (p->n == COPIES || !name || strlen(kv.key) >= ETCD_KEY_LEN ||
	    etcd_key_object(c->etcd->prefix, c->kind, name, p->objects[p->n]))
		return 0;
	(void)snprintf(p->copies[p->n], ETCD_KEY_LEN, "%s", kv.key);
	p->of_copies[p->n++] = kv.revision;
	return 0;
}

/* Both keys are read at one revision, so a write between the reads makes no difference. */
static void on_copies(struct cluster_call *c, const struct json *answer)
{
	static const struct etcd_ask ask = { .path = "/v3/kv/txn",
					     .verb = "read",
					     .next = on_objects };
	struct etcd_copies *p = c->copies;
	struct etcd_range r;

	if (etcd_range_read(answer, &r, &c->call.result.err)) {
		end_away(c);
		return;
	}
	if (!c->revision)
		c->revision = r.revision;
	p->n = p->at = 0;
	json_each (n, r.kvs) {
		if (add_copy(c, n)) {
			end_away(c);
			return;
		}
	}
	p->more = r.more && json_len(r.kvs);
	if (p->n)
		etcd_send(c, &ask, etcd_look_body(p->objects, p->n, c->revision));
	else
		drop_next(c);
}

static void copies_send_page(struct cluster_call *c)
{
	static const struct etcd_ask ask = { .path = "/v3/kv/range",
					     .verb = "list",
					     .next = on_copies };

	etcd_send(c, &ask, etcd_names_body(c->key, c->end, c->revision, COPIES));
}

struct cluster_call *etcd_drop_copies(struct cluster_store *store,
				      const struct cluster_selector *which,
				      const struct cluster_copies_fns *fns, void *arg)
{
	struct etcd *s = (struct etcd *)store;
	struct cluster_call *c = etcd_call_new(s, copies_done, arg);

	if (!c)
		return NULL;
	c->copies_fns = *fns;
	c->kind = which->kind;
	c->copies = calloc(1, sizeof(*c->copies));
	if (!c->copies) {
		(void)err_nomem(&c->call.result.err);
		call_end_later(&c->call, CLUSTER_AWAY);
	} else if (!which->node || etcd_key_selected(s->prefix, which, c->key)) {
		call_bad_name(&c->call, which->node ? which->node : "");
	} else {
		etcd_key_end(c->key, c->end);
		copies_send_page(c);
	}
	return c;
}
