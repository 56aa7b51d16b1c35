/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c: three lists. The table of the last question says how old a heartbeat is in the next. */
#include "railheadd/nodes/nodes.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "railheadd/nodes/node_table.h"
#include "railheadd/nodes/pool_nodes.h"

/* A heartbeat that has not moved for so many periods is a node that may be off. */
#define SILENT_PERIODS 3
#define STEPS          3

static const enum cluster_kind of_nodes[STEPS] = { CLUSTER_NODE, CLUSTER_HEARTBEAT, CLUSTER_BLOCK };
static const enum cluster_kind of_pool[STEPS] = { CLUSTER_POOL, CLUSTER_NODE, CLUSTER_HEARTBEAT };

struct nodes_ask {
	TAILQ_ENTRY(nodes_ask) all;
	struct nodes *nodes;
	struct nodes_end end;
	struct node_table table;
	struct node_table_look look;
	struct cluster_selector which;
	const enum cluster_kind *kinds;
	size_t step;            /* of kinds */
	struct pool_asked pool; /* name "": the question is about no pool */
	struct event *next;
	struct cluster_call *call;
	struct err broken; /* of a list: code 0: nothing is */
};
TAILQ_HEAD(nodes_asks, nodes_ask);

struct nodes {
	struct nodes_conf conf;
	struct node_table seen;
	struct nodes_asks asks;
};

void nodes_ask_cancel(struct nodes_ask *a)
{
	if (a->call)
		a->nodes->conf.store->ops->cancel(a->call);
	TAILQ_REMOVE(&a->nodes->asks, a, all);
	node_table_clear(&a->table);
	json_free(a->pool.definition);
	event_free(a->next);
	free(a);
}

static void finish(struct nodes_ask *a, const struct json *answer, const struct err *why)
{
	struct nodes_end end = a->end;

	nodes_ask_cancel(a);
	end.done(end.arg, answer, why);
}

static void answer(struct nodes_ask *a)
{
	struct nodes *n = a->nodes;
	struct node_table old = n->seen;
	auto_json struct json *tree = NULL;
	struct err e;

	tree = *a->pool.name ? pool_nodes_json(&a->pool, &a->table, SILENT_PERIODS * n->conf.renew)
			     : node_table_json(&a->table, n->conf.node);

	n->seen = a->table;
	a->table = old;
	if (!tree)
		(void)err_nomem(&e);
	finish(a, tree, tree ? NULL : &e);
}

static void soon(struct nodes_ask *a)
{
	event_active(a->next, EV_TIMEOUT, 0);
}

static void item(void *arg, const struct cluster_object *o)
{
	struct nodes_ask *a = arg;

	/* Two questions at a time: the other one may have ended, and replaced the table. */
	a->look.seen = &a->nodes->seen;
	a->look.now = ctx_since_boot(a->nodes->conf.ctx);
	if (!a->broken.code && o->kind == CLUSTER_POOL) {
		if (pool_asked_note(&a->pool, o, &a->broken))
			(void)err_wrap(&a->broken, "nodes");
	} else if (!a->broken.code && node_table_object(&a->table, o, &a->look, &a->broken)) {
		(void)err_wrap(&a->broken, "nodes");
	}
}

static void listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct nodes_ask *a = arg;
	struct err why = r->err;

	(void)revision;
	a->call = NULL;
	if (r->outcome != CLUSTER_OK) {
		if (r->outcome != CLUSTER_REFUSED)
			why.code = ERR_AGAIN;
		(void)err_wrap(&why, "nodes");
		finish(a, NULL, &why);
	} else if (a->broken.code) {
		why = a->broken;
		finish(a, NULL, &why);
	} else if (a->kinds[a->step] == CLUSTER_POOL && !*a->pool.uid) {
		(void)err_set(&why, ERR_NOTFOUND, 0, "pool %s: the cluster has none of this name",
			      a->pool.name);
		finish(a, NULL, &why);
	} else if (++a->step < STEPS) {
		soon(a);
	} else {
		answer(a);
	}
}

static void list(evutil_socket_t fd, short what, void *arg)
{
	static const struct cluster_list_fns fns = { item, listed };
	struct nodes_ask *a = arg;
	struct cluster_store *s = a->nodes->conf.store;
	struct err e;

	(void)fd;
	(void)what;
	a->which = (struct cluster_selector){ a->kinds[a->step], NULL, NULL };
	a->look.sent = ctx_since_boot(a->nodes->conf.ctx);
	a->call = s->ops->list(s, &a->which, &fns, a);
	if (a->call)
		return;
	(void)err_nomem(&e);
	finish(a, NULL, &e);
}

static struct nodes_ask *begin(struct nodes *n, const char *pool, const struct nodes_end *end,
			       struct err *e)
{
	struct nodes_ask *a;

	if (!n->conf.store) {
		(void)err_set(e, ERR_CONFIG, 0, "this agent has no cluster store");
		(void)err_hint(e, "name it in /etc/railhead/agent.json and restart railheadd");
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (!a || !(a->next = event_new(n->conf.base, -1, EV_TIMEOUT, list, a))) {
		free(a);
		(void)err_nomem(e);
		return NULL;
	}
	a->nodes = n;
	a->end = *end;
	a->kinds = of_nodes;
	if (pool) {
		a->kinds = of_pool;
		(void)snprintf(a->pool.name, sizeof(a->pool.name), "%s", pool);
		a->look.pool = a->pool.name;
	}
	TAILQ_INSERT_TAIL(&n->asks, a, all);
	soon(a);
	return a;
}

struct nodes_ask *nodes_ask(struct nodes *n, const struct nodes_end *end, struct err *e)
{
	return begin(n, NULL, end, e);
}

struct nodes_ask *nodes_ask_pool(struct nodes *n, const char *pool, const struct nodes_end *end,
				 struct err *e)
{
	if (*pool && strlen(pool) <= GRID_POOL_MAX)
		return begin(n, pool, end, e);
	err_set(e, ERR_CONFIG, 0, "pool %.40s: not the name of a shared pool", pool);
	return NULL;
}

int nodes_new(const struct nodes_conf *conf, struct nodes **out, struct err *e)
{
	struct nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return err_nomem(e);
	n->conf = *conf;
	TAILQ_INIT(&n->asks);
	*out = n;
	return 0;
}

void nodes_free(struct nodes *n)
{
	if (!n)
		return;
	while (!TAILQ_EMPTY(&n->asks))
		nodes_ask_cancel(TAILQ_FIRST(&n->asks));
	node_table_clear(&n->seen);
	free(n);
}
