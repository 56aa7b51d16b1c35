/* SPDX-License-Identifier: Apache-2.0 */
/* verify_blocks.h: checks the records of blocks, and the index of those with a free address. */
#ifndef RAILHEAD_IPAM_LEASE_VERIFY_BLOCKS_H
#define RAILHEAD_IPAM_LEASE_VERIFY_BLOCKS_H

#include "ipam/lease/lease_read.h"

struct verify_blocks {
	bool repair;
	bool cursors; /* with repair: find the cursor of each block again */
	/* called for each problem; repaired: repair fixes it */
	void (*report)(void *arg, bool repaired, const char *text);
	void *arg;
};

/*
 * verify_blocks - check in a transaction; repair needs a writing one.
 *
 * - A damaged record of a block: repair deletes it if no address of the block is held.
 * - A block without a pool, and a held address without a record of its block: not repaired.
 * - An entry of the index that is missing, or is wrong.
 */
int verify_blocks(struct lease_db *l, const struct verify_blocks *v, struct err *e) must_check;

#endif
