/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h: the calls of a cluster store for tests that wait for each: what came is kept, the value
 * of an object is {"number": N}.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_CALLS_H
#define RAILHEAD_CLUSTER_TESTING_CALLS_H

#include "cluster/store/cluster_store.h"

struct event_base;

/* A store with its loop. */
struct calls {
	struct event_base *base;
	struct cluster_store *store;
};

/* The end of a call. */
struct ended {
	struct cluster_call *call;
	bool done;
	enum cluster_outcome outcome;
	struct cluster_object object; /* without its value */
	int number;                   /* in the value; -1: there was no object */
	unsigned retry_ms;
	bool told; /* what is beside it: "NAME=NUMBER" of the object, or names */
	char also[512];
	char status[512]; /* of the object; "": none */
	char why[2048];   /* message and detail */
};

/* Which object: a name with its kind, node and number. */
struct thing {
	enum cluster_kind kind;
	const char *name, *node;
	int number;
	struct cluster_version at;
	const struct cluster_beside *beside;
};

enum write { WRITE_CREATE, WRITE_UPDATE, WRITE_REMOVE };

/* start_write, start_get - begin; wait_ended - until it ended. e is cleared first. */
void start_write(struct calls *c, enum write how, const struct thing *t, struct ended *e);
void start_get(struct calls *c, const struct thing *t, struct ended *e);
void wait_ended(struct calls *c, const struct ended *e);

/* do_write, do_get - begin and wait. */
enum cluster_outcome do_write(struct calls *c, enum write how, const struct thing *t,
			      struct ended *e);
enum cluster_outcome do_get(struct calls *c, const struct thing *t, struct ended *e);

/*
 * do_write_text - the same with a value of JSON: create it, or update what is at t->at; text NULL:
 * remove it. was NULL: not known.
 */
enum cluster_outcome do_write_text(struct calls *c, const struct thing *t, const char *was,
				   const char *text, struct ended *e);

/* do_report_text - report a status of JSON for what is at t->at. */
void do_report_text(struct calls *c, const struct thing *t, const char *text, struct ended *e);

/* must_write - do_write() that fails the test unless it is CLUSTER_OK; t->at is set from it. */
void must_write(struct calls *c, enum write how, struct thing *t);

/* A list: "NAME=NUMBER@NODE " for each object. */
struct listed {
	bool done;
	enum cluster_outcome outcome;
	size_t n;
	char text[65536];
	char revision[CLUSTER_REVISION_LEN];
	struct cluster_object last;
	char why[2048];
	char next[1024]; /* of do_list_page(): the position of the next page; "": there is none */
};
enum cluster_outcome do_list(struct calls *c, const struct cluster_selector *which,
			     struct listed *l);
/* do_list_page - of a list, the first page only. */
enum cluster_outcome do_list_page(struct calls *c, const struct cluster_selector *which,
				  struct listed *l);

/* A watch: "NAME=NUMBER " for each change, "-NAME " for what is gone. */
struct watched {
	struct cluster_call *call;
	unsigned n;
	char text[65536];
	char from[CLUSTER_REVISION_LEN];     /* where it began */
	char revision[CLUSTER_REVISION_LEN]; /* "": not reported yet */
	bool ended;
	enum cluster_outcome outcome;
	char why[2048];
};
void start_watch(struct calls *c, const struct cluster_selector *which, const char *revision,
		 struct watched *w);
/*
 * go_on_watching - the watch has ended: a new one begins at the last revision that it told, or that
 * an earlier one did. It adds to the changes.
 */
void go_on_watching(struct calls *c, const struct cluster_selector *which, struct watched *w);
/* wait_watched - until it has seen n changes; or, n 0, until it ended. */
void wait_watched(struct calls *c, const struct watched *w, unsigned n);

#endif
