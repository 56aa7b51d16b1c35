/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h: the commands on the lease database. Each one reads, decides and writes in one
 * transaction.
 *
 * If an ADD needs several addresses, all are chosen before the first one is assigned. It assigns
 * all or none.
 */
#ifndef RAILHEAD_IPAM_ALLOC_ALLOC_H
#define RAILHEAD_IPAM_ALLOC_ALLOC_H

#include "ipam/alloc/agent_need.h"
#include "ipam/conf/conf.h"
#include "ipam/alloc/overlap.h"
#include "ipam/alloc/request.h"
#include "ipam/lease/session.h"

struct grant {
	struct ip ip;
	const struct source
		*source; /* borrowed from the configuration or from the result's pools */
	bool probe;      /* the caller probes the address before it uses it */
};

struct alloc_result {
	struct grant grants[SOURCE_SETS_MAX]; /* in the order of the configuration's sets */
	size_t n;
	bool repeated;            /* the owner had them already */
	struct source_sets pools; /* owned: the sources of named pools */
};

/* alloc_result_clear - free what r owns; r becomes empty. */
void alloc_result_clear(struct alloc_result *r);
#define auto_alloc auto_clean(alloc_result_clear)

#define ALLOC_NEED_MS     20000 /* so long an ADD waits for the node agent */
#define ALLOC_NEED_TRIES  64    /* so often other ADDs may be quicker, for one set */
#define ALLOC_BLOCK_TRIES 4     /* so often a block may go away again before it is used */

/*
 * Ask the node agent for addresses of a shared pool, and wait for them at most need->wait_ms. 0:
 * try again. An error says why there are none.
 */
typedef int (*alloc_need_fn)(const struct ctx *ctx, const struct agent_need *need, struct err *e);

/*
 * The same for the block of one certain address. ERR_BUSY: another node has the block, and the
 * message names it.
 */
typedef int (*alloc_need_address_fn)(const struct ctx *ctx, const char *pool, struct ip ip,
				     int64_t wait_ms, struct err *e);

struct alloc_add {
	const struct ipam_conf *conf; /* must live longer than the result */
	const struct request *request;
	bool one_per_family; /* results of cniVersion below 0.3.0 have one of each (CNI-131) */
	alloc_need_fn need;  /* called between two transactions; NULL: nobody is asked */
	alloc_need_address_fn need_address; /* the same, for a requested address */
	bool probes; /* the caller probes marked addresses. Without it they are not assigned */
	overlap_node_fn node; /* see overlap.h; NULL: addresses of the node are assigned, too */
};

/*
 * alloc_add - assign one address from each set to the request's owner. An owner that has its
 * addresses already gets the same ones. ERR_EXHAUSTED; ERR_FORBIDDEN: the policy of a pool;
 * ERR_BUSY: a requested address is in use, or the owner's lease does not fit the configuration;
 * ERR_CONFIG; ERR_STORE; ERR_AGAIN: blocks are not confirmed. If no block of this node has a free
 * address, or a pool is not known here, it calls add->need(). It tries again, at most for
 * ALLOC_NEED_MS. If the block of a requested address is not of this node, it calls
 * add->need_address(). journal: see ipam_job. The caller clears *out.
 */
int alloc_add(struct ipam *m, const struct alloc_add *add, struct alloc_result *out,
	      struct json **journal, struct err *e) must_check;

/*
 * alloc_pools - read the pools that conf names, in a transaction: one set for each family (and
 * group), in the order of the configuration. With conf->master only pools whose subnet has one of
 * its addresses. ERR_CONFIG: a pool does not exist, whose name is in missing (KEY_NAME_MAX + 1
 * bytes; NULL: it is not asked for), or the pools of a family have no subnet of the master. The
 * caller clears *out.
 */
int alloc_pools(struct lease_db *l, const struct ipam_conf *conf, struct source_sets *out,
		char *missing, struct err *e) must_check;

/* alloc_describe - the source and how much it has, for people. Its length, as snprintf() has it. */
size_t alloc_describe(const struct source *s, char *out, size_t size);

/* alloc_del - release all addresses of the owner; none is success. */
int alloc_del(struct ipam *m, const struct owner *o, struct json **journal,
	      struct err *e) must_check;

/*
 * alloc_del_conflict - the same, but another host uses the addresses in conflict[]. They rest for
 * at least LEASE_DB_CONFLICT_NS, and are not assigned as a sticky address until then.
 */
struct alloc_del {
	const struct owner *owner;
	const struct ip *conflict;
	size_t n_conflict;
	bool guid_too; /* release also the GUID of the owner's interface */
};
int alloc_del_conflict(struct ipam *m, const struct alloc_del *del, struct json **journal,
		       struct err *e) must_check;

/*
 * alloc_probed - the owner's addresses were probed, and no host has them: the marks of their leases
 * go. An owner without such a lease is success.
 */
int alloc_probed(struct ipam *m, const struct owner *o, struct err *e) must_check;

/*
 * alloc_check - check that the owner's leases exist, that they are of this boot, and that each one
 * is among the n addresses in shown[] (NULL: not compared). ERR_STATE: the message says what
 * differs.
 */
struct alloc_check {
	const struct owner *owner;
	const struct ip *shown;
	size_t n;
};
int alloc_check(struct ipam *m, const struct alloc_check *check, struct err *e) must_check;

/*
 * alloc_status - check that the store can be used, and that every pool exists. If no address is
 * left, that is ERR_UNAVAILABLE only with conf->status_when_full: on a node that is not ready the
 * kubelet evicts all pods, also the healthy ones. need: says why a pool is not here (yet), which is
 * ERR_UNAVAILABLE if it may come; NULL: nobody is asked.
 */
int alloc_status(struct ipam *m, const struct ipam_conf *conf, alloc_need_fn need,
		 struct err *e) must_check;

/*
 * alloc_gc - release every lease of network whose container and interface keep() rejects. A lease
 * stays if its attachment has a record and may live: the program that removes the record releases
 * it. After damaged records the function continues, and returns the first error at the end.
 */
struct alloc_gc {
	const char *network;
	bool (*keep)(const char *container, const char *ifname, const void *arg);
	const void *arg;
};
int alloc_gc(struct ipam *m, const struct alloc_gc *gc, struct json **journal,
	     struct err *e) must_check;

#endif
