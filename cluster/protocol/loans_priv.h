/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loans_priv.h: blocks that other nodes have, and single addresses that their owners lend; lend.c
 * is the owner, borrow.c the borrower.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_LOANS_PRIV_H
#define RAILHEAD_CLUSTER_PROTOCOL_LOANS_PRIV_H

#include "cluster/protocol/agent_op.h"
#include "ipam/block/record.h"

struct agent_memory;
struct agent_pool;

/*
 * loans_are_lent - single addresses of the pool are lent. loans_may_exist - or were, before the
 * pool began to leave: such loans come back.
 */
bool loans_are_lent(const struct agent_pool *p);
bool loans_may_exist(const struct agent_pool *p);
/* loans_is_inside - the block has the address. p NULL: as far as it is known. */
bool loans_is_inside(const struct agent_pool *p, const struct loan *l);
/* loans_hold - a borrower may assign an address of the block: it must not be given up. */
bool loans_hold(const struct block *b);

/* ---- whom to ask ---- */

/*
 * find_begin - a new need: all may be asked again. find_ask - ask the owner for this block, as it
 * was seen. one: or for a loan, as in struct block. False: the node's store failed. find_silent -
 * the owner of the block gave no answer. want_has - callers wait for just this block or address.
 * find_is_of - a listed block is of this pool.
 */
void find_begin(const struct agent *a, struct agent_pool *p);
void find_silent(const struct agent *a, const struct block_key *key);
bool find_ask(struct agent *a, const struct block_seen *s, uint32_t one);
bool want_has(const struct agent *a, const struct block_key *key);
bool find_is_of(const struct agent_pool *p, const struct block_seen *s);

/* ---- the owner ---- */

/*
 * agent_put_loans - agent_put(), and in the same transaction what the block lends from now on.
 * NULL: that stays. lend_of - what the block lends; never NULL. lend_copy - a copy with the key.
 */
int agent_put_loans(struct agent *a, const struct block_record *r,
		    const struct lending *l) must_check;
const struct lending *lend_of(const struct agent *a, const struct block_key *key);
struct lending lend_copy(const struct agent *a, const struct block_key *key);
/*
 * lend_reserve - memory for one more block that lends; -1: there is none. lend_remember - what the
 * node's store has now; memory is reserved if the block begins to lend. lend_load - what it has at
 * first; -1: no memory.
 */
int lend_reserve(struct agent *a) must_check;
void lend_remember(struct agent *a, const struct lending *l);
int lend_load(struct agent *a, const struct agent_memory *memory) must_check;
/*
 * lend_adopt - *l gets each loan of an address of the block: the node's store was lost, or the
 * block is taken over with its loans.
 */
void lend_adopt(const struct agent *a, struct lending *to, const struct block *b);
/*
 * lend_differs - the block shows a loan in another state than *l. lend_waits - the same, or an
 * offer is to be withdrawn.
 */
bool lend_differs(const struct lending *l, const struct block *b);
bool lend_waits(const struct agent *a, const struct block_key *key, const struct block *b);
/*
 * lend_store - before the owner writes *b: the record gets what the borrowers wrote, and *b what
 * the record says. The record is stored, and in *r. As agent_put().
 */
int lend_store(struct agent *a, struct block_record *r, struct block *b);
/* lend_one - answer the ask of *b with a loan, if there is an address. It is stored. */
void lend_one(struct agent *a, const struct block_key *key, struct block *b);
/* lend_written - *b was written: offers that it does not have can be taken no more. As agent_put().
 */
int lend_written(struct agent *a, const struct block_key *key, const struct block *b);
/* lend_due - look at blocks with an offer that was not taken. lend_next - when the next one is. */
void lend_due(struct agent *a);
int64_t lend_next(const struct agent *a);

/* ---- the borrower ---- */

/*
 * borrow_find - the loan of the block with this token to this node; NULL: none is left. key->one:
 * of that address; 0: of any address of the block.
 */
const struct loan *borrow_find(const struct agent *a, const struct block_key *key,
			       const struct block *b, uint64_t token);
/* borrow_has - one to this node, of whatever claim or store of it. */
bool borrow_has(const struct agent *a, const struct block *b);
/* borrow_begin - record the loan that an ask brought. As agent_put(). */
int borrow_begin(struct agent *a, const struct block_key *block, const struct loan *loan);
/* borrow_strays - give back each loan of a list in our name that this node does not know. */
void borrow_strays(struct agent *a, const struct agent_pool *p, const struct agent_reply *r);
/* borrow_idle - give back loans without a pod. borrow_next - when to look for them again. */
void borrow_idle(struct agent *a);
int64_t borrow_next(const struct agent *a);
/*
 * borrow_sweep - look for loans in the name of this node that it does not know, where that is due.
 * borrow_sweep_done - it is done, and due again after a pause. borrow_sweep_failed - the list
 * failed.
 */
void borrow_sweep(struct agent *a);
void borrow_sweep_done(struct agent *a, struct agent_pool *p);
void borrow_sweep_failed(struct agent *a, struct agent_pool *p, const struct agent_reply *r);
/*
 * borrow_sweep_at - the sweep of a pool is due a while after `from`: not at all nodes at once.
 * borrow_sweep_later - that of all pools: after a restore, look for loans that were given back.
 */
void borrow_sweep_at(const struct agent *a, struct agent_pool *p, int64_t from);
void borrow_sweep_later(struct agent *a, int64_t from);
/* OP_BORROW takes what was offered, OP_GIVE_BACK returns it. */
void borrow_go(struct agent *a, struct op *op);
void borrow_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void give_back_go(struct agent *a, struct op *op);
void give_back_reply(struct agent *a, struct op *op, const struct agent_reply *r);
/* borrow_examined - a look at the block of a loan, after a restore. */
void borrow_examined(struct agent *a, struct op *op, const struct agent_reply *r);
/* borrow_contest - OP_CONTEST of a loan that the store does not show, and a pod lives in. */
void borrow_contest(struct agent *a, struct op *op, const struct agent_reply *r);

#endif
