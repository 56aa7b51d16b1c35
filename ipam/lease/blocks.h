/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h: the node's own records of blocks, for the node agent. Each call is one transaction.
 *
 * These are the calls behind struct agent_ops. A block needs the definition of its pool, so the
 * pool is put first (ipam/lease/shared_pool.h).
 *
 * A change survives the death of every process when the call returns. A power loss can lose it. It
 * also ends the boot, so nothing is assigned before the agent renewed and touched each block in the
 * cluster. The holder and the definitions of pools survive a power loss.
 */
#ifndef RAILHEAD_IPAM_LEASE_BLOCKS_H
#define RAILHEAD_IPAM_LEASE_BLOCKS_H

#include "ipam/block/record.h"
#include "ipam/lease/session.h"

/*
 * blocks_load - the record of the node (all zero: there is none) and all records of blocks, in
 * order. ERR_STORE: a record is damaged; the message has key and value. blocks_clear - free it.
 */
int blocks_load(struct ipam *m, struct agent_memory *out, struct err *e) must_check;
void blocks_clear(struct agent_memory *memory);

/*
 * Keys of loans of single addresses are as good as those of blocks in each call.
 *
 * blocks_put_loans - insert or replace a record, and what the block lends from now on; NULL: that
 * stays. ERR_NOTFOUND: the pool has no definition here, or one without a uid. ERR_CONFIG: no block
 * of the pool starts there. A power loss changes no loan.
 */
int blocks_put_loans(struct ipam *m, const struct block_record *r, const struct lending *lends,
		     struct err *e) must_check;

/*
 * blocks_drop - delete a record, with all that is kept about the addresses of the block. 0: it is
 * gone, or was not there. 1: an address of it is held or lent, and nothing changed. -1: the store
 * failed. Of a loan in a block that this node has, too, only the record ends.
 */
int blocks_drop(struct ipam *m, const struct block_key *key, struct err *e) must_check;

/*
 * blocks_retire - if no address of a granted block is held or cools down, make it BLOCK_RETURNING.
 * 0: it is, or was already. 1: an address is in use, or the block has another state. -1: the store
 * failed; ERR_NOTFOUND: there is no such record.
 */
int blocks_retire(struct ipam *m, const struct block_key *key, struct err *e) must_check;

/*
 * blocks_lend - choose an address of a granted block that is neither held nor cools down. Write it
 * into the record as a loan to this party. one: LOAN_ANY, or that of its key. 0: *out; a power
 * loss does not lose it. 1: there is none, or the block has another state. -1: the store failed.
 */
struct blocks_loan {
	const struct block_key *key;
	uint32_t one;
	const struct block_party *to;
};
int blocks_lend(struct ipam *m, const struct blocks_loan *want, struct loan *out,
		struct err *e) must_check;

/* blocks_put_node - insert or replace the record of the node. */
int blocks_put_node(struct ipam *m, const struct node_record *r, struct err *e) must_check;

/*
 * blocks_used - addresses of the block that are held or lent. Those of loans to this node count if
 * it has the block, too.
 */
int blocks_used(struct ipam *m, const struct block_key *key, uint32_t *out,
		struct err *e) must_check;

/* blocks_probed - pods have addresses of the block, and none of its addresses waits for a probe. */
int blocks_probed(struct ipam *m, const struct block_key *key, bool *out, struct err *e) must_check;

/*
 * blocks_spare - addresses that an ADD on this node can get from the pool now without one that
 * cools down: in granted blocks, confirmed in the present epoch, if the node may assign at all.
 */
int blocks_spare(struct ipam *m, const char *pool, uint64_t *out, struct err *e) must_check;

#endif
