/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_labels.h: the labels of this node's Node in Kubernetes, in the store of the node. */
#ifndef RAILHEAD_IPAM_LEASE_CLUSTER_LABELS_H
#define RAILHEAD_IPAM_LEASE_CLUSTER_LABELS_H

#include "ipam/lease/session.h"

/*
 * cluster_labels_put - replace them; NULL: this node follows no Node. It writes only what differs.
 * ERR_CONFIG, ERR_DECODE: a label is none, or there are too many; nothing changed.
 * cluster_labels_get - the caller frees *out; NULL: there are none.
 */
int cluster_labels_put(struct ipam *m, const struct json *labels, struct err *e) must_check;
int cluster_labels_get(struct ipam *m, struct json **out, struct err *e) must_check;

#endif
