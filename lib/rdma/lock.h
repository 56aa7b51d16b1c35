/* SPDX-License-Identifier: Apache-2.0 */
/* lock.h: the lock of the node under which RDMA devices get new numbers. */
#ifndef RAILHEAD_LIB_RDMA_LOCK_H
#define RAILHEAD_LIB_RDMA_LOCK_H

#include "lib/base/ctx.h"

/* Milliseconds. A move may take half a second, and twenty pods may start at once. */
#define RDMA_LOCK_MS 60000

/*
 * rdma_lock - only one process of a node moves RDMA devices, or binds their drivers, at a time. Two
 * at once may swap the numbers of the character devices. A caller that also locks a VF locks the VF
 * first. ctx: the program's own. Returns a descriptor, or -1; closing it unlocks. ERR_AGAIN: not
 * free within timeout_ms.
 */
int rdma_lock(const struct ctx *ctx, int timeout_ms, struct err *e) must_check;

#endif
