/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c: uid and node are stored beside the value, because etcd has neither. The order of
 * the keys is fixed, so equal objects are equal bytes.
 */
#include "cluster/etcd/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cluster/etcd/key.h"
#include "lib/base/hash.h"

void etcd_kv_clear(struct etcd_kv *kv)
{
	free(kv->key);
	free(kv->bytes);
	*kv = (struct etcd_kv){ 0 };
}

static const struct json_field fields[] = {
	{ "uid", J_CHARS, J_AT(struct cluster_object, at.uid), .flags = J_REQUIRED, .min = 1 },
	{ "node", J_CHARS, J_AT(struct cluster_object, node) },
	{ "value", J_OBJECT, J_AT(struct cluster_object, value), .flags = J_REQUIRED },
	{ 0 },
};

int etcd_value_text(const struct cluster_object *o, const char *uid, char **out, struct err *e)
{
	struct cluster_object named = *o;
	auto_free char *text = NULL;

	(void)snprintf(named.at.uid, sizeof(named.at.uid), "%s", uid);
	text = json_print_fields(fields, &named, false);
	if (!text)
		return err_nomem(e);
	if (strlen(text) > ETCD_VALUE_MAX)
		return err_set(e, ERR_CONFIG, 0, "object \"%s\" has %zu bytes, the limit is %zu",
			       o->name, strlen(text), ETCD_VALUE_MAX);
	*out = TAKE_PTR(text);
	return 0;
}

static int not_ours(const struct etcd_kv *kv, struct err *e)
{
	(void)err_wrap(e, "etcd key %.300s", kv->key);
	return err_hint(e,
			"the key is not an object of railhead: delete it, or use another prefix");
}

int etcd_value_read(const struct etcd_kv *kv, enum cluster_kind kind, struct cluster_object *out,
		    struct json **tree, struct err *e)
{
	const char *name = etcd_key_name(kv->key);
	auto_json struct json *t = NULL;
	struct cluster_object o = { .kind = kind };

	if (!name) {
		(void)err_set(e, ERR_DECODE, 0, "it does not end with the name of an object");
		return not_ours(kv, e);
	}
	if (json_parse(kv->bytes, kv->len, "value", &t, e) ||
	    json_decode(t, "value", fields, &o, e))
		return e->code == ERR_NOMEM ? -1 : not_ours(kv, e);
	(void)snprintf(o.name, sizeof(o.name), "%s", name);
	if (kv->created)
		(void)snprintf(o.created, sizeof(o.created), "%020" PRId64, kv->created);
	o.generation = kv->writes;
	etcd_version(kv->revision, kv->bytes, kv->len, o.at.version);
	*out = o;
	*tree = TAKE_PTR(t);
	return 0;
}

void etcd_version(int64_t revision, const char *bytes, size_t len, char out[CLUSTER_VERSION_LEN])
{
	(void)snprintf(out, CLUSTER_VERSION_LEN, "%" PRId64 "-%016" PRIx64, revision,
		       hash_add(HASH_START, bytes, len));
}
