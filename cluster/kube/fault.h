/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault.h: the meaning of an error of an API server for the call. Pure.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_FAULT_H
#define RAILHEAD_CLUSTER_KUBE_FAULT_H

#include "cluster/kube/answer.h"
#include "cluster/kube/object.h"

enum kube_remedy {
	KUBE_REPORT,    /* report the outcome */
	KUBE_NEW_TOKEN, /* ask once more if there is a new token by now; not executed */
	KUBE_LOOK,      /* of a write with a precondition: the object says which one failed */
	KUBE_WIDER,     /* a list or a watch: select less on the API server */
};

struct kube_fault {
	enum kube_remedy remedy;
	enum cluster_outcome outcome;
	unsigned retry_ms;
};

/* The verb of a status, beside those of rights: the error says it. */
#define KUBE_REPORTS "report the use of"

/* The request. */
struct kube_asked {
	const char *verb; /* KUBE_REPORTS, "get", "list", "watch", "create", "patch", "delete" */
	const struct kube_resource *resource;
	const char *name; /* "": of a list or a watch */
};

/*
 * kube_fault - judge a status of HTTP with its Status (NULL: the body has none). e says what was
 * asked and what to do about it. Only what the API server refuses before it executes a write has
 * another outcome than CLUSTER_AWAY. "Not found" of anything but the object is CLUSTER_AWAY, too: a
 * missing type says nothing about the object. Its code is ERR_NOTFOUND.
 */
struct kube_fault kube_fault(int http, const struct kube_status *s, const struct kube_asked *asked,
			     struct err *e);

#endif
