/* SPDX-License-Identifier: Apache-2.0 */
/* transport.c: from the bytes of connections and the queue pairs of a pod to its state. */
#include "railheadd/watch/transport.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

/* ---- bytes ---- */

static const struct transport_socket *find_socket(const struct transport_pod *p, uint64_t cookie)
{
	for (size_t i = 0; i < p->n_sockets; i++)
		if (p->socket[i].cookie == cookie)
			return &p->socket[i];
	return NULL;
}

void transport_miss(struct transport_pod *p, unsigned most, const char *of)
{
	p->complete = false;
	(void)snprintf(p->missed, sizeof(p->missed), "more than %u %s", most, of);
}

/*
 * One that is not known from before is new, or had less than TRANSPORT_SOCKET_LEAST: all that it
 * has counts. Those that ended meanwhile do not.
 */
void transport_count(struct transport_pod *p, const struct transport_pod *before,
		     const struct tcp_flow *f, bool rail)
{
	const uint64_t cookie = f->cookie & ((UINT64_C(1) << 53) - 1); /* what JSON can hold */
	struct transport_bytes *to = rail ? &p->rails : &p->other;
	const struct transport_socket *was = before ? find_socket(before, cookie) : NULL;

	if (f->sent + f->received < TRANSPORT_SOCKET_LEAST)
		return;
	if (p->n_sockets == TRANSPORT_SOCKETS_MAX) {
		transport_miss(p, TRANSPORT_SOCKETS_MAX, "connections");
		return;
	}
	p->socket[p->n_sockets++] = (struct transport_socket){ cookie, { f->sent, f->received } };
	to->sent += f->sent - (was && was->bytes.sent <= f->sent ? was->bytes.sent : 0);
	to->received +=
		f->received - (was && was->bytes.received <= f->received ? was->bytes.received : 0);
}

bool transport_over(struct transport_bytes b, int64_t ms, uint32_t limit)
{
	const uint64_t bytes = (uint64_t)ms * limit * 125;

	return b.sent > bytes && b.received > bytes;
}

bool transport_needs_qps(const struct transport_pod *p, const struct transport_pod *before,
			 uint32_t limit)
{
	return !before || before->qps != QPS_SEEN || transport_over(p->rails, p->ms, limit) ||
	       transport_over(p->other, p->ms, limit);
}

void transport_judge(struct transport_pod *p, const struct transport_pod *before, uint32_t limit)
{
	p->counted = p->complete && before && before->complete;
	const bool over = p->counted && p->qps == QPS_NONE &&
			  (transport_over(p->rails, p->ms, limit) ||
			   (p->forced && transport_over(p->other, p->ms, limit)));

	p->over_ms = over ? before->over_ms + p->ms : 0;
	p->state = p->qps == QPS_SEEN           ? TRANSPORT_RDMA
		   : p->over_ms >= TRANSPORT_MS ? TRANSPORT_SUSPECT
						: TRANSPORT_UNKNOWN;
	p->told = before && before->told;
}

/* ---- the table ---- */

void transport_clear(struct transport_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->pod[i]);
	free(t->pod);
	*t = (struct transport_table){ 0 };
}

struct transport_pod *transport_find(const struct transport_table *t,
				     const struct transport_pod *like)
{
	for (size_t i = 0; i < t->n; i++) {
		struct transport_pod *p = t->pod[i];

		if (strcmp(p->container, like->container) == 0 && strcmp(p->uid, like->uid) == 0 &&
		    strcmp(p->ns, like->ns) == 0 && strcmp(p->name, like->name) == 0)
			return p;
	}
	return NULL;
}

struct transport_pod *transport_add(struct transport_table *t, struct err *e)
{
	struct transport_pod *p;

	if (ARRAY_GROW(t->pod, t->n, TRANSPORT_PODS_MAX, "pods with rails", e))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		t->pod[t->n++] = p;
	else
		(void)err_nomem(e);
	return p;
}

/* ---- as JSON ---- */

static const struct json_enum qps_names[] = {
	{ "unknown", QPS_UNKNOWN }, { "none", QPS_NONE }, { "seen", QPS_SEEN }, { 0 }
};
static const struct json_enum state_names[] = { { "unknown", TRANSPORT_UNKNOWN },
						{ "rdma", TRANSPORT_RDMA },
						{ "suspect", TRANSPORT_SUSPECT },
						{ 0 } };

static const struct json_field bytes_fields[] = {
	{ "sent", J_UINT, J_AT(struct transport_bytes, sent) },
	{ "received", J_UINT, J_AT(struct transport_bytes, received) },
	{ 0 },
};

static const struct json_field socket_fields[] = {
	{ "c", J_UINT, J_AT(struct transport_socket, cookie) },
	{ "s", J_UINT, J_AT(struct transport_socket, bytes.sent) },
	{ "r", J_UINT, J_AT(struct transport_socket, bytes.received) },
	{ 0 },
};

static const struct json_field pod_fields[] = {
	{ "namespace", J_CHARS, J_AT(struct transport_pod, ns) },
	{ "pod", J_CHARS, J_AT(struct transport_pod, name) },
	{ "uid", J_CHARS, J_AT(struct transport_pod, uid) },
	{ "container", J_CHARS, J_AT(struct transport_pod, container) },
	{ "state", J_ENUM, J_AT(struct transport_pod, state), .names = state_names },
	{ "queuePairs", J_ENUM, J_AT(struct transport_pod, qps), .names = qps_names },
	{ "at", J_I64, J_AT(struct transport_pod, at) },
	{ "milliseconds", J_I64, J_AT(struct transport_pod, ms) },
	{ "rails", J_NESTED, J_AT(struct transport_pod, rails), .of = bytes_fields, .flags = J_IF,
	  .has = offsetof(struct transport_pod, counted) },
	{ "other", J_NESTED, J_AT(struct transport_pod, other), .of = bytes_fields, .flags = J_IF,
	  .has = offsetof(struct transport_pod, counted) },
	{ "checked", J_BOOL, J_AT(struct transport_pod, checked) },
	{ "forced", J_BOOL, J_AT(struct transport_pod, forced) },
	{ "cause", J_CHARS, J_AT(struct transport_pod, cause) },
	{ "overMilliseconds", J_I64, J_AT(struct transport_pod, over_ms) },
	{ "told", J_BOOL, J_AT(struct transport_pod, told) },
	{ "missed", J_CHARS, J_AT(struct transport_pod, missed), .flags = J_OMIT },
	{ 0 },
};
static const struct json_field left_out_field[] = {
	{ "leftOut", J_UINT, J_AT(struct transport_table, left_out), .flags = J_OMIT },
	{ 0 },
};
static const struct json_field sockets_field[] = {
	{ "complete", J_BOOL, J_AT(struct transport_pod, complete) },
	{ "sockets", J_LIST, J_AT(struct transport_pod, socket),
	  .item = sizeof(struct transport_socket), .of = socket_fields,
	  .has = offsetof(struct transport_pod, n_sockets) },
	{ 0 },
};

int transport_add_to(struct json *obj, const struct transport_table *t, bool sockets)
{
	struct json *list = json_add_array(obj, "pods");

	for (size_t i = 0; list && i < t->n; i++) {
		struct json *o = json_push_object(list);

		if (!o || json_encode(o, pod_fields, t->pod[i]) ||
		    (sockets && json_encode(o, sockets_field, t->pod[i])))
			return -1;
	}
	return !list || json_encode(obj, left_out_field, t);
}

int transport_read(const struct json *obj, struct transport_table *out, struct err *e)
{
	json_each (o, json_get(obj, "pods")) {
		struct transport_pod *p = transport_add(out, e);

		if (!p || json_decode(o, "pod", pod_fields, p, e) ||
		    json_decode(o, "pod", sockets_field, p, e))
			return -1;
	}
	return json_decode(obj, "look", left_out_field, out, e);
}

/* ---- jobs ---- */

/* Kubernetes writes five characters of these (k8s.io/apimachinery/pkg/util/rand). */
static bool is_random(const char *part)
{
	return strlen(part) == 5 && strspn(part, "bcdfghjklmnpqrstvwxz2456789") == 5;
}

static bool is_number(const char *part)
{
	return *part && strspn(part, "0123456789") == strlen(part);
}

void transport_job(const char *pod, char out[254])
{
	char *dash;

	(void)snprintf(out, 254, "%s", pod);
	dash = strrchr(out, '-');
	if (dash && dash > out && is_random(dash + 1))
		*dash = '\0';
	while ((dash = strrchr(out, '-')) && dash > out && is_number(dash + 1))
		*dash = '\0';
}
