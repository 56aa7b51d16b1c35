/* SPDX-License-Identifier: Apache-2.0 */
/* node_forget.c: the heartbeat, a pause, the heartbeat again, and the object of the node. */
#include "railheadd/pools/node_forget.h"

#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

#define TRIES 5 /* of operators who say it at the same time */

struct node_forget {
	struct ask is;
	int64_t pause; /* ns between the looks at the heartbeat */
	char node[NODE_NAME_LEN];
	struct cluster_version beat; /* at the first look */
	bool looked, has_beat;
	unsigned tries;
};

static void pools_read_node(struct node_forget *f);

static void node_forget_written(void *arg, const struct cluster_result *r)
{
	struct node_forget *f = arg;

	f->is.call = NULL;
	if (r->outcome == CLUSTER_OK)
		ask_finish(&f->is, NULL, NULL);
	else if (ask_raced(r) && ++f->tries < TRIES)
		pools_read_node(f);
	else
		ask_failed(&f->is, r);
}

static void pools_write_node(struct node_forget *f, const struct cluster_object *old,
			     struct cluster_node *node)
{
	struct cluster_store *s = f->is.store;
	struct cluster_object o = { .kind = CLUSTER_NODE };

	node->forgotten = true;
	node->evidence = f->beat;
	auto_json struct json *value = node_to_json(node);
	o.value = value;
	(void)snprintf(o.name, sizeof(o.name), "%s", f->node);
	(void)snprintf(o.node, sizeof(o.node), "%s", f->node);
	if (old)
		o.at = old->at;
	ask_sent(&f->is, !value ? NULL
			 : old  ? s->ops->update(s, &o, node_forget_written, f)
				: s->ops->create(s, &o, node_forget_written, f));
}

static void node_forget_refuse_unknown(struct node_forget *f)
{
	struct err e;

	err_set(&e, ERR_NOTFOUND, 0, "node %s: the cluster knows no node of this name", f->node);
	(void)err_hint(&e, "`railctl cluster status` on a node says under which name it runs");
	ask_finish(&f->is, NULL, &e);
}

static void node_was_read(void *arg, const struct cluster_result *r)
{
	struct node_forget *f = arg;
	struct cluster_node node = { .forgotten = true };
	struct err e;

	f->is.call = NULL;
	if (r->outcome == CLUSTER_NOT_FOUND && f->has_beat)
		pools_write_node(f, NULL, &node);
	else if (r->outcome == CLUSTER_NOT_FOUND)
		node_forget_refuse_unknown(f);
	else if (r->outcome != CLUSTER_OK)
		ask_failed(&f->is, r);
	else if (node_from_json(r->object->value, f->node, &node, &e))
		ask_finish(&f->is, NULL, &e);
	else
		pools_write_node(f, r->object, &node);
}

static void pools_read_node(struct node_forget *f)
{
	struct cluster_store *s = f->is.store;

	ask_sent(&f->is, s->ops->get(s, CLUSTER_NODE, f->node, node_was_read, f));
}

/* ---- the heartbeat ---- */

static void node_forget_beat_was_read(void *arg, const struct cluster_result *r)
{
	static const struct cluster_version none;
	struct node_forget *f = arg;
	bool there = r->outcome == CLUSTER_OK;
	const struct cluster_version *at = there ? &r->object->at : &none;
	struct err e;

	f->is.call = NULL;
	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		ask_failed(&f->is, r);
	} else if (!f->looked) {
		f->looked = true;
		f->has_beat = there;
		f->beat = *at;
		(void)timer_arm_ns(f->is.timer, f->pause);
	} else if (strcmp(at->uid, f->beat.uid) != 0 || strcmp(at->version, f->beat.version) != 0) {
		err_set(&e, ERR_BUSY, 0, "node %s is alive: its heartbeat moves", f->node);
		(void)err_hint(&e, "switch the machine off, or stop its railheadd; its pods need "
				   "their addresses as long as they run");
		ask_finish(&f->is, NULL, &e);
	} else {
		pools_read_node(f);
	}
}

static void node_forget_look(void *arg)
{
	struct node_forget *f = arg;
	struct cluster_store *s = f->is.store;

	ask_sent(&f->is, s->ops->get(s, CLUSTER_HEARTBEAT, f->node, node_forget_beat_was_read, f));
}

struct ask *node_forget_begin(struct driver *d, const char *node, const struct ask_end *end,
			      struct err *e)
{
	struct node_forget f = { .is = { .in = &d->asks,
					 .base = d->conf.base,
					 .store = d->conf.store,
					 .due = node_forget_look,
					 .end = *end },
				 .pause = 2 * d->conf.renew };

	if (ask_needs_store(d->conf.store, e))
		return NULL;
	if (strcmp(node, d->conf.node) == 0) {
		err_set(e, ERR_BUSY, 0, "node %s is this node, and it runs", node);
		(void)err_hint(e, "run the command on another node");
		return NULL;
	}
	(void)snprintf(f.node, sizeof(f.node), "%s", node);
	(void)snprintf(f.is.about, sizeof(f.is.about), "node %s", f.node);
	return ask_new(&f.is, sizeof(f), e);
}
