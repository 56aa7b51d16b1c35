/* SPDX-License-Identifier: Apache-2.0 */
/*
 * needs.c: ADDs that wait for an address. They are served in the order in which they came: each one
 * counts on addresses that are not promised to one before it.
 */
#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "railheadd/drive/driver_priv.h"

void driver_need_cancel(struct driver_need *n)
{
	TAILQ_REMOVE(&n->driver->needs, n, all);
	event_free(n->timer);
	free(n);
}

static void finish(struct driver_need *n, const struct err *why)
{
	driver_need_fn fn = n->fn;
	void *arg = n->arg;

	driver_need_cancel(n);
	fn(arg, why);
}

/* The agent gets the sum of all needs of the pool. */
static void tell_agent(struct driver *d, const char *pool)
{
	const struct driver_need *n;
	uint64_t sum = 0;

	for (n = TAILQ_FIRST(&d->needs); n; n = TAILQ_NEXT(n, all)) {
		if (strcmp(n->pool, pool) == 0)
			sum += n->addresses;
	}
	(void)agent_need(d->agent, pool, sum);
}

/* True: the pool has enough for this one and those before it. */
static bool can_serve(struct driver *d, const struct driver_need *n)
{
	const struct driver_need *m;
	uint64_t sum = n->addresses;

	for (m = TAILQ_FIRST(&d->needs); m; m = TAILQ_NEXT(m, all)) {
		if (m == n)
			break;
		if (strcmp(m->pool, n->pool) == 0)
			sum += m->addresses;
	}
	return driver_agent_ops.spare(d, n->pool) >= sum;
}

void needs_serve(struct driver *d)
{
	struct driver_need *n = TAILQ_FIRST(&d->needs), *next;

	for (; n; n = next) {
		char pool[GRID_POOL_MAX + 1];

		next = TAILQ_NEXT(n, all);
		if (!can_serve(d, n))
			continue;
		memcpy(pool, n->pool, sizeof(pool));
		finish(n, NULL);
		tell_agent(d, pool);
		/* fn may have cancelled others. */
		next = TAILQ_FIRST(&d->needs);
	}
}

static int away(const struct driver *d, const char *pool, struct err *e)
{
	err_set(e, ERR_AGAIN, 0, "pool %s: this node has no free address, and %s%s", pool,
		d->conf.store ? "the cluster store gives no answer: " : "no cluster store is set",
		d->conf.store ? d->why.msg : "");
	return err_hint(e, d->conf.store ? "see `railctl cluster status`"
					 : "name it in /etc/railhead/agent.json");
}

static void explain(const struct driver *d, const char *pool, enum need_result result,
		    struct err *e)
{
	if (result == NEED_FULL) {
		err_set(e, ERR_EXHAUSTED, 0,
			"pool %s is full: other nodes have every block, and none of them is empty",
			pool);
		(void)err_hint(e, "`railctl cluster status` shows the pools of this node");
	} else if (result == NEED_AWAY) {
		(void)away(d, pool, e);
	} else {
		err_set(e, ERR_AGAIN, 0, "pool %s gives this node no block now", pool);
		(void)err_hint(e, "see `railctl cluster status`");
	}
}

void needs_fail(struct driver *d, const char *pool, enum need_result result)
{
	struct driver_need *n = TAILQ_FIRST(&d->needs), *next;
	struct err why;

	explain(d, pool, result, &why);

	for (; n; n = next) {
		next = TAILQ_NEXT(n, all);
		if (strcmp(n->pool, pool) != 0)
			continue;
		finish(n, &why);
		next = TAILQ_FIRST(&d->needs);
	}
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	struct driver_need *n = arg;
	struct driver *d = n->driver;
	char pool[GRID_POOL_MAX + 1];
	struct err e;

	(void)fd;
	(void)what;
	memcpy(pool, n->pool, sizeof(pool));
	if (d->contact && d->refused.code && d->refused_at >= n->since) {
		err_set(&e, ERR_AGAIN, 0, "pool %s: the cluster store refuses: %s", pool,
			d->refused.msg);
		(void)err_hint(&e, "%s", d->refused.detail);
	} else if (d->contact) {
		err_set(&e, ERR_AGAIN, 0, "pool %s: no block came in time", pool);
		(void)err_hint(&e, "see `railctl cluster status`");
	} else {
		(void)away(d, pool, &e);
	}
	finish(n, &e);
	tell_agent(d, pool);
}

struct driver_need *driver_need(struct driver *d, const struct driver_need_ask *ask,
				driver_need_fn fn, void *arg)
{
	struct driver_need *n = calloc(1, sizeof(*n));
	struct timeval wait = { .tv_sec = ask->wait_ms / 1000,
				.tv_usec = ask->wait_ms % 1000 * 1000 };

	if (!n || !(n->timer = evtimer_new(d->conf.base, too_late, n))) {
		free(n);
		return NULL;
	}
	n->driver = d;
	n->addresses = ask->addresses;
	n->since = ctx_since_boot(d->conf.ctx);
	n->fn = fn;
	n->arg = arg;
	(void)snprintf(n->pool, sizeof(n->pool), "%s", ask->pool);
	TAILQ_INSERT_TAIL(&d->needs, n, all);
	/* A pool that is not known here may come with the first list. */
	if (!d->conf.store)
		wait = (struct timeval){ 0 };
	(void)event_add(n->timer, &wait);
	tell_agent(d, n->pool);
	driver_soon(d);
	return n;
}

void needs_free(struct driver *d)
{
	while (!TAILQ_EMPTY(&d->needs))
		driver_need_cancel(TAILQ_FIRST(&d->needs));
}
