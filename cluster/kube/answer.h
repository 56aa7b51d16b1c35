/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: what an API server answers: lists, events of a watch, and a Status for each
 * refusal. Pure. Trees are borrowed by what is read from them. All errors are ERR_DECODE.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_ANSWER_H
#define RAILHEAD_CLUSTER_KUBE_ANSWER_H

#include "cluster/store/cluster_store.h"

/* A revision of Kubernetes 1.35 and newer is a decimal number that grows; older ones do the same.
 */
bool kube_revision(const char *text, uint64_t *out);

/* A page of a list. */
struct kube_page {
	const char *revision; /* of all pages */
	const char *more;     /* where the next page begins; "": this was the last one */
	const struct json *items;
};
int kube_page_read(const struct json *answer, struct kube_page *out, struct err *e) must_check;

enum kube_event_type { KUBE_CHANGED, KUBE_DELETED, KUBE_BOOKMARK, KUBE_ERROR };

/* One line of a watch. revision: of the object or the bookmark, NULL of an error. */
struct kube_event {
	enum kube_event_type type;
	const struct json *object; /* of an error: a Status */
	const char *revision;
};
int kube_event_read(const struct json *line, struct kube_event *out, struct err *e) must_check;

/* A Status. Texts are "" if they are absent. */
struct kube_status {
	int code; /* as of HTTP */
	const char *reason, *message;
	const char *group, *plural, *name; /* which object it is about */
	bool future;                       /* the revision is newer than all that there is */
	unsigned retry_ms;                 /* 0: it does not say */
};
/* kube_status_read - false: it is not a Status of Kubernetes, but of something in front of it. */
bool kube_status_read(const struct json *answer, struct kube_status *out);

#endif
