/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.h: chooses the next address. It only reads, and reads few leases whatever their number.
 *
 * A source offers first the sticky address of the pod, then the address of its earlier sandbox.
 * Then come addresses that were never used, and then the one that has rested longest after its
 * cooldown. If no source has any, the address that has cooled down longest is chosen, unless
 * strictCooldown forbids it.
 */
#ifndef RAILHEAD_IPAM_ALLOC_CHOOSE_H
#define RAILHEAD_IPAM_ALLOC_CHOOSE_H

#include "ipam/alloc/resting.h"

/* alloc_choose - choose an address of the source. 1: *out is set; 0: it has none; -1: an error. */
int alloc_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e) must_check;

/* alloc_choose_cooling - the same for addresses that still cool down. */
int alloc_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

/*
 * alloc_choose_exactly - choose request->want, which the source contains. ERR_BUSY in these cases:
 * an owner holds it, and the message names the owner. The container has it already, in any network.
 * An overlapping range or a file of host-local has it. Its block may not be used. Or strictCooldown
 * is set, and it cools down.
 */
int alloc_choose_exactly(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

#endif
