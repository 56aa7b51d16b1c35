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
	TAILQ_ENTRY(node_forget) all;
	struct driver *driver;
	struct cluster_call *call;
	struct timer *timer;
	char node[NODE_NAME_LEN];
	struct cluster_version beat; /* at the first look */
	bool looked, has_beat;
	unsigned tries;
	struct node_forget_end end;
};

void node_forget_cancel(struct node_forget *f)
{
	const struct cluster_store *s = f->driver->conf.store;

	if (f->call)
		s->ops->cancel(f->call);
	TAILQ_REMOVE(&f->driver->forgets, f, all);
	timer_free(f->timer);
	free(f);
}

void node_forgets_free(struct driver *d)
{
	while (!TAILQ_EMPTY(&d->forgets))
		node_forget_cancel(TAILQ_FIRST(&d->forgets));
}

static void node_forget_finish(struct node_forget *f, const struct err *why)
{
	struct node_forget_end end = f->end;

	node_forget_cancel(f);
	end.done(end.arg, why);
}

static void node_forget_failed(struct node_forget *f, const struct cluster_result *r)
{
	struct err e = r->err;

	if (r->outcome != CLUSTER_REFUSED)
		e.code = ERR_AGAIN;
	(void)err_wrap(&e, "node %s", f->node);
	node_forget_finish(f, &e);
}

/* ---- the object of the node ---- */

static void pools_read_node(struct node_forget *f);

static void node_forget_written(void *arg, const struct cluster_result *r)
{
	struct node_forget *f = arg;
	bool raced = r->outcome == CLUSTER_CONFLICT || r->outcome == CLUSTER_EXISTS ||
		     r->outcome == CLUSTER_NOT_FOUND;

	f->call = NULL;
	if (r->outcome == CLUSTER_OK)
		node_forget_finish(f, NULL);
	else if (raced && ++f->tries < TRIES)
		pools_read_node(f);
	else
		node_forget_failed(f, r);
}

static void pools_write_node(struct node_forget *f, const struct cluster_object *old,
			     struct cluster_node *node)
{
	struct cluster_store *s = f->driver->conf.store;
	struct cluster_object o = { .kind = CLUSTER_NODE };
	struct err e;

	node->forgotten = true;
	node->evidence = f->beat;
	auto_json struct json *value = node_to_json(node);
	o.value = value;
	(void)snprintf(o.name, sizeof(o.name), "%s", f->node);
	(void)snprintf(o.node, sizeof(o.node), "%s", f->node);
	if (old)
		o.at = old->at;
	if (value)
		f->call = old ? s->ops->update(s, &o, node_forget_written, f)
			      : s->ops->create(s, &o, node_forget_written, f);
	if (f->call)
		return;
	(void)err_nomem(&e);
	node_forget_finish(f, &e);
}

static void node_forget_refuse_unknown(struct node_forget *f)
{
	struct err e;

	err_set(&e, ERR_NOTFOUND, 0, "node %s: the cluster knows no node of this name", f->node);
	(void)err_hint(&e, "`railctl cluster status` on a node says under which name it runs");
	node_forget_finish(f, &e);
}

static void node_was_read(void *arg, const struct cluster_result *r)
{
	struct node_forget *f = arg;
	struct cluster_node node = { .forgotten = true };
	struct err e;

	f->call = NULL;
	if (r->outcome == CLUSTER_NOT_FOUND && f->has_beat)
		pools_write_node(f, NULL, &node);
	else if (r->outcome == CLUSTER_NOT_FOUND)
		node_forget_refuse_unknown(f);
	else if (r->outcome != CLUSTER_OK)
		node_forget_failed(f, r);
	else if (node_from_json(r->object->value, f->node, &node, &e))
		node_forget_finish(f, &e);
	else
		pools_write_node(f, r->object, &node);
}

static void pools_read_node(struct node_forget *f)
{
	struct cluster_store *s = f->driver->conf.store;
	struct err e;

	f->call = s->ops->get(s, CLUSTER_NODE, f->node, node_was_read, f);
	if (f->call)
		return;
	(void)err_nomem(&e);
	node_forget_finish(f, &e);
}

/* ---- the heartbeat ---- */

static void node_forget_beat_was_read(void *arg, const struct cluster_result *r)
{
	static const struct cluster_version none;
	struct node_forget *f = arg;
	bool there = r->outcome == CLUSTER_OK;
	const struct cluster_version *at = there ? &r->object->at : &none;
	int64_t pause = 2 * f->driver->conf.renew;
	struct err e;

	f->call = NULL;
	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		node_forget_failed(f, r);
	} else if (!f->looked) {
		f->looked = true;
		f->has_beat = there;
		f->beat = *at;
		(void)timer_arm_ns(f->timer, pause);
	} else if (strcmp(at->uid, f->beat.uid) != 0 || strcmp(at->version, f->beat.version) != 0) {
		node_refuse_alive(f->node, &e);
		node_forget_finish(f, &e);
	} else {
		pools_read_node(f);
	}
}

static void node_forget_look(void *arg)
{
	struct node_forget *f = arg;
	struct cluster_store *s = f->driver->conf.store;
	struct err e;

	f->call = s->ops->get(s, CLUSTER_HEARTBEAT, f->node, node_forget_beat_was_read, f);
	if (f->call)
		return;
	(void)err_nomem(&e);
	node_forget_finish(f, &e);
}

void node_refuse_alive(const char *node, struct err *e)
{
	err_set(e, ERR_BUSY, 0, "node %s is alive: its heartbeat moves", node);
	(void)err_hint(e, "switch the machine off, or stop its railheadd; its pods need their "
			  "addresses as long as they run");
}

int node_refuse_here(const struct cluster_store *store, const char *here, const char *node,
		     struct err *e)
{
	if (!store) {
		err_set(e, ERR_CONFIG, 0, "this agent has no cluster store");
		return err_hint(e, "name it in /etc/railhead/agent.json and restart railheadd");
	}
	if (strcmp(node, here) != 0)
		return 0;
	err_set(e, ERR_BUSY, 0, "node %s is this node, and it runs", node);
	return err_hint(e, "run the command on another node");
}

struct node_forget *node_forget_begin(struct driver *d, const char *node,
				      const struct node_forget_end *end, struct err *e)
{
	struct node_forget *f;

	if (node_refuse_here(d->conf.store, d->conf.node, node, e))
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f || !(f->timer = timer_new(d->conf.base, node_forget_look, f))) {
		free(f);
		(void)err_nomem(e);
		return NULL;
	}
	f->driver = d;
	f->end = *end;
	(void)snprintf(f->node, sizeof(f->node), "%s", node);
	TAILQ_INSERT_TAIL(&d->forgets, f, all);
	(void)timer_arm(f->timer, 0);
	return f;
}
