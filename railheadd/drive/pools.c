/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c: the shared pools of the cluster, and their definitions on this node, which an ADD reads.
 *
 * A pool that was deleted in the cluster stays here as long as pods have its addresses. The agent
 * returns its blocks as they become empty.
 */
#include <stdio.h>
#include <string.h>

#include "railheadd/drive/driver_priv.h"

struct pool_entry *pools_find(const struct driver *d, const char *name)
{
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		if (strcmp(p->view.pool.name, name) == 0)
			return p;
	}
	return NULL;
}

static void free_entry(struct driver *d, struct pool_entry *p)
{
	TAILQ_REMOVE(&d->pools, p, all);
	shared_pool_view_clear(&p->view);
	json_free(p->definition);
	free(p);
}

static void forget(struct driver *d, struct pool_entry *p)
{
	agent_unset_pool(d->agent, p->view.pool.name);
	free_entry(d, p);
}

/* The agent is gone already: a pool that it forgets would lose the confirmation of its blocks. */
void pools_free(struct driver *d)
{
	struct pool_entry *p;

	while ((p = TAILQ_FIRST(&d->pools)))
		free_entry(d, p);
}

static struct pool_entry *new_entry(const struct shared_pool_def *def, struct err *e)
{
	struct pool_entry *p = calloc(1, sizeof(*p));

	if (!p || !(p->definition = json_dup(def->definition))) {
		free(p);
		(void)err_nomem(e);
		return NULL;
	}

	struct shared_pool_def own = *def;

	own.definition = p->definition;
	if (shared_pool_decode(&own, &p->view, e) == 0)
		return p;
	json_free(p->definition);
	free(p);
	return NULL;
}

/* The agent borrows from the entry: it gets the new one before the old one is freed. */
static int replace(struct driver *d, const struct shared_pool_def *def, bool ending, struct err *e)
{
	struct pool_entry *old = pools_find(d, def->name), *p = new_entry(def, e);

	if (!p)
		return -1;
	p->view.pool.ending = ending;
	if (agent_set_pool(d->agent, &p->view.pool, e)) {
		shared_pool_view_clear(&p->view);
		json_free(p->definition);
		free(p);
		return -1;
	}
	p->listed = true;
	TAILQ_INSERT_TAIL(&d->pools, p, all);
	if (old) {
		TAILQ_REMOVE(&d->pools, old, all);
		shared_pool_view_clear(&old->view);
		json_free(old->definition);
		free(old);
	}
	return 0;
}

int pools_load(struct driver *d, struct err *e)
{
	auto_json struct json *list = NULL;

	if (shared_pool_list(d->conf.ipam, &list, e))
		return -1;
	json_each (item, list) {
		const struct shared_pool_def def = { json_str(json_get(item, "name")),
						     json_str(json_get(item, "uid")), 0,
						     json_get(item, "definition") };

		if (replace(d, &def, false, e))
			return -1;
	}
	return 0;
}

/* ---- what the cluster store shows ---- */

static void refused(struct driver *d, const char *name, const struct err *why)
{
	log_error(&d->conf.ctx->log, "shared pool %s is not used on this node: %s%s%s", name,
		  why->msg, *why->detail ? "; " : "", why->detail);
}

static void end_pool(struct driver *d, struct pool_entry *p)
{
	struct err e;

	if (!p->gone)
		log_info(&d->conf.ctx->log, "shared pool %s is deleted", p->view.pool.name);
	p->gone = true;
	p->view.pool.ending = true;
	if (agent_set_pool(d->agent, &p->view.pool, &e))
		refused(d, p->view.pool.name, &e);
}

static void set_pool(struct driver *d, const struct cluster_object *o)
{
	const struct shared_pool_def def = { o->name, o->at.uid, 0, o->value };
	struct pool_entry *old = pools_find(d, o->name);
	struct err e;

	if (old)
		old->listed = true;
	if (old && strcmp(old->view.pool.uid, o->at.uid) != 0) {
		/* The old one goes first, when its last pod has gone. */
		old->again = true;
		end_pool(d, old);
		return;
	}
	/* The node's store first: an agent that has a block of a pool needs its definition there.
	 */
	if (shared_pool_put(d->conf.ipam, &def, &e) || replace(d, &def, o->ending, &e)) {
		refused(d, o->name, &e);
		return;
	}
	if (!old)
		log_info(&d->conf.ctx->log, "shared pool %s", o->name);
}

void pools_sweep(struct driver *d)
{
	struct pool_entry *p = TAILQ_FIRST(&d->pools), *next;

	for (; p; p = next) {
		struct err e;
		int rc;

		next = TAILQ_NEXT(p, all);
		if (!p->gone)
			continue;
		rc = shared_pool_remove(d->conf.ipam, p->view.pool.name, &e);
		if (rc < 0)
			refused(d, p->view.pool.name, &e);
		if (rc)
			continue;
		bool again = p->again;

		forget(d, p);
		if (again && d->pools_follow)
			follow_again(d->pools_follow);
	}
}

static void pools_begun(void *arg)
{
	struct driver *d = arg;
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all))
		p->listed = false;
}

static void pool_item(void *arg, const struct cluster_object *o)
{
	set_pool(arg, o);
}

static void pools_listed(void *arg)
{
	struct driver *d = arg;
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		if (!p->listed)
			end_pool(d, p);
	}
	driver_pools_known(d);
	driver_event(d);
}

static void pool_changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct driver *d = arg;
	struct pool_entry *p = pools_find(d, o->name);

	if (!gone)
		set_pool(d, o);
	else if (p)
		end_pool(d, p);
	driver_event(d);
}

static void contact(void *arg, const struct err *why)
{
	driver_heard(arg, why);
}

static void refusal(void *arg, const struct err *why)
{
	driver_refused(arg, why);
}

const struct follow_fns pools_follow_fns = { pools_begun, pool_item, pools_listed, pool_changed,
					     contact,     refusal,   driver_random };
