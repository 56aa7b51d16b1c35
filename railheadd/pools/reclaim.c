/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim.c: lists the nodes from time to time, and goes on with those that are said to be off. */
#include "railheadd/pools/reclaim.h"

#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/reclaim_priv.h"
#include "railheadd/pools/report.h"

TAILQ_HEAD(dead_nodes, dead_node);

struct reclaim {
	struct reclaim_conf conf;
	struct cluster_selector which;
	struct cluster_call *call; /* a list of nodes */
	struct timer *timer;
	struct dead_nodes nodes;
	struct pool_report *report; /* NULL: the store has no status of pools */
};

static struct dead_node *reclaim_find(const struct reclaim *r, const char *name)
{
	struct dead_node *d = TAILQ_FIRST(&r->nodes);

	while (d && strcmp(d->name, name) != 0)
		d = TAILQ_NEXT(d, all);
	return d;
}

static void reclaim_node_item(void *arg, const struct cluster_object *o)
{
	struct reclaim *r = arg;
	struct dead_node *d = reclaim_find(r, o->name);
	struct cluster_node n;
	struct err e;

	if (node_from_json(o->value, o->name, &n, &e)) {
		log_warn(&r->conf.ctx->log, "node %s", e.msg);
		return;
	}
	if (!n.forgotten || strlen(o->name) >= NODE_NAME_LEN)
		return;
	if (d) {
		dead_node_set(d, &n.evidence);
	} else {
		d = dead_node_new(&r->conf, o->name, &n.evidence);
		if (!d)
			return;
		TAILQ_INSERT_TAIL(&r->nodes, d, all);
	}
	d->listed = true;
}

static void reclaim_forget(struct reclaim *r, struct dead_node *d)
{
	TAILQ_REMOVE(&r->nodes, d, all);
	dead_node_free(d);
}

/* A node that is in no complete list, or without evidence, is not taken from. */
static void nodes_were_read(void *arg, const struct cluster_result *result, const char *revision)
{
	struct reclaim *r = arg;
	struct dead_node *d, *next;

	(void)revision;
	r->call = NULL;
	for (d = TAILQ_FIRST(&r->nodes); d; d = next) {
		next = TAILQ_NEXT(d, all);
		if (result->outcome == CLUSTER_OK && !d->listed)
			reclaim_forget(r, d);
		else
			dead_node_look(d);
	}
	if (result->outcome != CLUSTER_OK)
		log_warn(&r->conf.ctx->log, "reclaim: %s", result->err.msg);
	(void)timer_arm_ns(r->timer, r->conf.look);
}

static void reclaim_look(void *arg)
{
	static const struct cluster_list_fns fns = { .item = reclaim_node_item,
						     .done = nodes_were_read };
	struct reclaim *r = arg;
	struct cluster_store *s = r->conf.store;
	struct dead_node *d;

	for (d = TAILQ_FIRST(&r->nodes); d; d = TAILQ_NEXT(d, all))
		d->listed = false;
	r->call = s->ops->list(s, &r->which, &fns, r);
	if (!r->call)
		(void)timer_arm_ns(r->timer, r->conf.look);
}

static int start_report(const struct reclaim_conf *c, struct reclaim *r, struct err *e)
{
	const struct pool_report_conf conf = { c->ctx,  c->base,  c->store, c->node,
					       c->look, c->state, c->arg };

	return c->store->ops->report ? pool_report_new(&conf, &r->report, e) : 0;
}

int reclaim_new(const struct reclaim_conf *conf, struct reclaim **out, struct err *e)
{
	struct reclaim *r = calloc(1, sizeof(*r));

	if (!r || start_report(conf, r, e) ||
	    !(r->timer = timer_new(conf->base, reclaim_look, r))) {
		if (r)
			pool_report_free(r->report);
		free(r);
		conf->store->ops->close(conf->store);
		return err_nomem(e);
	}
	r->conf = *conf;
	r->which = (struct cluster_selector){ .kind = CLUSTER_NODE };
	TAILQ_INIT(&r->nodes);
	(void)timer_arm(r->timer, 0);
	*out = r;
	return 0;
}

void reclaim_free(struct reclaim *r)
{
	if (!r)
		return;
	while (!TAILQ_EMPTY(&r->nodes))
		reclaim_forget(r, TAILQ_FIRST(&r->nodes));
	pool_report_free(r->report);
	/* The list of nodes ends with the store. */
	r->conf.store->ops->close(r->conf.store);
	timer_free(r->timer);
	free(r);
}
