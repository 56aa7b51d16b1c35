/* SPDX-License-Identifier: Apache-2.0 */
/* read.h: an open lease database, a transaction on it, and typed reads. */
#ifndef RAILHEAD_IPAM_LEASE_READ_H
#define RAILHEAD_IPAM_LEASE_READ_H

#include "ipam/lease/holder.h"
#include "ipam/conf/source.h"

/*
 * An address that another host uses rests for this time and then for the cooldown. Its time of
 * release is this far in the future.
 */
#define LEASE_DB_CONFLICT_NS INT64_C(60000000000)

/*
 * lease_db_has_rested - whether an address that was released at `since` has rested for its cooldown
 * (ns). A release too far in the future means that the clock was set back since.
 */
bool lease_db_has_rested(int64_t since, int64_t now, int64_t cooldown);

/* One open IPAM. */
struct ipam {
	struct store *store; /* owned */
	const struct ctx *ctx;
	char boot[CTX_BOOT_ID_LEN + 1];
	char node[65];
	uint64_t rest_max;
	const struct holder_ops *holders;
};

/* One transaction on it. */
struct lease_db {
	const struct ipam *ipam;
	struct store_txn *t;
	int64_t now;
	const char *by;       /* the command, for the journal */
	bool indexed;         /* the store has the records i/ */
	struct json *journal; /* array of the changes; NULL: not wanted */
};

/*
 * Reads. Each fails with ERR_STORE if a record is damaged, and with the errors of the store.
 *
 * lease_db_lease - the lease record `key`; *found false: there is none; else the caller clears
 * *out. lease_db_of_address - the lease of an address, likewise; 1: there is one, 0: there is none.
 * lease_db_owned - the keys of an owner's addresses; n 0: none. lease_db_usage - the usage of
 * a source; empty without a record. lease_db_quota - how many addresses of a pool's scope namespace
 * ns holds. lease_db_sticky - the addresses that the pod of o had last in scope; n 0: none, or the
 * pod is unknown.
 */
int lease_db_lease(struct lease_db *l, const char *key, struct lease *out, bool *found,
		   struct err *e) must_check;
int lease_db_of_address(struct lease_db *l, const char *scope, struct ip ip, struct lease *out,
			struct err *e) must_check;
int lease_db_owned(struct lease_db *l, const struct owner *o, struct key_list *out,
		   struct err *e) must_check;
int lease_db_usage(struct lease_db *l, const char *scope, const char *source,
		   struct source_usage *out, struct err *e) must_check;
int lease_db_quota(struct lease_db *l, const char *scope, const char *ns, uint64_t *out,
		   struct err *e) must_check;
int lease_db_sticky(struct lease_db *l, const char *scope, const struct owner *o,
		    struct key_list *out, struct err *e) must_check;

/*
 * lease_db_list - the list of keys in a record; n 0: there is none. lease_db_sticky_key - the key
 * of the sticky record of o's pod. False: the pod is unknown.
 */
int lease_db_list(struct lease_db *l, const struct key *k, struct key_list *out,
		  struct err *e) must_check;
bool lease_db_sticky_key(struct key *k, const char *scope, const struct owner *o);

/*
 * lease_db_is_free - 1: no owner holds the address, and it has rested for its cooldown (ns;
 * LEASE_DB_ANY_REST: it may cool down). 0: it is not. -1: an error.
 */
#define LEASE_DB_ANY_REST INT64_C(-1)
int lease_db_is_free(struct lease_db *l, const struct key_address *a, int64_t cooldown,
		     struct err *e) must_check;

/*
 * The store's calls on this transaction, see struct store_ops. lease_db_sync - the transaction must
 * survive a power loss. lease_db_scan - over the keys with a prefix. lease_db_put takes over text;
 * NULL means that printing it ran out of memory.
 */
void lease_db_sync(struct lease_db *l);
int lease_db_get(struct lease_db *l, const char *key, const char **value, struct err *e) must_check;
int lease_db_del(struct lease_db *l, const char *key, struct err *e) must_check;
int lease_db_scan(struct lease_db *l, const struct key *prefix, store_fn fn, void *arg,
		  struct err *e) must_check;
int lease_db_scan_from(struct lease_db *l, struct store_span span, store_fn fn, void *arg,
		       struct err *e) must_check;
int lease_db_put(struct lease_db *l, const char *key, char *text, struct err *e) must_check;

#endif
