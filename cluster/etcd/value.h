/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.h: the bytes below a key, and the version that follows from them. Pure.
 *
 *	{"uid":"2f6c...","node":"n1","value":{...}}
 */
#ifndef RAILHEAD_CLUSTER_ETCD_VALUE_H
#define RAILHEAD_CLUSTER_ETCD_VALUE_H

#include "cluster/store/cluster_store.h"

/* Bytes below a key. A transaction has the old bytes once and the new ones twice, in base64. */
#define ETCD_VALUE_MAX ((size_t)128 * 1024)

/* A key and what is below it, as etcd hands it out. */
struct etcd_kv {
	char *key; /* owned, with NUL; NULL: none */
	char *bytes;
	size_t len;
	int64_t revision; /* mod_revision: of the last write */
	int64_t created;  /* create_revision; 0: not known */
	int64_t writes;   /* version: since the creation; 0: not known */
};

void etcd_kv_clear(struct etcd_kv *kv);
#define auto_kv auto_clean(etcd_kv_clear)

/*
 * etcd_value_text - the bytes of an object with this uid, to be freed. ERR_CONFIG: too long.
 */
int etcd_value_text(const struct cluster_object *o, const char *uid, char **out,
		    struct err *e) must_check;

/*
 * etcd_value_read - the object of a key. tree has its value, and is freed by the caller.
 * ERR_DECODE, which names the key: it is not an object of railhead.
 */
int etcd_value_read(const struct etcd_kv *kv, enum cluster_kind kind, struct cluster_object *out,
		    struct json **tree, struct err *e) must_check;

/*
 * etcd_version - what a caller hands back as precondition: the revision and a hash of the bytes.
 * A restored store uses revisions again, with other bytes.
 */
void etcd_version(int64_t revision, const char *bytes, size_t len, char out[CLUSTER_VERSION_LEN]);

#endif
