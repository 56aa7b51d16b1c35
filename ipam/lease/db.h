/* SPDX-License-Identifier: Apache-2.0 */
/*
 * db.h: the lease database: typed reads, and the writes that keep its records consistent.
 *
 * An address that was ever assigned has one lease record. Owner, rest, sticky, usage and quota
 * records follow from it. They change together, here and nowhere else, and `verify` checks that
 * they agree.
 */
#ifndef RAILHEAD_IPAM_LEASE_DB_H
#define RAILHEAD_IPAM_LEASE_DB_H

#include "ipam/lease/read.h"

#define LEASE_DB_REST_MAX                                                                          \
	65536 /* resting addresses a source remembers; older ones are forgotten                    \
	       */

/* An address to assign, as ipam/alloc/choose.h found it. */
struct addr_choice {
	const struct source *source;
	struct ip ip;
	struct ip next; /* where the next search begins, see struct source_usage */
	bool done;
	bool keep_cursor; /* next and done are not set: the cursor of the address' source stays */
	bool restarted;   /* the search restarted, because addresses had been forgotten */
	uint64_t skipped; /* addresses without a record that the cursor passed */
	bool is_loan;     /* another node lends the address to this one */
	/* Of the block, as the search read its record in this transaction; 0: it did not. */
	uint64_t epoch;
	bool probe;
};

/*
 * lease_db_assign - lease c->ip to o. ERR_BUSY: another owner holds the address. The lease has
 * `probe` if the address is in a block that must be probed, and no probe of it succeeded here.
 */
int lease_db_assign(struct lease_db *l, const struct addr_choice *c, const struct owner *o,
		    struct err *e) must_check;

/* lease_db_probed - no host answered for the address: its lease loses the mark `probe`. */
int lease_db_probed(struct lease_db *l, const struct key_address *a, struct err *e) must_check;

/* lease_db_release - the address starts to rest at `since`; success if it is not held. */
int lease_db_release(struct lease_db *l, const struct key_address *a, int64_t since,
		     struct err *e) must_check;

/* lease_db_forget - delete all records of a resting address. It then counts as never used. */
int lease_db_forget(struct lease_db *l, const struct key_address *a, struct err *e) must_check;

/* owner_json - add the known parts of *o to obj as the member "owner". -1: no memory. */
int owner_json(struct json *obj, const struct owner *o) must_check;

#endif
