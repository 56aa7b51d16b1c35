/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h: tells people in the cluster what became of their pods, pools and of this node.
 *
 * An event is queued, and sent from the loop, one after the other. All nodes make one Event of what
 * they say alike about a pool or a job. Nothing waits for it and nothing
 * fails with it: an event that cannot be sent is counted, and stands in the log of its caller.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_EVENTS_H
#define RAILHEAD_RAILHEADD_POOLS_EVENTS_H

#include "cluster/store/cluster_store.h"
#include "lib/base/ctx.h"

struct event_base;
struct events;

/* The words of Kubernetes are in events.c; railheadd(8) explains them. */
enum event_reason {
	EVENT_ADDRESS_CONFLICT, /* of a pod: another node has its block */
	EVENT_BLOCK_LOST,       /* of the node */
	EVENT_NODE_CUT_OFF,     /* of the node: the store answers again */
	EVENT_REPAIRED,         /* its pod is gone; about the node if the pod is not known */
	EVENT_REPAIR_FAILED,
	EVENT_PLUGIN_LOST, /* of the node: its CNI folder has another file, or none */
	EVENT_PLUGIN_RESTORED,
	EVENT_RAIL_DEGRADED, /* of the node: one check of one rail */
	EVENT_RAIL_RECOVERED,
	EVENT_RDMA_NOT_USED, /* of a job: the first of its pods in a look, the key on all nodes */
	EVENT_POOL_REFUSED,  /* of the RailPool: this node does not take over a generation */
};

/* The object of an event. Texts are never NULL. pod "": the node; of EVENT_POOL_REFUSED: the pool.
 */
struct event_about {
	enum event_reason reason;
	const char *namespace, *pod, *uid; /* uid "": not known */
	/* Two events of one reason, pod and key are one: the second is not sent for 10 minutes. The
	 * pod of EVENT_RDMA_NOT_USED does not count, but its namespace does. */
	const char *key;
	bool again; /* an earlier call of it was false, and was counted */
};

/* All borrowed. */
struct events_conf {
	const struct ctx *ctx;
	struct event_base *base;
	struct cluster_store *store;
	const char *node;
	int64_t retry;         /* before an event without an answer is sent again, ns; it grows */
	int64_t (*mono)(void); /* the clock of the limits, ms; NULL: ctx_mono_ms() */
};

/*
 * events_new - *out is NULL if the store has no events. ERR_NOMEM. events_free - before the store
 * is closed; what is queued is dropped. NULL is fine.
 */
int events_new(const struct events_conf *conf, struct events **out, struct err *e) must_check;
void events_free(struct events *v);

/*
 * events_tell - with a sentence for people. v NULL: nothing happens. False: the same one was sent a
 * short time ago, or too many were; the caller may tell it later. Those of rails have limits of
 * their own, because all cards of a node may lose their links at once.
 */
bool events_tell(struct events *v, const struct event_about *about, const char *fmt, ...)
	printf_like(3, 4);

/*
 * events_on_lost - call fn for each event that was queued and not sent: the store refused it, or
 * did not answer. From the loop; NULL ends it. v NULL: nothing happens.
 */
typedef void (*events_lost_fn)(void *arg, enum event_reason reason, const char *key);
void events_on_lost(struct events *v, events_lost_fn fn, void *arg);

/* Since the start of the agent. dropped: too many at a time. failed: refused, or no answer. */
struct events_counts {
	uint64_t told, repeated, dropped, failed;
};
/* events_add_status - add "events" with these counts to obj; v NULL: nothing. -1: no memory. */
int events_add_status(const struct events *v, struct json *obj) must_check;

#endif
