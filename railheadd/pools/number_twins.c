/* SPDX-License-Identifier: Apache-2.0 */
/* number_twins.c: a list of all nodes after each new number, and then now and then. */
#include "railheadd/pools/number_twins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/timer.h"

/* Each node lists all nodes so often, and up to as much later. */
#define LATER (INT64_C(3600) * 1000000000)

struct seen_twins {
	struct number_twin twins[NUMBER_TWINS_MAX];
	size_t n;
};

struct number_twins {
	struct number_twins_conf conf;
	struct cluster_selector which;
	struct timer *timer;
	struct cluster_call *call; /* NULL: the timer runs, or there is no number */
	int64_t number;            /* of this node; -1: none */
	struct seen_twins now, next;
};

/* ---- the member of a node's value ---- */

int node_number_put(struct json *value, int64_t number)
{
	return number < 0 ? 0 : json_add_int(value, "number", number);
}

int64_t node_number_of(const struct json *value)
{
	const struct json *n = json_get(value, "number");
	double number = json_num(n);

	return n && json_type(n) == JSON_NUMBER && number >= 0 && number <= UINT32_MAX
		       ? (int64_t)number
		       : -1;
}

/* ---- the twins ---- */

static struct number_twin *number_twins_find(struct seen_twins *s, const char *node)
{
	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->twins[i].node, node) == 0)
			return &s->twins[i];
	}
	return NULL;
}

static void log_changes(struct number_twins *t)
{
	const struct log *log = &t->conf.ctx->log;

	for (size_t i = 0; i < t->next.n; i++) {
		const char *node = t->next.twins[i].node;

		if (!number_twins_find(&t->now, node))
			log_error(log,
				  "node %s has the number %lld of this node, too: pools with "
				  "slices assign the same addresses on both; give one of them "
				  "another number: `railctl ipam node set NUMBER`",
				  node, (long long)t->number);
	}
	for (size_t i = 0; i < t->now.n; i++) {
		if (!number_twins_find(&t->next, t->now.twins[i].node))
			log_info(log, "node %s no longer has the number of this node",
				 t->now.twins[i].node);
	}
}

static void number_twins_item(void *arg, const struct cluster_object *o)
{
	struct number_twins *t = arg;
	struct number_twin *before = number_twins_find(&t->now, o->name), *twin;

	if (strcmp(o->name, t->conf.node) == 0 || strlen(o->name) >= NODE_NAME_LEN ||
	    node_number_of(o->value) != t->number || t->next.n == NUMBER_TWINS_MAX)
		return;
	twin = &t->next.twins[t->next.n++];
	(void)snprintf(twin->node, sizeof(twin->node), "%s", o->name);
	twin->since = before ? before->since : t->conf.ctx->now(t->conf.ctx->clock);
}

static void look_after(struct number_twins *t, int64_t pause)
{
	const int64_t us = (pause + (int64_t)(t->conf.random(NULL) % ((uint64_t)pause + 1))) / 1000;

	(void)timer_arm_ns(t->timer, us * 1000);
}

static void number_twins_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct number_twins *t = arg;

	(void)revision;
	t->call = NULL;
	/* A list that failed says nothing: those that are known stay. */
	if (r->outcome == CLUSTER_OK) {
		log_changes(t);
		t->now = t->next;
	}
	look_after(t, r->outcome != CLUSTER_OK || t->now.n ? t->conf.soon : LATER);
}

static void number_twins_look(void *arg)
{
	static const struct cluster_list_fns fns = { .item = number_twins_item,
						     .done = number_twins_listed };
	struct number_twins *t = arg;
	struct cluster_store *s = t->conf.store;

	t->next.n = 0;
	t->call = s->ops->list(s, &t->which, &fns, t);
	if (!t->call)
		look_after(t, t->conf.soon);
}

void number_twins_written(struct number_twins *t, int64_t number)
{
	if (!t || t->number == number)
		return;
	cluster_cancel(t->conf.store, &t->call);
	t->next.n = 0;
	if (t->number >= 0)
		log_changes(t);
	t->now.n = 0;
	t->number = number;
	if (number >= 0)
		timer_now(t->timer);
	else
		timer_stop(t->timer);
}

size_t number_twins_list(const struct number_twins *t, const struct number_twin **twins,
			 int64_t *number)
{
	*twins = t ? t->now.twins : NULL;
	*number = t ? t->number : -1;
	return t ? t->now.n : 0;
}

/* ---- begin and end ---- */

int number_twins_new(const struct number_twins_conf *conf, struct number_twins **out, struct err *e)
{
	struct number_twins *t = calloc(1, sizeof(*t));

	if (!t || !(t->timer = timer_new(conf->base, number_twins_look, t))) {
		free(t);
		return err_nomem(e);
	}
	t->conf = *conf;
	t->number = -1;
	t->which = (struct cluster_selector){ .kind = CLUSTER_NODE };
	*out = t;
	return 0;
}

void number_twins_free(struct number_twins *t)
{
	if (!t)
		return;
	cluster_cancel(t->conf.store, &t->call);
	timer_free(t->timer);
	free(t);
}
