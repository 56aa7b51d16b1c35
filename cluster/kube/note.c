/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.c: the group events.k8s.io, because its events name the node that tells them, which
 * packaging/kubernetes/policy.yaml compares. `kubectl get events` shows those of both groups.
 */
#include "cluster/kube/note.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cluster/store/cluster_name.h"

#define CONTROLLER KUBE_GROUP "/railheadd"
#define TIME_LEN   40

const struct kube_resource kube_note_resource = { "events.k8s.io", "v1", "events", "Event", true };

static bool is_of_pod(const struct cluster_event *event)
{
	return *event->pod && !event->of_pool;
}

static const char *namespace_of(const struct cluster_event *event)
{
	return is_of_pod(event) ? event->namespace : "default";
}

/* RFC 3339 with microseconds: a MicroTime. */
static const char *time_text(int64_t at, char out[TIME_LEN])
{
	time_t s = (time_t)(at / 1000000000);
	char seconds[TIME_LEN - 10];
	struct tm tm;

	if (!gmtime_r(&s, &tm) || !strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &tm))
		(void)snprintf(seconds, sizeof(seconds), "1970-01-01T00:00:00");
	(void)snprintf(out, TIME_LEN, "%s.%06dZ", seconds, (int)(at % 1000000000 / 1000));
	return out;
}

/* The kubelet writes the name of a node as its uid, and `kubectl describe node` looks for that. */
static int add_regarding(struct json *n, const struct cluster_event *event)
{
	struct json *r = json_add_object(n, "regarding");
	const struct kube_resource *pool = kube_resource(CLUSTER_POOL);
	bool node = !*event->pod;
	const char *uid = node ? event->node : event->uid;

	if (!r ||
	    json_add_str(r, "apiVersion", event->of_pool ? KUBE_GROUP "/" KUBE_VERSION : "v1") ||
	    json_add_str(r, "kind",
			 event->of_pool ? pool->kind
			 : node         ? "Node"
					: "Pod") ||
	    json_add_str(r, "name", node ? event->node : event->pod))
		return -1;
	if (is_of_pod(event) && json_add_str(r, "namespace", event->namespace))
		return -1;
	return *uid ? json_add_str(r, "uid", uid) : 0;
}

static int add_head(struct json *n, const struct cluster_event *event)
{
	struct json *meta = json_add_object(n, "metadata");
	char name[64], at[TIME_LEN];

	(void)snprintf(name, sizeof(name), "railhead-%016" PRIx64, event->id);
	return !meta || json_add_str(n, "apiVersion", "events.k8s.io/v1") ||
			       json_add_str(n, "kind", kube_note_resource.kind) ||
			       json_add_str(meta, "name", name) ||
			       json_add_str(meta, "namespace", namespace_of(event)) ||
			       json_add_str(n, "eventTime", time_text(event->at, at))
		       ? -1
		       : 0;
}

int kube_note_json(const struct cluster_event *event, struct json **out, struct err *e)
{
	auto_json struct json *n = NULL;
	char note[CLUSTER_EVENT_NOTE_LEN];

	if (is_of_pod(event) &&
	    (!cluster_name_valid(event->namespace) || !cluster_name_valid(event->pod)))
		return err_set(e, ERR_CONFIG, 0, "event: pod \"%s/%s\" is not a Kubernetes name",
			       event->namespace, event->pod);
	(void)snprintf(note, sizeof(note), "%s", event->note);
	n = json_new_object();
	if (!n || add_head(n, event) || json_add_str(n, "reportingController", CONTROLLER) ||
	    json_add_str(n, "reportingInstance", event->node) ||
	    json_add_str(n, "action", event->action) || json_add_str(n, "reason", event->reason) ||
	    json_add_str(n, "type", event->warning ? "Warning" : "Normal") ||
	    json_add_str(n, "note", note) || add_regarding(n, event))
		return err_nomem(e);
	*out = TAKE_PTR(n);
	return 0;
}

char *kube_note_url(const struct kube_place *p, const struct cluster_event *event)
{
	auto_text struct text t = { 0 };

	text_addf(&t, "%s/apis/%s/%s/namespaces/%s/%s", p->server, kube_note_resource.group,
		  kube_note_resource.version, namespace_of(event), kube_note_resource.plural);
	return text_take(&t);
}
