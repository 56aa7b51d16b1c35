/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.h: a question to the cluster store, or a change of it, that takes several calls. It ends
 * once, with an answer or an error, unless it is cancelled.
 *
 * Each kind has a struct that begins with a struct ask. A function that begins one returns NULL
 * with the reason in *e if it reports nothing.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_ASK_H
#define RAILHEAD_RAILHEADD_POOLS_ASK_H

#include <sys/queue.h>

#include "cluster/store/cluster_store.h"
#include "lib/json/json.h"

struct ask;
struct event_base;
struct timer;
TAILQ_HEAD(asks, ask);

/* done - once, from the loop. answer: borrowed, may be NULL. why NULL: it went well. */
struct ask_end {
	void (*done)(void *arg, const struct json *answer, const struct err *why);
	void *arg;
};

struct ask {
	TAILQ_ENTRY(ask) all;
	struct asks *in;             /* borrowed; NULL: none */
	struct event_base *base;     /* borrowed */
	struct cluster_store *store; /* borrowed */
	void (*due)(void *a);        /* when it begins, and when the timer ends */
	void (*clear)(void *a);      /* free what the kind owns; NULL: nothing */
	struct ask_end end;
	char about[CLUSTER_NAME_LEN + 8]; /* for errors: "pool rail0" */
	struct timer *timer;              /* owned */
	struct cluster_call *call;        /* the one that runs; NULL: none */
};

/*
 * ask_new - begin a copy of like, which is a part of a struct of size bytes and owns what that has.
 * NULL: ERR_NOMEM; what it owns is cleared.
 */
struct ask *ask_new(struct ask *like, size_t size, struct err *e);

/* ask_cancel - nothing is reported. A write that was sent may be executed. NULL is fine. */
void ask_cancel(struct ask *a);
/* asks_cancel - all of a list. */
void asks_cancel(struct asks *all);

/* ask_finish - report, and free it. answer: taken over. why may be a part of it. */
void ask_finish(struct ask *a, struct json *answer, const struct err *why);

/* ask_nomem - it ends without memory. ask_sent - a call was begun; NULL: ask_nomem(). */
void ask_nomem(struct ask *a);
void ask_sent(struct ask *a, struct cluster_call *call);

/* ask_failed - it ends: the store refuses a call, or else ERR_AGAIN. */
void ask_failed(struct ask *a, const struct cluster_result *r);

/* ask_raced - a write met another one: read again. */
bool ask_raced(const struct cluster_result *r);

/* ask_needs_store - ERR_CONFIG if s is NULL. */
int ask_needs_store(const struct cluster_store *s, struct err *e) must_check;

#endif
