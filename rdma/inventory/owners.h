/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.h: the owners of the GIDs that a namespace sees besides its own. Only reads.
 *
 * It reads the addresses of named namespaces: those in /run/netns, those of recorded attachments,
 * and that of process 1, which is "host". A caller that may not enter them gets no names.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_OWNERS_H
#define RAILHEAD_RDMA_INVENTORY_OWNERS_H

#include "rdma/inventory/inventory.h"

#define OWNERS_DIR "/run/netns"

/*
 * owners_name - set `netns` of the GIDs of v that are not here. v was read in the caller's
 * namespace. dir: OWNERS_DIR; tests use another one.
 */
int owners_name(const struct ctx *ctx, const char *dir, struct rdma_inventory *v,
		struct err *e) must_check;

#endif
