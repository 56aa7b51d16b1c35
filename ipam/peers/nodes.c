/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c: the nodes of a pool of another project as the key "nodes". In Spiderpool
 * nodeName precedes nodeAffinity.
 *
 * A selector that "nodes" cannot express becomes a note: then the pool is for more nodes than
 * before, and an operator must know it.
 */
#include <string.h>

#include "ipam/peers/pools_priv.h"

#define HOSTNAME   "kubernetes.io/hostname"
#define LABELS_MAX 16  /* of a pool, as in ipam/conf/labels.h */
#define VALUES_MAX 256 /* of one label */

/* The key of the object that selects nodes, and "nodes" as far as it is made. */
struct selector {
	const struct peer *p;
	const char *key;
	struct json *nodes;
};

/* values: a text, or an array of texts. -1: no memory. */
static int add_label(const struct selector *s, const char *key, const struct json *values)
{
	bool text = json_type(values) == JSON_STRING;

	if (!text && (json_type(values) != JSON_ARRAY || !json_len(values)))
		return peer_note(s->p, s->key, "label %.64s has no values: add \"nodes\"", key);
	if (!text && json_len(values) > VALUES_MAX)
		return peer_note(s->p, s->key,
				 "label %.64s has more than %d values: give the nodes a label of "
				 "their own, and add it to \"nodes\"",
				 key, VALUES_MAX);
	if (json_get(s->nodes, key) || json_len(s->nodes) == LABELS_MAX)
		return peer_note(s->p, s->key,
				 "\"nodes\" has each label once, and at most %d: %.64s is left out",
				 LABELS_MAX, key);
	return json_add_copy(s->nodes, key, values) ? err_nomem(s->p->e) : 0;
}

static int add_expression(const struct selector *s, const struct json *x)
{
	const char *operator= peer_text(x, "operator");

	if (strcmp(operator, "In") == 0 && *peer_text(x, "key"))
		return add_label(s, peer_text(x, "key"), json_get(x, "values"));
	return peer_note(s->p, s->key,
			 "\"nodes\" knows the operator In only: %.64s %.32s is left out",
			 peer_text(x, "key"), operator);
}

static int add_term(const struct selector *s, const struct json *term)
{
	json_each (label, json_get(term, "matchLabels")) {
		if (add_label(s, json_key(label), label))
			return -1;
	}
	json_each (x, json_get(term, "matchExpressions")) {
		if (add_expression(s, x))
			return -1;
	}
	return json_len(json_get(term, "matchFields"))
		       ? peer_note(s->p, s->key,
				   "\"nodes\" knows labels only: matchFields is left out")
		       : 0;
}

static int put_nodes(const struct selector *s, struct json *pool)
{
	if (!json_len(s->nodes))
		return 0;
	return json_add_copy(pool, "nodes", s->nodes) ? err_nomem(s->p->e) : 0;
}

int peer_spider_nodes(const struct peer *p, struct json *pool)
{
	const struct json *names = json_get(p->spec, "nodeName");
	const struct json *affinity = json_get(p->spec, "nodeAffinity");
	auto_json struct json *nodes = json_new_object();
	const struct selector s = { p, "nodeAffinity", nodes };
	bool by_name = json_len(names) > 0;

	if (!nodes)
		return err_nomem(p->e);
	if (by_name && !peer_is_empty(affinity) &&
	    peer_note(p, "nodeAffinity", "nodeName counts before it"))
		return -1;
	if (by_name ? add_label(&s, HOSTNAME, names) : add_term(&s, affinity))
		return -1;
	return put_nodes(&s, pool);
}

/* nodeSelector is a NodeSelector of Kubernetes: a node matches one of the terms. */
int peer_nv_nodes(const struct peer *p, const struct json *node, struct json *pool)
{
	const struct json *terms = json_get(json_get(p->spec, "nodeSelector"), "nodeSelectorTerms");
	auto_json struct json *nodes = json_new_object();
	const struct selector s = { p, "nodeSelector", nodes };

	if (!nodes)
		return err_nomem(p->e);
	if (!json_str(node) && json_len(terms) > 1)
		return peer_note(
			p, "nodeSelector",
			"a node of \"nodes\" matches all labels, and not one of %zu terms: "
			"give the nodes a label of their own, and add it to \"nodes\"",
			json_len(terms));
	if (json_str(node) ? add_label(&s, HOSTNAME, node) : add_term(&s, json_first(terms)))
		return -1;
	return put_nodes(&s, pool);
}
