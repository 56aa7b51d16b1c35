/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_spider_nodes.c: the nodes of a SpiderIPPool as the key "nodes" of a pool. In Spiderpool
 * nodeName precedes nodeAffinity.
 *
 * A selector that "nodes" cannot express becomes a note: then the pool is for more nodes than
 * before, and an operator must know it.
 */
#include <string.h>

#include "ipam/peers/peer_pools_priv.h"

#define HOSTNAME   "kubernetes.io/hostname"
#define LABELS_MAX 16  /* of a pool, as in ipam/conf/labels.h */
#define VALUES_MAX 256 /* of one label */

/* values: a text, or an array of texts. -1: no memory. */
static int add_label(const struct peer *p, struct json *nodes, const char *key,
		     const struct json *values)
{
	bool text = json_type(values) == JSON_STRING;

	if (!text && (json_type(values) != JSON_ARRAY || !json_len(values)))
		return peer_note(p, "nodeAffinity", "label %.64s has no values: add \"nodes\"",
				 key);
	if (!text && json_len(values) > VALUES_MAX)
		return peer_note(p, "nodeAffinity",
				 "label %.64s has more than %d values: give the nodes a label of "
				 "their own, and add it to \"nodes\"",
				 key, VALUES_MAX);
	if (json_get(nodes, key) || json_len(nodes) == LABELS_MAX)
		return peer_note(p, "nodeAffinity",
				 "\"nodes\" has each label once, and at most %d: %.64s is left out",
				 LABELS_MAX, key);
	return json_add_copy(nodes, key, values) ? err_nomem(p->e) : 0;
}

static int add_expression(const struct peer *p, struct json *nodes, const struct json *x)
{
	const char *operator= peer_text(x, "operator");

	if (strcmp(operator, "In") == 0 && *peer_text(x, "key"))
		return add_label(p, nodes, peer_text(x, "key"), json_get(x, "values"));
	return peer_note(p, "nodeAffinity",
			 "\"nodes\" knows the operator In only: %.64s %.32s is left out",
			 peer_text(x, "key"), operator);
}

static int add_affinity(const struct peer *p, struct json *nodes, const struct json *affinity)
{
	json_each (label, json_get(affinity, "matchLabels")) {
		if (add_label(p, nodes, json_key(label), label))
			return -1;
	}
	json_each (x, json_get(affinity, "matchExpressions")) {
		if (add_expression(p, nodes, x))
			return -1;
	}
	return 0;
}

int peer_spider_nodes(const struct peer *p, struct json *pool)
{
	const struct json *names = json_get(p->spec, "nodeName");
	const struct json *affinity = json_get(p->spec, "nodeAffinity");
	auto_json struct json *nodes = json_new_object();
	bool by_name = json_len(names) > 0;

	if (!nodes)
		return err_nomem(p->e);
	if (by_name && !peer_is_empty(affinity) &&
	    peer_note(p, "nodeAffinity", "nodeName counts before it"))
		return -1;
	if (by_name ? add_label(p, nodes, HOSTNAME, names) : add_affinity(p, nodes, affinity))
		return -1;
	if (!json_len(nodes))
		return 0;
	return json_add_copy(pool, "nodes", nodes) ? err_nomem(p->e) : 0;
}
