/* SPDX-License-Identifier: Apache-2.0 */
/*
 * presence.c: reads the object of this node, and writes it if it differs from what runs here. The
 * object also says which definitions of pools the node has taken over, which reserved addresses,
 * the number of the node, and its rails.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/base/hash.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

/* Changes of several pools are one write. Up to five times as much is added. */
#define SOON_MS 200
#define AGAIN_S 5   /* after a failure, and up to as much again: many nodes begin together */
#define LOOK_S  600 /* an operator may have deleted the object, or the store was restored */

struct presence {
	struct driver *driver;
	struct cluster_node is;
	struct timer *timer;
	struct cluster_call *call; /* NULL: the timer runs */
	uint64_t said;             /* a hash of the reports that were written or are about to be */
	int64_t number;            /* -1: the value that was written or read last has none */
	bool again;                /* they changed during the call */
	struct json *rails;        /* owned; NULL: not known, so what stands there stays */
};

/* ---- the reports ---- */

/* -1: the node has none. */
static int64_t presence_number_of(const struct driver *d)
{
	return d->labels.has_number ? (int64_t)d->labels.number : -1;
}

/* The report of this node about a pool that the cluster has. */
static struct node_pool report_of(const struct driver *d, const struct pool_seen *s)
{
	/* While a pool is adopting, each block with leases of this node must become its own. */
	size_t conflicts = s->state == POOL_ADOPTING ? agent_pool_conflicts(d->agent, s->name) : 0;
	const struct err *look = pool_look_why(s);
	struct node_pool p = { .generation = s->taken };

	(void)snprintf(p.name, sizeof(p.name), "%.*s", GRID_POOL_MAX, s->name);
	(void)snprintf(p.uid, sizeof(p.uid), "%s", s->uid);
	if (s->rival)
		(void)snprintf(p.waits, sizeof(p.waits), "it overlaps the older pool %.100s",
			       s->rival->name);
	else if (conflicts && *s->lost)
		memcpy(p.waits, s->lost, sizeof(p.waits));
	else if (conflicts)
		(void)snprintf(p.waits, sizeof(p.waits), "it claims %zu blocks of its leases",
			       conflicts);
	else
		(void)snprintf(p.waits, sizeof(p.waits), "%.255s", look ? look->msg : s->waits);
	return p;
}

bool driver_pool_report(const void *arg, const char *pool, struct node_pool *out)
{
	const struct pool_seen *s = pools_seen_find(arg, pool);

	if (s)
		*out = report_of(arg, s);
	return s != NULL;
}

/* The same about the reserved addresses: they count here once all pools of the node have them. */
static struct node_pool report_of_reserved(const struct driver *d)
{
	const struct pool_seen *s = pools_stale(d);
	struct node_pool p = d->reserved.of;

	if (s && !*p.waits)
		(void)snprintf(p.waits, sizeof(p.waits), "pool %.31s: %.200s", s->name,
			       *s->waits ? s->waits : "it is taken over later");
	return p;
}

static int presence_add_reserved(const struct driver *d, struct json *value)
{
	const struct node_pool p = report_of_reserved(d);

	return *p.name ? node_reserved_put(value, &p) : 0;
}

/* It is for other nodes, and no address of it is in the name of this one. */
static bool is_elsewhere(const struct driver *d, const struct pool_seen *s,
			 const struct node_pool *p)
{
	return s->elsewhere && s->taken == s->generation && s->state == POOL_OPEN && !*p->waits &&
	       !agent_pool_blocks(d->agent, s->name);
}

static int presence_add_pools(const struct driver *d, struct json *value)
{
	struct json *list = json_add_array(value, "pools");
	const struct pool_seen *s;
	uint64_t sum = 0;

	for (s = TAILQ_FIRST(&d->seen); list && s; s = TAILQ_NEXT(s, all)) {
		const struct node_pool p = report_of(d, s);

		if (is_elsewhere(d, s, &p))
			sum += node_pool_mark(p.uid, p.generation);
		else if (node_pool_add(list, &p))
			return -1;
	}
	return list ? node_elsewhere_put(value, sum) : -1;
}

static uint64_t hash_report(uint64_t h, const struct node_pool *p)
{
	h = hash_add(h, p->name, strlen(p->name) + 1);
	h = hash_add(h, p->uid, strlen(p->uid) + 1);
	h = hash_add(h, &p->generation, sizeof(p->generation));
	return hash_add(h, p->waits, strlen(p->waits) + 1);
}

static uint64_t hash_of_reports(const struct driver *d)
{
	const struct node_pool reserved = report_of_reserved(d);
	const int64_t number = presence_number_of(d);
	uint64_t h = hash_add(hash_report(HASH_START, &reserved), &number, sizeof(number));
	const struct pool_seen *s;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		const struct node_pool p = report_of(d, s);
		const bool elsewhere = is_elsewhere(d, s, &p);

		h = hash_add(hash_report(h, &p), &elsewhere, sizeof(elsewhere));
	}
	return h;
}

/* ---- the object ---- */

static void presence_look_after(struct presence *p, unsigned seconds)
{
	seconds += (unsigned)(driver_random(p->driver) % (seconds + 1));
	(void)timer_arm(p->timer, seconds * INT64_C(1000));
}

static void look_soon(struct presence *p)
{
	const int64_t ms = SOON_MS + (int64_t)(driver_random(p->driver) % (5 * SOON_MS));

	p->again = false;
	(void)timer_arm(p->timer, ms);
}

/*
 * The call has ended well: look again, soon if the pools have changed meanwhile. Other nodes see
 * the number now, so this one looks at theirs.
 */
static void presence_ended(struct presence *p)
{
	number_twins_written(p->driver->twins, p->number);
	if (p->again)
		look_soon(p);
	else
		presence_look_after(p, LOOK_S);
}

static void presence_failed(struct presence *p, const struct cluster_result *r)
{
	if (r->outcome == CLUSTER_REFUSED)
		driver_refused(p->driver, &r->err);
	presence_look_after(p, AGAIN_S);
}

static void presence_written(void *arg, const struct cluster_result *r)
{
	struct presence *p = arg;

	p->call = NULL;
	if (r->outcome == CLUSTER_OK)
		presence_ended(p);
	else
		presence_failed(p, r);
}

static struct json *presence_value_of(const struct presence *p)
{
	auto_json struct json *value = node_to_json(&p->is);

	if (!value || node_number_put(value, presence_number_of(p->driver)) ||
	    (p->driver->pools_known &&
	     (presence_add_pools(p->driver, value) || presence_add_reserved(p->driver, value))))
		return NULL;
	return TAKE_PTR(value);
}

#define RAILS "rails"

/* An empty array is not written. */
static int presence_add_rails(const struct presence *p, const struct cluster_object *old,
			      struct json *value)
{
	const struct json *rails = p->rails ? p->rails : json_get(old ? old->value : NULL, RAILS);

	return json_len(rails) ? json_add_copy(value, RAILS, rails) : 0;
}

static bool has_same_rails(const struct presence *p, const struct json *there)
{
	const struct json *rails = json_get(there, RAILS);

	return !p->rails || (json_len(p->rails) ? rails && json_same(rails, p->rails) : !rails);
}

static void presence_write_node(struct presence *p, const struct cluster_object *old)
{
	struct cluster_store *s = p->driver->conf.store;
	auto_json struct json *value = presence_value_of(p);
	struct cluster_object o = { .kind = CLUSTER_NODE, .value = value };

	(void)snprintf(o.name, sizeof(o.name), "%s", p->driver->conf.node);
	(void)snprintf(o.node, sizeof(o.node), "%s", p->driver->conf.node);
	p->number = presence_number_of(p->driver);
	if (old)
		o.at = old->at;
	if (value && presence_add_rails(p, old, value) == 0)
		p->call = old ? s->ops->update(s, &o, presence_written, p)
			      : s->ops->create(s, &o, presence_written, p);
	if (!p->call)
		presence_look_after(p, AGAIN_S);
}

static bool presence_is_same(const struct cluster_node *a, const struct cluster_node *b)
{
	return strcmp(a->holder, b->holder) == 0 && strcmp(a->boot, b->boot) == 0 &&
	       strcmp(a->machine, b->machine) == 0 && strcmp(a->version, b->version) == 0 &&
	       a->forgotten == b->forgotten;
}

/* Before all pools are known, nothing is said about them, and what stands there stays. */
static bool has_same_reports(const struct presence *p, const struct json *there)
{
	auto_json struct json *value = presence_value_of(p);

	return !p->driver->pools_known ||
	       (value && json_same(json_get(there, "pools"), json_get(value, "pools")) &&
		json_same(json_get(there, "reserved"), json_get(value, "reserved")) &&
		node_elsewhere_find(there) == node_elsewhere_find(value));
}

static void presence_was_read(void *arg, const struct cluster_result *r)
{
	struct presence *p = arg;
	struct cluster_node there;
	struct err ignored;

	p->call = NULL;
	p->number = r->outcome == CLUSTER_OK ? node_number_of(r->object->value) : -1;
	if (r->outcome == CLUSTER_NOT_FOUND)
		presence_write_node(p, NULL);
	else if (r->outcome != CLUSTER_OK)
		presence_failed(p, r);
	else if (node_from_json(r->object->value, "node", &there, &ignored) ||
		 !presence_is_same(&there, &p->is) || p->number != presence_number_of(p->driver) ||
		 !has_same_reports(p, r->object->value) || !has_same_rails(p, r->object->value))
		presence_write_node(p, r->object);
	else
		presence_ended(p);
}

/* While another machine has our name, the object may be that one's. */
static void presence_look(void *arg)
{
	struct presence *p = arg;
	struct cluster_store *s = p->driver->conf.store;

	p->again = false;
	if (agent_health(p->driver->agent) == AGENT_OK)
		p->call = s->ops->get(s, CLUSTER_NODE, p->driver->conf.node, presence_was_read, p);
	if (!p->call)
		presence_look_after(p, AGAIN_S);
}

void presence_pools(struct presence *p)
{
	uint64_t now;

	if (!p || !p->driver->pools_known || agent_health(p->driver->agent) != AGENT_OK)
		return;
	now = hash_of_reports(p->driver);
	if (now == p->said)
		return;
	p->said = now;
	if (p->call)
		p->again = true;
	else
		look_soon(p);
}

void presence_rails(struct presence *p, struct json *rails)
{
	if (!p || !rails || (p->rails && json_same(p->rails, rails))) {
		json_free(rails);
		return;
	}
	json_free(p->rails);
	p->rails = rails;
	/* The next look removes those of an earlier agent. */
	if (!json_len(rails))
		return;
	if (p->call)
		p->again = true;
	else
		look_soon(p);
}

int presence_new(struct driver *d, const struct cluster_node *node, struct presence **out,
		 struct err *e)
{
	struct presence *p = calloc(1, sizeof(*p));

	if (!p || !(p->timer = timer_new(d->conf.base, presence_look, p))) {
		free(p);
		return err_nomem(e);
	}
	p->driver = d;
	p->is = *node;
	(void)timer_arm(p->timer, 1000);
	*out = p;
	return 0;
}

void presence_free(struct presence *p)
{
	if (!p)
		return;
	cluster_cancel(p->driver->conf.store, &p->call);
	timer_free(p->timer);
	json_free(p->rails);
	free(p);
}
