/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c: the shared pools of the cluster, and their definitions on this node, which an ADD reads.
 *
 * A pool that was deleted in the cluster stays here as long as pods have its addresses. The agent
 * returns its blocks as they become empty.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/conf/pool.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"
#include "railheadd/pools/events.h"

#define SECOND    INT64_C(1000000000)
#define PAUSE_MAX (300 * SECOND)

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

static void pools_forget(struct driver *d, struct pool_entry *p)
{
	agent_unset_pool(d->agent, p->view.pool.name);
	free_entry(d, p);
}

static void forget_seen(struct driver *d, struct pool_seen *s)
{
	pool_look_cancel(s);
	TAILQ_REMOVE(&d->seen, s, all);
	json_free(s->definition);
	free(s);
}

void pools_looks_cancel(struct driver *d)
{
	struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all))
		pool_look_cancel(s);
	pool_list_cancel(d);
}

/* The agent is gone already: a pool that it forgets would lose the confirmation of its blocks. */
void pools_free(struct driver *d)
{
	struct pool_entry *p;
	struct pool_seen *s;

	while ((p = TAILQ_FIRST(&d->pools)))
		free_entry(d, p);
	while ((s = TAILQ_FIRST(&d->seen)))
		forget_seen(d, s);
}

int pools_load(struct driver *d, struct err *e)
{
	auto_json struct json *list = NULL;

	if (shared_pool_list(d->conf.ipam, &list, e))
		return -1;
	json_each (item, list) {
		const struct shared_pool_def def = { json_str(json_get(item, "name")),
						     json_str(json_get(item, "uid")), 0,
						     json_get(item, "definition"),
						     json_get(item, "reserved") };

		if (range_list_add(def.reserved, "reserved", &d->reserved.ranges, e) ||
		    pool_replace(d, &def, false, e))
			return -1;
	}
	return 0;
}

/* ---- what the cluster store shows ---- */

static void pools_refused(struct driver *d, const char *name, const struct err *why)
{
	log_error(&d->conf.ctx->log, "shared pool %s is not used on this node: %s%s%s", name,
		  why->msg, *why->detail ? "; " : "", why->detail);
}

static void end_pool(struct driver *d, struct pool_entry *p)
{
	struct err e;

	if (p->gone)
		return;
	log_info(&d->conf.ctx->log, "shared pool %s is deleted", p->view.pool.name);
	p->gone = true;
	p->view.pool.ending = true;
	if (agent_set_pool(d->agent, &p->view.pool, &e))
		pools_refused(d, p->view.pool.name, &e);
}

static struct pool_seen *find_seen(const struct driver *d, const char *name)
{
	struct pool_seen *s = TAILQ_FIRST(&d->seen);

	while (s && strcmp(s->name, name) != 0)
		s = TAILQ_NEXT(s, all);
	return s;
}

const struct pool_seen *pools_seen_find(const struct driver *d, const char *name)
{
	return find_seen(d, name);
}

/*
 * A pool that overlaps an older one gives nothing on any node: a node that sees it sees the older
 * one, too. If the store does not know which is older, neither gives anything. With Kubernetes the
 * age is a time of an API server: clocks that differ may call the pool older that came second. Then
 * its look (look.c) still finds the blocks of the first one.
 */
const struct pool_seen *pools_rival(const struct driver *d, const struct pool_seen *p)
{
	const struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (pool_seen_overlaps(s, p) && strcmp(s->name, p->name) != 0 &&
		    strcmp(s->created, p->created) <= 0)
			return s;
	}
	return NULL;
}

static void stop_use(struct driver *d, struct pool_seen *s, struct pool_entry *old)
{
	struct err e;

	log_error(&d->conf.ctx->log, "shared pool %s gives nothing: it overlaps the older pool %s",
		  s->name, s->rival->name);
	if (!old)
		return;
	old->view.pool.conflict = true;
	if (agent_set_pool(d->agent, &old->view.pool, &e))
		pools_refused(d, s->name, &e);
}

void pools_note_lost(struct driver *d, const char *pool, const char *node, const char *what,
		     const char *pods)
{
	struct pool_seen *s = find_seen(d, pool);

	if (!s)
		return;
	(void)snprintf(s->lost, sizeof(s->lost), "%.63s has the %.106s%.70s",
		       node ? node : "another node", what, pods);
	presence_pools(d->presence);
}

/* A disk that is full, or a pool of the node that lies there: both may end. */
static void use_later(struct driver *d, struct pool_seen *s)
{
	int64_t first = d->conf.retry > 0 ? d->conf.retry : SECOND;

	s->pause = s->pause == 0 ? first : 2 * s->pause < PAUSE_MAX ? 2 * s->pause : PAUSE_MAX;
	s->again = ctx_since_boot(d->conf.ctx) + s->pause;
}

/* The definition is wrong on each node, or this node cannot keep it. */
static void not_taken(struct driver *d, struct pool_seen *s, const struct pool_entry *old,
		      const struct err *e)
{
	const long long generation = (long long)s->generation;
	const bool holds = old && strcmp(old->view.pool.uid, s->uid) == 0;
	const char *what = holds ? "the old definition still holds" : "the pool is not used";
	char why[sizeof(e->msg) + sizeof(e->detail) + 2], key[sizeof(why) + 24];
	const struct event_about about = { EVENT_POOL_REFUSED, "", s->name, s->uid, key, false };

	(void)snprintf(why, sizeof(why), "%s%s%s", e->msg, *e->detail ? "; " : "", e->detail);
	(void)snprintf(key, sizeof(key), "%lld %s", generation, why);
	(void)snprintf(s->waits, sizeof(s->waits), "%.255s", why);
	log_error(&d->conf.ctx->log,
		  "generation %lld of shared pool %s is refused on this node, and %s: %s",
		  generation, s->name, what, why);
	(void)events_tell(d->events, &about,
			  "Generation %lld is refused, as on node %s, and %s there: %s", generation,
			  d->conf.node, what, why);
}

static void use(struct driver *d, struct pool_seen *s)
{
	struct pool_entry *old = pools_find(d, s->name);
	bool used = old && !old->view.pool.conflict && strcmp(old->view.pool.uid, s->uid) == 0;
	struct err e;

	if (s->rival) {
		s->fresh = false;
		pool_look_cancel(s);
		stop_use(d, s, old);
		return;
	}
	s->elsewhere = node_labels_exclude(&d->labels, s->definition);
	if (!used && !s->elsewhere && !pool_look_clear(d, s))
		return;
	if (pool_take_over(d, s, &e)) {
		not_taken(d, s, pools_find(d, s->name), &e);
		use_later(d, s);
		return;
	}
	s->fresh = false;
	s->taken = s->generation;
	s->waits[0] = '\0';
	s->again = s->pause = 0;
	if (old || !pools_find(d, s->name))
		return;
	log_info(&d->conf.ctx->log, "shared pool %s%s", s->name,
		 s->state == POOL_ADOPTING ? " (adopting)" : "");
	(void)needs_tell(d, s->name);
	if (d->own.skipped && d->own.follow)
		follow_again(d->own.follow);
}

/*
 * An entry of another uid goes first, with its last pod. Then the new pool of this name is used.
 * Before the first list is complete, a pool that was not seen is not gone.
 */
static void pools_compare(struct driver *d)
{
	struct pool_entry *p;
	struct pool_seen *s;

	if (!d->pools_listed)
		return;
	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		s = find_seen(d, p->view.pool.name);
		if (!s || strcmp(s->uid, p->view.pool.uid) != 0)
			end_pool(d, p);
	}
	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		const struct pool_seen *rival = pools_rival(d, s);

		s->fresh |= !s->rival != !rival;
		if (rival && !s->rival)
			s->rival_since = d->conf.ctx->now(d->conf.ctx->clock);
		s->rival = rival;
	}
	for (s = TAILQ_FIRST(&d->seen); d->reserved.known && s; s = TAILQ_NEXT(s, all)) {
		p = pools_find(d, s->name);
		if (s->fresh && !(p && p->gone))
			use(d, s);
	}
}

/* ---- reserved addresses of the cluster ---- */

static struct json *reserved_in(const struct ranges *reserved, struct ip_prefix subnet)
{
	return subnet.addr.family == IP_NONE ? json_new_array()
					     : range_list_print_in(reserved, subnet);
}

struct json *pools_reserved_in(const struct driver *d, struct ip_prefix subnet)
{
	return reserved_in(&d->reserved.ranges, subnet);
}

/* Only pools in whose subnets something differs are taken over again. */
static void pools_exchange(struct driver *d, struct ranges *with)
{
	struct ranges old = d->reserved.ranges;
	struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		auto_json struct json *was = reserved_in(&old, s->subnet);
		auto_json struct json *is = reserved_in(with, s->subnet);

		s->fresh |= !was || !is || !json_same(was, is);
	}
	d->reserved.ranges = *with;
	*with = old;
}

static void pools_can_be_used(struct driver *d)
{
	pools_compare(d);
	if (d->pools_listed && d->reserved.known)
		driver_pools_known(d);
	driver_event(d);
}

void driver_reserved(struct driver *d, const struct ranges *reserved, const struct node_pool *of)
{
	auto_ranges struct ranges copy = { 0 };
	struct err e;

	if (reserved && ranges_copy(reserved, &copy, &e)) {
		d->fatal = e;
		driver_soon(d);
		return;
	}
	if (reserved)
		pools_exchange(d, &copy);
	d->reserved.of = of ? *of : (struct node_pool){ .generation = 0 };
	d->reserved.known = true;
	pools_can_be_used(d);
}

int driver_assigns(const struct driver *d, struct ip ip)
{
	const struct pool_seen *s;
	bool found = false;

	for (s = TAILQ_FIRST(&d->seen); s && !found; s = TAILQ_NEXT(s, all)) {
		auto_clean(source_clear) struct source pool = { .label = "" };
		struct err why;

		found = s->subnet.addr.family && ip_in_prefix(s->subnet, ip) &&
			(pool_decode(s->name, s->definition, &pool, &why) ||
			 ranges_contain(&pool.usable, ip));
	}
	return d->pools_listed ? found : -1;
}

const struct pool_seen *pools_stale(const struct driver *d)
{
	const struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		const struct pool_entry *p = s->fresh ? pools_find(d, s->name) : NULL;

		if (p && !p->gone)
			return s;
	}
	return NULL;
}

void pools_look_clear(struct driver *d)
{
	pools_compare(d);
	driver_event(d);
}

int64_t pools_retry(struct driver *d, int64_t now)
{
	struct pool_seen *s;
	bool any = false;
	int64_t next = INT64_MAX;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (!s->again || s->again > now)
			continue;
		s->again = 0;
		any = true;
	}
	if (node_labels_changed(&d->labels, d->conf.ctx, d->conf.ipam->node, now)) {
		for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all))
			s->fresh = any = true;
	}
	if (any) {
		pools_compare(d);
		next = now; /* the agent has not seen it yet */
	}
	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		if (s->again && s->again < next)
			next = s->again;
	}
	return next;
}

bool pools_sweep(struct driver *d)
{
	struct pool_entry *p = TAILQ_FIRST(&d->pools), *next;
	bool any = false;

	for (; p; p = next) {
		struct pool_seen *s;
		struct err e;
		int rc;

		next = TAILQ_NEXT(p, all);
		if (!p->gone)
			continue;
		rc = shared_pool_remove(d->conf.ipam, p->view.pool.name, &e);
		if (rc < 0)
			pools_refused(d, p->view.pool.name, &e);
		if (rc)
			continue;
		pools_forget(d, p);
		/* Its addresses may be those of pools that this node had to refuse. */
		for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all))
			s->fresh |= !pools_find(d, s->name);
		any = true;
	}
	if (any)
		pools_compare(d);
	return any;
}

/* ---- follow ---- */

static void pools_see(struct driver *d, const struct cluster_object *o)
{
	struct pool_seen *s = find_seen(d, o->name), now;
	struct json *definition = json_dup(o->value);

	if (!s && (s = calloc(1, sizeof(*s))))
		TAILQ_INSERT_TAIL(&d->seen, s, all);
	if (!s || !definition) {
		json_free(definition);
		(void)err_nomem(&d->fatal);
		return;
	}
	pool_seen_read(o, &now);
	now.all = s->all;
	now.rival = s->rival;
	if (strcmp(now.uid, s->uid) != 0)
		pool_look_cancel(s);
	now.look = s->look;
	now.rival_since = s->rival_since;
	if (strcmp(now.uid, s->uid) == 0) {
		now.taken = s->taken;
		memcpy(now.lost, s->lost, sizeof(now.lost));
	}
	now.definition = definition;
	now.listed = now.fresh = true;
	json_free(s->definition);
	*s = now;
}

static void forget_unlisted(struct driver *d)
{
	struct pool_seen *s = TAILQ_FIRST(&d->seen), *next;

	for (; s; s = next) {
		next = TAILQ_NEXT(s, all);
		if (!s->listed)
			forget_seen(d, s);
	}
}

static void pools_begun(void *arg)
{
	struct driver *d = arg;
	struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all))
		s->listed = false;
}

static void pools_pool_item(void *arg, const struct cluster_object *o)
{
	pools_see(arg, o);
}

static void pools_pools_listed(void *arg)
{
	struct driver *d = arg;

	forget_unlisted(d);
	d->pools_listed = true;
	pools_can_be_used(d);
}

/* A watch shows each new status, and nothing else of the pool has changed then. */
static bool pools_is_known(const struct pool_seen *s, const struct cluster_object *o)
{
	return strcmp(s->uid, o->at.uid) == 0 && s->generation == o->generation &&
	       s->ending == o->ending && json_same(s->definition, o->value);
}

static void pool_changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct driver *d = arg;
	struct pool_seen *s = find_seen(d, o->name);

	if (!gone && s && pools_is_known(s, o))
		return;
	if (!gone)
		pools_see(d, o);
	else if (s)
		forget_seen(d, s);
	pools_compare(d);
	driver_event(d);
}

const struct follow_fns pools_follow_fns = { pools_begun,           pools_pool_item,
					     pools_pools_listed,    pool_changed,
					     driver_follow_contact, driver_follow_refusal,
					     driver_random };
