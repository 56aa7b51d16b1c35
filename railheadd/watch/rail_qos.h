/* SPDX-License-Identifier: Apache-2.0 */
/* rail_qos.h: whether the card of a rail is still set as a file of qos.d says. */
#ifndef RAILHEAD_RAILHEADD_WATCH_RAIL_QOS_H
#define RAILHEAD_RAILHEADD_WATCH_RAIL_QOS_H

#include "lib/cli/finding.h"
#include "rdma/qos/cards.h"

/* Everything is borrowed. */
struct rail_qos {
	const struct ctx *ctx;
	struct nl *nl; /* of the host's network namespace */
	const struct qos_cards *cards;
};

/*
 * rail_qos_check - add the finding "qos" about the card with this interface or PCI address: warn if
 * a setting is known, and not as wanted. ok if all are, or if no file is about it. unknown if a
 * file is wrong, which may be about it, or if no setting can be read. ERR_NOMEM.
 */
int rail_qos_check(const struct rail_qos *q, const char *netdev, const char *pci,
		   struct findings *out, struct err *e) must_check;

#endif
