/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.h: what only a VF of InfiniBand needs before its interface moves: its GUIDs, for which its
 * driver is bound again, and with isolation the move of its RDMA device.
 */
#ifndef RAILHEAD_PLUGINS_SRIOV_APPLY_H
#define RAILHEAD_PLUGINS_SRIOV_APPLY_H

#include "plugins/sriov/ib_conf.h"

/*
 * ib_apply - make the PF and the VF as c wants them. If a driver is bound or a device moves, it
 * holds the lock of the node. c->which.place and c->which.rdma become current. If the VF has the
 * wanted GUIDs, no driver is bound. ERR_STATE: the VF has no usable GUID, or keeps another one, or
 * its character devices got other numbers. The claim is on record, so sriov_restore() undoes all.
 */
int ib_apply(struct attach *a, struct ib_conf *c, struct err *e) must_check;

/* ib_check_mode - ERR_STATE if rdmaIsolation is wanted and RDMA devices are shared on this node. */
int ib_check_mode(const struct ib_conf *c, struct err *e) must_check;

/* ib_check_rdma - for CHECK: ERR_STATE unless the pod has the RDMA device that ADD moved, if any.
 */
int ib_check_rdma(const struct attach *a, const struct ib_conf *c, struct err *e) must_check;

#endif
