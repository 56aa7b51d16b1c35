/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.c: Kubernetes cannot select names by their beginning, so an address never has the
 * prefix of a selector, only the pool of it.
 */
#include "cluster/kube/request.h"

#include <string.h>

#include "lib/base/parse.h"

/* For a query: everything that RFC 3986 does not call unreserved becomes %XX. */
static void add_escaped(struct text *t, const char *s)
{
	for (; *s; s++) {
		size_t plain = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789-._~");

		text_add_len(t, s, plain);
		s += plain;
		if (!*s)
			return;
		text_addf(t, "%%%02X", (unsigned char)*s);
	}
}

static void request_add_resource(struct text *t, const struct kube_place *p, enum cluster_kind kind)
{
	const struct kube_resource *r = kube_resource(kind);

	if (*r->group)
		text_addf(t, "%s/apis/%s/%s/", p->server, r->group, r->version);
	else
		text_addf(t, "%s/api/%s/", p->server, r->version);
	if (r->namespaced)
		text_addf(t, "namespaces/%s/", p->namespace);
	text_add(t, r->plural);
}

char *kube_without(const char *const *uids, size_t n)
{
	auto_text struct text t = { 0 };

	for (size_t i = 0; i < n; i++)
		text_addf(&t, "%sspec.poolUID%%21%%3D%s", i ? "%2C" : "", uids[i]);
	return n ? text_take(&t) : NULL;
}

/*
 * "node" of the spec is a selectable field of our types, "pool" and "poolUID" are those of a block.
 * A heartbeat and a Node have the name of their node. Leases of others are beside a heartbeat.
 */
static void request_add_selector(struct text *t, const struct kube_where *where)
{
	bool heartbeat = where->kind == CLUSTER_HEARTBEAT;
	bool named = heartbeat || where->kind == CLUSTER_KUBE_NODE;

	if (where->node || where->pool || where->without)
		text_add(t, "&fieldSelector=");
	if (where->node)
		text_addf(t, "%s%%3D%s", named ? "metadata.name" : "spec.node", where->node);
	if (where->pool)
		text_addf(t, "%sspec.pool%%3D%s", where->node ? "%2C" : "", where->pool);
	if (where->without)
		text_addf(t, "%s%s", where->node || where->pool ? "%2C" : "", where->without);
	if (heartbeat) {
		text_add(t, "&labelSelector=");
		add_escaped(t, KUBE_HEARTBEAT);
	}
}

/* POD.NAMESPACE: a namespace has no dots. */
static char *pod_url(const struct kube_place *p, const char *name)
{
	const char *dot = strrchr(name, '.');
	const struct kube_place of = { p->server, dot ? dot + 1 : "" };
	auto_text struct text t = { 0 };

	request_add_resource(&t, &of, CLUSTER_KUBE_POD);
	text_addf(&t, "/%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
	return text_take(&t);
}

char *kube_object_url(const struct kube_place *p, enum cluster_kind kind, const char *name)
{
	auto_text struct text t = { 0 };

	if (kind == CLUSTER_KUBE_POD && name)
		return pod_url(p, name);
	request_add_resource(&t, p, kind);
	if (name)
		text_addf(&t, "/%s", name);
	return text_take(&t);
}

char *kube_status_url(const struct kube_place *p, enum cluster_kind kind, const char *name)
{
	auto_text struct text t = { 0 };

	request_add_resource(&t, p, kind);
	text_addf(&t, "/%s/status", name);
	return text_take(&t);
}

char *kube_page_url(const struct kube_place *p, const struct kube_where *where, unsigned limit,
		    const char *more)
{
	auto_text struct text t = { 0 };

	request_add_resource(&t, p, where->kind);
	text_addf(&t, "?limit=%u", limit);
	request_add_selector(&t, where);
	if (*more) {
		text_add(&t, "&continue=");
		add_escaped(&t, more);
	}
	return text_take(&t);
}

char *kube_watch_url(const struct kube_place *p, const struct kube_where *where,
		     const char *revision, unsigned seconds)
{
	auto_text struct text t = { 0 };

	request_add_resource(&t, p, where->kind);
	text_addf(&t, "?watch=1&allowWatchBookmarks=true&resourceVersion=%s", revision);
	if (seconds)
		text_addf(&t, "&timeoutSeconds=%u", seconds);
	request_add_selector(&t, where);
	return text_take(&t);
}

char *kube_remove_body(const struct cluster_version *at)
{
	auto_json struct json *body = json_new_object();
	struct json *p = body ? json_add_object(body, "preconditions") : NULL;

	if (!p || json_add_str(body, "apiVersion", "v1") ||
	    json_add_str(body, "kind", "DeleteOptions") || json_add_str(p, "uid", at->uid) ||
	    json_add_str(p, "resourceVersion", at->version))
		return NULL;
	return json_print(body, false);
}
