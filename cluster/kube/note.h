/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h: an Event of events.k8s.io/v1 about a pod, a node or a RailPool. Pure.
 *
 * Files of this room call it a note, because events are also the lines of a watch.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_NOTE_H
#define RAILHEAD_CLUSTER_KUBE_NOTE_H

#include "cluster/kube/request.h"
#include "cluster/store/cluster_event.h"

extern const struct kube_resource kube_note_resource;

/*
 * kube_note_json - the resource; the caller frees it. ERR_CONFIG: namespace or pod is not a name of
 * Kubernetes. kube_note_url - where it is created: in the namespace of the pod, or else in
 * "default", as the kubelet does for a node. To be freed; NULL: no memory. Only after
 * kube_note_json().
 */
int kube_note_json(const struct cluster_event *event, struct json **out, struct err *e) must_check;
char *kube_note_url(const struct kube_place *p, const struct cluster_event *event);

#endif
