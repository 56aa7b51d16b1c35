/* SPDX-License-Identifier: Apache-2.0 */
/* pod.h: the RDMA of a pod, seen from the host: enter its network namespace, and read it. */
#ifndef RAILHEAD_RDMA_ENV_POD_H
#define RAILHEAD_RDMA_ENV_POD_H

#include "rdma/inventory/inventory.h"

/*
 * pod_enter - enter ns for the rest of the process, which gets a mount namespace in which
 * ctx->sysfs shows the sysfs of ns. ns->fd -1: the caller is there already. ERR_NETNS; errnum EPERM
 * without root.
 */
int pod_enter(const struct ctx *ctx, const struct netns *ns, struct err *e) must_check;

/*
 * pod_read - call pod_enter() from the host, then read the inventory. It says which port
 * of the host is below an interface. rdma_inventory_clear() frees *out.
 */
int pod_read(const struct ctx *ctx, const struct netns *ns, struct rdma_inventory *out,
	     struct err *e) must_check;

#endif
