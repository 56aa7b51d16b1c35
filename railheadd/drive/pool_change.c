/* SPDX-License-Identifier: Apache-2.0 */
/* pool_change.c: reads the pool, and writes it with the version that was read. */
#include "railheadd/drive/pool_change.h"

#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "railheadd/drive/driver_priv.h"

#define TRIES 5 /* of operators who change one pool at the same time */

struct pool_change {
	TAILQ_ENTRY(pool_change) all;
	struct driver *driver;
	struct cluster_call *call;
	char name[GRID_POOL_MAX + 1];
	struct json *definition; /* NULL: delete */
	unsigned tries;
	bool created;
	struct pool_change_end end;
};

void pool_change_cancel(struct pool_change *c)
{
	const struct cluster_store *s = c->driver->conf.store;

	if (c->call)
		s->ops->cancel(c->call);
	TAILQ_REMOVE(&c->driver->changes, c, all);
	json_free(c->definition);
	free(c);
}

void pool_changes_free(struct driver *d)
{
	while (!TAILQ_EMPTY(&d->changes))
		pool_change_cancel(TAILQ_FIRST(&d->changes));
}

static void finish(struct pool_change *c, const struct err *why)
{
	struct pool_change_end end = c->end;
	bool created = c->created;

	pool_change_cancel(c);
	end.done(end.arg, why, created);
}

static int read_pool(struct pool_change *c, struct err *e);

/* Outcomes that no caller handles by itself. */
static void failed(struct pool_change *c, const struct cluster_result *r)
{
	struct err e = r->err;

	e.code = r->outcome == CLUSTER_AWAY ? ERR_AGAIN : ERR_FORBIDDEN;
	(void)err_wrap(&e, "pool %s", c->name);
	finish(c, &e);
}

static void written(void *arg, const struct cluster_result *r)
{
	struct pool_change *c = arg;
	struct err e;
	bool raced = r->outcome == CLUSTER_CONFLICT || r->outcome == CLUSTER_EXISTS ||
		     r->outcome == CLUSTER_NOT_FOUND;

	c->call = NULL;
	if (r->outcome == CLUSTER_OK)
		finish(c, NULL);
	else if (!raced || ++c->tries == TRIES)
		failed(c, r);
	else if (read_pool(c, &e))
		finish(c, &e);
}

static const char *text_of(const struct json *n, const char *key, char buf[JSON_SHOW_LEN])
{
	return json_show(json_get(n, key), buf);
}

/* Blocks are named after their place on the grid: it stays as long as the pool. */
static int check_same(const struct pool_change *c, const struct json *old, struct err *e)
{
	static const char *const keys[] = { "subnet", "blockSize" };
	char was[JSON_SHOW_LEN], now[JSON_SHOW_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(text_of(old, keys[i], was), text_of(c->definition, keys[i], now)) == 0)
			continue;
		err_set(e, ERR_BUSY, 0, "pool %s: %s is %s in the cluster and cannot become %s",
			c->name, keys[i], was, now);
		return err_hint(e, "make a pool of another name, or delete this one first");
	}
	return 0;
}

static void write_pool(struct pool_change *c, const struct cluster_object *old)
{
	struct cluster_store *s = c->driver->conf.store;
	struct cluster_object o = { .kind = CLUSTER_POOL, .value = c->definition };
	struct err e;

	memcpy(o.name, c->name, sizeof(c->name));
	c->created = !old;
	if (old)
		o.at = old->at;
	if (!c->definition)
		c->call = s->ops->remove(s, &o, written, c);
	else if (old)
		c->call = s->ops->update(s, &o, written, c);
	else
		c->call = s->ops->create(s, &o, written, c);
	if (c->call)
		return;
	(void)err_nomem(&e);
	finish(c, &e);
}

static void was_read(void *arg, const struct cluster_result *r)
{
	struct pool_change *c = arg;
	struct err e;

	c->call = NULL;
	if (r->outcome == CLUSTER_NOT_FOUND && !c->definition) {
		err_set(&e, ERR_NOTFOUND, 0, "pool %s: the cluster has none of this name", c->name);
		finish(c, &e);
	} else if (r->outcome == CLUSTER_NOT_FOUND) {
		write_pool(c, NULL);
	} else if (r->outcome != CLUSTER_OK) {
		failed(c, r);
	} else if (c->definition && check_same(c, r->object->value, &e)) {
		finish(c, &e);
	} else {
		write_pool(c, r->object);
	}
}

static int read_pool(struct pool_change *c, struct err *e)
{
	struct cluster_store *s = c->driver->conf.store;

	c->call = s->ops->get(s, CLUSTER_POOL, c->name, was_read, c);
	return c->call ? 0 : err_nomem(e);
}

/* ---- begin ---- */

/* The definition as it would be on a node, and against the other pools that this node knows. */
static int check_definition(struct driver *d, const char *name, const struct json *definition,
			    struct err *e)
{
	const struct shared_pool_def def = { name, "new", 0, definition };
	struct shared_pool_view view;
	const struct pool_entry *p;
	int rc = 0;

	if (pool_check_keys(definition, e) || shared_pool_decode(&def, &view, e))
		return -1;
	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		const struct ip_prefix a = p->view.pool.grid.subnet, b = view.pool.grid.subnet;

		if (strcmp(p->view.pool.name, name) == 0 || p->gone ||
		    !(ip_in_prefix(a, b.addr) || ip_in_prefix(b, a.addr)))
			continue;
		rc = err_set(e, ERR_BUSY, 0, "pool %s: its subnet overlaps that of pool %s", name,
			     p->view.pool.name);
		(void)err_hint(e, "give each shared pool a subnet of its own");
		break;
	}
	shared_pool_view_clear(&view);
	return rc;
}

/* Takes over what->definition. */
static struct pool_change *begin(struct driver *d, const char *name, const struct pool_change *what,
				 struct err *e)
{
	struct pool_change *c = calloc(1, sizeof(*c));

	if (!c) {
		json_free(what->definition);
		(void)err_nomem(e);
		return NULL;
	}
	*c = *what;
	c->driver = d;
	(void)snprintf(c->name, sizeof(c->name), "%s", name);
	TAILQ_INSERT_TAIL(&d->changes, c, all);
	if (!d->conf.store) {
		err_set(e, ERR_CONFIG, 0, "this agent has no cluster store");
		(void)err_hint(e, "name it in /etc/railhead/agent.json and restart railheadd");
	} else if (read_pool(c, e) == 0) {
		return c;
	}
	pool_change_cancel(c);
	return NULL;
}

struct pool_change *pool_change_put(struct driver *d, const char *name,
				    const struct json *definition,
				    const struct pool_change_end *end, struct err *e)
{
	struct pool_change what = { .end = *end };

	if (check_definition(d, name, definition, e))
		return NULL;
	what.definition = json_dup(definition);
	if (what.definition)
		return begin(d, name, &what, e);
	(void)err_nomem(e);
	return NULL;
}

struct pool_change *pool_change_remove(struct driver *d, const char *name,
				       const struct pool_change_end *end, struct err *e)
{
	struct pool_change what = { .end = *end };

	if (strlen(name) <= GRID_POOL_MAX)
		return begin(d, name, &what, e);
	err_set(e, ERR_NOTFOUND, 0, "pool %.40s...: longer than a shared pool's name", name);
	return NULL;
}
