/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c: begin and end of a driver, and what happens after each event. */
#include <event2/event.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipam/lease/cluster_labels.h"
#include "lib/base/version.h"
#include "lib/sys/fs.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"
#include "railheadd/pools/events.h"
#define SECOND INT64_C(1000000000)
/* How long an ask for a block of another node stands. */
#define ASK SECOND
/* After an ADD or a DEL. */
#define LOOK (20 * INT64_C(1000000))
/* Retries between two looks for nodes with the number of this one, once there is one. */
#define TWIN 100
/* A hint of an ADD or a DEL may be lost: so often the driver looks at the pools by itself. */
#define TICK_MAX (10 * SECOND)

void driver_soon(struct driver *d)
{
	(void)timer_arm_ns(d->tick, 0);
}

/*
 * A look locks the store of the node. So it comes a moment later: a pod has several ADDs in a row.
 * But an ADD that waits gets an address that became free.
 */
void driver_look(struct driver *d)
{
	const int64_t wait = TAILQ_EMPTY(&d->needs) ? LOOK : 0;
	int64_t left;

	d->labels.due = 0;
	if (!d->conf.store)
		return;
	left = timer_left(d->tick);
	if (!wait || left < 0 || left >= LOOK)
		(void)timer_arm_ns(d->tick, wait);
}

/* Who still waits although the need was met lost its address to another ADD: it needs a new one. */
static bool tell_ended(struct driver *d)
{
	struct pool_entry *p;
	bool again = false;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		if (!p->ended)
			continue;
		p->ended = false;
		if (p->result != NEED_MET)
			needs_fail(d, p->view.pool.name, p->result);
		else
			again |= needs_tell(d, p->view.pool.name);
	}
	return again;
}

void driver_event(struct driver *d)
{
	int64_t now = ctx_since_boot(d->conf.ctx);

	driver_count_again(d);
	d->in_event = true;
	needs_want(d);

	int64_t next = agent_tick(d->agent, now);
	int64_t retry = pools_retry(d, now);

	next = retry < next ? retry : next;
	needs_serve(d);
	if (tell_ended(d))
		next = now;
	needs_fail_unknown(d);
	if (pools_sweep(d))
		next = now;
	d->in_event = false;
	presence_pools(d->presence);
	if (d->fatal.code)
		(void)event_base_loopbreak(d->conf.base);
	/* The agent begins at the next event with the needs that it got above. */
	next = next > now ? next : now;
	(void)timer_arm_ns(d->tick, next - now < TICK_MAX ? next - now : TICK_MAX);
}

static void tick(void *arg)
{
	driver_event(arg);
}

static const struct shared_pool *known_pool(void *arg, const char *name)
{
	const struct pool_entry *p = pools_find(arg, name);

	return p ? &p->view.pool : NULL;
}

static int decode_pool(void *arg, const struct cluster_object *o, struct shared_pool *out,
		       struct err *e)
{
	struct driver *d = arg;
	struct pool_seen seen;

	pool_seen_read(o, &seen);
	auto_json struct json *reserved = pools_reserved_in(d, seen.subnet);
	const struct pool_entry *old = pools_find(d, o->name);
	struct shared_pool_def def = { o->name, o->at.uid, 0, o->value, reserved };

	if (!reserved)
		return err_nomem(e);
	/* A block is granted only when all pools that it may overlap are known. */
	if (!d->pools_known)
		return err_set(e, ERR_AGAIN, 0,
			       "pool %s: it is read again when all pools are known", o->name);
	if (d->reply_pool_set)
		shared_pool_view_clear(&d->reply_pool);
	d->reply_pool_set = shared_pool_decode(&def, &d->reply_pool, e) == 0;
	/* No node takes such a definition over, and the old one holds. */
	if (!d->reply_pool_set && old && strcmp(old->view.pool.uid, o->at.uid) == 0) {
		def.definition = old->definition;
		d->reply_pool_set = shared_pool_decode(&def, &d->reply_pool, e) == 0;
	}
	if (!d->reply_pool_set)
		return -1;
	d->reply_pool.pool.ending = o->ending;
	d->reply_pool.pool.conflict =
		pools_rival(d, &seen) || node_labels_exclude(&d->labels, o->value);
	*out = d->reply_pool.pool;
	return 0;
}

static void driver_unreadable(void *arg, const struct err *why)
{
	const struct driver *d = arg;

	log_warn(&d->conf.ctx->log, "%s", why->msg);
}

static void reply(void *arg, const struct agent_reply *r, const struct err *why)
{
	struct driver *d = arg;

	if (r->outcome == CLUSTER_REFUSED)
		driver_refused(d, why);
	else
		driver_heard(d, r->outcome == CLUSTER_AWAY && !r->unreadable ? why : NULL);
	if (r->unreadable)
		driver_unreadable(d, why);
	agent_answer(d->agent, r);
	driver_event(d);
}

static const struct request_fns request_fns = { known_pool, decode_pool, driver_unreadable, reply };

void driver_pools_known(struct driver *d)
{
	struct err e;

	d->pools_known = true;
	if (!d->own.follow && own_begin(d, &e))
		d->fatal = e;
}

/* Made once with the store of the node: it tells this store from all others of the node's name. */
static int new_holder(struct driver *d, struct node_record *n, struct err *e)
{
	(void)snprintf(n->holder, sizeof(n->holder), "%016" PRIx64 "%016" PRIx64, driver_random(d),
		       driver_random(d));
	return blocks_put_node(d->conf.ipam, n, e);
}

static int new_agent(struct driver *d, struct err *e)
{
	const struct agent_settings set = { .node = d->conf.node,
					    .boot = d->boot,
					    .hold = d->conf.hold,
					    .renew = d->conf.renew,
					    .retry = d->conf.retry,
					    .ask = ASK,
					    .machine = *d->machine ? d->machine : NULL,
					    .strict = d->conf.strict,
					    .ranges = d->conf.store &&
						      d->conf.store->ops->lists_ranges };
	struct agent_memory memory;

	if (blocks_load(d->conf.ipam, &memory, e))
		return -1;
	if (!*memory.node.holder && new_holder(d, &memory.node, e)) {
		blocks_clear(&memory);
		return -1;
	}
	d->agent = agent_new(&set, &driver_agent_ops, d, &memory);
	(void)snprintf(d->holder, sizeof(d->holder), "%s", memory.node.holder);
	blocks_clear(&memory);
	return d->agent ? 0 : err_nomem(e);
}

static int be_present(struct driver *d, struct err *e)
{
	const struct driver_conf *c = &d->conf;
	const struct number_twins_conf twins = { c->ctx,  c->base,         c->store,
						 c->node, TWIN * c->retry, driver_random };
	struct cluster_node n = { .version = RAILHEAD_VERSION };

	(void)snprintf(n.holder, sizeof(n.holder), "%s", d->holder);
	(void)snprintf(n.boot, sizeof(n.boot), "%s", d->boot);
	(void)snprintf(n.machine, sizeof(n.machine), "%.39s", d->machine);
	if (number_twins_new(&twins, &d->twins, e))
		return -1;
	return presence_new(d, &n, &d->presence, e);
}

/* Tells a machine with a new disk from another machine. Many virtual machines have none. */
static void driver_read_machine(struct driver *d)
{
	auto_free char *text = NULL;
	char path[256];
	struct err ignored;

	(void)snprintf(path, sizeof(path), "%s/class/dmi/id/product_uuid", d->conf.ctx->sysfs);
	if (fs_read_at(AT_FDCWD, path, sizeof(d->machine) - 1, &text, &ignored) <= 0)
		return;
	(void)snprintf(d->machine, sizeof(d->machine), "%.*s", (int)strcspn(text, "\n"), text);
}

/* ---- labels ---- */

/* The store of the node first: an ADD must not refuse what the agent claims for it. */
void driver_labels(struct driver *d, const struct json *labels)
{
	struct json *copy = json_dup(labels);
	struct err e;

	if (!copy)
		(void)err_nomem(&e);
	if (!copy || cluster_labels_put(d->conf.ipam, labels, &e)) {
		json_free(copy);
		log_error(&d->conf.ctx->log,
			  "the labels of the Node are not used, the old ones stay: %s", e.msg);
		return;
	}
	node_labels_set(&d->labels, copy);
	driver_look(d);
}

/* Labels of an earlier run. Without Kubernetes no program would ever change them. */
static int begin_labels(struct driver *d, struct err *e)
{
	const struct driver_conf *c = &d->conf;
	struct json *labels = NULL;

	if (!c->store || !c->store->ops->has_nodes) {
		if (cluster_labels_put(c->ipam, NULL, e))
			return -1;
	} else if (cluster_labels_get(c->ipam, &labels, e)) {
		/* A damaged record is replaced when the Node is seen. */
		log_error(&c->ctx->log, "the labels of the Node are not known: %s", e->msg);
	}
	node_labels_set(&d->labels, labels);
	(void)node_labels_changed(&d->labels, c->ctx, c->ipam->node, d->heard.since);
	return 0;
}

/* ---- begin and end ---- */

static int driver_begin(struct driver *d, struct err *e)
{
	const struct driver_conf *c = &d->conf;

	d->heard.since = ctx_since_boot(c->ctx);
	d->tick = timer_new(c->base, tick, d);
	if (!d->tick)
		return err_nomem(e);
	driver_read_machine(d);
	if (begin_labels(d, e) || ctx_boot_id(c->ctx, d->boot, e) || new_agent(d, e) ||
	    pools_load(d, e))
		return -1;
	d->pools_which = (struct cluster_selector){ .kind = CLUSTER_POOL };
	d->own.which = (struct cluster_selector){ .kind = CLUSTER_BLOCK, .node = c->node };
	if (!c->store)
		return 0;
	d->requests = requests_new(c->base, c->store, &request_fns, d);
	if (!d->requests)
		return err_nomem(e);
	const struct events_conf events = { c->ctx, c->base, c->store, c->node, c->retry, NULL };

	if (events_new(&events, &d->events, e) || be_present(d, e) ||
	    conflict_report_new(d, &d->report, e))
		return -1;
	return follow_new(
		&(struct follow_conf){ c->base, c->store, &d->pools_which, &pools_follow_fns, d },
		&d->pools_follow, e);
}

int driver_new(const struct driver_conf *conf, struct driver **out, struct err *e)
{
	struct driver *d = calloc(1, sizeof(*d));

	if (!d) {
		if (conf->store)
			conf->store->ops->close(conf->store);
		return err_nomem(e);
	}
	d->conf = *conf;
	d->reserved.known = !conf->reserves;
	TAILQ_INIT(&d->pools);
	TAILQ_INIT(&d->seen);
	TAILQ_INIT(&d->needs);
	TAILQ_INIT(&d->asks);
	if (driver_begin(d, e)) {
		driver_free(d);
		return -1;
	}
	if (conf->store)
		driver_soon(d);
	*out = d;
	return 0;
}

void driver_rails(struct driver *d, struct json *rails)
{
	presence_rails(d->presence, rails);
}

void driver_free(struct driver *d)
{
	if (!d)
		return;
	needs_free(d);
	asks_cancel(&d->asks);
	conflict_report_free(d->report);
	presence_free(d->presence);
	number_twins_free(d->twins);
	pools_looks_cancel(d);
	events_free(d->events);
	follow_free(d->pools_follow);
	own_end(d);
	/* No call may end when its request is freed. */
	if (d->conf.store)
		d->conf.store->ops->close(d->conf.store);
	requests_free(d->requests);
	free(d->own.listed);
	if (d->reply_pool_set)
		shared_pool_view_clear(&d->reply_pool);
	agent_free(d->agent);
	pools_free(d);
	ranges_clear(&d->reserved.ranges);
	node_labels_clear(&d->labels);
	timer_free(d->tick);
	free(d);
}

struct events *driver_events(const struct driver *d)
{
	return d->events;
}

const struct err *driver_failed(const struct driver *d)
{
	return d->fatal.code ? &d->fatal : NULL;
}

/* ---- status ---- */

/* Why the present definition is not taken over; the old one may still hold. */
static int add_refusal(struct json *one, const struct pool_seen *s, const char *uid)
{
	if (!s || !*s->waits || strcmp(s->uid, uid) != 0)
		return 0;
	return json_add_str(one, "refused", s->waits) ||
			       json_add_int(one, "generation", s->generation)
		       ? -1
		       : 0;
}

/* spare is left out if the node's store cannot be read. */
static int driver_add_pool(struct driver *d, struct json *list, const struct pool_entry *p)
{
	const struct shared_pool *s = &p->view.pool;
	struct json *one = json_push_object(list);
	uint64_t spare = 0;
	struct err e;
	int rc;

	if (!one || json_add_str(one, "name", s->name) || json_add_str(one, "uid", s->uid) ||
	    json_add_bool(one, "deleted", p->gone || s->ending) ||
	    add_refusal(one, pools_seen_find(d, s->name), s->uid))
		return -1;
	rc = blocks_spare(d->conf.ipam, s->name, &spare, &e);
	if (rc)
		log_error(&d->conf.ctx->log, "%s", e.msg);
	if (rc)
		return 0;
	return json_add_int(one, "spare", (int64_t)spare) ||
			       json_add_num(one, "warm", (double)s->warm)
		       ? -1
		       : 0;
}

/* A pool that overlaps an older one gives nothing on any node. */
static int add_rival(struct json *list, const struct pool_seen *p)
{
	struct json *one = p->rival ? json_push_object(list) : NULL;

	if (!p->rival)
		return 0;
	return !one || json_add_str(one, "name", p->name) || json_add_str(one, "uid", p->uid) ||
			       json_add_bool(one, "deleted", p->ending) ||
			       json_add_str(one, "conflict", p->rival->name)
		       ? -1
		       : 0;
}

/* A pool that is not used yet: another node still has a block in its subnet, or it is refused. */
static int add_waiting(const struct driver *d, struct json *list, const struct pool_seen *p)
{
	const struct err *why = pool_look_why(p);
	const struct pool_entry *used = pools_find(d, p->name);
	struct json *one;

	if (p->rival ||
	    (!why && (!*p->waits || (used && strcmp(used->view.pool.uid, p->uid) == 0))))
		return 0;
	one = json_push_object(list);
	return !one || json_add_str(one, "name", p->name) || json_add_str(one, "uid", p->uid) ||
			       json_add_bool(one, "deleted", p->ending) ||
			       json_add_str(one, "waits", why ? why->msg : NULL) ||
			       add_refusal(one, p, p->uid)
		       ? -1
		       : 0;
}

/* A pool that is for other nodes. */
static int add_elsewhere(struct json *list, const struct pool_entry *p)
{
	const struct shared_pool *s = &p->view.pool;
	struct json *one = json_push_object(list);

	return !one || json_add_str(one, "name", s->name) || json_add_str(one, "uid", s->uid) ||
			       json_add_bool(one, "deleted", p->gone || s->ending) ||
			       json_add_bool(one, "elsewhere", true)
		       ? -1
		       : 0;
}

static int driver_add_pools(struct driver *d, struct json *obj)
{
	struct json *list = json_add_array(obj, "pools");
	const struct pool_entry *p;
	const struct pool_seen *s;

	for (p = TAILQ_FIRST(&d->pools); list && p; p = TAILQ_NEXT(p, all)) {
		bool elsewhere = node_labels_exclude(&d->labels, p->definition);

		if (elsewhere ? add_elsewhere(list, p)
			      : !p->view.pool.conflict && driver_add_pool(d, list, p))
			return -1;
	}
	for (s = TAILQ_FIRST(&d->seen); list && s; s = TAILQ_NEXT(s, all)) {
		if (add_rival(list, s) || add_waiting(d, list, s))
			return -1;
	}
	return list ? 0 : -1;
}

/* `railctl ipam conflicts` lists them. */
static int driver_add_conflicts(const struct driver *d, struct json *obj)
{
	struct json *o = json_add_object(obj, "conflicts");
	const struct number_twin *twins;
	const struct pool_seen *s;
	int64_t pools = 0, number;
	size_t n = number_twins_list(d->twins, &twins, &number);

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all))
		pools += s->rival != NULL;
	return !o || json_add_int(o, "blocks", (int64_t)agent_conflicts(d->agent)) ||
			       json_add_int(o, "pools", pools) ||
			       json_add_int(o, "numbers", (int64_t)n)
		       ? -1
		       : 0;
}

bool driver_is_twin(const struct driver *d)
{
	return agent_health(d->agent) == AGENT_TWIN;
}

int driver_status(struct driver *d, struct json *obj, struct err *e)
{
	static const char *const health[] = { [AGENT_OK] = "ok",
					      [AGENT_UNCONFIRMED] = "unconfirmed",
					      [AGENT_FROZEN] = "frozen",
					      [AGENT_TWIN] = "twin" };
	const enum agent_health is = agent_health(d->agent);
	const bool cut_off = is == AGENT_OK && d->conf.store && !d->heard.contact;

	if (json_add_str(obj, "node", d->conf.node) || driver_add_contact(d, obj) ||
	    json_add_str(obj, "health", cut_off ? "cut-off" : health[is]) ||
	    driver_add_conflicts(d, obj) || events_add_status(d->events, obj) ||
	    driver_add_pools(d, obj))
		return err_nomem(e);
	return 0;
}
