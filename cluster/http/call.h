/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h: the life of a call of a cluster store that speaks HTTP. A user may cancel any call and
 * close the store from any callback, so both live until the last callback has returned.
 */
#ifndef RAILHEAD_CLUSTER_HTTP_CALL_H
#define RAILHEAD_CLUSTER_HTTP_CALL_H

#include <sys/queue.h>

#include "cluster/http/http.h"
#include "cluster/store/cluster_store.h"

struct call;
TAILQ_HEAD(call_list, call);

/* A store begins with this. */
struct call_store {
	struct cluster_store store;
	struct http *http;
	void (*free)(struct call_store *s); /* the whole store, when nothing runs any more */
	struct call_list calls;
	unsigned busy; /* calls below whose callbacks we are */
	bool closed;
};

/* A struct cluster_call of a store begins with this. */
struct call {
	TAILQ_ENTRY(call) all;
	struct call_store *store;
	void (*report)(struct call *c); /* says result to the user */
	void (*free)(struct call *c);   /* the whole call, when nothing runs any more */
	struct http_call *http;         /* NULL: no request runs */
	struct timer *later;
	bool dead; /* cancelled or reported */
	unsigned busy;
	struct cluster_result result;
};

/*
 * call_begin - a call of this store; report and free are set. -1: no memory; nothing will be
 * reported, and the caller frees it.
 */
int call_begin(struct call_store *s, struct call *c) must_check;

/* call_enter, call_leave - around code that calls back: the call and the store stay until then. */
void call_enter(struct call *c);
void call_leave(struct call *c);

/* call_drop - forget it: nothing is reported. */
void call_drop(struct call *c);

/*
 * call_end - report and forget. call_end_later - the same from the event loop. Unless the outcome
 * is CLUSTER_OK, c->result.err was set before. object may be NULL.
 */
void call_end(struct call *c, enum cluster_outcome outcome, const struct cluster_object *object);
void call_end_later(struct call *c, enum cluster_outcome outcome);

/* call_bad_name - CLUSTER_REFUSED, later. */
void call_bad_name(struct call *c, const char *name);

/* call_close - cancel all calls, and free the store, now or after its last callback. */
void call_close(struct call_store *s);

#endif
