/* SPDX-License-Identifier: Apache-2.0 */
/* lossy.h: the cards whose fabric has no priority flow control, as files of qos.d say. */
#ifndef RAILHEAD_RAILCTL_DEVICE_LOSSY_H
#define RAILHEAD_RAILCTL_DEVICE_LOSSY_H

#include "rdma/inventory/inventory.h"
#include "rdma/qos/cards.h"

/*
 * rdma_cards_read - qos_cards_read(), and a warning in the log for a file that is left out, or a
 * folder that only root may read. Call it on the host, before its sysfs changes.
 */
int rdma_cards_read(const struct ctx *ctx, const char *dir, struct qos_cards *out,
		    struct err *e) must_check;

/*
 * rdma_is_lossy - whether a file declares the card with this interface lossy. rdma_is_on_lossy -
 * the same for the card of an RDMA device; a VF is on that of its PF. sysfs: of any network
 * namespace.
 */
bool rdma_is_lossy(const struct qos_cards *c, const char *netdev);
bool rdma_is_on_lossy(const struct qos_cards *c, const char *sysfs, const struct inv_device *d);

#endif
