/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.h: check the lease database and its index, and repair them.
 *
 * Lease records are the truth. Owner, rest, usage and quota records must follow from them. Sticky
 * records may only name addresses that the pod had last. An address that an owner record
 * names and that has no lease record gets one again, because it may be in use.
 */
#ifndef RAILHEAD_IPAM_LEASE_VERIFY_H
#define RAILHEAD_IPAM_LEASE_VERIFY_H

#include "ipam/lease/lease_db.h"

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

/* verify_lease_db - inside a transaction, which must be a writing one for repair. Problems are no
 * error: look at v->problems. Definitions of pools that cannot be read or overlap, and keys of
 * unknown kinds, are reported and left alone. */
int verify_lease_db(struct lease_db *l, struct verify *v, struct err *e) must_check;

#endif
