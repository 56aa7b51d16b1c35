/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c: each round counts the blocks of all pools, and then writes one status after the
 * other. A round that fails leaves the rest to the next one.
 */
#include "railheadd/pools/report.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/nodes.h"
#include "railheadd/pools/table.h"
#include "railheadd/pools/figures.h"

/* So many rounds in which another agent did not correct its figures, and this one does. */
#define PATIENCE 3

struct reported {
	char name[GRID_POOL_MAX + 1];
	struct cluster_version at;
	int64_t generation;
	struct json *status; /* owned; NULL: none */
	unsigned still;      /* rounds that have seen this status */
	struct json *due;    /* owned; NULL: nothing is to be written */
	bool listed;         /* by the present round */
};

struct pool_report {
	struct pool_report_conf conf;
	struct timer *timer;
	struct nodes *nodes;       /* counts; asked, or the timer runs, unless a call does */
	struct cluster_call *call; /* the write of a status; NULL: none */
	struct reported *pools;    /* owned */
	size_t n_pools, next;
	struct err reported; /* the last failure that was logged; code 0: none since a success */
};

/* A right that is missing, or types of an older release, would be logged each minute. */
static void report_failed(struct pool_report *r, const struct err *why)
{
	if (!r->reported.code || strcmp(r->reported.msg, why->msg) != 0)
		log_warn(&r->conf.ctx->log, "the use of pools is not reported: %s%s%s", why->msg,
			 *why->detail ? "; " : "", why->detail);
	r->reported = *why;
	(void)timer_arm_ns(r->timer, r->conf.every);
}

static void report_no_memory(struct pool_report *r)
{
	struct err e;

	(void)err_nomem(&e);
	report_failed(r, &e);
}

/* ---- what is reported ---- */

static void pools_report_clear(struct reported *p)
{
	json_free(p->status);
	json_free(p->due);
}

static struct reported *report_find(const struct pool_report *r, const char *name)
{
	for (size_t i = 0; i < r->n_pools; i++) {
		if (strcmp(r->pools[i].name, name) == 0)
			return &r->pools[i];
	}
	return NULL;
}

static struct reported *find_or_add(struct pool_report *r, const char *name, struct err *e)
{
	struct reported *p = report_find(r, name);

	if (p)
		return p;
	if (ARRAY_GROW(r->pools, r->n_pools, POOL_TABLE_POOLS, "shared pools", e))
		return NULL;
	p = &r->pools[r->n_pools++];
	*p = (struct reported){ .still = 0 };
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	return p;
}

/* A pool of a list. */
static int report_see(void *arg, const struct cluster_object *o, struct err *e)
{
	struct pool_report *r = arg;
	struct reported *p;

	if (strlen(o->name) > GRID_POOL_MAX)
		return 0;
	p = find_or_add(r, o->name, e);
	if (!p)
		return -1;
	p->still = json_same(p->status, o->status) ? p->still + 1 : 0;
	json_free(p->status);
	p->status = json_dup(o->status);
	p->at = o->at;
	p->generation = o->generation;
	p->listed = true;
	return o->status && !p->status ? err_nomem(e) : 0;
}

static void report_forget_unlisted(struct pool_report *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_pools; i++) {
		if (r->pools[i].listed)
			r->pools[n++] = r->pools[i];
		else
			pools_report_clear(&r->pools[i]);
	}
	r->n_pools = n;
}

static bool is_mine(const struct pool_report *r, const struct reported *p)
{
	const char *by = json_str(json_get(p->status, "reportedBy"));

	return !by || strcmp(by, r->conf.node) == 0 || p->still >= PATIENCE;
}

/* -1: no memory. */
static int report_compare(const struct pool_report *r, const struct json *counted)
{
	struct reported *p = report_find(r, json_str(json_get(counted, "name")));
	const struct pool_report_conf *c = &r->conf;
	auto_json struct json *now = NULL;
	struct node_pool is;

	if (!p)
		return 0;
	now = pool_figures_json(counted, c->node);
	if (!now)
		return -1;
	if (c->state && c->state(c->arg, p->name, &is) && strcmp(is.uid, p->at.uid) == 0 &&
	    pool_figures_ready(now, &is, p->generation, p->status, c->ctx->now(c->ctx->clock)))
		return -1;
	if (is_mine(r, p) && !pool_figures_same(now, p->status))
		p->due = TAKE_PTR(now);
	return 0;
}

static int report_compare_all(struct pool_report *r, const struct json *answer)
{
	json_each (counted, json_get(answer, "pools")) {
		if (report_compare(r, counted))
			return -1;
	}
	return 0;
}

/* ---- write ---- */

static void write_next(struct pool_report *r);

static void report_was_written(void *arg, const struct cluster_result *result)
{
	struct pool_report *r = arg;

	r->call = NULL;
	/* A pool that has changed meanwhile is for the next round. */
	if (result->outcome == CLUSTER_OK || result->outcome == CLUSTER_CONFLICT ||
	    result->outcome == CLUSTER_NOT_FOUND)
		write_next(r);
	else
		report_failed(r, &result->err);
}

static void write_next(struct pool_report *r)
{
	struct cluster_store *s = r->conf.store;
	struct cluster_object o = { .kind = CLUSTER_POOL };
	const struct reported *p;

	while (r->next < r->n_pools && !r->pools[r->next].due)
		r->next++;
	if (r->next == r->n_pools) {
		r->reported.code = 0;
		(void)timer_arm_ns(r->timer, r->conf.every);
		return;
	}
	p = &r->pools[r->next++];
	o.at = p->at;
	o.status = p->due;
	memcpy(o.name, p->name, sizeof(p->name));
	r->call = s->ops->report(s, &o, report_was_written, r);
	if (!r->call)
		report_no_memory(r);
}

/* ---- count ---- */

static void report_counted(void *arg, const struct json *answer, const struct err *why)
{
	struct pool_report *r = arg;

	if (why) {
		report_failed(r, why);
		return;
	}
	report_forget_unlisted(r);
	if (report_compare_all(r, answer))
		report_no_memory(r);
	else
		write_next(r);
}

static void begin_round(void *arg)
{
	struct pool_report *r = arg;
	const struct ask_end end = { report_counted, r };
	struct err e;

	r->next = 0;
	for (size_t i = 0; i < r->n_pools; i++) {
		r->pools[i].listed = false;
		json_free(TAKE_PTR(r->pools[i].due));
	}
	if (!nodes_ask_pools(r->nodes, report_see, &end, &e))
		report_failed(r, &e);
}

/* ---- begin and end ---- */

int pool_report_new(const struct pool_report_conf *conf, struct pool_report **out, struct err *e)
{
	const struct nodes_conf nodes = { conf->ctx, conf->base, conf->store, conf->node, 0 };
	struct pool_report *r = calloc(1, sizeof(*r));

	if (!r || nodes_new(&nodes, &r->nodes, e) ||
	    !(r->timer = timer_new(conf->base, begin_round, r))) {
		if (r)
			nodes_free(r->nodes);
		free(r);
		return err_nomem(e);
	}
	r->conf = *conf;
	(void)timer_arm(r->timer, 0);
	*out = r;
	return 0;
}

void pool_report_free(struct pool_report *r)
{
	if (!r)
		return;
	cluster_cancel(r->conf.store, &r->call);
	nodes_free(r->nodes);
	timer_free(r->timer);
	for (size_t i = 0; i < r->n_pools; i++)
		pools_report_clear(&r->pools[i]);
	free(r->pools);
	free(r);
}
