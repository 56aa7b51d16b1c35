/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h: addresses and bodies of requests to an API server. Pure.
 *
 * Names were checked before: they need no escapes. All functions return text to be freed, or NULL:
 * no memory.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_REQUEST_H
#define RAILHEAD_CLUSTER_KUBE_REQUEST_H

#include "cluster/kube/object.h"
#include "lib/base/text.h"

struct kube_place {
	const char *server;    /* "https://10.0.0.1:6443", without '/' at its end */
	const char *namespace; /* of the heartbeats */
};

/* kube_object_url - name NULL: of all objects of the kind, where one is created. */
char *kube_object_url(const struct kube_place *p, enum cluster_kind kind, const char *name);

/* kube_status_url - where the status of an object is written. */
char *kube_status_url(const struct kube_place *p, enum cluster_kind kind, const char *name);

/* A list or a watch selects these objects on the API server. NULL: everything. */
struct kube_where {
	enum cluster_kind kind;
	const char *node, *pool; /* pool: of blocks only */
	const char *without;     /* of blocks only: kube_without(); NULL: nothing is left out */
};

/*
 * kube_without - for a selector: not the blocks of the n pools with these uids. The caller frees
 * it; NULL: there are none, or no memory.
 */
char *kube_without(const char *const *uids, size_t n);

/* kube_page_url - a page of a list; more: where it goes on, "" at the beginning. */
char *kube_page_url(const struct kube_place *p, const struct kube_where *where, unsigned limit,
		    const char *more);

/* kube_watch_url - changes after the revision, and bookmarks; for seconds, 0: as the server likes.
 */
char *kube_watch_url(const struct kube_place *p, const struct kube_where *where,
		     const char *revision, unsigned seconds);

/* kube_remove_body - delete what has this uid and version. */
char *kube_remove_body(const struct cluster_version *at);

#endif
