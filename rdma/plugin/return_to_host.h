/* SPDX-License-Identifier: Apache-2.0 */
/* return_to_host.h: an RDMA device on its way back from a pod. */
#ifndef RAILHEAD_RDMA_PLUGIN_RETURN_TO_HOST_H
#define RAILHEAD_RDMA_PLUGIN_RETURN_TO_HOST_H

#include "rdma/plugin/taken.h"

/* How long a device may be on its way: the kernel takes namespaces apart on a queue of its own. */
#define RDMA_RETURN_MS 10000

/*
 * rdma_return_to_host - the device that t tells of into the namespace of this process, from that of
 * the record, or from wherever the kernel has it. There already, and gone altogether (no such PCI
 * function any more, or no driver), is success. It gets back its name where that is free. ERR_AGAIN
 * when it is not to be seen for RDMA_RETURN_MS. locked: the caller has rdma_lock(); else it is
 * taken for as long as the device is moved, and not while the kernel is waited for.
 */
int rdma_return_to_host(const struct ctx *ctx, const struct record *r, const struct rdma_taken *t,
			bool locked, struct err *e) must_check;

#endif
