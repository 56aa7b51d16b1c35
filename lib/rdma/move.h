/* SPDX-License-Identifier: Apache-2.0 */
/* move.h: an RDMA device moves from the host into a pod; return.h has the way back. */
#ifndef RAILHEAD_LIB_RDMA_MOVE_H
#define RAILHEAD_LIB_RDMA_MOVE_H

#include "lib/rdma/numbers.h"
#include "lib/rdma/return.h"

/* A device that moves. Pointers are borrowed. */
struct rdma_move {
	const struct rdma_numbers *numbers;
	const struct netns *host, *pod; /* the calling thread is in host */
	struct nl *host_rdma, *pod_rdma;
	const char *name;              /* for the pod; NULL: it keeps its name */
	struct rdma_link link;         /* as it is on the host */
	struct rdma_chardevs chardevs; /* before the move; rdma_move: after it */
	char pod_name[RDMA_NAME_LEN];  /* set by rdma_move */
};

/*
 * rdma_move - move m->link into the pod, compare its character devices, and give it m->name. The
 * caller holds rdma_lock() since it read m->link and m->chardevs, and has called
 * rdma_numbers_check(). After a failure the device may be in the pod: the caller runs
 * rdma_return(). ERR_STATE: it got other character devices, and m->numbers->renumbered forbids
 * that.
 */
int rdma_move(struct rdma_move *m, struct err *e) must_check;

/* A device in a pod. */
struct rdma_moved {
	struct rdma_link link;
	struct rdma_chardevs chardevs;
};

/*
 * rdma_check_moved - for CHECK: read the device d that moved to the pod. d->uverbs is the one
 * that it has there since ADD; d->name is for errors. ERR_STATE: the pod does not have it, or it
 * has another character device now.
 */
int rdma_check_moved(struct nl *pod_rdma, const struct rdma_away *d, struct rdma_moved *out,
		     struct err *e) must_check;

#endif
