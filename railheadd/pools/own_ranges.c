/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_ranges.c: a list of the node's addresses every few seconds, and a write when the object in
 * the cluster has others.
 */
#include "railheadd/pools/own_ranges.h"

#include <stdio.h>
#include <string.h>

#include "cluster/store/cluster_store.h"
#include "ipam/conf/range_list.h"
#include "lib/net/addr.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/node_ranges.h"

#define REFUSED_MS   60000  /* the pause after a refusal */
#define PAUSE_MAX_MS 300000 /* between writes, and up to as much again */

struct own_ranges {
	struct own_ranges_conf conf;
	struct timer *timer;
	struct cluster_call *call; /* NULL: none runs */
	struct ranges ranges;
	struct cluster_version at; /* of the object in the cluster */
	struct json *there;        /* its ranges; NULL: there is no object. Owned */
	struct json *sent;         /* what the call writes; NULL: it removes. Owned */
	bool known;                /* the cluster has said which */
	bool looked;               /* ranges are those of the node */
	struct err refused;        /* that is logged */
	struct ip left;            /* an address beyond the limit that is logged */
	int64_t pause, until;      /* no write before, in ms of ctx_mono_ms() */
};

/* ---- the node ---- */

struct walk {
	const struct own_ranges *o;
	struct ranges found;
	struct ip left; /* the first address beyond the limit */
	int failed;
	struct err e;
};

static int own_ranges_keep(struct walk *w, struct ip ip)
{
	if (ranges_capacity(&w->found) < NODE_RANGES_EACH || ranges_contain(&w->found, ip))
		return ranges_add(&w->found, (struct ip_range){ ip, ip }, &w->e);
	if (!w->left.family)
		w->left = ip;
	return 0;
}

static int own_ranges_take(const struct addr_info *a, void *arg)
{
	const struct ip ip = a->addr.addr;
	struct walk *w = arg;
	int rc = driver_assigns(w->o->conf.driver, ip);

	if (rc > 0)
		rc = own_ranges_keep(w, ip);
	w->failed = rc < 0 ? -1 : 0;
	return w->failed;
}

static void log_left(struct own_ranges *o, struct ip left)
{
	char text[IP_STR_LEN];

	if (left.family && !ip_equal(left, o->left))
		log_error(&o->conf.ctx->log,
			  "pools may assign %s, an address of this node: only %d addresses of a "
			  "node are reserved; leave room for it in the ranges of the pool",
			  ip_format(left, text), NODE_RANGES_EACH);
	o->left = left;
}

/* 1: other addresses than before. */
static int look_at_node(struct own_ranges *o)
{
	struct walk w = { .o = o };
	auto_nl struct nl *nl = NULL;

	if (nl_open(&nl, &w.e) || nl_addr_list(nl, 0, own_ranges_take, &w, &w.e))
		w.failed = -1;
	/* The reason has a code, unless only the pools are not known yet. */
	if (w.failed && w.e.code)
		log_warn(&o->conf.ctx->log, "the addresses of this node are not known: %s",
			 w.e.msg);
	if (!w.failed)
		log_left(o, w.left);
	if (w.failed || (o->looked && ranges_same(&w.found, &o->ranges))) {
		ranges_clear(&w.found);
		return 0;
	}
	ranges_clear(&o->ranges);
	o->ranges = w.found;
	o->looked = true;
	return 1;
}

/* ---- the cluster ---- */

static int64_t jitter(int64_t ms)
{
	return ms + (int64_t)(driver_random(NULL) % ((uint64_t)ms + 1));
}

/* No write for a while. One after a long silence is not one of a quarrel. */
static void rest(struct own_ranges *o, int64_t least)
{
	const int64_t now = ctx_mono_ms();

	o->pause = now > o->until + 4 * o->pause ? 0 : o->pause * 2;
	if (o->pause > PAUSE_MAX_MS)
		o->pause = PAUSE_MAX_MS;
	if (o->pause < least)
		o->pause = least;
	o->until = now + jitter(o->pause);
}

static void own_ranges_written(void *arg, const struct cluster_result *r)
{
	struct own_ranges *o = arg;

	o->call = NULL;
	if (r->outcome == CLUSTER_OK) {
		json_free(o->there);
		o->there = TAKE_PTR(o->sent);
		o->at = r->object ? r->object->at : (struct cluster_version){ .uid = "" };
		o->refused = (struct err){ .msg = "" };
	}
	if (r->outcome != CLUSTER_REFUSED)
		return;
	/* Another verb may be missing than before. */
	if (strcmp(o->refused.msg, r->err.msg) != 0 ||
	    strcmp(o->refused.detail, r->err.detail) != 0)
		log_warn(&o->conf.ctx->log,
			 "other nodes do not learn of the addresses that this node has: %s (%s)",
			 r->err.msg, r->err.detail);
	o->refused = r->err;
	rest(o, REFUSED_MS);
}

static void write_object(struct own_ranges *o, struct json *list)
{
	struct cluster_store *s = o->conf.store;
	auto_json struct json *value = json_new_object();
	struct cluster_object object = { .kind = CLUSTER_RESERVED, .at = o->at, .value = value };

	(void)snprintf(object.name, sizeof(object.name), "%s", o->conf.node);
	(void)snprintf(object.node, sizeof(object.node), "%s", o->conf.node);
	json_free(o->sent);
	o->sent = o->ranges.n ? json_dup(list) : NULL;
	rest(o, o->conf.look_ms);
	if (!value || json_put(value, "ranges", list) || (o->ranges.n && !o->sent))
		return;
	o->call = !o->there     ? s->ops->create(s, &object, own_ranges_written, o)
		  : o->ranges.n ? s->ops->update(s, &object, own_ranges_written, o)
				: s->ops->remove(s, &object, own_ranges_written, o);
}

/* One by one: an agent may reserve no range. NULL: no memory. */
static struct json *own_ranges_print(const struct ranges *s)
{
	auto_json struct json *list = json_new_array();
	char text[IP_STR_LEN];

	for (size_t i = 0; list && i < s->n; i++) {
		for (struct ip ip = s->items[i].first; ip_cmp(ip, s->items[i].last) <= 0; ip.v++)
			if (json_push_str(list, ip_format(ip, text)))
				return NULL;
	}
	return TAKE_PTR(list);
}

/*
 * A node of the name of the object of people has none. While another machine has the name of this
 * node, the object may be that one's.
 */
static void own_ranges_compare(struct own_ranges *o)
{
	auto_json struct json *is = own_ranges_print(&o->ranges);

	if (!o->known || !o->looked || o->call || !is || ctx_mono_ms() < o->until ||
	    driver_is_twin(o->conf.driver) || strcmp(o->conf.node, CLUSTER_RESERVED_NAME) == 0)
		return;
	if (o->there ? !json_same(is, o->there) : o->ranges.n > 0)
		write_object(o, TAKE_PTR(is));
}

void own_ranges_seen(struct own_ranges *o, const struct cluster_object *there)
{
	json_free(o->there);
	o->there = NULL;
	o->at = (struct cluster_version){ .uid = "" };
	if (there) {
		const struct json *ranges = json_get(there->value, "ranges");

		o->at = there->at;
		o->there = ranges ? json_dup(ranges) : json_new_array();
	}
	o->known = true;
	own_ranges_compare(o);
}

static void own_ranges_look(void *arg)
{
	struct own_ranges *o = arg;
	const int64_t ms = jitter(o->conf.look_ms);

	(void)timer_arm(o->timer, ms);
	if (look_at_node(o)) {
		o->pause = o->until = 0;
		o->conf.changed(o->conf.arg);
	}
	own_ranges_compare(o);
}

const struct ranges *own_ranges_list(const struct own_ranges *o)
{
	return &o->ranges;
}

int own_ranges_new(const struct own_ranges_conf *conf, struct own_ranges **out, struct err *e)
{
	struct own_ranges *o = calloc(1, sizeof(*o));

	if (!o || !(o->timer = timer_new(conf->base, own_ranges_look, o))) {
		free(o);
		return err_nomem(e);
	}
	o->conf = *conf;
	(void)timer_arm(o->timer, 0);
	*out = o;
	return 0;
}

void own_ranges_free(struct own_ranges *o)
{
	if (!o)
		return;
	cluster_cancel(o->conf.store, &o->call);
	timer_free(o->timer);
	ranges_clear(&o->ranges);
	json_free(o->there);
	json_free(o->sent);
	free(o);
}
