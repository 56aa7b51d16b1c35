/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.h: what an operator does to pools and leases: the calls behind `railctl ipam`.
 *
 * Lists are JSON arrays, freed by the caller: `--json` prints them unchanged, tables read their
 * members. Every call is one transaction. To verify and repair the store: ipam/lease/verify.h.
 */
#ifndef RAILHEAD_IPAM_ADMIN_ADMIN_H
#define RAILHEAD_IPAM_ADMIN_ADMIN_H

#include "ipam/lease/session.h"

struct admin_pool {
	const char *name;
	const struct json *definition; /* see ipam/conf/pool.h */
	bool replace;                  /* false: `pool add`, true: `pool set` */
	bool say_whose;   /* refuse a whole subnet that is not said to be this node's */
	uint64_t outside; /* output: leases that the new definition does not cover */
};

/*
 * admin_pool_put - ERR_CONFIG, ERR_DECODE for a bad definition. ERR_BUSY when the name exists (add)
 * or the addresses overlap with those of another pool, which is named. ERR_NOTFOUND when the pool
 * does not exist (set).
 */
int admin_pool_put(struct ipam *m, struct admin_pool *p, struct err *e) must_check;

/*
 * admin_pool_delete - the definition, and with it all that is known of its addresses. ERR_NOTFOUND;
 * ERR_BUSY while leases are held, unless force. journal: see ipam_job.
 */
struct admin_delete {
	const char *name;
	bool force;
};
int admin_pool_delete(struct ipam *m, const struct admin_delete *d, struct json **journal,
		      struct err *e) must_check;

/*
 * admin_pools - name NULL: all, in order of names; ERR_NOTFOUND when name does not exist.
 *	[{"name", "definition": {...}, "used", "resting", "capacity"}]
 * capacity is a number up to 2^53 and a decimal string above that; "error" stands instead of it
 * when the definition cannot be read.
 */
int admin_pools(struct ipam *m, const char *name, struct json **out, struct err *e) must_check;

/* admin_networks - the same for addresses without a pool: [{"network": "...", "used", "resting"}].
 */
int admin_networks(struct ipam *m, struct json **out, struct err *e) must_check;

/* NULL and family IP_NONE match everything; the rest must be equal. */
struct lease_filter {
	const char *pool, *network, *container, *ifname, *ns, *pod;
	struct ip address;
	bool resting; /* also those at rest */
};

/*
 * admin_leases - in order of pool and address:
 *	[{"address", "scope", "pool", "state": "leased"|"resting"|"stale", "network", "container",
 *	  "ifname", "namespace", "pod", "uid", "node", "since"}]
 * "scope" is text for people ("pool rail0", "network n"); keys that are not known are left out.
 * stale: of an earlier boot; the next ADD or DEL releases it.
 */
int admin_leases(struct ipam *m, const struct lease_filter *f, struct json **out,
		 struct err *e) must_check;

/* admin_release - release the held leases that match; *n is how many. ERR_CONFIG for an empty
 * filter. */
int admin_release(struct ipam *m, const struct lease_filter *f, uint64_t *n, struct json **journal,
		  struct err *e) must_check;

#endif
