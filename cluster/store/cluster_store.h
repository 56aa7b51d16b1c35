/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_store.h: the table of calls behind which Kubernetes and etcd are.
 *
 * All calls are asynchronous: they return at once and report later from the event loop that the
 * store was opened with, exactly once. A call that cannot even be sent reports like one that
 * failed. Nothing in this table waits, and nothing in it repeats a write by itself: a write that
 * timed out may be executed later, and only the caller knows what that means.
 */
#ifndef RAILHEAD_CLUSTER_STORE_CLUSTER_STORE_H
#define RAILHEAD_CLUSTER_STORE_CLUSTER_STORE_H

#include "cluster/store/cluster_event.h"
#include "cluster/store/cluster_object.h"
#include "lib/base/err.h"

/* How a call ended. */
enum cluster_outcome {
	CLUSTER_OK,
	CLUSTER_NOT_FOUND, /* no such object; of an update or a deletion: none with this uid */
	CLUSTER_EXISTS,    /* create: an object has this name */
	CLUSTER_CONFLICT,  /* update, delete: the object has another version */
	CLUSTER_EXPIRED,   /* list, watch: the revision is too old, list again */
	CLUSTER_REFUSED,   /* forbidden, invalid or full: certainly not executed; err says why */
	CLUSTER_AWAY,      /* no usable answer: a write may be executed, also later */
};

/*
 * A result. object: of get, create and update, borrowed until the callback returns. err: set unless
 * the outcome is CLUSTER_OK; what was refused by rights names verb, resource and user.
 * CLUSTER_REFUSED with ERR_LOGIN: the store does not know who asks, and refuses every call.
 * CLUSTER_AWAY with ERR_NOTFOUND: whoever answers does not know the kind of objects. retry_ms: the
 * store asked to wait as long before the next call; 0: it did not.
 */
struct cluster_result {
	enum cluster_outcome outcome;
	const struct cluster_object *object;
	struct err err;
	unsigned retry_ms;
	const struct cluster_also *also; /* NULL: the store did not say */
};
typedef void (*cluster_done_fn)(void *arg, const struct cluster_result *result);

/*
 * Which objects of a kind: of one node, or whose names begin with prefix; both NULL: all. A prefix
 * of blocks with a '-' is that of one pool, POOL- and digits: blocks of a pool POOL-X, whose names
 * begin so, too, may be left out, as may names of another form.
 *
 * without: of a list of blocks: uids of pools. The blocks of these pools may be left out, and a
 * store that can does so: the caller needs only the others. A copy is kept.
 *
 * from: of a list: the position at which an earlier one ended, as page() has said it; NULL, "": the
 * beginning. Stores forget positions after some minutes: CLUSTER_EXPIRED.
 */
struct cluster_selector {
	enum cluster_kind kind;
	const char *node, *prefix, *from;
	const char *const *without;
	size_t n_without;
};

/*
 * A list: item for each object, then done, whose object is NULL. revision: from where a watch shows
 * all later changes; "" unless the outcome is CLUSTER_OK. All objects are of one revision. page:
 * between two pages, if it is not NULL; next: the position of the next one. false: the list ends
 * here, with CLUSTER_OK.
 */
#define CLUSTER_REVISION_LEN 48
struct cluster_list_fns {
	void (*item)(void *arg, const struct cluster_object *object);
	void (*done)(void *arg, const struct cluster_result *result, const char *revision);
	bool (*page)(void *arg, const char *next);
};

/*
 * A watch: changed for each change (gone: it was deleted, and value may be NULL; or it is not
 * selected, and perhaps never was); revision: what was seen up to now, also without a change.
 * ended: once, with CLUSTER_OK if the store ended it in order, as stores do from time to time.
 */
struct cluster_watch_fns {
	void (*changed)(void *arg, const struct cluster_object *object, bool gone);
	void (*revision)(void *arg, const char *revision);
	void (*ended)(void *arg, const struct cluster_result *result);
};

/*
 * A look at copies: wrong for each copy that was deleted, whose err says which key was missing or
 * changed; then done, whose object is NULL.
 */
struct cluster_copies_fns {
	void (*wrong)(void *arg, const struct err *why);
	cluster_done_fn done;
};

struct cluster_call; /* what runs: a call, a list or a watch */
struct cluster_store;

struct cluster_store_ops {
	const char *name; /* "kubernetes", "etcd" */
	/*
	 * A list by a prefix of names reads only what it selects. Else the store reads the kind, or
	 * of blocks the pool.
	 */
	bool lists_ranges;
	bool has_nodes; /* objects of CLUSTER_KUBE_NODE and CLUSTER_KUBE_POD */
	/*
	 * Quorum reads. NULL: no memory, and nothing will be reported. arg is handed to the
	 * callbacks.
	 */
	struct cluster_call *(*get)(struct cluster_store *s, enum cluster_kind kind,
				    const char *name, cluster_done_fn done, void *arg);
	struct cluster_call *(*list)(struct cluster_store *s, const struct cluster_selector *which,
				     const struct cluster_list_fns *fns, void *arg);
	struct cluster_call *(*watch)(struct cluster_store *s, const struct cluster_selector *which,
				      const char *revision, const struct cluster_watch_fns *fns,
				      void *arg);
	/*
	 * create - if no object has the name; at and was are not looked at. update - object->value
	 * replaces the value, object->node the node. remove - delete. The object is copied.
	 */
	struct cluster_call *(*create)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	struct cluster_call *(*update)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	struct cluster_call *(*remove)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	/*
	 * tell - make an event, for people. It is not read again. NULL: the store has no events.
	 */
	struct cluster_call *(*tell)(struct cluster_store *s, const struct cluster_event *event,
				     cluster_done_fn done, void *arg);
	/*
	 * report - object->status replaces the status of a pool, for people; uid and version are
	 * preconditions. NULL: the store has no status.
	 */
	struct cluster_call *(*report)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	/*
	 * drop_copies - a store that keeps copies of a node's objects, to select by the node:
	 * delete each copy that is not as its object, because a person changed one of both. A watch
	 * of that node shows the object as gone. NULL: the store keeps no copies.
	 */
	struct cluster_call *(*drop_copies)(struct cluster_store *s,
					    const struct cluster_selector *which,
					    const struct cluster_copies_fns *fns, void *arg);
	/* cancel - nothing will be reported any more. A write may still be executed. */
	void (*cancel)(struct cluster_call *call);
	void (*close)(struct cluster_store *s); /* cancels all calls */
};

/* Each store begins with this. */
struct cluster_store {
	const struct cluster_store_ops *ops;
};

/* cluster_cancel - cancel the call, if one runs, and make it NULL. s may be NULL if none does. */
static inline void cluster_cancel(const struct cluster_store *s, struct cluster_call **call)
{
	if (*call)
		s->ops->cancel(*call);
	*call = NULL;
}

#endif
