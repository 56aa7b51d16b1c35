/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_index.h: which granted blocks of a shared pool have an address to assign, best first.
 *
 *	f/<scope>/<epoch>/<time>/<start>
 *
 * A block has an entry if it is granted and confirmed, and has an address that is not held. epoch
 * is that of the confirmation, so a search looks only at blocks that were confirmed in the present
 * one. time is 0 if the block has an address that was never used. Else it is the time since which
 * its longest resting address rests. So the first entry is the best block, and a search reads one
 * entry whatever the number of blocks.
 *
 * The place of a block follows from its record, its usage and its rest records. Each write of
 * these moves the entry. `verify` compares it.
 */
#ifndef RAILHEAD_IPAM_LEASE_BLOCK_INDEX_H
#define RAILHEAD_IPAM_LEASE_BLOCK_INDEX_H

#include "ipam/lease/block_value.h"
#include "ipam/lease/read.h"

/* The entry of a block before a change. */
struct block_place {
	bool is_block;  /* false: the lease is from another kind of source */
	bool probe;     /* an address of it without a lease record was never probed */
	uint64_t epoch; /* of the block's confirmation; 0: nothing is assigned from it */
	struct key_address block;
	struct key entry; /* "": none */
};

/*
 * block_place_begin - before a change of the address a, which is leased from source `id`.
 * block_place_begin_known - the same if the caller has read the record: out has epoch and probe of
 * it. block_place_end - after it: the entry moves. block_place_end_record - the same if the record
 * of the block has changed, too.
 */
int block_place_begin(struct lease_db *l, const struct key_address *a, const char *id,
		      struct block_place *out, struct err *e) must_check;
int block_place_begin_known(struct lease_db *l, const struct key_address *a, const char *id,
			    struct block_place *out, struct err *e) must_check;
int block_place_end(struct lease_db *l, const struct block_place *p, struct err *e) must_check;
int block_place_end_record(struct lease_db *l, const struct block_place *p,
			   struct err *e) must_check;

/* block_place - the key of the entry that the block should have; "": none. */
int block_place(struct lease_db *l, const struct key_address *block, struct key *out,
		struct err *e) must_check;

/*
 * block_never_used - the first usable address of the block from `from` on that has no record.
 * out->family IP_NONE: there is none.
 */
int block_never_used(struct lease_db *l, const struct source *block, struct ip from, struct ip *out,
		     struct err *e) must_check;

/*
 * block_source - pool_block_source() without the addresses that this node lends. block_source_of -
 * the same, with the loans that the caller has read. block_lends - the loan of this address; NULL:
 * none.
 */
int block_source(struct lease_db *l, const struct source *pool, struct ip start, struct source *out,
		 struct err *e) must_check;
int block_source_of(const struct source *pool, struct ip start, const struct lending *lends,
		    struct source *out, struct err *e) must_check;
const struct loan *block_lends(const struct lending *l, struct ip ip);

/*
 * block_db_record - the record of a block or a loan with this key. *found false: there is none, and
 * *out stays. ERR_STORE: it is damaged. block_db_whole - the same, with what the block lends.
 */
struct block_whole {
	struct block_record is;
	struct lending lends;
};
int block_db_record(struct lease_db *l, const struct key *key, struct block_record *out,
		    bool *found, struct err *e) must_check;
int block_db_whole(struct lease_db *l, const struct key *key, struct block_whole *out, bool *found,
		   struct err *e) must_check;

/* block_loan - *out is the loan of the address ip that this node has. 1: it has one; 0: none. */
int block_loan(struct lease_db *l, const char *scope, struct ip ip, struct block_record *out,
	       struct err *e) must_check;

/*
 * block_free_loans - call fn for each loan to this node that the node may assign now, and that is
 * free. cooldown: as in lease_db_is_free(). fn returns non-zero to stop.
 */
struct loan_query {
	const struct source *pool;
	const struct node_record *node;
	int64_t cooldown;
	int (*fn)(const struct block_record *loan, void *arg);
	void *arg;
};
int block_free_loans(struct lease_db *l, const struct loan_query *q, struct err *e) must_check;

/*
 * block_cursor_set - find the first address of the block that was never used, and store it as the
 * block's cursor. The caller moves the entry.
 */
int block_cursor_set(struct lease_db *l, const struct source *pool, struct ip start,
		     struct err *e) must_check;

/*
 * block_next - the first entry after the key `after` (NULL: the first one at all) of an epoch whose
 * time is at least since. *found false: there is none.
 */
struct block_query {
	const char *scope;
	uint64_t epoch;
	int64_t since;
	const struct key *after;
};
int block_next(struct lease_db *l, const struct block_query *q, struct key_free *out, bool *found,
	       struct err *e) must_check;

#endif
