/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priv.h: the store and a call, for cluster/etcd only.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_PRIV_H
#define RAILHEAD_CLUSTER_ETCD_PRIV_H

#include "cluster/http/call.h"
#include "cluster/etcd/etcd.h"
#include "cluster/etcd/answer.h"
#include "cluster/etcd/key.h"

struct etcd {
	struct call_store base;
	char **endpoints;
	size_t n_endpoints, at; /* at: the one that answered last */
	char *prefix, *user, *password;
	char *token;                /* NULL: none */
	unsigned tokens;            /* how many there were */
	bool no_users;              /* etcd's authentication is off */
	struct cluster_call *login; /* gets a token; others wait for it */
	unsigned timeout_ms, page;
	void (*stray)(void *arg, const struct err *e);
	void *stray_arg;
	etcd_login_fn login_of; /* NULL: nothing is renewed */
	void *login_arg;
	unsigned login_seen; /* its last number */
};

/* A request of a call. next gets the answer with status 200. */
struct etcd_ask {
	const char *path; /* "/v3/kv/range" */
	const char *verb; /* for errors: "read" */
	bool writes;
	void (*next)(struct cluster_call *c, const struct json *answer);
	void (*too_large)(struct cluster_call *c);
};

struct cluster_call {
	struct call call;
	struct etcd *etcd;
	cluster_done_fn done;
	struct cluster_list_fns list;
	struct cluster_watch_fns watch;
	void *arg;

	const struct etcd_ask *ask;
	char *body;
	int64_t deadline;
	size_t endpoint; /* that was asked */
	unsigned tried;  /* endpoints */
	unsigned again;  /* attempts beside one for each endpoint */
	unsigned renewals, token_used;
	bool waits; /* for a token */
	bool began; /* a line of the watch came */

	enum cluster_kind kind;
	char key[ETCD_KEY_LEN], end[ETCD_KEY_LEN]; /* of the object; of the range */
	unsigned limit;                            /* of a page */
	int64_t revision;                          /* all pages have it; a watch has seen it */
	char copy[ETCD_KEY_LEN];                   /* of a write; "": none */
	struct cluster_version at;
	char *bytes; /* of a write; NULL: delete */
	struct etcd_kv was;
	bool beside, beside_names; /* a creation reads an object after it; or names others */
	bool rank;                 /* a write counts the objects of its kind */
	enum cluster_kind beside_kind;
	struct etcd_copies *copies; /* of drop_copies; owned */
	struct cluster_copies_fns copies_fns;
};

/* etcd_renew - take up credentials that have changed. */
void etcd_renew(struct etcd *s);

/* etcd_call_new - a call; NULL: no memory. report says its end to the user. */
struct cluster_call *etcd_call_new(struct etcd *s, void (*report)(struct call *c), void *arg);

/* etcd_call_done - the report of get, create, update and remove. */
void etcd_call_done(struct call *call);

/* etcd_stray - a key is not railhead's: leave it out. false: no memory. */
bool etcd_stray(struct cluster_call *c, const struct err *e);

/* etcd_send - ask; body NULL: no memory. Its end is next, or a report; never before it returns. */
void etcd_send(struct cluster_call *c, const struct etcd_ask *ask, char *body);

/* etcd_refused - what an error of etcd means for the call: it asks again, or ends. */
void etcd_refused(struct cluster_call *c, const struct etcd_problem *p, unsigned retry_ms);

/* etcd_watch_line, etcd_watch_over - of a watch: a line came; the stream ended in order. */
void etcd_watch_line(void *arg, const char *line, size_t len);
void etcd_watch_over(struct cluster_call *c);

/* etcd_next_key - the next page begins behind this key. */
void etcd_next_key(struct cluster_call *c, const char *key);

/* The table: read.c, write.c, watch.c, copies.c. */
struct cluster_call *etcd_get(struct cluster_store *s, enum cluster_kind kind, const char *name,
			      cluster_done_fn done, void *arg);
struct cluster_call *etcd_list(struct cluster_store *s, const struct cluster_selector *which,
			       const struct cluster_list_fns *fns, void *arg);
struct cluster_call *etcd_watch(struct cluster_store *s, const struct cluster_selector *which,
				const char *revision, const struct cluster_watch_fns *fns,
				void *arg);
struct cluster_call *etcd_create(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *etcd_update(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *etcd_remove(struct cluster_store *s, const struct cluster_object *object,
				 cluster_done_fn done, void *arg);
struct cluster_call *etcd_drop_copies(struct cluster_store *s, const struct cluster_selector *which,
				      const struct cluster_copies_fns *fns, void *arg);

#endif
