/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: create, update and remove. An update reads the key first: the transaction then
 * compares revision and bytes, and knows under which node the old copy is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/etcd/priv.h"
#include "cluster/etcd/request.h"

/* A random UUID, version 4. */
static int make_uid(char out[CLUSTER_UID_LEN], struct err *e)
{
	unsigned char r[16];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		return err_set(e, ERR_IO, 0, "no random numbers for a uid");
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	(void)snprintf(out, CLUSTER_UID_LEN,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", r[0],
		       r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12],
		       r[13], r[14], r[15]);
	return 0;
}

/* ---- what a creation tells beside its outcome ---- */

/* The object that was read after the creation. An object that is not railhead's is left out. */
static void tell_after(struct cluster_call *c, const struct json *kvs,
		       struct cluster_object *object, struct cluster_also *also, struct json **tree)
{
	auto_kv struct etcd_kv kv = { 0 };
	struct err ignored;

	if (json_len(kvs)) {
		if (etcd_kv_read(json_first(kvs), &kv, &ignored) ||
		    etcd_value_read(&kv, c->beside_kind, object, tree, &ignored))
			return;
		also->object = object;
	}
	c->call.result.also = also;
}

static void tell_rank(struct cluster_call *c, const struct etcd_txn *t, bool created,
		      struct cluster_also *also)
{
	/* one that is created is the last one yet; later all have the order of their names */
	also->rank = (uint64_t)(created ? t->all - 1 : t->before);
	also->ranked = t->all > 0;
	c->call.result.also = also;
}

/* An incomplete list of names would mislead, so it is left out. */
static void end_existing(struct cluster_call *c, const struct etcd_txn *t)
{
	auto_free char(*names)[CLUSTER_NAME_LEN] = calloc(ETCD_NAMES_MAX, sizeof(*names));
	struct cluster_also also = { .names = (const char(*)[CLUSTER_NAME_LEN])names };
	bool all = names && c->beside_names && !t->more;

	json_each (n, t->kvs) {
		auto_kv struct etcd_kv kv = { 0 };
		struct err ignored;

		all = all && also.n_names < ETCD_NAMES_MAX && !etcd_kv_read(n, &kv, &ignored) &&
		      etcd_key_name(kv.key);
		if (!all)
			break;
		(void)snprintf(names[also.n_names++], sizeof(*names), "%s", etcd_key_name(kv.key));
	}
	if (all)
		c->call.result.also = &also;
	(void)err_set(&c->call.result.err, ERR_BUSY, 0, "etcd: key %s exists", c->key);
	call_end(&c->call, CLUSTER_EXISTS, NULL);
}

/* Report what was written: our own bytes, with the revision of the transaction. */
static void report_written(struct cluster_call *c, int64_t revision)
{
	const struct etcd_kv kv = { c->key, c->bytes, strlen(c->bytes), revision, 0, 0 };
	auto_json struct json *tree = NULL;
	struct cluster_object object;

	/* it is written: only memory can be lacking */
	if (etcd_value_read(&kv, c->kind, &object, &tree, &c->call.result.err))
		call_end(&c->call, CLUSTER_AWAY, NULL);
	else
		call_end(&c->call, CLUSTER_OK, &object);
}

static void not_found(struct cluster_call *c)
{
	(void)err_set(&c->call.result.err, ERR_NOTFOUND, 0, "etcd: no key %s with uid %s", c->key,
		      c->at.uid);
	call_end(&c->call, CLUSTER_NOT_FOUND, NULL);
}

static void conflict(struct cluster_call *c, const char *version)
{
	(void)err_set(&c->call.result.err, ERR_STATE, 0, "etcd: key %s has version %s, not %s",
		      c->key, version, c->at.version);
	call_end(&c->call, CLUSTER_CONFLICT, NULL);
}

/*
 * The state of the key against uid and version of the caller: true if it is the same; else the call
 * has ended. node: of the object there.
 */
static bool is_expected(struct cluster_call *c, const struct json *kvs, char node[CLUSTER_NAME_LEN])
{
	auto_json struct json *tree = NULL;
	struct cluster_object now = { .kind = c->kind };
	struct err *e = &c->call.result.err;

	etcd_kv_clear(&c->was);
	if (json_len(kvs) && (etcd_kv_read(json_first(kvs), &c->was, e) ||
			      etcd_value_read(&c->was, c->kind, &now, &tree, e))) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (strcmp(now.at.uid, c->at.uid) != 0 || !json_len(kvs)) {
		not_found(c);
	} else if (strcmp(now.at.version, c->at.version) != 0) {
		conflict(c, now.at.version);
	} else {
		(void)snprintf(node, CLUSTER_NAME_LEN, "%s", now.node);
		return true;
	}
	return false;
}

/* ---- the transaction ---- */

static void on_created(struct cluster_call *c, const struct json *answer)
{
	auto_json struct json *tree = NULL;
	struct cluster_object after;
	struct cluster_also also = { 0 };
	struct etcd_txn t;

	if (etcd_txn_read(answer, &t, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (t.succeeded) {
		if (c->beside)
			tell_after(c, t.kvs, &after, &also, &tree);
		if (c->rank)
			tell_rank(c, &t, true, &also);
		report_written(c, t.revision);
	} else {
		end_existing(c, &t);
	}
}

static void on_changed(struct cluster_call *c, const struct json *answer)
{
	char node[CLUSTER_NAME_LEN];
	struct cluster_also also = { 0 };
	struct etcd_txn t;

	if (etcd_txn_read(answer, &t, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (t.succeeded && c->bytes) {
		if (c->rank)
			tell_rank(c, &t, false, &also);
		report_written(c, t.revision);
	} else if (t.succeeded) {
		call_end(&c->call, CLUSTER_OK, NULL);
	} else if (is_expected(c, t.kvs, node)) {
		/* the comparison failed, and the key is as expected: it was changed and restored */
		conflict(c, "of another write");
	}
}

/* The keys of all objects of the kind. */
struct rank_keys {
	char from[ETCD_KEY_LEN], end[ETCD_KEY_LEN];
};

static void write_add_rank(const struct cluster_call *c, struct rank_keys *keys,
			   struct etcd_write *w)
{
	const struct cluster_selector which = { .kind = c->kind };

	if (!c->rank || etcd_key_selected(c->etcd->prefix, &which, keys->from))
		return;
	etcd_key_end(keys->from, keys->end);
	w->rank_from = keys->from;
	w->rank_end = keys->end;
}

static void on_current(struct cluster_call *c, const struct json *answer)
{
	static const struct etcd_ask ask = {
		.path = "/v3/kv/txn", .verb = "write", .writes = true, .next = on_changed
	};
	struct cluster_object old = { .kind = c->kind };
	char old_copy[ETCD_KEY_LEN] = "";
	const struct etcd_write w = { .key = c->key,
				      .copy = *c->copy ? c->copy : NULL,
				      .old_copy = old_copy,
				      .bytes = c->bytes,
				      .was = &c->was };
	struct etcd_write with_old = w;
	struct rank_keys rank;
	struct etcd_range r;

	if (etcd_range_read(answer, &r, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
		return;
	}
	if (!is_expected(c, r.kvs, old.node))
		return;
	(void)snprintf(old.name, sizeof(old.name), "%s", etcd_key_name(c->key));
	if (etcd_key_copy(c->etcd->prefix, &old, old_copy))
		with_old.old_copy = NULL;
	write_add_rank(c, &rank, &with_old);
	etcd_send(c, &ask, etcd_txn_body(&with_old));
}

/* ---- the table ---- */

/* A call with its keys; bytes unless it is a deletion. -1: the call ends, later. */
static int write_prepare(struct cluster_call *c, const struct cluster_object *o, const char *uid,
			 bool bytes)
{
	const char *prefix = c->etcd->prefix;

	c->kind = o->kind;
	c->at = o->at;
	c->rank = o->beside && o->beside->rank;
	if (etcd_key_object(prefix, o->kind, o->name, c->key)) {
		call_bad_name(&c->call, o->name);
		return -1;
	}
	if (!bytes)
		return 0;
	if (*o->node && etcd_key_copy(prefix, o, c->copy)) {
		call_bad_name(&c->call, o->node);
		return -1;
	}
	if (json_type(o->value) != JSON_OBJECT)
		(void)err_set(&c->call.result.err, ERR_CONFIG, 0, "object \"%s\" has no value",
			      o->name);
	else if (!etcd_value_text(o, uid, &c->bytes, &c->call.result.err))
		return 0;
	call_end_later(&c->call, CLUSTER_REFUSED);
	return -1;
}

/* The keys that a creation reads. A name that no object can have is not read. */
struct beside_keys {
	char after[ETCD_KEY_LEN], names[ETCD_KEY_LEN], end[ETCD_KEY_LEN];
};

static void prepare_beside(struct cluster_call *c, const struct cluster_object *o,
			   struct beside_keys *keys, struct etcd_write *w)
{
	const struct cluster_beside *b = o->beside;
	const struct cluster_selector which = { .kind = o->kind, .prefix = b ? b->names : NULL };
	const char *prefix = c->etcd->prefix;

	if (!b || !b->name || etcd_key_object(prefix, b->kind, b->name, keys->after))
		return;
	c->beside = true;
	c->beside_kind = b->kind;
	w->after = keys->after;
	if (!b->names || etcd_key_selected(prefix, &which, keys->names))
		return;
	etcd_key_end(keys->names, keys->end);
	c->beside_names = true;
	w->names = keys->names;
	w->names_end = keys->end;
}

struct cluster_call *etcd_create(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	static const struct etcd_ask ask = {
		.path = "/v3/kv/txn", .verb = "create", .writes = true, .next = on_created
	};
	struct cluster_call *c = etcd_call_new((struct etcd *)store, etcd_call_done, arg);
	char uid[CLUSTER_UID_LEN];

	if (!c)
		return NULL;
	c->done = done;
	if (make_uid(uid, &c->call.result.err)) {
		call_end_later(&c->call, CLUSTER_REFUSED);
		return c;
	}
	if (write_prepare(c, object, uid, true))
		return c;

	struct etcd_write w = { .key = c->key,
				.copy = *c->copy ? c->copy : NULL,
				.bytes = c->bytes };
	struct beside_keys keys;
	struct rank_keys rank;

	prepare_beside(c, object, &keys, &w);
	write_add_rank(c, &rank, &w);
	etcd_send(c, &ask, etcd_txn_body(&w));
	return c;
}

static struct cluster_call *write_change(struct cluster_store *store,
					 const struct cluster_object *object, bool bytes,
					 cluster_done_fn done, void *arg)
{
	static const struct etcd_ask ask = { .path = "/v3/kv/range",
					     .verb = "read",
					     .next = on_current };
	struct cluster_call *c = etcd_call_new((struct etcd *)store, etcd_call_done, arg);

	if (!c)
		return NULL;
	c->done = done;
	if (!write_prepare(c, object, object->at.uid, bytes))
		etcd_send(c, &ask, etcd_get_body(c->key));
	return c;
}

struct cluster_call *etcd_update(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	return write_change(store, object, true, done, arg);
}

struct cluster_call *etcd_remove(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	return write_change(store, object, false, done, arg);
}
