/* SPDX-License-Identifier: Apache-2.0 */
/* driver_priv.h: the driver's state, for railheadd/drive only. */
#ifndef RAILHEAD_RAILHEADD_DRIVE_DRIVER_PRIV_H
#define RAILHEAD_RAILHEADD_DRIVE_DRIVER_PRIV_H

#include <sys/queue.h>

#include "cluster/protocol/agent.h"
#include "ipam/blocks/blocks.h"
#include "ipam/blocks/shared_pool.h"
#include "railheadd/drive/driver.h"
#include "railheadd/drive/follow.h"
#include "railheadd/drive/request.h"

struct event;

/* A shared pool on this node. The agent borrows from view, so that an entry is never moved. */
struct pool_entry {
	TAILQ_ENTRY(pool_entry) all;
	struct shared_pool_view view;
	struct json *definition;
	bool gone;  /* from the cluster; its last records here are not */
	bool ended; /* a need of it ended: result says how */
	enum need_result result;
};
TAILQ_HEAD(pool_entries, pool_entry);

/* A shared pool as the cluster store shows it. */
struct pool_seen {
	TAILQ_ENTRY(pool_seen) all;
	char name[CLUSTER_NAME_LEN], uid[CLUSTER_UID_LEN], created[CLUSTER_CREATED_LEN];
	struct ip_prefix subnet; /* family IP_NONE: none can be read */
	struct json *definition; /* owned */
	bool ending;
	bool listed;                   /* the list that runs has it */
	bool fresh;                    /* what it says has not reached the node yet */
	const struct pool_seen *rival; /* an older pool that it overlaps; NULL: none */
};
TAILQ_HEAD(pools_seen, pool_seen);

struct driver_need {
	TAILQ_ENTRY(driver_need) all;
	struct driver *driver;
	char pool[GRID_POOL_MAX + 1];
	uint64_t addresses;
	int64_t since;
	driver_need_fn fn;
	void *arg;
	struct event *timer;
	bool served, failed; /* and fn is called with it */
};
TAILQ_HEAD(driver_needs, driver_need);
TAILQ_HEAD(pool_changes, pool_change);
TAILQ_HEAD(node_forgets, node_forget);

struct driver {
	struct driver_conf conf;
	struct agent *agent;
	struct requests *requests; /* NULL: no cluster store */
	struct follow *pools_follow, *own_follow;
	struct cluster_selector pools_which, own_which;
	struct pool_entries pools;
	struct pools_seen seen;
	bool pools_known; /* a list of them was complete */
	bool own_skipped; /* blocks of this node, because their pool is not known */
	struct driver_needs needs;
	struct pool_changes changes;
	struct node_forgets forgets;
	struct presence *presence; /* NULL: no cluster store */
	struct event *tick;
	char boot[CTX_BOOT_ID_LEN + 1];
	char holder[HOLDER_LEN];
	char machine[64];          /* DMI UUID; "": not known */
	struct block_seen *listed; /* own blocks of the list that runs; owned */
	size_t n_listed;
	struct shared_pool_view reply_pool; /* owned; the pool in the present reply */
	bool reply_pool_set;
	bool contact; /* the last thing heard of the cluster store was an answer */
	int64_t contact_since;
	struct err why;     /* contact false: code 0: nothing was heard yet */
	struct err refused; /* the last refusal; code 0: there was none */
	int64_t refused_at;
	int64_t refused_said; /* when it was logged */
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

/*
 * driver_heard - of the cluster store; why NULL: an answer. driver_refused - an answer, too: it
 * refuses a call, because of rights, of credentials, or of its own limits.
 */
void driver_heard(struct driver *d, const struct err *why);
void driver_refused(struct driver *d, const struct err *why);
/* driver_add_contact - what was heard, for the status. -1: no memory. */
int driver_add_contact(struct driver *d, struct json *obj) must_check;

/* driver_random - for requests, pauses and tokens. */
uint64_t driver_random(void *arg);

/* driver_agent_ops - the calls of the agent, on the node's store; arg is the driver. */
extern const struct agent_ops driver_agent_ops;

/* pools_load - the pools of earlier runs. pools_find - by name; NULL: none. pools_free - all. */
int pools_load(struct driver *d, struct err *e) must_check;
struct pool_entry *pools_find(const struct driver *d, const char *name);
void pools_free(struct driver *d);
/* pools_sweep - delete pools that are gone, once their last record is. True: any was. */
bool pools_sweep(struct driver *d);
/* pools_rival - an older pool in the cluster that overlaps this one; NULL: none. */
const struct pool_seen *pools_rival(const struct driver *d, const struct pool_seen *p);
/* pool_seen_read - *out borrows its definition from the object. */
void pool_seen_read(const struct cluster_object *o, struct pool_seen *out);
/* pools_follow_fns, own_follow_fns - what becomes of objects that are listed and watched. */
extern const struct follow_fns pools_follow_fns, own_follow_fns;

/*
 * needs_serve - tell those who wait and can be served. needs_fail - tell all others of a pool.
 * needs_fail_unknown - those of pools that are not there. needs_tell - tell the agent how much is
 * waited for; true: something is. needs_free - forget all.
 */
void needs_serve(struct driver *d);
void needs_fail(struct driver *d, const char *pool, enum need_result result);
void needs_fail_unknown(struct driver *d);
bool needs_tell(struct driver *d, const char *pool);
void needs_free(struct driver *d);

/*
 * presence_new - write the object of this node now and when it differs from *node, which is copied.
 * An operator's statement that the machine is off goes with that. presence_free - end; a write that
 * was sent may be executed. NULL is fine.
 */
int presence_new(struct driver *d, const struct cluster_node *node, struct presence **out,
		 struct err *e) must_check;
void presence_free(struct presence *p);

/* pool_changes_free, node_forgets_free - cancel all. */
void pool_changes_free(struct driver *d);
void node_forgets_free(struct driver *d);

#endif
