/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h: how DEL, GC and repair undo an attachment of the rdma plugin. */
#ifndef RAILHEAD_PLUGINS_RDMA_RESTORE_H
#define RAILHEAD_PLUGINS_RDMA_RESTORE_H

#include "plugins/rdma/taken.h"

/*
 * rdma_restore - an attach_restore_fn: restore what the record says. A device that moved returns to
 * the host. If the pod's namespace is gone, the kernel returns the device; rdma_restore() waits for
 * that, and gives ERR_AGAIN if it does not come. ctx: the program's own.
 * rdma_restore_locked - the same for a caller that holds rdma_lock().
 */
int rdma_restore_locked(const struct ctx *ctx, const struct record *r, struct err *e);
/* rdma_restore_placed - rdma_restore() for a caller with the ctx of rdma_place(). */
int rdma_restore_placed(const struct ctx *ctx, const struct record *r, struct err *e);
int rdma_restore(const struct ctx *ctx, const struct record *r, struct err *e);

#endif
