/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c: unknown keys are ignored, so that a newer etcd may say more. Bytes get a NUL
 * behind them; a key that contains one is refused.
 */
#include "cluster/etcd/answer.h"

#include <string.h>

#include "lib/base/base64.h"
#include "lib/base/parse.h"

#define GRPC_UNKNOWN 2

static int answer_bad(const char *key, const char *want, const struct json *n, struct err *e)
{
	char shown[JSON_SHOW_LEN];

	return err_set(e, ERR_DECODE, 0, "etcd's answer: %s: %s instead of %s", key,
		       json_show(n, shown), want);
}

/* An int64, which is never negative here; absent is 0. */
static int read_int64(const struct json *obj, const char *key, int64_t *out, struct err *e)
{
	const struct json *n = json_get(obj, key);
	const char *text = json_str(n);
	uint64_t v = 0;

	if (text ? parse_u64(text, 0, INT64_MAX, &v) : n != NULL)
		return answer_bad(key, "a number in a string", n, e);
	*out = (int64_t)v;
	return 0;
}

/* Bytes in base64, with a NUL behind them; absent is empty. */
static int read_bytes(const struct json *obj, const char *key, char **out, size_t *len,
		      struct err *e)
{
	const struct json *n = json_get(obj, key);
	const char *text = n ? json_str(n) : "";
	size_t chars = text ? strlen(text) : 0;
	auto_free char *bytes = malloc(BASE64_BYTES(chars) + 1);
	ssize_t got;

	if (!bytes)
		return err_nomem(e);
	got = text ? base64_decode(text, chars, bytes) : -1;
	if (got < 0)
		return answer_bad(key, "base64", n, e);
	bytes[got] = '\0';
	*out = TAKE_PTR(bytes);
	*len = (size_t)got;
	return 0;
}

/* NULL: absent. */
static int answer_read_list(const struct json *obj, const char *key, const struct json **out,
			    struct err *e)
{
	const struct json *n = json_get(obj, key);

	if (n && json_type(n) != JSON_ARRAY)
		return answer_bad(key, "an array", n, e);
	*out = n;
	return 0;
}

static int read_revision(const struct json *answer, int64_t *out, struct err *e)
{
	return read_int64(json_get(answer, "header"), "revision", out, e);
}

int etcd_kv_read(const struct json *kv, struct etcd_kv *out, struct err *e)
{
	auto_free char *key = NULL, *bytes = NULL;
	struct etcd_kv r = { 0 };
	size_t key_len;

	if (read_bytes(kv, "key", &key, &key_len, e) ||
	    read_bytes(kv, "value", &bytes, &r.len, e) ||
	    read_int64(kv, "mod_revision", &r.revision, e) ||
	    read_int64(kv, "create_revision", &r.created, e) ||
	    read_int64(kv, "version", &r.writes, e))
		return -1;
	if (!key_len || strlen(key) != key_len)
		return answer_bad("key", "a key", json_get(kv, "key"), e);
	*out = r;
	out->key = TAKE_PTR(key);
	out->bytes = TAKE_PTR(bytes);
	return 0;
}

int etcd_range_read(const struct json *answer, struct etcd_range *out, struct err *e)
{
	struct etcd_range r = { .more = json_true(json_get(answer, "more")) };

	if (read_revision(answer, &r.revision, e) || answer_read_list(answer, "kvs", &r.kvs, e))
		return -1;
	if (!r.revision)
		return answer_bad("header.revision", "a revision", json_get(answer, "header"), e);
	*out = r;
	return 0;
}

int etcd_txn_read(const struct json *answer, struct etcd_txn *out, struct err *e)
{
	struct etcd_txn r = { .succeeded = json_true(json_get(answer, "succeeded")) };
	const struct json *responses = NULL, *last = NULL;

	if (read_revision(answer, &r.revision, e) ||
	    answer_read_list(answer, "responses", &responses, e))
		return -1;
	json_each (n, responses) {
		last = json_get(n, "response_range");
		r.before = r.all;
		if (read_int64(last, "count", &r.all, e))
			return -1;
	}
	if (answer_read_list(last, "kvs", &r.kvs, e))
		return -1;
	r.more = json_true(json_get(last, "more"));
	if (!r.revision)
		return answer_bad("header.revision", "a revision", json_get(answer, "header"), e);
	*out = r;
	return 0;
}

int etcd_look_read(const struct json *answer, int64_t *revisions, size_t n, struct err *e)
{
	const struct json *responses = NULL, *kvs = NULL;
	size_t i = 0;

	if (answer_read_list(answer, "responses", &responses, e))
		return -1;
	if (json_len(responses) != n)
		return answer_bad("responses", "one for each key", responses, e);
	json_each (r, responses) {
		if (answer_read_list(json_get(r, "response_range"), "kvs", &kvs, e) ||
		    read_int64(json_first(kvs), "mod_revision", &revisions[i++], e))
			return -1;
	}
	return 0;
}

/* A small number; 0: absent or none. */
static int read_code(const struct json *obj, const char *key)
{
	double v = json_num(json_get(obj, key));

	return v >= 1 && v < 1000 ? (int)v : 0;
}

/* The code in "rpc error: code = PermissionDenied desc = ..."; 0: the reason names none. */
static int reason_code(const char *reason)
{
	static const struct json_enum names[] = {
		{ "InvalidArgument", 3 },   { "PermissionDenied", 7 },
		{ "ResourceExhausted", 8 }, { "FailedPrecondition", 9 },
		{ "OutOfRange", 11 },       { "Unavailable", 14 },
		{ "Unauthenticated", 16 },  { NULL, 0 },
	};
	const char *at = strstr(reason, "code = ");

	for (const struct json_enum *n = names; at && n->name; n++)
		if (strncmp(at + 7, n->name, strlen(n->name)) == 0)
			return n->value;
	return 0;
}

/* {"error": {"grpc_code": 14, "message": ...}} in 3.4, {"error": {"code": 14, ...}} in newer. */
static void read_failure(const struct json *error, struct etcd_watch *out)
{
	out->code = read_code(error, "grpc_code");
	if (!out->code)
		out->code = read_code(error, "code");
	if (!out->code)
		out->code = GRPC_UNKNOWN;
	out->reason = json_text(error, "message");
}

int etcd_watch_read(const struct json *line, struct etcd_watch *out, struct err *e)
{
	const struct json *result = json_get(line, "result"), *error = json_get(line, "error");
	struct etcd_watch r = { .created = json_true(json_get(result, "created")),
				.canceled = json_true(json_get(result, "canceled")),
				.fragment = json_true(json_get(result, "fragment")),
				.reason = json_text(result, "cancel_reason") };

	if (!result && !error)
		return answer_bad("result", "a watch response", line, e);
	if (read_revision(result, &r.revision, e) ||
	    answer_read_list(result, "events", &r.events, e) ||
	    read_int64(result, "compact_revision", &r.compacted, e))
		return -1;
	r.code = reason_code(r.reason);
	if (error)
		read_failure(error, &r);
	*out = r;
	return 0;
}

void etcd_event_clear(struct etcd_event *ev)
{
	etcd_kv_clear(&ev->kv);
	etcd_kv_clear(&ev->was);
}

int etcd_event_read(const struct json *event, struct etcd_event *out, struct err *e)
{
	const struct json *was = json_get(event, "prev_kv"), *type = json_get(event, "type");
	struct etcd_event r = { .deleted = strcmp(json_text(event, "type"), "DELETE") == 0 };

	if (type && !r.deleted && strcmp(json_text(event, "type"), "PUT") != 0)
		return answer_bad("type", "PUT or DELETE", type, e);
	if (etcd_kv_read(json_get(event, "kv"), &r.kv, e))
		return -1;
	if (was && etcd_kv_read(was, &r.was, e)) {
		etcd_kv_clear(&r.kv);
		return -1;
	}
	*out = r;
	return 0;
}

const char *etcd_token_read(const struct json *answer)
{
	const char *token = json_str(json_get(answer, "token"));

	return token && *token && !strpbrk(token, "\r\n") ? token : NULL;
}

struct etcd_problem etcd_problem_read(const struct json *answer)
{
	struct etcd_problem p = { read_code(answer, "code"), json_text(answer, "message") };

	if (!p.code)
		p.code = GRPC_UNKNOWN;
	if (!*p.text)
		p.text = json_text(answer, "error");
	return p;
}
