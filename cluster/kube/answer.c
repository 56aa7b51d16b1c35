/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c: the forms are those of k8s.io/apimachinery, apis/meta/v1/types.go. Absent and
 * empty are the same there.
 */
#include "cluster/kube/answer.h"

#include <string.h>

#include "lib/base/parse.h"

#define REVISION_MAX (CLUSTER_REVISION_LEN - 1)

bool kube_revision(const char *text, uint64_t *out)
{
	return !parse_u64(text, 1, UINT64_MAX, out);
}

/* ---- lists ---- */

struct page {
	const struct json *meta, *items;
	const char *revision, *more;
};

static const struct json_field in_list[] = {
	{ "metadata", J_OBJECT, J_AT(struct page, meta), .flags = J_REQUIRED },
	{ "items", J_ARRAY, J_AT(struct page, items) },
	{ 0 },
};
static const struct json_field in_list_meta[] = {
	{ "resourceVersion", J_STRING, J_AT(struct page, revision), .flags = J_REQUIRED, .min = 1,
	  .max = REVISION_MAX },
	{ "continue", J_STRING, J_AT(struct page, more) },
	{ 0 },
};

int kube_page_read(const struct json *answer, struct kube_page *out, struct err *e)
{
	struct page p = { .more = "" };
	uint64_t number;

	if (json_decode(answer, "list", in_list, &p, e) ||
	    json_decode(p.meta, "list.metadata", in_list_meta, &p, e))
		return -1;
	if (!kube_revision(p.revision, &number))
		return err_set(e, ERR_DECODE, 0,
			       "list.metadata.resourceVersion: \"%s\" is not a number", p.revision);
	*out = (struct kube_page){ p.revision, p.more, p.items };
	return 0;
}

/* ---- watches ---- */

struct event {
	int type;
	const struct json *object, *meta;
	const char *revision;
};

static const struct json_enum types[] = {
	{ "ADDED", KUBE_CHANGED },     { "MODIFIED", KUBE_CHANGED }, { "DELETED", KUBE_DELETED },
	{ "BOOKMARK", KUBE_BOOKMARK }, { "ERROR", KUBE_ERROR },      { NULL, 0 },
};
static const struct json_field in_event[] = {
	{ "type", J_ENUM, J_AT(struct event, type), .flags = J_REQUIRED, .names = types },
	{ "object", J_OBJECT, J_AT(struct event, object), .flags = J_REQUIRED },
	{ 0 },
};
static const struct json_field in_event_object[] = {
	{ "metadata", J_OBJECT, J_AT(struct event, meta), .flags = J_REQUIRED },
	{ 0 },
};
static const struct json_field in_event_meta[] = {
	{ "resourceVersion", J_STRING, J_AT(struct event, revision), .flags = J_REQUIRED, .min = 1,
	  .max = REVISION_MAX },
	{ 0 },
};

int kube_event_read(const struct json *line, struct kube_event *out, struct err *e)
{
	struct event v = { 0 };
	uint64_t number;

	if (json_decode(line, "event", in_event, &v, e))
		return -1;
	if (v.type != KUBE_ERROR) {
		if (json_decode(v.object, "event.object", in_event_object, &v, e) ||
		    json_decode(v.meta, "event.object.metadata", in_event_meta, &v, e))
			return -1;
		if (!kube_revision(v.revision, &number))
			return err_set(e, ERR_DECODE, 0,
				       "event: resourceVersion \"%s\" is not a number", v.revision);
	}
	*out = (struct kube_event){ (enum kube_event_type)v.type, v.object, v.revision };
	return 0;
}

/* ---- refusals ---- */

bool kube_status_read(const struct json *answer, struct kube_status *out)
{
	const struct json *details = json_get(answer, "details");
	double code = json_num(json_get(answer, "code"));
	double seconds = json_num(json_get(details, "retryAfterSeconds"));

	if (strcmp(json_text(answer, "kind"), "Status") != 0)
		return false;
	*out = (struct kube_status){ .code = code > 0 && code < 1000 ? (int)code : 0,
				     .reason = json_text(answer, "reason"),
				     .message = json_text(answer, "message"),
				     .group = json_text(details, "group"),
				     .plural = json_text(details, "kind"),
				     .name = json_text(details, "name") };
	if (seconds > 0)
		out->retry_ms = seconds < 3600 ? (unsigned)(seconds * 1000) : 3600000;
	json_each (n, json_get(details, "causes"))
		if (!strcmp(json_text(n, "reason"), "ResourceVersionTooLarge"))
			out->future = true;
	return true;
}
