/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h: the cluster's objects as resources of Kubernetes. Pure.
 *
 * A value is the spec of a custom resource (packaging/kubernetes/crds/), and the status of a pool
 * its status. Three keys of a spec are made from what is beside the value: node, which selects in
 * lists and watches, and of a block pool and start, which its name has. A heartbeat is a Lease of
 * coordination.k8s.io/v1: the node holds it, and an annotation has the value, because the spec of a
 * Lease is fixed.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_OBJECT_H
#define RAILHEAD_CLUSTER_KUBE_OBJECT_H

#include "cluster/store/cluster_store.h"

#define KUBE_GROUP        "railhead.io"
#define KUBE_CLAIMS_GROUP "resource.k8s.io" /* of Kubernetes: claims and slices */
#define KUBE_VERSION      "v1alpha1"
#define KUBE_HEARTBEAT    KUBE_GROUP "/heartbeat" /* annotation and label of a heartbeat */

/* Bytes of a value. etcd takes 1.5 MiB with all that the API server adds. */
#define KUBE_VALUE_MAX ((size_t)128 * 1024)

/* Where objects of a kind are: /apis/GROUP/VERSION/PLURAL. */
struct kube_resource {
	const char *group, *version, *plural, *kind;
	bool namespaced; /* in the agents' namespace */
};
const struct kube_resource *kube_resource(enum cluster_kind kind);

/*
 * kube_object_json - the resource of an object: with name and all for a creation. kube_patch_json -
 * a JSON Patch of RFC 6902 that replaces the value and names uid and version of the object: the API
 * server refuses it (409) for another version. Metadata of other writers stays. If `was` of a block
 * or a heartbeat is known, the patch tests it first (422). Both are freed by the caller.
 * ERR_CONFIG: the value is not an object, has another node, or is too long.
 */
int kube_object_json(const struct cluster_object *o, struct json **out, struct err *e) must_check;
int kube_patch_json(const struct cluster_object *o, struct json **out, struct err *e) must_check;

/*
 * kube_status_json - a JSON Patch of the status of an object. It tests the uid (422), because the
 * API server compares only the version (409) there. The caller frees it. ERR_NOMEM.
 */
int kube_status_json(const struct cluster_object *o, struct json **out, struct err *e) must_check;

/* kube_object_has_was - whether the value before a write is looked at. */
static inline bool kube_object_has_was(const struct cluster_object *o)
{
	return o->was && (o->kind == CLUSTER_BLOCK || o->kind == CLUSTER_HEARTBEAT);
}

/*
 * kube_object_was - false: the value is another state of the object than `was`. The patch of a
 * heartbeat tests the text of the value, which another program may have written in another form.
 */
bool kube_object_was(enum cluster_kind kind, const struct json *value, const struct json *was);

/*
 * kube_object_read - the object of a resource. Its value is part of n or of *tree, which the caller
 * frees and which may be NULL. ERR_DECODE, which names the object: it is not railhead's.
 */
int kube_object_read(const struct json *n, enum cluster_kind kind, struct cluster_object *out,
		     struct json **tree, struct err *e) must_check;

#endif
