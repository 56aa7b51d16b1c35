/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change.c: reads the pool, and writes it with the version that was read.
 *
 * No address may be in two pools, also not in a deleted one whose pods still live somewhere. Each
 * node sees to that by itself (look.c), because people also write pools without this command.
 * Here the lists of pools and of blocks are looked at so that the operator learns it: before a pool
 * is created, and after each write, because another operator may have written meanwhile.
 */
#include "railheadd/pools/change.h"

#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "ipam/conf/pool.h"
#include "ipam/conf/pool_blocks.h"
#include "lib/base/array.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

#define TRIES 5 /* of operators who change one pool at the same time */
/* Nodes return the empty blocks of a deleted pool by themselves: so often, and so long. */
#define LOOKS     10
#define LOOK_MS   200
#define POOLS_MAX 4096

struct pool_name {
	char name[CLUSTER_NAME_LEN], uid[CLUSTER_UID_LEN];
};

struct pool_change {
	struct ask is;
	char name[GRID_POOL_MAX + 1];
	struct json *definition;  /* NULL: delete, or not read yet */
	int64_t step_at;          /* the adopting pool of this generation becomes open; 0: none */
	struct ip_prefix subnet;  /* of the pool */
	struct cluster_object at; /* the pool as it was read or created; without its value */
	unsigned tries, looks;
	bool created, stands;    /* it was written: by this change, or created by it, too */
	struct pool_name *pools; /* of the last list; owned */
	size_t n_pools;
	struct pool_name rival; /* a pool that overlaps; "": none */
	char rival_created[CLUSTER_CREATED_LEN];
	struct err found; /* of a list: code 0: nothing is in the way */
};

static void change_clear(void *a)
{
	struct pool_change *c = a;

	json_free(c->definition);
	free(c->pools);
}

static void change_done(struct pool_change *c)
{
	const char *key = c->step_at ? "opened" : c->definition ? "created" : "deleted";
	struct json *answer = json_new_object();

	if (answer && json_add_bool(answer, key, c->step_at || !c->definition || c->created) == 0) {
		ask_finish(&c->is, answer, NULL);
		return;
	}
	json_free(answer);
	ask_nomem(&c->is);
}

/* ---- what is in the way ---- */

static void change_see_pool(void *arg, const struct cluster_object *o)
{
	struct pool_change *c = arg;
	struct pool_seen seen;

	pool_seen_read(o, &seen);
	if (ARRAY_GROW(c->pools, c->n_pools, POOLS_MAX, "shared pools", &c->found))
		return;
	memcpy(c->pools[c->n_pools].name, seen.name, sizeof(seen.name));
	memcpy(c->pools[c->n_pools++].uid, seen.uid, sizeof(seen.uid));
	if (strcmp(o->name, c->name) == 0)
		memcpy(c->at.created, o->created, sizeof(c->at.created));
	else if ((ip_in_prefix(c->subnet, seen.subnet.addr) ||
		  ip_in_prefix(seen.subnet, c->subnet.addr)) &&
		 (!*c->rival.name || strcmp(seen.created, c->rival_created) < 0)) {
		c->rival = c->pools[c->n_pools - 1];
		memcpy(c->rival_created, seen.created, sizeof(seen.created));
	}
}

/* Another pool that is there has its own rule: see has_rival(). */
static bool is_of_a_pool(const void *arg, const char *name, const struct json *value)
{
	const char *uid = json_str(json_get(value, "poolUID"));
	const struct pool_change *c = arg;

	for (size_t i = 0; uid && i < c->n_pools; i++) {
		if (strcmp(c->pools[i].name, name) == 0 && strcmp(c->pools[i].uid, uid) == 0)
			return true;
	}
	return false;
}

static void change_see_block(void *arg, const struct cluster_object *o)
{
	struct pool_change *c = arg;

	if (c->found.code || !block_clashes(o, c->subnet, is_of_a_pool, c, &c->found))
		return;
	(void)err_wrap(&c->found, "%s", c->is.about);
}

/* ---- write ---- */

static void change_read_pool(struct pool_change *c);
static void change_list_pools(struct pool_change *c);
static void list_blocks(struct pool_change *c);

static void change_written(void *arg, const struct cluster_result *r)
{
	struct pool_change *c = arg;

	c->is.call = NULL;
	/* An update is looked at, too: the look after its creation may have got no answer. */
	if (r->outcome == CLUSTER_OK && c->definition && r->object) {
		c->at = *r->object;
		c->stands = true;
		change_list_pools(c);
	} else if (r->outcome == CLUSTER_OK) {
		change_done(c);
	} else if (!ask_raced(r) || ++c->tries == TRIES) {
		ask_failed(&c->is, r);
	} else {
		change_read_pool(c);
	}
}

static void write_pool(struct pool_change *c, bool old)
{
	struct cluster_store *s = c->is.store;
	struct cluster_object o = { .kind = CLUSTER_POOL, .value = c->definition };

	memcpy(o.name, c->name, sizeof(c->name));
	c->created = !old;
	if (old)
		o.at = c->at.at;
	ask_sent(&c->is, (!c->definition ? s->ops->remove
			  : old          ? s->ops->update
					 : s->ops->create)(s, &o, change_written, c));
}

static void undone(void *arg, const struct cluster_result *r)
{
	struct pool_change *c = arg;

	c->is.call = NULL;
	if (r->outcome != CLUSTER_OK)
		(void)err_hint(&c->found, "no node uses the pool before that ends; delete it: %s",
			       r->err.msg);
	c->created = false;
	ask_finish(&c->is, NULL, &c->found);
}

/* The pool that was created need not stay: no node uses it before the same look is clear. */
static void undo(struct pool_change *c)
{
	struct cluster_store *s = c->is.store;
	struct cluster_object o = { .kind = CLUSTER_POOL, .at = c->at.at };

	memcpy(o.name, c->name, sizeof(c->name));
	ask_sent(&c->is, s->ops->remove(s, &o, undone, c));
}

/* ---- the lists ---- */

static void blocks_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct pool_change *c = arg;

	(void)revision;
	c->is.call = NULL;
	if (r->outcome != CLUSTER_OK)
		ask_failed(&c->is, r);
	else if (c->found.code && c->created)
		undo(c);
	else if (c->found.code && ++c->looks < LOOKS)
		(void)timer_arm(c->is.timer, LOOK_MS);
	else if (c->found.code)
		ask_finish(&c->is, NULL, &c->found);
	else if (c->stands)
		change_done(c);
	else
		write_pool(c, false);
}

static void list_blocks(struct pool_change *c)
{
	static const struct cluster_selector which = { .kind = CLUSTER_BLOCK };
	static const struct cluster_list_fns fns = { .item = change_see_block,
						     .done = blocks_listed };
	struct cluster_store *s = c->is.store;

	c->found.code = 0;
	ask_sent(&c->is, s->ops->list(s, &which, &fns, c));
}

/* True: a pool that overlaps is in the way, and c->found says so. */
static bool has_rival(struct pool_change *c)
{
	/* The rival is the oldest of all that overlap. */
	bool younger = strcmp(c->rival_created, c->at.created) > 0;

	if (!*c->rival.name || (c->stands && younger) || (!c->definition && !younger))
		return false;
	if (c->definition) {
		err_set(&c->found, ERR_BUSY, 0, "pool %s: its subnet overlaps that of pool %s",
			c->name, c->rival.name);
		(void)err_hint(&c->found, "give each shared pool a subnet of its own");
		return true;
	}
	/* It would begin to give addresses, which pods of this pool still have. */
	err_set(&c->found, ERR_BUSY, 0, "pool %s: pool %s overlaps it, and waits for its end",
		c->name, c->rival.name);
	(void)err_hint(&c->found, "delete pool %s first", c->rival.name);
	return true;
}

static void pools_listed(void *arg, const struct cluster_result *r, const char *revision)
{
	struct pool_change *c = arg;

	(void)revision;
	c->is.call = NULL;
	if (r->outcome != CLUSTER_OK)
		ask_failed(&c->is, r);
	else if ((c->found.code || has_rival(c)) && c->created)
		undo(c);
	else if (c->found.code)
		ask_finish(&c->is, NULL, &c->found);
	else if (c->definition)
		list_blocks(c);
	else
		write_pool(c, true);
}

static void change_list_pools(struct pool_change *c)
{
	static const struct cluster_selector which = { .kind = CLUSTER_POOL };
	static const struct cluster_list_fns fns = { .item = change_see_pool,
						     .done = pools_listed };
	struct cluster_store *s = c->is.store;

	c->found.code = 0;
	c->n_pools = 0;
	c->rival.name[0] = '\0';
	ask_sent(&c->is, s->ops->list(s, &which, &fns, c));
}

/* ---- read ---- */

static const char *change_text_of(const struct json *n, const char *key, char buf[JSON_SHOW_LEN])
{
	return json_show(json_get(n, key), buf);
}

/* Blocks are named after their place on the grid: it stays as long as the pool. */
static int check_same(const struct pool_change *c, const struct json *old, struct err *e)
{
	static const char *const keys[] = { "subnet", "blockSize" };
	char was[JSON_SHOW_LEN], now[JSON_SHOW_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(change_text_of(old, keys[i], was),
			   change_text_of(c->definition, keys[i], now)) == 0)
			continue;
		err_set(e, ERR_BUSY, 0, "pool %s: %s is %s in the cluster and cannot become %s",
			c->name, keys[i], was, now);
		return err_hint(e, "make a pool of another name, or delete this one first");
	}
	return 0;
}

/* Nodes bring leases into a new pool only: in an open one each free block may be another node's. */
static int change_check_state(const struct pool_change *c, const struct json *old, struct err *e)
{
	enum pool_state from = pool_state_of(old), to = pool_state_of(c->definition);

	if (from == to)
		return 0;
	if (from == POOL_ADOPTING) {
		err_set(e, ERR_BUSY, 0, "pool %s: it is adopting leases of the nodes", c->name);
		return err_hint(e,
				"`railctl cluster pool open %s` opens it once all nodes have "
				"reported; until then keep \"state\": \"adopting\"",
				c->name);
	}
	err_set(e, ERR_BUSY, 0, "pool %s: it is open, so it cannot begin to adopt leases", c->name);
	return err_hint(e, "only a new pool can have \"state\": \"adopting\"");
}

/* The definition that the nodes have reported, as that of an open pool. */
static int make_step(struct pool_change *c, const struct cluster_object *o, struct err *e)
{
	if (o->generation != c->step_at) {
		err_set(e, ERR_AGAIN, 0, "pool %s: its definition has changed meanwhile", c->name);
		return err_hint(e, "run the command again");
	}
	json_free(c->definition);
	c->definition = json_dup(o->value);
	if (!c->definition)
		return err_nomem(e);
	json_del(c->definition, "state");
	return 0;
}

/* A pool that is there, and is to be changed. */
static int pools_check_change(struct pool_change *c, const struct cluster_object *o, struct err *e)
{
	if (c->step_at)
		return make_step(c, o, e);
	return check_same(c, o->value, e) || change_check_state(c, o->value, e) ? -1 : 0;
}

static void change_was_read(void *arg, const struct cluster_result *r)
{
	struct pool_change *c = arg;
	bool there = r->outcome == CLUSTER_OK;
	struct pool_seen seen;
	struct err e;

	c->is.call = NULL;
	if (there) {
		pool_seen_read(r->object, &seen);
		c->at = *r->object;
		c->subnet = c->definition ? c->subnet : seen.subnet;
	}
	if (r->outcome == CLUSTER_NOT_FOUND && (!c->definition || c->step_at)) {
		err_set(&e, ERR_NOTFOUND, 0, "pool %s: the cluster has no pool of this name",
			c->name);
		ask_finish(&c->is, NULL, &e);
	} else if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		ask_failed(&c->is, r);
	} else if (there && (c->step_at || c->definition) && pools_check_change(c, r->object, &e)) {
		ask_finish(&c->is, NULL, &e);
	} else if (!there || !c->definition) {
		change_list_pools(c);
	} else {
		write_pool(c, true);
	}
}

static void change_read_pool(struct pool_change *c)
{
	struct cluster_store *s = c->is.store;

	c->created = c->stands = false;
	ask_sent(&c->is, s->ops->get(s, CLUSTER_POOL, c->name, change_was_read, c));
}

static void change_due(void *arg)
{
	struct pool_change *c = arg;

	if (c->looks)
		list_blocks(c);
	else
		change_read_pool(c);
}

/* ---- begin ---- */

/* The definition as it would be on a node. */
static int change_check_definition(const char *name, const struct json *definition,
				   struct ip_prefix *subnet, struct err *e)
{
	const struct shared_pool_def def = { name, "new", 0, definition, NULL };
	struct shared_pool_view view;

	if (pool_check_keys(definition, e) || shared_pool_decode(&def, &view, e))
		return -1;
	*subnet = view.pool.grid.subnet;
	shared_pool_view_clear(&view);
	return 0;
}

/* Takes over what->definition. */
static struct ask *change_begin(struct driver *d, struct pool_change *what,
				const struct ask_end *end, struct err *e)
{
	if (ask_needs_store(d->conf.store, e)) {
		json_free(what->definition);
		return NULL;
	}
	what->is = (struct ask){ .in = &d->asks,
				 .base = d->conf.base,
				 .store = d->conf.store,
				 .due = change_due,
				 .clear = change_clear,
				 .end = *end };
	(void)snprintf(what->is.about, sizeof(what->is.about), "pool %s", what->name);
	return ask_new(&what->is, sizeof(*what), e);
}

static int name_change(struct pool_change *c, const char *name, struct err *e)
{
	if (strlen(name) >= sizeof(c->name))
		return err_set(e, ERR_CONFIG, 0, "pool %.40s...: longer than a shared pool's name",
			       name);
	memcpy(c->name, name, strlen(name) + 1);
	return 0;
}

struct ask *pool_change_put(struct driver *d, const char *name, const struct json *definition,
			    const struct ask_end *end, struct err *e)
{
	struct pool_change what = { .looks = 0 };

	if (change_check_definition(name, definition, &what.subnet, e) ||
	    name_change(&what, name, e))
		return NULL;
	what.definition = json_dup(definition);
	if (what.definition)
		return change_begin(d, &what, end, e);
	(void)err_nomem(e);
	return NULL;
}

struct ask *pool_change_open(struct driver *d, const char *name, int64_t generation,
			     const struct ask_end *end, struct err *e)
{
	struct pool_change what = { .step_at = generation };

	return name_change(&what, name, e) ? NULL : change_begin(d, &what, end, e);
}

struct ask *pool_change_remove(struct driver *d, const char *name, const struct ask_end *end,
			       struct err *e)
{
	struct pool_change what = { .step_at = 0 };

	return name_change(&what, name, e) ? NULL : change_begin(d, &what, end, e);
}
