/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key.c: names have neither '/' nor bytes above ASCII, so keys cannot run into each other. The
 * end of a range is its last byte plus one.
 */
#include "cluster/etcd/key.h"

#include <stdio.h>
#include <string.h>

#include "cluster/store/cluster_name.h"

static const char *const kinds[CLUSTER_KINDS] = {
	[CLUSTER_POOL] = "pools",
	[CLUSTER_BLOCK] = "blocks",
	[CLUSTER_NODE] = "nodes",
	[CLUSTER_HEARTBEAT] = "heartbeats",
	[CLUSTER_RESERVED] = "reserved",
	[CLUSTER_KUBE_NODE] = "kubernetes-nodes",
	[CLUSTER_KUBE_POD] = "kubernetes-pods",
};

#define PREFIX_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/"

bool etcd_prefix_valid(const char *prefix)
{
	size_t len = strlen(prefix);

	return len && len <= ETCD_PREFIX_MAX && prefix[0] == '/' && prefix[len - 1] == '/' &&
	       !prefix[strspn(prefix, PREFIX_CHARS)];
}

int etcd_key_object(const char *prefix, enum cluster_kind kind, const char *name,
		    char out[ETCD_KEY_LEN])
{
	if (!cluster_name_valid(name))
		return -1;
	(void)snprintf(out, ETCD_KEY_LEN, "%s%s/%s", prefix, kinds[kind], name);
	return 0;
}

int etcd_key_copy(const char *prefix, const struct cluster_object *o, char out[ETCD_KEY_LEN])
{
	if (!cluster_name_valid(o->name) || !cluster_name_valid(o->node))
		return -1;
	(void)snprintf(out, ETCD_KEY_LEN, "%sby-node/%s/%s/%s", prefix, o->node, kinds[o->kind],
		       o->name);
	return 0;
}

int etcd_key_selected(const char *prefix, const struct cluster_selector *which,
		      char out[ETCD_KEY_LEN])
{
	const char *begins = which->prefix ? which->prefix : "", *bad;

	if (!cluster_selector_valid(which, &bad))
		return -1;
	if (which->node)
		(void)snprintf(out, ETCD_KEY_LEN, "%sby-node/%s/%s/%s", prefix, which->node,
			       kinds[which->kind], begins);
	else
		(void)snprintf(out, ETCD_KEY_LEN, "%s%s/%s", prefix, kinds[which->kind], begins);
	return 0;
}

void etcd_key_end(const char *key, char out[ETCD_KEY_LEN])
{
	size_t len = strlen(key);

	memcpy(out, key, len + 1);
	out[len - 1]++;
}

const char *etcd_key_name(const char *key)
{
	const char *slash = strrchr(key, '/');

	return slash && cluster_name_valid(slash + 1) ? slash + 1 : NULL;
}
