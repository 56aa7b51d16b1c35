/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h: runs the protocol of cluster/protocol: its requests go to the cluster store, its
 * records to the store of this node, and its time is that of the event loop.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_DRIVER_H
#define RAILHEAD_RAILHEADD_POOLS_DRIVER_H

#include "cluster/store/cluster_store.h"
#include "ipam/block/object.h"
#include "lib/base/ctx.h"
#include "lib/base/ip.h"

struct driver;
struct event_base;
struct events;
struct ipam;
struct node_pool;
struct ranges;

/* Everything but the store is borrowed. */
struct driver_conf {
	const struct ctx *ctx;
	struct event_base *base;
	/* Taken over, also on failure. NULL: none; the shared pools of earlier runs are kept. */
	struct cluster_store *store;
	struct ipam *ipam;
	const char *node;
	int64_t hold, renew, retry; /* ns, see struct agent_settings */
	bool strict;
	bool reserves; /* pools are used only once driver_reserved() was called */
};

/*
 * driver_new - begin with what the node's store has. ERR_STORE, ERR_NOMEM. driver_free - end, and
 * close the cluster store. What was sent may still be executed: the next driver finds out.
 */
int driver_new(const struct driver_conf *conf, struct driver **out, struct err *e) must_check;
void driver_free(struct driver *d);

/*
 * driver_need - an ADD waits for `addresses` of a pool, or for the block of one address, at most
 * wait_ms. fn is called once, from the loop: why NULL: the node has got addresses. ERR_NOTFOUND:
 * the list of pools is known, and this node can use none of this name. ERR_EXHAUSTED: the pool is
 * full. ERR_BUSY: another node has the block of the address, and the message names it. ERR_AGAIN:
 * the cluster store is away, refuses, or gave none in time, or the pod lives elsewhere. NULL: no
 * memory. driver_need_cancel - nothing is reported any more.
 */
struct driver_need;
typedef void (*driver_need_fn)(void *arg, const struct err *why);
struct driver_need_ask {
	const char *pool;
	const char *identity; /* of the pod, if the pool's addresses move; NULL: of any */
	uint32_t addresses;
	int64_t wait_ms;
	struct ip ip;  /* IP_NONE: any addresses */
	bool migrates; /* the pod of the identity starts beside its source */
};
struct driver_need *driver_need(struct driver *d, const struct driver_need_ask *ask,
				driver_need_fn fn, void *arg);
void driver_need_cancel(struct driver_need *n);

/*
 * driver_look - from the loop, look whether the pools have enough addresses, and which labels the
 * node has: a pod has come or gone. The driver looks 20 ms later, or at once if an ADD waits.
 * However often this is called in between, it looks once. Without it, it looks every 10 s.
 */
void driver_look(struct driver *d);

/*
 * driver_labels - the labels of this node's Node in Kubernetes are these: they go to the store of
 * the node, where an ADD reads them, and pools that they decide about are compared. If they cannot
 * be kept, the log says so, and the old ones stay.
 */
void driver_labels(struct driver *d, const struct json *labels);

/*
 * driver_rails - an array that is taken over, and becomes the member "rails" of the object of this
 * node. An empty one removes the member. Before the first call, the member of an earlier agent
 * stays. NULL: no memory, and nothing changes.
 */
void driver_rails(struct driver *d, struct json *rails);

/*
 * driver_reserved - no pool of the cluster assigns these addresses from now on; pods that have one
 * keep it. They are copied, and kept with each pool in the store of the node. NULL: the cluster
 * store does not know; what the pools of this node have of it counts, also for new pools. of: the
 * object that says so, for the report of this node; waits: why the present object does not count.
 * NULL: nothing is reported.
 */
void driver_reserved(struct driver *d, const struct ranges *reserved, const struct node_pool *of);

/*
 * driver_assigns - 1: a shared pool of the cluster has the address among those that it may assign,
 * whatever the cluster reserves; 0: none has; -1: the pools are not known yet.
 */
int driver_assigns(const struct driver *d, struct ip ip);

/* driver_is_twin - another machine has the name of this node, so its objects may be that one's. */
bool driver_is_twin(const struct driver *d);

/* driver_refused - the cluster store refuses a call, because of rights, credentials or limits. */
void driver_refused(struct driver *d, const struct err *why);

/* driver_random - 64 random bits, for requests, pauses and tokens; arg is not used. */
uint64_t driver_random(void *arg);

/* driver_pool_report - what the node says about a pool of the cluster; arg is the driver. False: it
 * has not seen it. */
bool driver_pool_report(const void *arg, const char *pool, struct node_pool *out);

/* driver_events - of this node, until driver_free(); NULL: the cluster store has no events. */
struct events *driver_events(const struct driver *d);

/*
 * driver_status - add to obj: node, store, contact, contactSeconds, why (unless there is contact),
 * health, conflicts: blocks and pools (numbers), and pools: name, uid, deleted, spare, warm.
 * A pool that gives nothing has instead of the last two the older pool in conflict, what it waits
 * for, or elsewhere: it is for other nodes. refused: why its present generation is not taken over;
 * with spare the old definition still holds. heard counts what came of requests, events what came
 * of events. See railctl(8), cluster status. ERR_NOMEM.
 */
int driver_status(struct driver *d, struct json *obj, struct err *e) must_check;

/*
 * driver_failed - why the driver cannot go on; NULL: it can. The loop is left then, and the program
 * must end: what it knows may be less than what it did.
 */
const struct err *driver_failed(const struct driver *d);

#endif
