/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_lossy.h: the cards whose fabric has no priority flow control, as files of qos.d say. */
#ifndef RAILHEAD_RAILCTL_RDMA_RDMA_LOSSY_H
#define RAILHEAD_RAILCTL_RDMA_RDMA_LOSSY_H

#include "rdma/qos/qos.h"

struct lossy_cards {
	struct qos_port *card; /* owned */
	size_t n;
};

/*
 * rdma_lossy_read - the cards of ctx->sysfs that a file of dir declares lossy. Call it on the host,
 * before its sysfs changes. A file that is wrong, or about a card that is not here, is left out and
 * logged. ERR_NOMEM, ERR_IO: the folder exists and cannot be read. lossy_cards_clear() frees *out.
 */
int rdma_lossy_read(const struct ctx *ctx, const char *dir, struct lossy_cards *out,
		    struct err *e) must_check;
void lossy_cards_clear(struct lossy_cards *l);
#define auto_lossy_cards auto_clean(lossy_cards_clear)

/*
 * rdma_lossy_has_device - whether the RDMA device is on such a card; a VF is on that of its PF.
 * sysfs: of any network namespace.
 */
struct inv_device;
bool rdma_lossy_has_device(const struct lossy_cards *l, const char *sysfs,
			   const struct inv_device *d);

/* rdma_lossy_has - whether a card with this interface, or this PCI address, is one; "": neither. */
bool rdma_lossy_has(const struct lossy_cards *l, const char *netdev, const char *pci);

#endif
