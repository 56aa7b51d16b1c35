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

#include "lib/base/err.h"
#include "lib/json/json.h"

/* The kinds of objects. In Kubernetes each is a resource, in etcd a prefix of keys. */
enum cluster_kind {
	CLUSTER_POOL,      /* RailPool, pools/NAME */
	CLUSTER_BLOCK,     /* RailBlock, blocks/NAME; NAME is POOL-HEX */
	CLUSTER_NODE,      /* RailNode, nodes/NAME */
	CLUSTER_HEARTBEAT, /* Lease in the agents' namespace, heartbeats/NAME */
	CLUSTER_IDENTITY,  /* RailIdentity, identities/NAME */
	CLUSTER_KINDS,
};

/* A name is a DNS subdomain, as Kubernetes demands: at most 253 bytes. */
#define CLUSTER_NAME_LEN    254
#define CLUSTER_UID_LEN     40
#define CLUSTER_VERSION_LEN 48
#define CLUSTER_CREATED_LEN 32

/*
 * Which object it is, and which state of it. uid: made at the creation, never used again. version:
 * changes with each write that changes the object; Kubernetes keeps it at an equal write. Versions
 * are compared for equality only, because a restored store uses them again. The store demands uid
 * and version as preconditions of an update and of a deletion.
 */
struct cluster_version {
	char uid[CLUSTER_UID_LEN];
	char version[CLUSTER_VERSION_LEN];
};

struct cluster_object {
	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN];
	/* The node that has the object, which selects it in lists and watches; "": none. */
	char node[CLUSTER_NAME_LEN];
	struct cluster_version at;
	/* When it was created, in the order of strcmp(); "": not known, as after an update. */
	char created[CLUSTER_CREATED_LEN];
	bool ending;              /* is being deleted; a finalizer holds it */
	const struct json *value; /* an object: what the protocol keeps in it */
	/*
	 * For an update or a removal of a block: its value at this version, as far as the caller
	 * knows; NULL: not known. A store whose versions can come again, because it was restored,
	 * demands owner, token, `touched` and asker of it as well: else CLUSTER_CONFLICT.
	 */
	const struct json *was;
};

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
 * retry_ms: the store asked to wait as long before the next call; 0: it did not.
 */
struct cluster_result {
	enum cluster_outcome outcome;
	const struct cluster_object *object;
	struct err err;
	unsigned retry_ms;
};
typedef void (*cluster_done_fn)(void *arg, const struct cluster_result *result);

/* Which objects of a kind: of one node, or whose names begin with prefix; both NULL: all. */
struct cluster_selector {
	enum cluster_kind kind;
	const char *node, *prefix;
};

/*
 * A list: item for each object, then done, whose object is NULL. revision: from where a watch shows
 * all later changes; "" unless the outcome is CLUSTER_OK. All objects are of one revision.
 */
#define CLUSTER_REVISION_LEN 48
struct cluster_list_fns {
	void (*item)(void *arg, const struct cluster_object *object);
	void (*done)(void *arg, const struct cluster_result *result, const char *revision);
};

/*
 * A watch: changed for each change (gone: it was deleted, and value may be NULL; or it is no longer
 * selected); revision: what was seen up to now, also without a change. ended: once, with CLUSTER_OK
 * if the store ended it in order, as stores do from time to time.
 */
struct cluster_watch_fns {
	void (*changed)(void *arg, const struct cluster_object *object, bool gone);
	void (*revision)(void *arg, const char *revision);
	void (*ended)(void *arg, const struct cluster_result *result);
};

struct cluster_call; /* what runs: a call, a list or a watch */
struct cluster_store;

struct cluster_store_ops {
	const char *name; /* "kubernetes", "etcd" */
	/* A list by a prefix of names reads only what it selects. Else the store reads the kind. */
	bool lists_ranges;
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
	 * create - if no object has the name; at is not looked at. update - object->value replaces
	 * the value, object->node the node. remove - delete. The object is copied.
	 */
	struct cluster_call *(*create)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	struct cluster_call *(*update)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	struct cluster_call *(*remove)(struct cluster_store *s, const struct cluster_object *object,
				       cluster_done_fn done, void *arg);
	/* cancel - nothing will be reported any more. A write may still be executed. */
	void (*cancel)(struct cluster_call *call);
	void (*close)(struct cluster_store *s); /* cancels all calls */
};

/* Each store begins with this. */
struct cluster_store {
	const struct cluster_store_ops *ops;
};

#endif
