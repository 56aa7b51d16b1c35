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

#include "ipam/alloc/overlap.h"
#include "ipam/lease/block_value.h"

#define ALLOC_AVOID_MAX 256

struct addr_request {
	const struct owner *owner;
	/* addresses that the container has already, in any network */
	struct ip avoid[ALLOC_AVOID_MAX];
	size_t n_avoid;
	struct ip want;          /* for alloc_choose_exactly */
	struct ip own;           /* just released by an earlier sandbox of the pod; IP_NONE: none */
	struct overlap *overlap; /* NULL: do not look for overlaps */
	char identity[IDENTITY_LEN]; /* of the pod, for pools whose addresses move; "": none */
	bool probes; /* the caller asks the network before it uses an address with that mark */
};

/* alloc_choose - choose an address of the source. 1: *out is set; 0: it has none; -1: an error. */
int alloc_choose(struct lease_db *l, const struct source *s, const struct addr_request *request,
		 struct addr_choice *out, struct err *e) must_check;

/* alloc_choose_cooling - the same for addresses that still cool down. */
int alloc_choose_cooling(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

/*
 * alloc_choose_exactly - choose request->want, which the source contains. 1: *out is set; 0: this
 * node may not assign from its block now; -1: an error. ERR_BUSY in these cases: an owner holds it,
 * and the message names the owner. The container has it already, in any network. An overlapping
 * range or a file of host-local has it. Or strictCooldown is set, and it cools down.
 */
int alloc_choose_exactly(struct lease_db *l, const struct source *s,
			 const struct addr_request *request, struct addr_choice *out,
			 struct err *e) must_check;

/* ---- for both searches, see choose_block.c ---- */

/* request_avoids - the container has the address already, or an overlapping range has it. */
bool request_avoids(const struct addr_request *request, const struct source *s, struct ip ip);

/* resting_future - times of release after this one mean that the clock was set back since. */
int64_t resting_future(const struct lease_db *l, const struct source *s);

struct rest_queue {
	const struct addr_request *request;
	const struct source *s;
	struct ip ip; /* IP_NONE: nothing found */
	int64_t since;
};

/*
 * resting_first - the first resting address of source `id` that was released at `from` or later and
 * is usable in q->s. resting_rested - of q->s itself, the one that has rested longest, if its
 * cooldown is over.
 */
int resting_first(struct lease_db *l, struct rest_queue *q, const char *id, int64_t from,
		  struct err *e) must_check;
int resting_rested(struct lease_db *l, struct rest_queue *q, struct err *e) must_check;

/*
 * The choice in a pool with blocks. Each function compares, in the transaction that assigns,
 * whether this node may assign from the block now: node_may_give() and block_may_give() of
 * ipam/block/record.h. A block that must be probed is chosen only for a caller that probes,
 * and a block with an identity only for that one.
 *
 * block_may_choose - 1: an address of the block of ip may be assigned now; 0: it may not.
 */
int block_may_choose(struct lease_db *l, const struct source *s, struct ip ip,
		     const struct addr_request *request, struct err *e) must_check;

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

/* block_refuse_address - the same for an address whose block may not be used: ERR_BUSY. */
int block_refuse_address(struct lease_db *l, const struct source *s, struct ip ip, struct err *e);

/* block_refuse_nobody - ERR_CONFIG if the owner has no identity; else 0. */
int block_refuse_nobody(const struct source *s, const struct owner *o, struct err *e);

/* block_refuse_alone - ERR_CONFIG for a pool with blocks that no node agent put. Returns -1. */
int block_refuse_alone(const struct source *s, struct err *e);

#endif
