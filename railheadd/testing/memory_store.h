/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_store.h: a cluster store in memory, whose answers a test can hold back and replace.
 *
 * For test programs only. It says nothing about etcd or Kubernetes.
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_MEMORY_STORE_H
#define RAILHEAD_RAILHEADD_TESTING_MEMORY_STORE_H

#include "cluster/store/cluster_store.h"

struct event_base;
struct memory_store;

/* Objects of a page of a list. */
#define MEMORY_PAGE 3

/* memory_store_new - an empty store; the driver closes it with ops->close(). */
struct memory_store *memory_store_new(struct event_base *base);
struct cluster_store *memory_store_ops(struct memory_store *m);

/* memory_store_put - as if another node created or changed it; value is text of JSON. */
void memory_store_put(struct memory_store *m, enum cluster_kind kind, const char *name,
		      const char *node, const char *value);
/* memory_store_delete - the same; memory_store_has - whether there is such an object. */
void memory_store_delete(struct memory_store *m, enum cluster_kind kind, const char *name);
bool memory_store_has(const struct memory_store *m, enum cluster_kind kind, const char *name);
/* memory_store_text - the value as text; the caller frees it. NULL: there is none. */
char *memory_store_text(const struct memory_store *m, enum cluster_kind kind, const char *name);

/*
 * memory_store_put_status - as if another agent reported the status of a pool.
 * memory_store_status - its text; the caller frees it. NULL: there is none.
 */
void memory_store_put_status(struct memory_store *m, const char *pool, const char *status);
char *memory_store_status(const struct memory_store *m, const char *pool);

/*
 * How calls end from now on: fail - so many calls get this outcome (gets, writes, lists); writes
 * are not executed. fail_reports - the same of status alone. hold - no call ends before it is false
 * again.
 */
void memory_store_fail(struct memory_store *m, enum cluster_outcome outcome, unsigned times);
void memory_store_fail_reports(struct memory_store *m, enum cluster_outcome outcome,
			       unsigned times);
void memory_store_hold(struct memory_store *m, bool hold);
/* memory_store_deny - as if nobody knew the token of this node: each call is refused. */
void memory_store_deny(struct memory_store *m, bool deny);

/*
 * memory_store_told - all events: "REASON NAMESPACE/POD UID: NOTE", or "REASON NODE: NOTE", with
 * line breaks. Borrowed. memory_store_told_id - the id of the last one. memory_store_fail_tell -
 * the next so many end so.
 */
const char *memory_store_told(const struct memory_store *m);
uint64_t memory_store_told_id(const struct memory_store *m);
void memory_store_fail_tell(struct memory_store *m, const struct cluster_result *how,
			    unsigned times);

/* Counts since the beginning. */
struct memory_counts {
	unsigned lists, watches, writes, tells, reports;
	unsigned node_gets; /* of objects of nodes */
	unsigned tested;    /* updates of heartbeats that named the value before them */
	unsigned running;   /* watches and lists now */
	unsigned left_out;  /* blocks that lists left out */
};
struct memory_counts memory_store_counts(const struct memory_store *m);

#endif
