/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_db.h: the books of the IPAM: typed reads and the few writes that keep its records in step.
 *
 * For every address there is one lease record; owner, rest, sticky, tally and quota records follow
 * from it. They change together, here and nowhere else, and `verify` checks that they agree.
 */
#ifndef RAILHEAD_IPAM_LEASE_LEASE_DB_H
#define RAILHEAD_IPAM_LEASE_LEASE_DB_H

#include "ipam/lease/holder.h"
#include "ipam/conf/source.h"

#define LEDGER_REST_MAX 65536 /* resting addresses a source remembers; older ones are forgotten */

/* An address that somebody else was found to use rests this long, and the cooldown: it is released
 * that far in the future. */
#define LEDGER_CONFLICT_NS INT64_C(60000000000)

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
struct ledger {
	const struct ipam *ipam;
	struct store_txn *t;
	int64_t now;
	const char *by;       /* the verb that is at work, for the journal */
	bool indexed;         /* the store knows by pod what is held */
	struct json *journal; /* array of what was done; NULL: nobody wants to know */
};

/* An address to take, as ipam/alloc/choose.h found it. */
struct choice {
	const struct source *source;
	struct ip ip;
	struct ip next; /* where the search goes on the next time, see struct tally */
	bool done;
	bool restarted; /* the search began anew, because addresses had been forgotten */
};

/* ledger_lease - *found false when there is no record. Else clear *out with lease_clear(). */
int ledger_lease(struct ledger *l, const char *key, struct lease *out, bool *found,
		 struct err *e) must_check;

/* ledger_owned - addresses of an owner; none: n is 0. */
int ledger_owned(struct ledger *l, const struct owner *o, struct key_list *out,
		 struct err *e) must_check;

int ledger_tally(struct ledger *l, const char *scope, const char *source, struct tally *out,
		 struct err *e) must_check;
int ledger_quota(struct ledger *l, const char *scope, const char *ns, uint64_t *out,
		 struct err *e) must_check;

/* ledger_sticky - what the pod of o had last in scope; none, or pod unknown: n is 0. */
int ledger_sticky(struct ledger *l, const char *scope, const struct owner *o, struct key_list *out,
		  struct err *e) must_check;

/* ledger_take - lease c->ip to o. The address must be free: ERR_BUSY. */
int ledger_take(struct ledger *l, const struct choice *c, const struct owner *o,
		struct err *e) must_check;

/* ledger_release - the held address starts to rest at `since`. */
int ledger_release(struct ledger *l, const struct key_address *a, int64_t since,
		   struct err *e) must_check;

/* owner_json - add the parts of *o that are known to obj as "owner". -1: no memory. */
int owner_json(struct json *obj, const struct owner *o) must_check;

/* Short names for the store's calls. ledger_keep: the transaction must survive a power loss. */
void ledger_keep(struct ledger *l);
int ledger_get(struct ledger *l, const char *key, const char **value, struct err *e) must_check;
int ledger_del(struct ledger *l, const char *key, struct err *e) must_check;
int ledger_scan(struct ledger *l, const struct key *prefix, store_fn fn, void *arg,
		struct err *e) must_check;
int ledger_scan_from(struct ledger *l, struct store_span span, store_fn fn, void *arg,
		     struct err *e) must_check;
/* text is taken over; NULL means that printing it ran out of memory. */
int ledger_put(struct ledger *l, const char *key, char *text, struct err *e) must_check;

#endif
