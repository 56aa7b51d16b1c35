/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.c: codes and reasons of k8s.io/apimachinery, api/errors. A code without a Status comes
 * from a proxy, or is the 404 of an unknown path.
 */
#include "cluster/kube/fault.h"

#include <string.h>

/* The meaning of a code, if the Status has this reason. reason NULL: any Status. */
struct meaning {
	int code;
	const char *reason;
	struct kube_fault fault;
	enum err_code err;
	const char *hint; /* what to do; NULL: the message says it */
};

static const struct meaning meanings[] = {
	{ 400, NULL, { KUBE_REPORT, CLUSTER_REFUSED, 0 }, ERR_CONFIG, NULL },
	{ 401,
	  NULL,
	  { KUBE_NEW_TOKEN, CLUSTER_REFUSED, 0 },
	  ERR_LOGIN,
	  "the API server does not know the token or certificate: check whether it has expired" },
	{ 403,
	  NULL,
	  { KUBE_REPORT, CLUSTER_REFUSED, 0 },
	  ERR_FORBIDDEN,
	  "packaging/kubernetes/rbac.yaml has the rights of an agent" },
	{ 409, "AlreadyExists", { KUBE_REPORT, CLUSTER_EXISTS, 0 }, ERR_BUSY, NULL },
	{ 409, NULL, { KUBE_LOOK, CLUSTER_CONFLICT, 0 }, ERR_STATE, NULL },
	{ 410, NULL, { KUBE_REPORT, CLUSTER_EXPIRED, 0 }, ERR_AGAIN, NULL },
	{ 413, NULL, { KUBE_REPORT, CLUSTER_REFUSED, 0 }, ERR_CONFIG, NULL },
	{ 415, NULL, { KUBE_REPORT, CLUSTER_REFUSED, 0 }, ERR_CONFIG, NULL },
	{ 422, NULL, { KUBE_LOOK, CLUSTER_REFUSED, 0 }, ERR_CONFIG, NULL },
};

/* Everything else: a server that starts or stops, etcd without a leader, a proxy. */
static const struct meaning away = {
	0, NULL, { KUBE_REPORT, CLUSTER_AWAY, 0 }, ERR_UNAVAILABLE, NULL
};
/* Priority and fairness refuses without a Status. */
static const struct meaning too_many = {
	429, NULL, { KUBE_REPORT, CLUSTER_REFUSED, 1000 }, ERR_AGAIN, NULL
};
static const struct meaning not_found = {
	404, "NotFound", { KUBE_REPORT, CLUSTER_NOT_FOUND, 0 }, ERR_NOTFOUND, NULL
};
static const struct meaning future = { 504,
				       NULL,
				       { KUBE_REPORT, CLUSTER_EXPIRED, 0 },
				       ERR_AGAIN,
				       "etcd is older than this node has seen it: it was restored "
				       "from a snapshot" };

static const char pools_are_written[] =
	"people write pools and reserved addresses: `kubectl apply`, or `railctl cluster` if the "
	"agent may, too";
static const char use_is_reported[] =
	"grant the verb report on the RailNode of this node, see packaging/kubernetes/README.md";
static const char no_fields[] =
	"a field of a custom resource can select since Kubernetes 1.31: use "
	"that, and packaging/kubernetes/crds/ of this release";

/* The agent asks for POD.NAMESPACE, and the Status names POD. */
static bool fault_is_named(const struct kube_status *s, const struct kube_asked *asked)
{
	size_t len = strlen(s->name);

	if (asked->resource == kube_resource(CLUSTER_KUBE_POD))
		return *s->name && !strncmp(s->name, asked->name, len) && asked->name[len] == '.';
	return strcmp(s->name, asked->name) == 0;
}

/* The Status is about the object that was asked for. */
static bool is_about(const struct kube_status *s, const struct kube_asked *asked)
{
	const struct kube_resource *r = asked->resource;

	return *asked->name && fault_is_named(s, asked) && !strcmp(s->plural, r->plural) &&
	       !strcmp(s->group, r->group);
}

static const struct meaning *fault_meaning_of(int code, const struct kube_status *s,
					      const struct kube_asked *asked)
{
	if (code == 429)
		return &too_many;
	if (!s)
		return &away;
	if (code == 404 && !strcmp(s->reason, "NotFound") && is_about(s, asked))
		return &not_found;
	if (code == 504 && s->future)
		return &future;
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].code == code &&
		    (!meanings[i].reason || !strcmp(meanings[i].reason, s->reason)))
			return &meanings[i];
	return &away;
}

/* The advice if the type is missing (404), or is being deleted (405). */
static void type_hint(int code, const struct kube_asked *asked, struct err *e)
{
	const struct kube_resource *r = asked->resource;

	if (strcmp(r->group, KUBE_CLAIMS_GROUP) == 0)
		(void)err_hint(e, "Kubernetes 1.34 and later have %s/%s", r->group, r->version);
	else if (r->namespaced)
		(void)err_hint(e, "the namespace must exist, and the address must be that of an "
				  "API server");
	else
		(void)err_hint(e,
			       "the CustomResourceDefinition %s.%s %s: kubectl apply -f "
			       "packaging/kubernetes/crds/",
			       r->plural, r->group,
			       code == 404 ? "is missing" : "is being deleted");
}

/* People write these objects. Each agent may read them. */
static bool is_for_people(const struct kube_asked *asked)
{
	return asked->resource == kube_resource(CLUSTER_POOL) ||
	       (asked->resource == kube_resource(CLUSTER_RESERVED) &&
		strcmp(asked->name, CLUSTER_RESERVED_NAME) == 0 &&
		(!strcmp(asked->verb, "create") || !strcmp(asked->verb, "patch")));
}

struct kube_fault kube_fault(int http, const struct kube_status *s, const struct kube_asked *asked,
			     struct err *e)
{
	const struct kube_resource *r = asked->resource;
	int code = s && s->code ? s->code : http;
	const struct meaning *m = fault_meaning_of(code, s, asked);
	struct kube_fault f = m->fault;

	(void)err_set(e, m->err, 0, "Kubernetes: cannot %s %s%s%s%s%s: %d %s", asked->verb,
		      r->plural, *r->group ? "." : "", r->group, *asked->name ? " " : "",
		      asked->name, code, s && *s->message ? s->message : "no reason given");
	if (m->hint)
		(void)err_hint(e, "%s", m->hint);
	if (code == 403 && is_for_people(asked))
		(void)err_hint(e, "%s",
			       strcmp(asked->verb, KUBE_REPORTS) == 0 ? use_is_reported
								      : pools_are_written);
	if (code == 400 && s && strstr(s->message, "field label")) {
		(void)err_hint(e, "%s", no_fields);
		f.remedy = KUBE_WIDER;
	}
	/* A proxy takes no long URL, as a list has that leaves out many pools. */
	if (code == 414 || code == 431)
		f.remedy = KUBE_WIDER;
	if (m == &away && (code == 404 || code == 405))
		type_hint(code, asked, e);
	if (m == &away && code == 404)
		e->code = ERR_NOTFOUND;
	if (s && s->retry_ms)
		f.retry_ms = s->retry_ms;
	return f;
}
