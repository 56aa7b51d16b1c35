/* SPDX-License-Identifier: Apache-2.0 */
/* blocks_priv.h: what the files of the records of blocks share. */
#ifndef RAILHEAD_IPAM_LEASE_BLOCKS_PRIV_H
#define RAILHEAD_IPAM_LEASE_BLOCKS_PRIV_H

#include "ipam/lease/blocks.h"
#include "ipam/lease/pool_db.h"

/* blocks_run - fn in one transaction. As ipam_run(). */
int blocks_run(struct ipam *m, enum store_mode mode,
	       int (*fn)(struct lease_db *, void *, struct err *), void *arg,
	       struct err *e) must_check;

/* The block with its pool. The caller clears *pool. */
struct block_view {
	struct pool_entry pool;
	struct key_address at;
	struct ip_range range;
	struct key key;
	bool is_loan; /* of one address */
};

static inline void block_view_clear(struct block_view *v)
{
	pool_entry_clear(&v->pool);
}
#define auto_view auto_clean(block_view_clear)

/*
 * block_view_load - the block or the loan with its pool. ERR_NOTFOUND: the pool is not known here.
 * ERR_CONFIG: no block of it starts there, or the loan is beyond the block.
 */
int block_view_load(struct lease_db *l, const struct block_key *b, struct block_view *v,
		    struct err *e) must_check;

#endif
