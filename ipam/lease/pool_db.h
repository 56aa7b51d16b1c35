/* SPDX-License-Identifier: Apache-2.0 */
/* pool_db.h: the definitions of pools in a transaction, and the records below a pool. */
#ifndef RAILHEAD_IPAM_LEASE_POOL_DB_H
#define RAILHEAD_IPAM_LEASE_POOL_DB_H

#include "ipam/conf/pool.h"
#include "ipam/lease/db.h"

/*
 * pool_db_load - the pool with this name; *out borrows from *text, and the caller clears both.
 * *found false: there is none. ERR_STORE: its record cannot be used.
 */
struct pool_entry {
	struct pool_text text;
	struct source source;
};
void pool_entry_clear(struct pool_entry *p);
#define auto_pool_entry auto_clean(pool_entry_clear)
int pool_db_load(struct lease_db *l, const char *name, struct pool_entry *out, bool *found,
		 struct err *e) must_check;

/*
 * pool_db_check_overlap - ERR_BUSY if another pool has addresses of s; the message names it. Pools
 * that cannot be read are ignored: they assign no addresses.
 */
int pool_db_check_overlap(struct lease_db *l, const char *name, const struct source *s,
			  struct err *e) must_check;

/*
 * pool_db_check_living - ERR_BUSY if a held lease of another pool has an address of s: s would
 * assign it again. The message names the first one.
 */
int pool_db_check_living(struct lease_db *l, const char *name, const struct source *s,
			 struct err *e) must_check;

/* pool_db_held - the number of held leases of a pool. Damaged ones count: they may be in use. */
int pool_db_held(struct lease_db *l, const char *name, uint64_t *out, struct err *e) must_check;

/*
 * pool_db_delete_kind - delete the records of a pool whose keys begin with this letter.
 * pool_db_move_lease - the lease record k belongs to this source from now on. A resting one gets a
 * new rest record. The caller writes the usage of both sources, and deletes the old rest records.
 */
int pool_db_delete_kind(struct lease_db *l, char kind, const char *pool, struct err *e) must_check;
int pool_db_move_lease(struct lease_db *l, const struct key *k, const char *source,
		       struct err *e) must_check;

/* pool_db_delete - delete the definition and all records of a pool. Held leases are released. */
int pool_db_delete(struct lease_db *l, const char *name, struct err *e) must_check;

/* Keys in an array, for writes after a scan. */
struct keys {
	struct key *items;
	size_t n;
	struct err *e;
	bool failed;
};
void keys_clear(struct keys *k);
#define auto_keys auto_clean(keys_clear)

/* pool_db_keys - all keys with a prefix. */
int pool_db_keys(struct lease_db *l, const struct key *prefix, struct keys *out,
		 struct err *e) must_check;

#endif
