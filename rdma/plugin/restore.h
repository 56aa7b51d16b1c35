/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h: DEL, GC and repair put back what the rdma plugin took. */
#ifndef RAILHEAD_RDMA_PLUGIN_RESTORE_H
#define RAILHEAD_RDMA_PLUGIN_RESTORE_H

#include "rdma/plugin/taken.h"

/*
 * rdma_restore - attach_restore_fn: put back what the record says was taken. A device that moved
 * returns to the host; where its pod's namespace has gone the kernel brings it, and that is waited
 * for (ERR_AGAIN when it does not come). ctx is the program's own. rdma_restore_locked - for who
 * has rdma_lock() already.
 */
int rdma_restore_locked(const struct ctx *ctx, const struct record *r, struct err *e);
/* rdma_restore_placed - the same for who walks the records of rdma_place(): ctx is that one's. */
int rdma_restore_placed(const struct ctx *ctx, const struct record *r, struct err *e);
int rdma_restore(const struct ctx *ctx, const struct record *r, struct err *e);

#endif
