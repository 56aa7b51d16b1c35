/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_write.c: create, update and remove. An update reads the key first: the transaction then
 * compares revision and bytes, and knows under which node the old copy is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cluster/etcd/etcd_priv.h"
#include "cluster/etcd/etcd_request.h"

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

/* Report what was written: our own bytes, with the revision of the transaction. */
static void report_written(struct cluster_call *c, int64_t revision)
{
	const struct etcd_kv kv = { c->key, c->bytes, strlen(c->bytes), revision, 0 };
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
	struct etcd_txn t;

	if (etcd_txn_read(answer, &t, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (t.succeeded) {
		report_written(c, t.revision);
	} else {
		(void)err_set(&c->call.result.err, ERR_BUSY, 0, "etcd: key %s exists", c->key);
		call_end(&c->call, CLUSTER_EXISTS, NULL);
	}
}

static void on_changed(struct cluster_call *c, const struct json *answer)
{
	char node[CLUSTER_NAME_LEN];
	struct etcd_txn t;

	if (etcd_txn_read(answer, &t, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
	} else if (t.succeeded && c->bytes) {
		report_written(c, t.revision);
	} else if (t.succeeded) {
		call_end(&c->call, CLUSTER_OK, NULL);
	} else if (is_expected(c, t.kvs, node)) {
		/* the comparison failed, and the key is as expected: it was changed and restored */
		conflict(c, "of another write");
	}
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
	etcd_send(c, &ask, etcd_txn_body(&with_old));
}

/* ---- the table ---- */

/* A call with its keys; bytes unless it is a deletion. -1: the call ends, later. */
static int prepare(struct cluster_call *c, const struct cluster_object *o, const char *uid,
		   bool bytes)
{
	const char *prefix = c->etcd->prefix;

	c->kind = o->kind;
	c->at = o->at;
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
	if (prepare(c, object, uid, true))
		return c;

	const struct etcd_write w = { .key = c->key,
				      .copy = *c->copy ? c->copy : NULL,
				      .bytes = c->bytes };

	etcd_send(c, &ask, etcd_txn_body(&w));
	return c;
}

static struct cluster_call *change(struct cluster_store *store, const struct cluster_object *object,
				   bool bytes, cluster_done_fn done, void *arg)
{
	static const struct etcd_ask ask = { .path = "/v3/kv/range",
					     .verb = "read",
					     .next = on_current };
	struct cluster_call *c = etcd_call_new((struct etcd *)store, etcd_call_done, arg);

	if (!c)
		return NULL;
	c->done = done;
	if (!prepare(c, object, object->at.uid, bytes))
		etcd_send(c, &ask, etcd_get_body(c->key));
	return c;
}

struct cluster_call *etcd_update(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	return change(store, object, true, done, arg);
}

struct cluster_call *etcd_remove(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	return change(store, object, false, done, arg);
}
