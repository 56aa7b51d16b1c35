/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_db.h: the lease database: typed reads, and the few writes that keep its records consistent.
 *
 * For every address there is one lease record; owner, rest, sticky, usage and quota records follow
 * from it. They change together, here and nowhere else, and `verify` checks that they agree.
 */
#ifndef RAILHEAD_IPAM_LEASE_LEASE_DB_H
#define RAILHEAD_IPAM_LEASE_LEASE_DB_H

#include "ipam/lease/holder.h"
#include "ipam/conf/source.h"

#define LEASE_DB_REST_MAX                                                                          \
	65536 /* resting addresses a source remembers; older ones are forgotten                    \
	       */

/* An address that another host uses rests this long and the cooldown: it is released that far in
 * the future. */
#define LEASE_DB_CONFLICT_NS INT64_C(60000000000)

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
	const char *by;       /* the verb that is at work, for the journal */
	bool indexed;         /* the store knows by pod what is held */
	struct json *journal; /* array of what was done; NULL: nobody wants to know */
};

/* An address to take, as ipam/alloc/choose.h found it. */
struct addr_choice {
	const struct source *source;
	struct ip ip;
	struct ip next; /* where the search goes on the next time, see struct source_usage */
	bool done;
	bool restarted; /* the search restarted, because addresses had been forgotten */
};

/* lease_db_lease - *found false when there is no record. Else clear *out with lease_clear(). */
int lease_db_lease(struct lease_db *l, const char *key, struct lease *out, bool *found,
		   struct err *e) must_check;

/* lease_db_owned - addresses of an owner; none: n is 0. */
int lease_db_owned(struct lease_db *l, const struct owner *o, struct key_list *out,
		   struct err *e) must_check;

int lease_db_usage(struct lease_db *l, const char *scope, const char *source,
		   struct source_usage *out, struct err *e) must_check;
int lease_db_quota(struct lease_db *l, const char *scope, const char *ns, uint64_t *out,
		   struct err *e) must_check;

/* lease_db_sticky - what the pod of o had last in scope; none, or pod unknown: n is 0. */
int lease_db_sticky(struct lease_db *l, const char *scope, const struct owner *o,
		    struct key_list *out, struct err *e) must_check;

/* lease_db_assign - lease c->ip to o. The address must be free: ERR_BUSY. */
int lease_db_assign(struct lease_db *l, const struct addr_choice *c, const struct owner *o,
		    struct err *e) must_check;

/* lease_db_release - the held address starts to rest at `since`. */
int lease_db_release(struct lease_db *l, const struct key_address *a, int64_t since,
		     struct err *e) must_check;

/* owner_json - add the parts of *o that are known to obj as "owner". -1: no memory. */
int owner_json(struct json *obj, const struct owner *o) must_check;

/* Short names for the store's calls. lease_db_sync: the transaction must survive a power loss. */
void lease_db_sync(struct lease_db *l);
int lease_db_get(struct lease_db *l, const char *key, const char **value, struct err *e) must_check;
int lease_db_del(struct lease_db *l, const char *key, struct err *e) must_check;
int lease_db_scan(struct lease_db *l, const struct key *prefix, store_fn fn, void *arg,
		  struct err *e) must_check;
int lease_db_scan_from(struct lease_db *l, struct store_span span, store_fn fn, void *arg,
		       struct err *e) must_check;
/* text is taken over; NULL means that printing it ran out of memory. */
int lease_db_put(struct lease_db *l, const char *key, char *text, struct err *e) must_check;

#endif
