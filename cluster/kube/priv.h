/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priv.h: the store and a call, for cluster/kube only.
 */
#ifndef RAILHEAD_CLUSTER_KUBE_PRIV_H
#define RAILHEAD_CLUSTER_KUBE_PRIV_H

#include "cluster/http/call.h"
#include "cluster/kube/kube.h"
#include "cluster/kube/answer.h"
#include "cluster/kube/request.h"

struct kube {
	struct call_store base;
	struct kube_conf conf;
	struct kube_place place;
	/* ctx_mono_ms(): no field of this kind, and of blocks no pool or its uid, is asked for
	 * until then. */
	int64_t no_node[CLUSTER_KINDS], no_pool, no_uid;
};

/* A request of a call. next gets the answer with a status of success; NULL: it is a stream. */
struct kube_ask {
	const char *method, *verb;
	const char *type;                     /* of the body; NULL: there is none */
	const struct kube_resource *resource; /* NULL: that of the call's kind */
	bool changes;                         /* uid and version are preconditions */
	void (*next)(struct cluster_call *c, const struct json *answer);
	void (*too_large)(struct cluster_call *c);
	/* The API server cannot select by a field, and c->where is without it now. */
	void (*wider)(struct cluster_call *c);
};

struct cluster_call {
	struct call call;
	cluster_done_fn done;
	struct cluster_list_fns list;
	struct cluster_watch_fns watch;
	void *arg;

	const struct kube_ask *ask;
	char *url, *body;
	char *token; /* that was sent; NULL: none */
	bool again;  /* it was sent a second time, with a new token */
	int64_t deadline;

	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN];                           /* "": of a list or a watch */
	char node[CLUSTER_NAME_LEN], prefix[CLUSTER_NAME_LEN]; /* of the selector */
	char pool[CLUSTER_NAME_LEN];                           /* of the prefix; "": none */
	char *without;                                         /* as in kube_where; owned */
	struct kube_where where;             /* what the API server selects; points to them */
	char revision[CLUSTER_REVISION_LEN]; /* the same for all pages; seen by a watch */
	char *more;                          /* of the next page */
	unsigned limit;

	/* The write was refused, and looks at the object. */
	struct cluster_version at;
	struct json *was; /* owned; NULL: not known */
	char *untested;   /* of a heartbeat: the same patch without its test; NULL: none */
	bool rank;        /* a creation tells the number of its object */
	bool looks;
	enum cluster_outcome refused_as;
	struct err refused;
};

/* kube_call_new - a call; NULL: no memory. report says its end to the user. */
struct cluster_call *kube_call_new(struct cluster_store *s, void (*report)(struct call *c),
				   void *arg);

/* kube_call_done - the report of get, create, update and remove. */
void kube_call_done(struct call *call);

/* kube_store - of a call. */
struct kube *kube_store(const struct cluster_call *c);

/* kube_renew - take up credentials that have changed on disk. */
void kube_renew(struct kube *s);

/* kube_select - keep a selector; false: it has a bad name, and the call ends, later. */
bool kube_select(struct cluster_call *c, const struct cluster_selector *which);

/*
 * kube_widen - after a refusal of a field: leave it out of c->where, and remember that. false: no
 * field is in it. kube_has_prefix, kube_has_node - what the API server may not have looked at.
 */
bool kube_widen(struct cluster_call *c);
bool kube_has_prefix(const struct cluster_call *c, const struct cluster_object *o);
bool kube_has_node(const struct cluster_call *c, const struct cluster_object *o);

/*
 * kube_send - ask; url and body are freed with the call. NULL: no memory; the body of an ask
 * without a type is NULL. Its end is next, or a report; never before it returns.
 */
void kube_send(struct cluster_call *c, const struct kube_ask *ask, char *url, char *body);

/* kube_refused - an error of the API server: the call asks again, or ends. */
void kube_refused(struct cluster_call *c, int http, const struct json *answer, unsigned retry_ms);

/* kube_fail - the request has failed: the call ends, also one that looks at an object. */
void kube_fail(struct cluster_call *c, enum cluster_outcome outcome);

/*
 * kube_look - say by the object which precondition of a write has failed. CLUSTER_OK: none has; it
 * is a deletion, which is sent if the object is what it was.
 */
void kube_look(struct cluster_call *c, enum cluster_outcome outcome);

/* kube_watch_line - of a watch: a line came. */
void kube_watch_line(void *arg, const char *line, size_t len);

/* kube_stray - what was read is not railhead's: leave it out. false: no memory. */
bool kube_stray(struct cluster_call *c, const struct err *e);

/* The table: read.c, write.c, watch.c. */
struct cluster_call *kube_get(struct cluster_store *s, enum cluster_kind kind, const char *name,
			      cluster_done_fn done, void *arg);
struct cluster_call *kube_list(struct cluster_store *s, const struct cluster_selector *which,
			       const struct cluster_list_fns *fns, void *arg);
struct cluster_call *kube_watch(struct cluster_store *s, const struct cluster_selector *which,
				const char *revision, const struct cluster_watch_fns *fns,
				void *arg);
struct cluster_call *kube_create(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *kube_update(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *kube_remove(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *kube_report(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *kube_tell(struct cluster_store *s, const struct cluster_event *event,
			       cluster_done_fn done, void *arg);

#endif
