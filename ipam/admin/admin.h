/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admin.h: pools and leases for an operator: the functions behind `railctl ipam`.
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
	bool refuse_whole;             /* refuse a whole subnet without thisNodeOnly */
	uint64_t outside;              /* output: leases that the new definition does not cover */
};

/*
 * admin_pool_put - add or change a pool. ERR_CONFIG, ERR_DECODE: the definition is wrong. ERR_BUSY:
 * the name exists (add), or addresses overlap with those of another pool, which the message names.
 * ERR_NOTFOUND: the pool does not exist (set).
 */
int admin_pool_put(struct ipam *m, struct admin_pool *p, struct err *e) must_check;

/*
 * admin_pool_delete - delete the definition and all records of its addresses. ERR_NOTFOUND;
 * ERR_BUSY: leases are held, and force is false. journal: see ipam_job.
 */
struct admin_delete {
	const char *name;
	bool force;
};
int admin_pool_delete(struct ipam *m, const struct admin_delete *d, struct json **journal,
		      struct err *e) must_check;

/*
 * admin_pools - one pool, or all in order of names (name NULL). ERR_NOTFOUND: it does not exist.
 *	[{"name", "definition": {...}, "used", "resting", "capacity"}]
 * capacity is a number up to 2^53, and a decimal string above that. If the definition is damaged,
 * there is "error" instead.
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
 * "scope" is a text for users ("pool rail0", "network n"). Unknown values are left out. stale: the
 * lease is from an earlier boot; the next ADD or DEL releases it.
 */
int admin_leases(struct ipam *m, const struct lease_filter *f, struct json **out,
		 struct err *e) must_check;

/* admin_release - release the held leases that match; *n is their number. ERR_CONFIG: f is empty.
 */
int admin_release(struct ipam *m, const struct lease_filter *f, uint64_t *n, struct json **journal,
		  struct err *e) must_check;

#endif
