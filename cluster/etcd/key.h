/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.h: the keys of the cluster's objects. Pure.
 *
 *	/railhead/blocks/NAME                    the object
 *	/railhead/by-node/NODE/blocks/NAME       its copy, if a node has it
 *
 * Both are always written in one transaction and hold the same bytes, so both have the same
 * mod_revision. A list or a watch of one node reads the copies, and its versions are good for
 * updates of the object.
 */
#ifndef RAILHEAD_CLUSTER_ETCD_KEY_H
#define RAILHEAD_CLUSTER_ETCD_KEY_H

#include "cluster/store/cluster_store.h"

#define ETCD_PREFIX_MAX 127 /* bytes of the prefix of all keys */
#define ETCD_KEY_LEN    768

/* etcd_prefix_valid - begins and ends with '/'; letters, digits, '.', '_', '-' and '/'. */
bool etcd_prefix_valid(const char *prefix);

/*
 * etcd_key_object, etcd_key_copy - the two keys of an object. etcd_key_selected - what the keys of
 * the selected objects begin with. etcd_key_end - the first key behind those that begin with key.
 * -1: a name, a node or the selector's prefix is not part of a DNS subdomain. The prefix is valid.
 */
int etcd_key_object(const char *prefix, enum cluster_kind kind, const char *name,
		    char out[ETCD_KEY_LEN]) must_check;
int etcd_key_copy(const char *prefix, const struct cluster_object *o,
		  char out[ETCD_KEY_LEN]) must_check;
int etcd_key_selected(const char *prefix, const struct cluster_selector *which,
		      char out[ETCD_KEY_LEN]) must_check;
void etcd_key_end(const char *key, char out[ETCD_KEY_LEN]);

/* etcd_key_name - the name of the object or copy with this key; NULL: it is none. */
const char *etcd_key_name(const char *key);

#endif
