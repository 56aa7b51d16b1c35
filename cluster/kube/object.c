/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.c: pool and start in a spec are for people and for the rules of the CRDs. Only the
 * node is read back.
 */
#include "cluster/kube/object.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/ip.h"
#include "lib/base/parse.h"

#define START_DIGITS   32                                                /* of a block's name */
#define HEARTBEAT_PATH "/metadata/annotations/" KUBE_GROUP "~1heartbeat" /* RFC 6901: ~1 is '/' */

static const struct kube_resource resources[CLUSTER_KINDS] = {
	[CLUSTER_POOL] = { KUBE_GROUP, KUBE_VERSION, "railpools", "RailPool", false },
	[CLUSTER_BLOCK] = { KUBE_GROUP, KUBE_VERSION, "railblocks", "RailBlock", false },
	[CLUSTER_NODE] = { KUBE_GROUP, KUBE_VERSION, "railnodes", "RailNode", false },
	[CLUSTER_HEARTBEAT] = { "coordination.k8s.io", "v1", "leases", "Lease", true },
	[CLUSTER_RESERVED] = { KUBE_GROUP, KUBE_VERSION, "railreserved", "RailReserved", false },
	[CLUSTER_KUBE_NODE] = { "", "v1", "nodes", "Node", false },
	[CLUSTER_KUBE_POD] = { "", "v1", "pods", "Pod", true },
};

const struct kube_resource *kube_resource(enum cluster_kind kind)
{
	return &resources[kind];
}

/* ---- writing ---- */

/*
 * The pool of a block and its first address, of POOL-HEX; -1: the name has another form. No pool is
 * in ::/96, so a number of 32 bits is an IPv4 address.
 */
static int object_block_of(const char *name, char pool[CLUSTER_NAME_LEN], char start[IP_STR_LEN])
{
	size_t len = strlen(name), digits;
	struct ip ip = { .family = IP_V6 };
	const char *hex;

	if (len < START_DIGITS + 2 || name[len - START_DIGITS - 1] != '-')
		return -1;
	hex = name + len - START_DIGITS;
	for (digits = 0; hex_digit_lower(hex[digits]) >= 0; digits++)
		ip.v = ip.v << 4 | (unsigned)hex_digit_lower(hex[digits]);
	if (digits != START_DIGITS)
		return -1;
	if (ip.v >> 32 == 0)
		ip.family = IP_V4;
	(void)snprintf(pool, CLUSTER_NAME_LEN, "%.*s", (int)(len - START_DIGITS - 1), name);
	ip_format(ip, start);
	return 0;
}

static int put_str(struct json *obj, const char *key, const char *text)
{
	json_del(obj, key);
	return json_add_str(obj, key, text);
}

/* The value as a spec. */
static int add_spec(struct json *to, const char *key, const struct cluster_object *o)
{
	char pool[CLUSTER_NAME_LEN], start[IP_STR_LEN];
	struct json *spec;

	if (json_add_copy(to, key, o->value))
		return -1;
	spec = json_get_mut(to, key);
	if (!spec || (*o->node && put_str(spec, "node", o->node)))
		return -1;
	if (o->kind != CLUSTER_BLOCK || object_block_of(o->name, pool, start))
		return 0;
	return put_str(spec, "pool", pool) || put_str(spec, "start", start) ? -1 : 0;
}

static int add_lease_spec(struct json *to, const char *key, const struct cluster_object *o)
{
	struct json *spec = json_add_object(to, key);

	return spec ? json_add_str(spec, "holderIdentity", o->name) : -1;
}

static int add_annotations(struct json *to, const char *key, const struct cluster_object *o)
{
	struct json *annotations = json_add_object(to, key);
	auto_free char *text = json_print(o->value, false);

	return annotations && text ? json_add_str(annotations, KUBE_HEARTBEAT, text) : -1;
}

static int add_labels(struct json *to)
{
	struct json *labels = json_add_object(to, "labels");

	return labels ? json_add_str(labels, KUBE_HEARTBEAT, "") : -1;
}

static int object_check_value(const struct cluster_object *o, struct err *e)
{
	const struct json *node = json_get(o->value, "node");
	const char *name = json_str(node);

	if (json_type(o->value) != JSON_OBJECT)
		return err_set(e, ERR_CONFIG, 0, "object \"%s\" has no value", o->name);
	if (o->kind == CLUSTER_HEARTBEAT && *o->node && strcmp(o->node, o->name) != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "heartbeat \"%s\" of node \"%s\": the names differ", o->name,
			       o->node);
	if (o->kind != CLUSTER_HEARTBEAT && node && (!name || strcmp(name, o->node) != 0))
		return err_set(e, ERR_CONFIG, 0,
			       "object \"%s\" of node \"%s\": its value has another node", o->name,
			       o->node);

	auto_free char *text = json_print(o->value, false);

	if (!text)
		return err_nomem(e);
	if (strlen(text) > KUBE_VALUE_MAX)
		return err_set(e, ERR_CONFIG, 0, "object \"%s\" has %zu bytes, the limit is %zu",
			       o->name, strlen(text), KUBE_VALUE_MAX);
	return 0;
}

int kube_object_json(const struct cluster_object *o, struct json **out, struct err *e)
{
	const struct kube_resource *r = kube_resource(o->kind);
	auto_json struct json *n = NULL;
	struct json *meta;
	char version[64];
	int rc;

	if (object_check_value(o, e))
		return -1;
	(void)snprintf(version, sizeof(version), "%s/%s", r->group, r->version);
	n = json_new_object();
	meta = n ? json_add_object(n, "metadata") : NULL;
	if (!meta || json_add_str(n, "apiVersion", version) || json_add_str(n, "kind", r->kind) ||
	    json_add_str(meta, "name", o->name))
		return err_nomem(e);
	if (o->kind == CLUSTER_HEARTBEAT)
		rc = add_labels(meta) || add_annotations(meta, "annotations", o) ||
		     add_lease_spec(n, "spec", o);
	else
		rc = add_spec(n, "spec", o);
	if (rc)
		return err_nomem(e);
	*out = TAKE_PTR(n);
	return 0;
}

/* One operation. "add" replaces what is there; the caller adds its value. NULL: no memory. */
static struct json *object_add_op(struct json *patch, const char *path)
{
	struct json *op = json_push_object(patch);

	return op && !json_add_str(op, "op", "add") && !json_add_str(op, "path", path) ? op : NULL;
}

static int object_add_text(struct json *patch, const char *path, const char *text)
{
	struct json *op = object_add_op(patch, path);

	return op ? json_add_str(op, "value", text) : -1;
}

/* These keys tell two states of an object apart that have one version; each may be absent. */
static const char *const of_block[] = { "node", "holder", "token", "touched", NULL };
static const char *const of_heartbeat[] = { "holder", "boot", "machine", "count", "twin", NULL };

static int add_test(struct json *patch, const char *path, const struct json *value)
{
	struct json *op = json_push_object(patch);

	if (!op || json_add_str(op, "op", "test") || json_add_str(op, "path", path))
		return -1;
	return value ? json_add_copy(op, "value", value) : json_add_null(op, "value");
}

/* An annotation can only be tested as a whole. */
static int test_heartbeat(struct json *patch, const struct json *was)
{
	auto_free char *text = json_print(was, false);
	struct json *op = json_push_object(patch);

	return !text || !op || json_add_str(op, "op", "test") ||
			       json_add_str(op, "path", HEARTBEAT_PATH) ||
			       json_add_str(op, "value", text)
		       ? -1
		       : 0;
}

static int add_tests(struct json *patch, const struct cluster_object *o)
{
	const struct json *ask = json_get(o->was, "ask");
	char path[64];

	if (!kube_object_has_was(o))
		return 0;
	if (o->kind == CLUSTER_HEARTBEAT)
		return test_heartbeat(patch, o->was);
	for (const char *const *key = of_block; *key; key++) {
		(void)snprintf(path, sizeof(path), "/spec/%s", *key);
		if (add_test(patch, path, json_get(o->was, *key)))
			return -1;
	}
	return ask ? add_test(patch, "/spec/ask/token", json_get(ask, "token"))
		   : add_test(patch, "/spec/ask", NULL);
}

static bool object_is_same(const struct json *a, const struct json *b, const char *key)
{
	char one[JSON_SHOW_LEN], other[JSON_SHOW_LEN];
	const struct json *x = json_get(a, key), *y = json_get(b, key);

	return !x == !y && (!x || strcmp(json_show(x, one), json_show(y, other)) == 0);
}

bool kube_object_was(enum cluster_kind kind, const struct json *value, const struct json *was)
{
	const struct json *ask = json_get(value, "ask"), *asked = json_get(was, "ask");
	const char *const *key = kind == CLUSTER_HEARTBEAT ? of_heartbeat : of_block;

	for (; *key; key++)
		if (!object_is_same(value, was, *key))
			return false;
	return !ask == !asked && (!ask || object_is_same(ask, asked, "token"));
}

int kube_patch_json(const struct cluster_object *o, struct json **out, struct err *e)
{
	auto_json struct json *patch = NULL;
	struct json *op;
	int rc;

	if (object_check_value(o, e))
		return -1;
	patch = json_new_array();
	if (!patch || add_tests(patch, o) || object_add_text(patch, "/metadata/uid", o->at.uid) ||
	    object_add_text(patch, "/metadata/resourceVersion", o->at.version))
		return err_nomem(e);
	if (o->kind == CLUSTER_HEARTBEAT) {
		op = object_add_op(patch, "/metadata/annotations");
		rc = op ? add_annotations(op, "value", o) : -1;
	} else {
		op = object_add_op(patch, "/spec");
		rc = op ? add_spec(op, "value", o) : -1;
	}
	if (rc)
		return err_nomem(e);
	*out = TAKE_PTR(patch);
	return 0;
}

int kube_status_json(const struct cluster_object *o, struct json **out, struct err *e)
{
	auto_json struct json *patch = json_new_array(), *uid = json_new_object();
	struct json *op;

	if (!patch || !uid || json_add_str(uid, "is", o->at.uid) ||
	    add_test(patch, "/metadata/uid", json_get(uid, "is")) ||
	    object_add_text(patch, "/metadata/resourceVersion", o->at.version))
		return err_nomem(e);
	op = object_add_op(patch, "/status");
	if (!op || json_add_copy(op, "value", o->status))
		return err_nomem(e);
	*out = TAKE_PTR(patch);
	return 0;
}

/* ---- reading ---- */

struct fields {
	struct cluster_object o;
	const struct json *meta, *spec, *status, *annotations, *labels, *ending;
};

static const struct json_field top[] = {
	{ "metadata", J_OBJECT, J_AT(struct fields, meta), .flags = J_REQUIRED },
	{ "spec", J_OBJECT, J_AT(struct fields, spec), .flags = J_REQUIRED },
	{ "status", J_ANY, J_AT(struct fields, status) },
	{ 0 },
};
static const struct json_field in_meta[] = {
	{ "name", J_CHARS, J_AT(struct fields, o.name), .flags = J_REQUIRED, .min = 1 },
	{ "uid", J_CHARS, J_AT(struct fields, o.at.uid), .flags = J_REQUIRED, .min = 1 },
	{ "resourceVersion", J_CHARS, J_AT(struct fields, o.at.version), .flags = J_REQUIRED,
	  .min = 1 },
	{ "creationTimestamp", J_CHARS, J_AT(struct fields, o.created) },
	{ "generation", J_I64, J_AT(struct fields, o.generation), .max = INT64_C(1) << 53 },
	{ "deletionTimestamp", J_ANY, J_AT(struct fields, ending) },
	{ "annotations", J_OBJECT, J_AT(struct fields, annotations) },
	{ "labels", J_OBJECT, J_AT(struct fields, labels) },
	{ 0 },
};
static const struct json_field only_meta[] = {
	{ "metadata", J_OBJECT, J_AT(struct fields, meta), .flags = J_REQUIRED },
	{ 0 },
};
static const struct json_field in_spec[] = {
	{ "node", J_CHARS, J_AT(struct fields, o.node) },
	{ 0 },
};

/* The value of a heartbeat. */
static int read_annotation(const struct fields *f, struct json **tree, struct err *e)
{
	const char *text = json_str(json_get(f->annotations, KUBE_HEARTBEAT));
	auto_json struct json *t = NULL;

	if (!text)
		return err_set(e, ERR_DECODE, 0, "it has no annotation " KUBE_HEARTBEAT);
	if (json_parse(text, strlen(text), KUBE_HEARTBEAT, &t, e))
		return -1;
	if (json_type(t) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, KUBE_HEARTBEAT " is not an object");
	*tree = TAKE_PTR(t);
	return 0;
}

/* The value of a Pod. */
static int object_read_pod(struct fields *f, struct json **tree, struct err *e)
{
	*tree = json_new_object();
	if (!*tree || (f->labels && json_add_copy(*tree, "labels", f->labels)) ||
	    (f->annotations && json_add_copy(*tree, "annotations", f->annotations)))
		return err_nomem(e);
	return 0;
}

/* The value of a Node: its labels. */
static int read_labels(struct fields *f, struct json **tree, struct err *e)
{
	memcpy(f->o.node, f->o.name, sizeof(f->o.node));
	f->spec = f->labels;
	if (f->labels)
		return 0;
	*tree = json_new_object();
	return *tree ? 0 : err_nomem(e);
}

static bool has_only_meta(enum cluster_kind kind)
{
	return kind == CLUSTER_KUBE_NODE || kind == CLUSTER_KUBE_POD;
}

static int read_value(enum cluster_kind kind, struct fields *f, struct json **tree, struct err *e)
{
	if (kind == CLUSTER_KUBE_POD)
		return object_read_pod(f, tree, e);
	if (kind == CLUSTER_KUBE_NODE)
		return read_labels(f, tree, e);
	if (kind == CLUSTER_HEARTBEAT) {
		memcpy(f->o.node, f->o.name, sizeof(f->o.node));
		return read_annotation(f, tree, e);
	}
	return json_decode(f->spec, "spec", in_spec, f, e);
}

int kube_object_read(const struct json *n, enum cluster_kind kind, struct cluster_object *out,
		     struct json **tree, struct err *e)
{
	const struct kube_resource *r = kube_resource(kind);
	auto_json struct json *t = NULL;
	struct fields f = { .o = { .kind = kind } };

	if (json_decode(n, r->kind, has_only_meta(kind) ? only_meta : top, &f, e) ||
	    json_decode(f.meta, "metadata", in_meta, &f, e))
		return e->code == ERR_NOMEM ? -1 : err_wrap(e, "%s", r->kind);
	if (read_value(kind, &f, &t, e))
		return e->code == ERR_NOMEM ? -1 : err_wrap(e, "%s %s", r->kind, f.o.name);
	f.o.ending = f.ending != NULL;
	f.o.value = t ? t : f.spec;
	if (kind == CLUSTER_POOL && json_type(f.status) == JSON_OBJECT)
		f.o.status = f.status;
	*out = f.o;
	*tree = TAKE_PTR(t);
	return 0;
}
