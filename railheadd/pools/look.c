/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look.c: one list of blocks for each new pool; pools that are new together share it. If a
 * block is in the way, only that block is read again, with growing pauses, and the list is repeated
 * when it is gone.
 *
 * People write and delete pools by any means. So each node looks at the blocks itself, once before
 * it uses a pool. The object of a block stays in the store as long as a node may assign from it,
 * also if that node is cut off. A block that is created after its pool was deleted is never used,
 * because its claim reads the pool after the write. So a list that begins after the deletion was
 * seen shows all blocks that matter.
 */
#include <string.h>

#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

#define SECOND    INT64_C(1000000000)
#define PAUSE_MAX (60 * SECOND)
/* The URL of the list contains them; some proxies refuse one of 8 KiB. */
#define WITHOUT_MAX 100

struct pool_look {
	struct driver *driver;
	struct pool_seen *pool;
	struct cluster_call *call;
	struct timer *timer;
	int64_t pause;
	bool waits;   /* for the next list */
	bool listing; /* it began before the list that runs */
	bool clear;
	char block[CLUSTER_NAME_LEN]; /* in the way; "": none is known */
	struct err why;               /* code 0: nothing is known to be in the way */
};

/* It is the pool that is looked at, or one that exists and lies elsewhere. */
static bool is_no_obstacle(const struct pool_look *l, const struct pool_seen *s)
{
	return s == l->pool ||
	       (s->subnet.addr.family != IP_NONE && !pool_seen_overlaps(s, l->pool));
}

/* Blocks of pools that are no obstacle, and blocks of the same name. */
static bool is_harmless(const void *arg, const char *pool, const struct json *value)
{
	const struct pool_look *l = arg;
	const char *uid = json_str(json_get(value, "poolUID"));
	const char *node = json_str(json_get(value, "node"));
	bool own = node && strcmp(node, l->driver->conf.node) == 0;
	const struct pool_seen *s;

	/*
	 * Blocks of one name exclude each other. And a node whose store was lost knows blocks of
	 * its own only once it uses a pool of their name; then it returns them.
	 */
	if ((!uid || own) && strcmp(pool, l->pool->name) == 0)
		return true;
	for (s = TAILQ_FIRST(&l->driver->seen); uid && s; s = TAILQ_NEXT(s, all)) {
		if (strcmp(s->name, pool) == 0 && strcmp(s->uid, uid) == 0)
			return is_no_obstacle(l, s);
	}
	return false;
}

/* ---- look ---- */

static void wait(struct pool_look *l)
{
	struct driver *d = l->driver;
	int64_t pause = l->pause + (int64_t)(driver_random(d) % (uint64_t)l->pause);

	l->pause = l->pause < PAUSE_MAX / 2 ? 2 * l->pause : PAUSE_MAX;
	(void)timer_arm_ns(l->timer, pause);
	driver_soon(d); /* ADDs that wait learn why */
}

/* The answer of the store is part of the status of the agent, too. */
static void hear(struct driver *d, const struct cluster_result *r)
{
	if (r->outcome == CLUSTER_REFUSED)
		driver_refused(d, &r->err);
	else
		driver_heard(d, r->outcome == CLUSTER_AWAY ? &r->err : NULL);
}

static void look_see(struct pool_look *l, const struct cluster_object *o)
{
	if (*l->block || !block_clashes(o, l->pool->subnet, is_harmless, l, &l->why))
		return;
	memcpy(l->block, o->name, sizeof(l->block));
}

static void look_say(const struct pool_look *l)
{
	log_warn(&l->driver->conf.ctx->log, "shared pool %s is not used yet: %s", l->pool->name,
		 l->why.msg);
}

/* ---- the list ---- */

static void look_list_item(void *arg, const struct cluster_object *o)
{
	struct driver *d = arg;
	struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (s->look && s->look->listing)
			look_see(s->look, o);
	}
}

/* True: nothing is in the way. */
static bool end_list(struct pool_look *l, bool whole)
{
	l->listing = false;
	if (!whole)
		l->block[0] = '\0';
	if (whole && !*l->block) {
		l->why.code = 0;
		l->clear = true;
		return true;
	}
	if (whole)
		look_say(l);
	wait(l);
	return false;
}

/* Looks that began meanwhile need a list of their own: it begins after them. */
static void begin_waiting(struct driver *d)
{
	if (!d->looks.call)
		timer_now(d->looks.due);
}

static void list_ended(struct driver *d, bool whole)
{
	struct pool_seen *s;
	bool clear = false;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (s->look && s->look->listing)
			clear |= end_list(s->look, whole);
	}
	begin_waiting(d);
	if (clear)
		pools_look_clear(d);
}

static void look_list_done(void *arg, const struct cluster_result *r, const char *revision)
{
	struct driver *d = arg;

	(void)revision;
	d->looks.call = NULL;
	if (r->outcome != CLUSTER_OK)
		hear(d, r);
	list_ended(d, r->outcome == CLUSTER_OK);
}

/* For each look of this list: its blocks are harmless. */
static bool is_never_an_obstacle(const struct driver *d, const struct pool_seen *of)
{
	const struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (s->look && s->look->listing && !is_no_obstacle(s->look, of))
			return false;
	}
	return true;
}

/*
 * Most blocks are of pools that exist. With 1,024 nodes that all learn of a new pool, each list of
 * them all would be most of the work of the API server.
 */
static size_t find_harmless(const struct driver *d, const char *uids[WITHOUT_MAX])
{
	const struct pool_seen *s;
	size_t n = 0;

	for (s = TAILQ_FIRST(&d->seen); s && n < WITHOUT_MAX; s = TAILQ_NEXT(s, all)) {
		if (is_never_an_obstacle(d, s))
			uids[n++] = s->uid;
	}
	return n;
}

static void list_due(void *arg)
{
	static const struct cluster_list_fns fns = { .item = look_list_item,
						     .done = look_list_done };
	const char *uids[WITHOUT_MAX];
	struct cluster_selector which = { .kind = CLUSTER_BLOCK, .without = uids };
	struct driver *d = arg;
	struct cluster_store *store = d->conf.store;
	struct pool_seen *s;
	bool any = false;

	if (d->looks.call)
		return;
	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (!s->look || !s->look->waits)
			continue;
		s->look->waits = false;
		s->look->listing = any = true;
	}
	if (!any)
		return;
	which.n_without = find_harmless(d, uids);
	d->looks.call = store->ops->list(store, &which, &fns, d);
	if (!d->looks.call)
		list_ended(d, false); /* no memory */
}

static void look_list(struct pool_look *l)
{
	l->block[0] = '\0';
	l->waits = true;
	begin_waiting(l->driver);
}

/* ---- one block ---- */

static void look_was_read(void *arg, const struct cluster_result *r)
{
	struct pool_look *l = arg;

	l->call = NULL;
	if (r->outcome != CLUSTER_OK && r->outcome != CLUSTER_NOT_FOUND) {
		hear(l->driver, r);
		wait(l);
		return;
	}
	l->block[0] = '\0';
	if (r->outcome == CLUSTER_OK)
		look_see(l, r->object);
	if (*l->block)
		wait(l);
	else
		look_list(l);
}

static void again(void *arg)
{
	struct pool_look *l = arg;
	struct cluster_store *s = l->driver->conf.store;

	if (!*l->block) {
		look_list(l);
		return;
	}
	l->call = s->ops->get(s, CLUSTER_BLOCK, l->block, look_was_read, l);
	if (!l->call)
		wait(l);
}

/* ---- begin and end ---- */

static int look_begin(struct driver *d, struct pool_seen *s)
{
	struct pool_look *l = calloc(1, sizeof(*l));

	if (!d->looks.due)
		d->looks.due = timer_new(d->conf.base, list_due, d);
	if (!d->looks.due || !l || !(l->timer = timer_new(d->conf.base, again, l))) {
		free(l);
		return -1;
	}
	l->driver = d;
	l->pool = s;
	l->pause = d->conf.retry > 0 ? d->conf.retry : SECOND;
	s->look = l;
	look_list(l);
	return 0;
}

bool pool_look_clear(struct driver *d, struct pool_seen *s)
{
	/* It cannot be used; that is said when it is decoded. */
	if (s->subnet.addr.family == IP_NONE)
		return true;
	if (!s->look && look_begin(d, s))
		(void)err_nomem(&d->fatal);
	return s->look && s->look->clear;
}

const struct err *pool_look_why(const struct pool_seen *s)
{
	return s->look && s->look->why.code ? &s->look->why : NULL;
}

void pool_look_cancel(struct pool_seen *s)
{
	struct pool_look *l = s->look;

	s->look = NULL;
	if (!l)
		return;
	cluster_cancel(l->driver->conf.store, &l->call);
	timer_free(l->timer);
	free(l);
}

void pool_list_cancel(struct driver *d)
{
	cluster_cancel(d->conf.store, &d->looks.call);
	timer_free(d->looks.due);
	d->looks.due = NULL;
}
