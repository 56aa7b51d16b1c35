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

enum admin_done { ADMIN_ADDED, ADMIN_CHANGED, ADMIN_UNCHANGED };

struct admin_pool {
	const char *name;
	const struct json *definition; /* see ipam/conf/pool.h */
	bool replace;                  /* false: `pool add`, true: `pool set` */
	bool apply;                    /* `pool apply`: add or change, with all checks */
	bool refuse_whole;    /* refuse a whole subnet without thisNodeOnly or slices, and blocks */
	bool force;           /* allow what only the operator can know to be safe, see below */
	uint64_t outside;     /* output: leases that the new definition does not cover */
	bool no_number;       /* output: it has slices, and this node has no number yet */
	enum admin_done done; /* output */
};

/*
 * admin_pools_put - add or change n pools in one transaction: all or none. ERR_CONFIG, ERR_DECODE:
 * a definition is wrong, or this node's number does not fit. ERR_NOTFOUND: the pool does not exist
 * (set), or one has blocks, with refuse_whole. ERR_BUSY:
 *
 * - The name exists (add), or is that of a pool of the cluster.
 * - Addresses overlap with those of another pool, which is named. Or a lease of another pool has
 * one of them, because that pool had it before. It is never forced.
 * - Leases of this node are in the slice of another node by the new definition. It is never forced.
 * - With apply and without force: the definition does not cover leases, which are named.
 * - Without force: slices begin, change their grid or end, and this node gets addresses that it did
 *   not have. Another node can still have leases there.
 *
 * admin_pool_put - the same for one pool.
 */
int admin_pools_put(struct ipam *m, struct admin_pool *pools, size_t n, struct err *e) must_check;
int admin_pool_put(struct ipam *m, struct admin_pool *p, struct err *e) must_check;

/*
 * admin_slices - the first n slices of a pool with this definition; n 0: all.
 *	[{"number", "first", "last", "addresses"}]
 * ERR_CONFIG: the pool has no slices, or not so many, or more than ADMIN_SLICES_MAX.
 */
#define ADMIN_SLICES_MAX 65536
struct admin_slices {
	const char *name;
	const struct json *definition;
	uint64_t n;
};
int admin_slices(const struct admin_slices *s, struct json **out, struct err *e) must_check;

/*
 * admin_blocks - the records of blocks of this node, of one pool or of all (pool NULL).
 *	[{"pool", "first", "last", "state", "assigns", "probe", "addresses", "used",
 *	  "lent": [{"address", "node", "taken"}], "loan", "lender"}]
 * assigns: an ADD may take an address of it now. loan: it is one. ERR_NOTFOUND: no such pool.
 */
int admin_blocks(struct ipam *m, const char *pool, struct json **out, struct err *e) must_check;

/*
 * admin_conflicts - blocks of this node that are contested or lost, with the pods that hold an
 * address in them:
 *	[{"pool", "first", "last", "block", "state", "since", "pods": [{"namespace", "pod",
 *	  "uid", "interface", "container", "address"}], "podCount"}]
 * block: of the loan of one address, the start of its block; absent: it is a block. Unknown values
 * are left out. At most so many blocks, and so many pods by name.
 */
#define ADMIN_CONFLICTS_MAX     1024
#define ADMIN_CONFLICT_PODS_MAX 1024
int admin_conflicts(struct ipam *m, struct json **out, struct err *e) must_check;

/*
 * admin_reserved - addresses of shared pools that the cluster reserves while pods of this node have
 * them, by ranges:
 *	[{"pool", "first", "last", "pods": as above, "podCount"}]
 * A pod keeps such an address. At most so many ranges and pods.
 */
int admin_reserved(struct ipam *m, struct json **out, struct err *e) must_check;

/* admin_add_count - add n to an object: a number up to 2^53, a decimal string above that. */
int admin_add_count(struct json *o, const char *key, u128 n) must_check;

/*
 * admin_pool_delete - delete the definition and all records of its addresses. ERR_NOTFOUND;
 * ERR_BUSY: leases are held, or it is a pool of the cluster, and force is false; or it has blocks.
 * journal: see ipam_job.
 */
struct admin_delete {
	const char *name;
	bool force;
};
int admin_pool_delete(struct ipam *m, const struct admin_delete *d, struct json **journal,
		      struct err *e) must_check;

/*
 * admin_pools - one pool, or all in order of names (name NULL). ERR_NOTFOUND: it does not exist.
 *	[{"name", "definition": {...}, "from", "used", "resting", "capacity"}]
 * from: "node", or "cluster" if the node agent put the pool. Then there is "generation", and
 * "reserved": how many of its addresses the cluster reserves ("clusterReserved"). capacity is a
 * number up to 2^53, and a decimal string above that. With slices, it is that of this node's
 *	"slice": {"number", "first", "last", "slices", "leasesOutside", "leasesInOtherSlices"}
 * or, if the node has none, there is "slice": {"error"} and no capacity. With blocks, there is
 *	"blocks": {"granted", "others", "lent", "borrowed", "uid"}
 * others: blocks that it wants, returns or lost. lent, borrowed: addresses. capacity is that of the
 * granted blocks without lent and with borrowed addresses. No uid: the node agent did not put the
 * pool. If the definition is damaged, there is "error" instead.
 */
int admin_pools(struct ipam *m, const char *name, struct json **out, struct err *e) must_check;

/* admin_networks - the same for addresses without a pool: [{"network": "...", "used", "resting"}].
 */
int admin_networks(struct ipam *m, struct json **out, struct err *e) must_check;

/*
 * admin_namespaces - leases of pools by the namespace of their pod, in order of pools and names:
 *	[{"pool", "namespace", "used", "resting"}]
 * Pods without a namespace have "". pool NULL: all pools. At most ADMIN_NAMESPACES_MAX pairs.
 */
#define ADMIN_NAMESPACES_MAX 65536
int admin_namespaces(struct ipam *m, const char *pool, struct json **out, struct err *e) must_check;

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
