/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose_block.h: chooses an address of a pool with blocks. Each function compares, in the
 * transaction that assigns, whether this node may assign from the block now.
 *
 * The rule is node_may_give() and block_may_give() of cluster/protocol/record.h. A block that must
 * be probed is never chosen.
 */
#ifndef RAILHEAD_IPAM_ALLOC_CHOOSE_BLOCK_H
#define RAILHEAD_IPAM_ALLOC_CHOOSE_BLOCK_H

#include "ipam/alloc/resting.h"

/* block_may_choose - 1: an address of the block of ip may be assigned now; 0: it may not. */
int block_may_choose(struct lease_db *l, const struct source *s, struct ip ip,
		     struct err *e) must_check;

/* block_choose_at - *out is the choice of ip, whose block may be used. The cursor skips ip. */
int block_choose_at(struct lease_db *l, const struct source *s, struct ip ip,
		    struct addr_choice *out, struct err *e) must_check;

/*
 * block_choose - an address that was never used, or the one that rested longest after its cooldown.
 * cooling: also one that still cools down. 1: *out is set; 0: no block has any; -1: an error.
 */
int block_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e) must_check;
int block_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

/*
 * block_refuse - set the error why the pool gives nothing now. ERR_EXHAUSTED: no block has a free
 * address. ERR_AGAIN: the node may not assign at all. Returns -1.
 */
int block_refuse(struct lease_db *l, const struct source *s, struct err *e);

/* block_refuse_alone - ERR_CONFIG for a pool with blocks that no node agent put. Returns -1. */
int block_refuse_alone(const struct source *s, struct err *e);

#endif
