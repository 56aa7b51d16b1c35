/* SPDX-License-Identifier: Apache-2.0 */
/* return_to_host.h: an RDMA device on its way back from a pod. */
#ifndef RAILHEAD_RDMA_PLUGIN_RETURN_TO_HOST_H
#define RAILHEAD_RDMA_PLUGIN_RETURN_TO_HOST_H

#include "rdma/plugin/taken.h"

/* The longest time for a device to return: the kernel dissolves a namespace on a work queue. */
#define RDMA_RETURN_MS 10000

/*
 * rdma_return_to_host - move the device of t from the namespace of the record into that of this
 * process, or wait for the kernel to return it. It is a success if the device is there already, and
 * if it no longer exists (no PCI function, or no driver). It gets its old name if that is free.
 * ERR_AGAIN: it did not appear within RDMA_RETURN_MS. locked: the caller holds rdma_lock(); else
 * the function holds it while it moves the device, but not while it waits.
 */
int rdma_return_to_host(const struct ctx *ctx, const struct record *r, const struct rdma_taken *t,
			bool locked, struct err *e) must_check;

#endif
