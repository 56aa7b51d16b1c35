/* SPDX-License-Identifier: Apache-2.0 */
/* return.h: an RDMA device on its way back from a pod. */
#ifndef RAILHEAD_LIB_RDMA_RETURN_H
#define RAILHEAD_LIB_RDMA_RETURN_H

#include "lib/rdma/bus.h"
#include "lib/sys/netns_locate.h"

/* The longest time for a device to return: the kernel dissolves a namespace on a work queue. */
#define RDMA_RETURN_MS 10000

/* A device that moved, as a record describes it. Strings are borrowed. */
struct rdma_away {
	const char *bus; /* its bus address; "" for none */
	uint32_t index;
	const char *name;   /* on the host, before */
	const char *uverbs; /* "uverbs3 231:195", before the move or after it; "" none */
};

/*
 * rdma_return - move the device from the namespace `from` into that of this process, or wait for
 * the kernel to return it. It is a success if the device is there already, and if it no longer
 * exists (no PCI function, or no driver). It gets its old name if that is free. ERR_AGAIN: it did
 * not appear within RDMA_RETURN_MS. locked: the caller holds rdma_lock(); else the function holds
 * it while it moves the device, but not while it waits.
 */
int rdma_return(const struct ctx *ctx, const struct netns_on_record *from,
		const struct rdma_away *d, bool locked, struct err *e) must_check;

#endif
