/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request.h: the bodies of requests to etcd's JSON gateway. Pure.
 *
 * The form is that of etcd's rpc.proto, api/etcdserverpb, as grpc-gateway maps it: keys and values
 * are base64, int64 are strings. All functions return text to be freed, or NULL: no memory.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_REQUEST_H
#define RAILHEAD_CLUSTER_ETCD_REQUEST_H

#include "cluster/etcd/key.h"
#include "cluster/etcd/value.h"

/* /v3/kv/range: one key. */
char *etcd_get_body(const char *key);

/* /v3/kv/range: up to limit keys from key to before end. revision: of all pages; 0: the newest. */
char *etcd_page_body(const char *key, const char *end, int64_t revision, unsigned limit);

/* The same without values. */
char *etcd_names_body(const char *key, const char *end, int64_t revision, unsigned limit);

/* /v3/kv/txn: read these n keys at a revision, without values. */
char *etcd_look_body(const char (*keys)[ETCD_KEY_LEN], size_t n, int64_t revision);

/* /v3/kv/txn: delete a copy if copy and object have these revisions; 0: the key does not exist. */
struct etcd_drop {
	const char *copy, *object;
	int64_t copy_revision, object_revision;
};
char *etcd_drop_body(const struct etcd_drop *d);

/*
 * /v3/kv/txn: if the key is as it was (NULL: does not exist), write or delete the object and its
 * copies; else read the key, or name keys (at most ETCD_NAMES_MAX). The old copy is deleted unless
 * it is the new one as well.
 */
#define ETCD_NAMES_MAX 256
struct etcd_write {
	const char *key;
	const char *copy, *old_copy; /* NULL: none */
	const char *bytes;           /* NULL: delete */
	const struct etcd_kv *was;
	/* A creation. after: a key to read after it. names to end: keys to name if it exists. */
	const char *after, *names, *names_end;
	/* rank_from to rank_end: count these keys, first up to key. NULL: no. */
	const char *rank_from, *rank_end;
};
char *etcd_txn_body(const struct etcd_write *w);

/* /v3/watch: changes from this revision on, with the values before them. */
char *etcd_watch_body(const char *key, const char *end, int64_t from);

/* /v3/auth/authenticate */
char *etcd_auth_body(const char *user, const char *password);

#endif
