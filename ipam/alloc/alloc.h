/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h: each command on the lease database: read, decide, write, in one transaction.
 *
 * Several addresses are one decision: all are chosen before the first is taken, and all are taken
 * or none.
 */
#ifndef RAILHEAD_IPAM_ALLOC_ALLOC_H
#define RAILHEAD_IPAM_ALLOC_ALLOC_H

#include "ipam/conf/conf.h"
#include "ipam/alloc/request.h"
#include "ipam/lease/session.h"

struct grant {
	struct ip ip;
	const struct source *source; /* lives as long as the result */
};

struct alloc_result {
	struct grant grants[SOURCE_SETS_MAX]; /* in the order of the configuration's sets */
	size_t n;
	bool repeated;            /* the owner had them already */
	struct source_sets pools; /* owned: what grants of named pools point into */
};
void alloc_result_clear(struct alloc_result *r);
#define auto_alloc auto_clean(alloc_result_clear)

struct alloc_add {
	const struct ipam_conf *conf; /* must live longer than the result */
	const struct request *request;
	bool one_per_family; /* cniVersion below 0.3.0 cannot say more (CNI-131) */
};

/*
 * alloc_add - one address from each set for the request's owner; the same ones again for an owner
 * that has them already. ERR_EXHAUSTED, ERR_FORBIDDEN (policy of a pool), ERR_BUSY (a requested
 * address is taken; the owner's lease does not fit the configuration), ERR_CONFIG, ERR_STORE.
 * journal: see ipam_job.
 */
int alloc_add(struct ipam *m, const struct alloc_add *add, struct alloc_result *out,
	      struct json **journal, struct err *e) must_check;

/*
 * alloc_pools - the pools that conf names, in a transaction: one set a family, in the order in
 * which they are written. ERR_CONFIG when one does not exist.
 */
int alloc_pools(struct lease_db *l, const struct ipam_conf *conf, struct source_sets *out,
		struct err *e) must_check;

/* alloc_del - release what the owner has; nothing is fine. */
int alloc_del(struct ipam *m, const struct owner *o, struct json **journal,
	      struct err *e) must_check;

/*
 * alloc_del_conflict - the same. Another host uses the addresses in conflict[]. They rest for
 * LEASE_DB_CONFLICT_NS at least, and are not assigned as a sticky address until then.
 */
struct alloc_del {
	const struct owner *owner;
	const struct ip *conflict;
	size_t n_conflict;
};
int alloc_del_conflict(struct ipam *m, const struct alloc_del *del, struct json **journal,
		       struct err *e) must_check;

/*
 * alloc_check - the owner's leases exist, are of this boot, and each is among the n addresses in
 * shown[] (NULL: not compared). ERR_STATE saying what differs.
 */
struct alloc_check {
	const struct owner *owner;
	const struct ip *shown;
	size_t n;
};
int alloc_check(struct ipam *m, const struct alloc_check *check, struct err *e) must_check;

/*
 * alloc_status - can the store be used, and does every pool exist? That no address is left is
 * ERR_UNAVAILABLE only with conf->status_when_full: kubelet evicts the pods of a node that is not
 * ready, the healthy ones too.
 */
int alloc_status(struct ipam *m, const struct ipam_conf *conf, struct err *e) must_check;

/*
 * alloc_gc - release every lease of network for whose container and interface keep() says false,
 * unless the attachment has a record and may live: whoever removes that releases the lease.
 * Goes on after damaged records and returns the first error at the end.
 */
struct alloc_gc {
	const char *network;
	bool (*keep)(const char *container, const char *ifname, const void *arg);
	const void *arg;
};
int alloc_gc(struct ipam *m, const struct alloc_gc *gc, struct json **journal,
	     struct err *e) must_check;

#endif
