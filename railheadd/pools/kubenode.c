/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubenode.c: a list and a watch of one object. Whether the cluster store answers is not told from
 * here: the driver has watches of its own, and a node works without the labels.
 */
#include "railheadd/pools/kubenode.h"

#include <string.h>

#include "railheadd/pools/follow.h"

struct kubenode {
	struct kubenode_conf conf;
	struct cluster_selector which;
	struct follow *follow;
	char *last;   /* the labels that the driver has, as text; owned; NULL: none */
	bool there;   /* in the list that runs, or in the last one */
	bool missing; /* that is logged */
	bool refused; /* that is logged */
};

static void kubenode_see(struct kubenode *k, const struct json *labels)
{
	char *text = json_print(labels, false);

	k->missing = false;
	/* The kubelet changes other parts of its Node, and each change is an event. */
	if (text && k->last && strcmp(text, k->last) == 0) {
		free(text);
		return;
	}
	free(k->last);
	k->last = text;
	driver_labels(k->conf.driver, labels);
}

/* A node that leaves the cluster may still have pods: it keeps its pools. */
static void miss(struct kubenode *k)
{
	if (!k->missing)
		log_warn(&k->conf.ctx->log,
			 "Kubernetes has no Node \"%s\": its last labels stay, and those of "
			 "node.json count",
			 k->conf.node);
	k->missing = true;
}

static void kubenode_begun(void *arg)
{
	struct kubenode *k = arg;

	k->there = false;
}

static void kubenode_item(void *arg, const struct cluster_object *o)
{
	struct kubenode *k = arg;

	k->there = true;
	kubenode_see(k, o->value);
}

static void kubenode_listed(void *arg)
{
	struct kubenode *k = arg;

	k->refused = false;
	if (!k->there)
		miss(k);
}

static void kubenode_changed(void *arg, const struct cluster_object *o, bool gone)
{
	if (gone)
		miss(arg);
	else
		kubenode_see(arg, o->value);
}

static void kubenode_contact(void *arg, const struct err *why)
{
	(void)arg;
	(void)why;
}

static void kubenode_refused(void *arg, const struct err *why)
{
	struct kubenode *k = arg;

	if (!k->refused)
		log_warn(&k->conf.ctx->log, "the labels of the Node are not read: %s (%s)",
			 why->msg, why->detail);
	k->refused = true;
}

int kubenode_new(const struct kubenode_conf *conf, struct kubenode **out, struct err *e)
{
	static const struct follow_fns fns = { kubenode_begun,   kubenode_item,    kubenode_listed,
					       kubenode_changed, kubenode_contact, kubenode_refused,
					       driver_random };
	struct kubenode *k = calloc(1, sizeof(*k));

	if (!k)
		return err_nomem(e);
	k->conf = *conf;
	k->which = (struct cluster_selector){ .kind = CLUSTER_KUBE_NODE, .node = k->conf.node };
	if (follow_new(&(struct follow_conf){ conf->base, conf->store, &k->which, &fns, k },
		       &k->follow, e)) {
		free(k);
		return -1;
	}
	*out = k;
	return 0;
}

void kubenode_free(struct kubenode *k)
{
	if (!k)
		return;
	follow_free(k->follow);
	free(k->last);
	free(k);
}
