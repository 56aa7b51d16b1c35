/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h: what the rdma plugin does for each command of the protocol (cni_command_fn). */
#ifndef RAILHEAD_RDMA_PLUGIN_ATTACH_H
#define RAILHEAD_RDMA_PLUGIN_ATTACH_H

#include "cni/protocol/plugin.h"

/*
 * rdma_add - take, on record, and print the result; all is put back when a step fails.
 * rdma_del, rdma_gc - replay the inverses of records; without one there is nothing to do.
 * rdma_check, rdma_status - look, and change nothing.
 */
int rdma_add(const struct cni_call *call, struct err *e);
int rdma_del(const struct cni_call *call, struct err *e);
int rdma_check(const struct cni_call *call, struct err *e);
int rdma_gc(const struct cni_call *call, struct err *e);
int rdma_status(const struct cni_call *call, struct err *e);

#endif
