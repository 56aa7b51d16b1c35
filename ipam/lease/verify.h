/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h: check the lease database and its index, and repair them.
 *
 * Owner, pod, rest, usage and quota records must follow from the lease records. Sticky records may
 * only name addresses that the pod had last. Blocks: see verify_blocks(). If an owner
 * record names an address without a lease record, repair writes one, because the address may be in
 * use.
 */
#ifndef RAILHEAD_IPAM_LEASE_VERIFY_H
#define RAILHEAD_IPAM_LEASE_VERIFY_H

#include "ipam/lease/db.h"

struct verify {
	bool repair;
	bool all_gone; /* a new boot: owners without leases use no address */
	/* called for each problem, with one line of text; may be NULL */
	void (*found)(const char *text, void *arg);
	void *arg;
	/* outputs */
	uint64_t held, resting, pools;
	uint64_t problems;
	uint64_t left; /* problems that repair does not or cannot fix */
};

/*
 * verify_lease_db - verify in a transaction; repair needs a writing one. Problems are not errors:
 * v->problems counts them. Damaged or overlapping definitions of pools, and keys of unknown kinds,
 * are reported and not repaired.
 */
int verify_lease_db(struct lease_db *l, struct verify *v, struct err *e) must_check;

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
