/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubenode.h: follows the Node object of this node in Kubernetes, because its labels say for which
 * pools the node is.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_KUBENODE_H
#define RAILHEAD_RAILHEADD_POOLS_KUBENODE_H

#include "railheadd/pools/driver.h"

struct kubenode;

/* All borrowed. The store is that of the driver, and has_nodes. */
struct kubenode_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	struct driver *driver;
	const char *node;
};

/*
 * kubenode_new - follow the Node from now on. The labels go to driver_labels(). Without the right,
 * or while no such Node exists, the last labels stay and the log says so. ERR_NOMEM. kubenode_free
 * - before the driver, which closes the store. NULL is fine.
 */
int kubenode_new(const struct kubenode_conf *conf, struct kubenode **out, struct err *e) must_check;
void kubenode_free(struct kubenode *k);

#endif
