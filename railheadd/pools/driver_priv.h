/* SPDX-License-Identifier: Apache-2.0 */
/* driver_priv.h: the driver's state, for railheadd/pools only. */
#ifndef RAILHEAD_RAILHEADD_POOLS_DRIVER_PRIV_H
#define RAILHEAD_RAILHEADD_POOLS_DRIVER_PRIV_H

#include <sys/queue.h>

#include "cluster/protocol/agent.h"
#include "ipam/lease/adopt.h"
#include "ipam/lease/blocks.h"
#include "ipam/lease/shared_pool.h"
#include "ipam/conf/range_list.h"
#include "railheadd/pools/ask.h"
#include "railheadd/pools/driver.h"
#include "railheadd/pools/follow.h"
#include "railheadd/pools/seen.h"
#include "railheadd/pools/request.h"
#include "railheadd/pools/node_labels.h"
#include "railheadd/pools/number_twins.h"

/* A shared pool on this node. The agent borrows from view, so that an entry is never moved. */
struct pool_entry {
	TAILQ_ENTRY(pool_entry) all;
	struct shared_pool_view view;
	struct json *definition;
	int64_t generation;
	bool gone;  /* from the cluster; its last records here are not */
	bool ended; /* a need of it ended: result says how */
	enum need_result result;
	bool counted;   /* spare is what the node's store had in this event */
	uint64_t spare; /* addresses that the pool can assign */
};
TAILQ_HEAD(pool_entries, pool_entry);

TAILQ_HEAD(driver_needs, driver_need);

/* What the cluster store answers: heard.c. */
struct heard {
	bool contact; /* the last thing heard of the cluster store was an answer */
	int64_t since;
	uint64_t answered, refusals, unanswered; /* calls, since the start */
	struct err why; /* of the last call without an answer, at why_at; code 0: there was none */
	struct err refused; /* the last refusal; code 0: there was none */
	int64_t refused_at, why_at;
	bool refusing;        /* nothing was executed since then */
	int64_t refused_said; /* when it was logged */
};

/* The blocks in the name of this node in the cluster store: own.c. */
struct own {
	struct follow *follow;
	struct cluster_selector which;
	bool skipped;              /* some, because their pool is not known */
	struct block_seen *listed; /* of the list that runs; owned */
	size_t n_listed;
	struct cluster_call *copies_call; /* that looks for wrong copies of them */
	struct timer *copies_due;         /* NULL: the store keeps none, or not yet */
};

struct driver {
	struct driver_conf conf;
	struct node_labels labels;
	struct agent *agent;
	struct requests *requests; /* NULL: no cluster store */
	struct heard heard;
	struct own own;
	struct follow *pools_follow;
	struct cluster_selector pools_which;
	struct pool_entries pools;
	struct pools_seen seen;
	bool pools_listed; /* a list of them was complete */
	bool pools_known;  /* and it is known which addresses of them are reserved */
	struct {
		struct ranges ranges; /* in the cluster, as far as it is known */
		struct node_pool of;  /* the object that says so; name "": none is reported */
		bool known;
	} reserved;
	struct {
		struct cluster_call *call; /* the list of all blocks that runs */
		struct timer *due;         /* begins the next one; NULL: there was none yet */
	} looks;
	struct driver_needs needs;
	struct asks asks;
	struct conflict_report *report; /* NULL: no cluster store */
	struct presence *presence;      /* NULL: no cluster store */
	struct number_twins *twins;     /* NULL: no cluster store */
	struct events *events;          /* NULL: no cluster store, or one without events */
	struct timer *tick;
	bool in_event; /* counts of spare addresses are kept */
	char boot[CTX_BOOT_ID_LEN + 1];
	char holder[HOLDER_LEN];
	char machine[64];                   /* DMI UUID; "": not known */
	struct shared_pool_view reply_pool; /* owned; the pool in the present reply */
	bool reply_pool_set;
	struct err fatal;
};

/*
 * driver_event - after each event for the agent: do what is due, tell who waits. driver_soon - the
 * same, from the loop.
 */
void driver_event(struct driver *d);
void driver_soon(struct driver *d);

/* driver_pools_known - the list of pools is complete: only now can names of blocks be read. */
void driver_pools_known(struct driver *d);

/* driver_heard - of the cluster store; why NULL: an answer, perhaps a refusal. */
void driver_heard(struct driver *d, const struct err *why);
/* driver_follow_contact, driver_follow_refusal - the same two for follow_fns. */
void driver_follow_contact(void *arg, const struct err *why);
void driver_follow_refusal(void *arg, const struct err *why);

/* driver_agent_ops - the calls of the agent, on the node's store; arg is the driver. */
extern const struct agent_ops driver_agent_ops;

/* pools_load - the pools of earlier runs. pools_find - by name; NULL: none. pools_free - all. */
int pools_load(struct driver *d, struct err *e) must_check;
struct pool_entry *pools_find(const struct driver *d, const char *name);
void pools_free(struct driver *d);
/*
 * pool_replace - the entry of a definition that the node's store has. pool_take_over - both. If the
 * definition is refused, the old entry is replaced by one with the addresses that are reserved now.
 */
int pool_replace(struct driver *d, const struct shared_pool_def *def, bool ending,
		 struct err *e) must_check;
int pool_take_over(struct driver *d, struct pool_seen *s, struct err *e) must_check;
/* pools_sweep - delete pools that are gone, once their last record is. True: any was. */
bool pools_sweep(struct driver *d);
/* pools_rival - an older pool in the cluster that overlaps this one; NULL: none. */
const struct pool_seen *pools_rival(const struct driver *d, const struct pool_seen *p);
/* pools_seen_find - a pool that the cluster has, used or not, by name; NULL: none. */
const struct pool_seen *pools_seen_find(const struct driver *d, const char *name);
/* pools_retry - what the node's store failed to do. When to call it next, ns; INT64_MAX: never. */
int64_t pools_retry(struct driver *d, int64_t now);
/* pools_follow_fns - what becomes of objects that are listed and watched. */
extern const struct follow_fns pools_follow_fns;
/* own_begin - follow the blocks of this node; once. own_end - no more; before or after it began. */
int own_begin(struct driver *d, struct err *e) must_check;
void own_end(struct driver *d);

/*
 * needs_want - tell the agent which blocks are waited for. needs_serve - tell those who wait and
 * can be served. needs_fail - tell all others of a pool. needs_fail_unknown - those of pools that
 * are not there. needs_tell - tell the agent how much is waited for; true: something is. needs_free
 * - forget all.
 */
void needs_want(struct driver *d);
void needs_serve(struct driver *d);
void needs_fail(struct driver *d, const char *pool, enum need_result result);
void needs_fail_unknown(struct driver *d);
bool needs_tell(struct driver *d, const char *pool);
void needs_free(struct driver *d);

#endif
