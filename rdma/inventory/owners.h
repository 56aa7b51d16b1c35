/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h: whose the GIDs are that a namespace sees besides its own. Changes nothing.
 *
 * Namespaces that have a name are asked for their addresses: those in /run/netns, those of recorded
 * attachments, and the first process's, "host". Whoever may not enter them learns nothing.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_OWNERS_H
#define RAILHEAD_RDMA_INVENTORY_OWNERS_H

#include "rdma/inventory/inventory.h"

#define OWNERS_DIR "/run/netns"

/*
 * owners_name - set `netns` of the GIDs of v that are not here; v was read in the caller's
 * namespace. dir: OWNERS_DIR, but for tests.
 */
int owners_name(const struct ctx *ctx, const char *dir, struct rdma_inventory *v,
		struct err *e) must_check;

#endif
