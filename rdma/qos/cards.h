/* SPDX-License-Identifier: Apache-2.0 */
/* cards.h: the cards of this host that files of qos.d are about. */
#ifndef RAILHEAD_RDMA_QOS_CARDS_H
#define RAILHEAD_RDMA_QOS_CARDS_H

#include "rdma/qos/qos.h"

#define QOS_DIR "/etc/railhead/qos.d"

struct qos_card {
	struct qos_port port;
	struct qos_profile want;
};

struct qos_cards {
	struct qos_card *card; /* owned; in the order of the files */
	size_t n;
	unsigned n_wrong; /* files that are wrong, or about a VF; not those about absent cards */
	struct err wrong; /* why the first one is left out */
};

/*
 * qos_cards_read - all files of dir; without the folder none. ERR_NOMEM; ERR_IO: dir cannot be
 * read. qos_cards_clear() frees *out.
 */
int qos_cards_read(const struct ctx *ctx, const char *dir, struct qos_cards *out,
		   struct err *e) must_check;
void qos_cards_clear(struct qos_cards *c);
#define auto_qos_cards auto_clean(qos_cards_clear)

/* qos_card_of - that with this interface, else the first with this PCI address; "": it is not
 * known. Borrowed. NULL: none. */
const struct qos_card *qos_card_of(const struct qos_cards *c, const char *netdev, const char *pci);

#endif
