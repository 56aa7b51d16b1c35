/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd.h: the table of calls for etcd 3.4 to 3.6, through its JSON gateway.
 *
 * Reads are linearizable and ask the next endpoint if one gives no answer. A write goes to the next
 * endpoint only if no byte of it was sent. All agents of an etcd trust each other: its rights end
 * at prefixes of keys.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_ETCD_H
#define RAILHEAD_CLUSTER_ETCD_ETCD_H

#include "cluster/http/http.h"
#include "cluster/store/cluster_store.h"

#define ETCD_DEFAULT_PREFIX "/railhead/"

/* Credentials, which may be renewed while the store is open. */
struct etcd_login {
	struct http_tls tls;
	const char *password; /* NULL: none */
};

/*
 * Called before each request. Returns a number that changes with *out, which is borrowed until the
 * next call.
 */
typedef unsigned (*etcd_login_fn)(void *arg, struct etcd_login *out);

struct etcd_conf {
	const char *const *endpoints; /* "https://10.0.0.1:2379", NULL ends them; at least one */
	const char *prefix;           /* of all keys; NULL: ETCD_DEFAULT_PREFIX */
	struct http_tls tls;
	const char *user, *password; /* NULL: none */
	unsigned timeout_ms;         /* of a call, or a page of a list; 0: 5 seconds */
	unsigned page;               /* objects of a page; 0: 200 */
	/* stray - a list or a watch has left out a key that is not railhead's; NULL: not reported
	 */
	void (*stray)(void *arg, const struct err *e);
	void *stray_arg;
	etcd_login_fn login; /* NULL: tls and password never change */
	void *login_arg;     /* borrowed until the store is closed */
};

/*
 * etcd_open - copies conf and sends nothing yet. ERR_CONFIG: an endpoint, the prefix, or a user
 * without password.
 */
int etcd_open(struct event_base *base, const struct etcd_conf *conf, struct cluster_store **out,
	      struct err *e) must_check;

#endif
