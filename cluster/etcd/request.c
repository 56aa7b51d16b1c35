/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c: snake_case names, which all releases take. A watch asks for fragments, because
 * etcd otherwise puts up to 1000 revisions into one line.
 */
#include "cluster/etcd/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/base64.h"

static int add_bytes(struct json *to, const char *key, const char *bytes, size_t len)
{
	auto_free char *text = malloc(BASE64_CHARS(len) + 1);

	return text ? json_add_str(to, key, base64_encode(bytes, len, text)) : -1;
}

static int add_key(struct json *to, const char *key)
{
	return add_bytes(to, "key", key, strlen(key));
}

static int add_int64(struct json *to, const char *key, int64_t v)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, v);
	return json_add_str(to, key, text);
}

static char *printed(const struct json *body, int failed)
{
	return body && !failed ? json_print(body, false) : NULL;
}

char *etcd_get_body(const char *key)
{
	auto_json struct json *body = json_new_object();

	return printed(body, body ? add_key(body, key) : -1);
}

static int add_page(struct json *to, const char *key, const char *end, int64_t revision)
{
	return add_key(to, key) || add_bytes(to, "range_end", end, strlen(end)) ||
	       add_int64(to, "revision", revision);
}

char *etcd_page_body(const char *key, const char *end, int64_t revision, unsigned limit)
{
	auto_json struct json *body = json_new_object();

	return printed(body, !body || add_page(body, key, end, revision) ||
				     add_int64(body, "limit", limit));
}

char *etcd_names_body(const char *key, const char *end, int64_t revision, unsigned limit)
{
	auto_json struct json *body = json_new_object();

	return printed(body, !body || add_page(body, key, end, revision) ||
				     add_int64(body, "limit", limit) ||
				     json_add_bool(body, "keys_only", true));
}

/* ---- transactions ---- */

static int add_compare(struct json *list, const char *key, const char *target, struct json **out)
{
	*out = json_push_object(list);
	return *out ? add_key(*out, key) || json_add_str(*out, "target", target) ||
			       json_add_str(*out, "result", "EQUAL")
		    : -1;
}

static int add_compare_revision(struct json *list, const char *key, int64_t revision)
{
	struct json *c;

	return add_compare(list, key, "MOD", &c) || add_int64(c, "mod_revision", revision);
}

static int add_compares(struct json *list, const struct etcd_write *w)
{
	struct json *c;

	if (!w->was)
		return add_compare(list, w->key, "CREATE", &c) ||
		       add_int64(c, "create_revision", 0);
	return add_compare_revision(list, w->key, w->was->revision) ||
	       add_compare(list, w->key, "VALUE", &c) ||
	       add_bytes(c, "value", w->was->bytes, w->was->len);
}

/* One operation: its name in the list, the key, and the bytes of a put. */
static int add_op(struct json *list, const char *op, const char *key, const char *bytes)
{
	struct json *o = json_push_object(list);
	struct json *request = o ? json_add_object(o, op) : NULL;

	return !request || add_key(request, key) ||
	       (bytes && add_bytes(request, "value", bytes, strlen(bytes)));
}

static int add_count(struct json *list, const char *key, const char *end)
{
	struct json *o = json_push_object(list);
	struct json *range = o ? json_add_object(o, "request_range") : NULL;

	return !range || add_key(range, key) || add_bytes(range, "range_end", end, strlen(end)) ||
	       json_add_bool(range, "count_only", true);
}

static int add_rank(struct json *list, const struct etcd_write *w)
{
	return w->rank_from ? add_count(list, w->rank_from, w->key) ||
				      add_count(list, w->rank_from, w->rank_end)
			    : 0;
}

static int add_writes(struct json *list, const struct etcd_write *w)
{
	const char *op = w->bytes ? "request_put" : "request_delete_range";

	if (add_op(list, op, w->key, w->bytes) ||
	    (w->copy && add_op(list, "request_put", w->copy, w->bytes)))
		return -1;
	if (w->old_copy && (!w->copy || strcmp(w->old_copy, w->copy) != 0) &&
	    add_op(list, "request_delete_range", w->old_copy, NULL))
		return -1;
	if (w->after && add_op(list, "request_range", w->after, NULL))
		return -1;
	return add_rank(list, w);
}

/* The failed comparison is followed by one read. */
static int add_look(struct json *list, const struct etcd_write *w)
{
	struct json *o, *range;

	if (!w->names)
		return add_op(list, "request_range", w->key, NULL);
	o = json_push_object(list);
	range = o ? json_add_object(o, "request_range") : NULL;
	return !range || add_key(range, w->names) ||
	       add_bytes(range, "range_end", w->names_end, strlen(w->names_end)) ||
	       json_add_bool(range, "keys_only", true) || add_int64(range, "limit", ETCD_NAMES_MAX);
}

char *etcd_txn_body(const struct etcd_write *w)
{
	auto_json struct json *body = json_new_object();
	struct json *compare = body ? json_add_array(body, "compare") : NULL;
	struct json *success = body ? json_add_array(body, "success") : NULL;
	struct json *failure = body ? json_add_array(body, "failure") : NULL;

	return printed(body, !compare || !success || !failure || add_compares(compare, w) ||
				     add_writes(success, w) || add_look(failure, w));
}

/* ---- copies ---- */

static int add_name(struct json *list, const char *key, int64_t revision)
{
	struct json *o = json_push_object(list);
	struct json *range = o ? json_add_object(o, "request_range") : NULL;

	return !range || add_key(range, key) || add_int64(range, "revision", revision) ||
	       json_add_bool(range, "keys_only", true);
}

char *etcd_look_body(const char (*keys)[ETCD_KEY_LEN], size_t n, int64_t revision)
{
	auto_json struct json *body = json_new_object();
	struct json *success = body ? json_add_array(body, "success") : NULL;

	for (size_t i = 0; success && i < n; i++) {
		if (add_name(success, keys[i], revision))
			return NULL;
	}
	return printed(body, !success);
}

char *etcd_drop_body(const struct etcd_drop *d)
{
	auto_json struct json *body = json_new_object();
	struct json *compare = body ? json_add_array(body, "compare") : NULL;
	struct json *success = body ? json_add_array(body, "success") : NULL;

	return printed(body, !compare || !success ||
				     add_compare_revision(compare, d->copy, d->copy_revision) ||
				     add_compare_revision(compare, d->object, d->object_revision) ||
				     add_op(success, "request_delete_range", d->copy, NULL));
}

/* ---- the others ---- */

char *etcd_watch_body(const char *key, const char *end, int64_t from)
{
	auto_json struct json *body = json_new_object();
	struct json *c = body ? json_add_object(body, "create_request") : NULL;

	return printed(body, !c || add_key(c, key) || add_bytes(c, "range_end", end, strlen(end)) ||
				     add_int64(c, "start_revision", from) ||
				     json_add_bool(c, "progress_notify", true) ||
				     json_add_bool(c, "prev_kv", true) ||
				     json_add_bool(c, "fragment", true));
}

char *etcd_auth_body(const char *user, const char *password)
{
	auto_json struct json *body = json_new_object();

	return printed(body, !body || json_add_str(body, "name", user) ||
				     json_add_str(body, "password", password));
}
