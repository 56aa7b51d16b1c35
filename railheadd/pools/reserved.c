/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved.c: a list and a watch of the object that people write, and of those of the nodes. The
 * driver has watches of its own, and reports whether the cluster store answers.
 */
#include "railheadd/pools/reserved.h"

#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "ipam/admin/admin.h"
#include "ipam/conf/range_list.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/follow.h"
#include "railheadd/pools/node_ranges.h"
#include "railheadd/pools/own_ranges.h"

#define SETTLE_S 1  /* changes of nodes in this time are one */
#define NAMED    16 /* pods in the log after one change; `railctl ipam conflicts` has all */

struct reserved {
	struct reserved_conf conf;
	struct cluster_selector which;
	struct follow *follow;
	struct ranges ranges;     /* of the object of people */
	struct ranges all;        /* and of the nodes: the driver has these */
	struct node_ranges nodes; /* of other nodes */
	struct own_ranges *own;
	struct timer *settle;         /* addresses of nodes have changed */
	struct json *named;           /* the pods that were named last; owned */
	struct cluster_object object; /* that of people in the list that runs; its value is owned */
	struct node_pool of;          /* that object, as this node reports it */
	bool handed;                  /* the driver has some */
	bool known;                   /* that, or the cluster store does not have the kind */
	bool there;                   /* in the list that runs */
	bool mine;                    /* the object of this node is in it */
	bool refused;                 /* that is logged */
	size_t left;                  /* addresses of nodes that are left out: that is logged */
	struct err why;               /* what is wrong now; code 0: nothing is */
};

/* ---- pods ---- */

/* The node that has the address of a pod itself; NULL: people reserve it. */
static const char *who_has(const struct reserved *r, const char *address)
{
	struct ip ip;

	if (ip_parse(address, &ip))
		return NULL;
	return ranges_contain(own_ranges_list(r->own), ip) ? r->conf.node
							   : node_ranges_who(&r->nodes, ip);
}

static bool reserved_is_named(const struct reserved *r, const struct json *pod)
{
	json_each (range, r->named) {
		json_each (named, json_get(range, "pods")) {
			if (json_same(named, pod))
				return true;
		}
	}
	return false;
}

static size_t name_pods(const struct reserved *r, const struct json *range, size_t left)
{
	size_t n = 0;

	json_each (pod, json_get(range, "pods")) {
		const char *ns = json_str(json_get(pod, "namespace"));
		const char *name = json_str(json_get(pod, "pod"));
		const char *address = json_str(json_get(pod, "address"));
		const char *node = who_has(r, address);

		if (!reserved_is_named(r, pod) && n++ < left)
			log_warn(&r->conf.ctx->log,
				 "address %s of pool %s is %s%s now, and pod %s/%s keeps it",
				 address, json_str(json_get(range, "pool")),
				 node ? "an address of node " : "reserved", node ? node : "",
				 ns ? ns : "?", name ? name : "?");
	}
	return n < left ? left - n : 0;
}

/* A pod that lives keeps its address: people decide when it ends. */
static void report_pods(struct reserved *r)
{
	auto_json struct json *list = NULL;
	size_t left = NAMED;
	struct err e;

	if (admin_reserved(r->conf.ipam, &list, &e)) {
		log_error(&r->conf.ctx->log, "pods with reserved addresses are not known: %s",
			  e.msg);
		return;
	}
	json_each (range, list)
		left = name_pods(r, range, left);
	if (!left)
		log_warn(&r->conf.ctx->log,
			 "`railctl ipam conflicts` names all pods with reserved addresses");
	json_free(r->named);
	r->named = TAKE_PTR(list);
}

/* ---- the object ---- */

static bool is_reported(const struct reserved *r, const struct cluster_object *o)
{
	return !*r->of.waits && strcmp(r->of.uid, o ? o->at.uid : "") == 0 &&
	       r->of.generation == (o ? o->generation : 0);
}

static void reserved_report(struct reserved *r, const struct cluster_object *o)
{
	r->of = (struct node_pool){ .name = CLUSTER_RESERVED_NAME };
	if (!o)
		return;
	memcpy(r->of.uid, o->at.uid, sizeof(r->of.uid));
	r->of.generation = o->generation;
}

/* *all: what people and nodes have. Addresses that are left out may be assigned. */
static int add_up(struct reserved *r, struct ranges *all, struct err *e)
{
	size_t left;

	if (ranges_copy(&r->ranges, all, e) ||
	    node_ranges_add(&r->nodes, own_ranges_list(r->own), all, &left, e))
		return -1;
	if (left > r->left)
		log_error(&r->conf.ctx->log,
			  "more than %d ranges are reserved: %zu addresses of other nodes are not; "
			  "leave room for the nodes in the ranges of the pools",
			  NODE_RANGES_ALL, left);
	if (left > r->left || !left)
		r->left = left;
	return 0;
}

/* The driver gets what has changed. */
static void hand_over(struct reserved *r, bool said)
{
	auto_ranges struct ranges all = { .n = 0 };
	struct err e;

	if (add_up(r, &all, &e)) {
		log_error(&r->conf.ctx->log, "reserved addresses: %s", e.msg);
		return;
	}
	bool same = r->handed && ranges_same(&r->all, &all);
	struct ranges old = r->all;

	r->all = all;
	all = old;
	r->known = r->handed = true;
	if (same && said)
		return;
	driver_reserved(r->conf.driver, &r->all, &r->of);
	if (same)
		return;
	if (r->all.n)
		log_info(&r->conf.ctx->log, "the cluster reserves %zu range%s of addresses",
			 r->all.n, r->all.n == 1 ? "" : "s");
	report_pods(r);
}

/* Takes *ranges over. o NULL: people have no object. */
static void reserved_reserve(struct reserved *r, struct ranges *ranges,
			     const struct cluster_object *o)
{
	bool said = r->handed && is_reported(r, o);

	ranges_clear(&r->ranges);
	r->ranges = *ranges;
	*ranges = (struct ranges){ .n = 0 };
	r->why.code = 0;
	reserved_report(r, o);
	hand_over(r, said);
}

static void reserved_see(struct reserved *r, const struct cluster_object *o)
{
	auto_ranges struct ranges ranges = { .n = 0 };
	struct err e;

	if (cluster_reserved_decode(o->value, &ranges, &e) == 0) {
		reserved_reserve(r, &ranges, o);
		return;
	}
	if (!r->known)
		driver_refused(r->conf.driver, &e);
	if (r->handed) {
		(void)snprintf(r->of.waits, sizeof(r->of.waits), "%.255s", e.msg);
		driver_reserved(r->conf.driver, &r->all, &r->of);
	}
	log_error(&r->conf.ctx->log, "the reserved addresses of the cluster %s: %s",
		  r->known ? "stay as they were" : "are not known", e.msg);
	r->why = e;
}

static void none(struct reserved *r)
{
	auto_ranges struct ranges empty = { .n = 0 };

	reserved_reserve(r, &empty, NULL);
}

/* An object of a node. True: it is one, or it has no effect. */
static bool is_of_node(struct reserved *r, const struct cluster_object *o, bool gone)
{
	struct err e;

	if (strcmp(o->name, CLUSTER_RESERVED_NAME) == 0)
		return false;
	if (strcmp(o->name, r->conf.node) == 0)
		own_ranges_seen(r->own, gone ? NULL : o);
	else if (gone)
		node_ranges_gone(&r->nodes, o->name);
	else if (strcmp(o->name, o->node) != 0)
		log_warn(&r->conf.ctx->log,
			 "reserved addresses of the name \"%s\" have no effect: the object is "
			 "\"" CLUSTER_RESERVED_NAME "\", or of a node",
			 o->name);
	else if (node_ranges_see(&r->nodes, o, &e))
		log_warn(&r->conf.ctx->log, "the addresses of node %s stay as they were: %s",
			 o->name, e.msg);
	return true;
}

/* This node or another one has other addresses than before. */
static void nodes_changed(void *arg)
{
	struct reserved *r = arg;

	if (r->handed && timer_left(r->settle) < 0)
		(void)timer_arm(r->settle, SETTLE_S * 1000);
}

static void settled(void *arg)
{
	hand_over(arg, true);
}

/* ---- follow ---- */

static void reserved_begun(void *arg)
{
	struct reserved *r = arg;

	r->there = r->mine = false;
	node_ranges_begun(&r->nodes);
}

static void reserved_keep(struct reserved *r, const struct cluster_object *o)
{
	json_free((struct json *)(uintptr_t)r->object.value);
	r->object = *o;
	r->object.value = json_dup(o->value);
}

static void reserved_item(void *arg, const struct cluster_object *o)
{
	struct reserved *r = arg;

	r->mine |= strcmp(o->name, r->conf.node) == 0;
	if (is_of_node(r, o, false))
		return;
	/* Later: no pool may be used before the addresses of all nodes are known, too. */
	reserved_keep(r, o);
	r->there = true;
}

static void reserved_listed(void *arg)
{
	struct reserved *r = arg;

	r->refused = false;
	node_ranges_listed(&r->nodes);
	if (!r->mine)
		own_ranges_seen(r->own, NULL);
	if (r->there)
		reserved_see(r, &r->object);
	else
		none(r);
}

static void reserved_changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct reserved *r = arg;

	if (is_of_node(r, o, gone)) {
		nodes_changed(r);
		return;
	}
	if (gone)
		none(r);
	else
		reserved_see(r, o);
}

/*
 * The types of the cluster are of an older release, so there is no such object. A pool that has
 * reserved addresses all the same keeps them: its type may have been deleted by mistake.
 */
static void reserved_contact(void *arg, const struct err *why)
{
	struct reserved *r = arg;

	if (!why || why->code != ERR_NOTFOUND || r->known)
		return;
	log_warn(&r->conf.ctx->log, "reserved addresses of the cluster are not read: %s (%s)",
		 why->msg, why->detail);
	r->why = *why;
	r->known = true;
	driver_reserved(r->conf.driver, NULL, NULL);
}

static void reserved_refused(void *arg, const struct err *why)
{
	struct reserved *r = arg;

	if (!r->known)
		driver_refused(r->conf.driver, why);
	else if (!r->refused)
		log_warn(&r->conf.ctx->log,
			 "the reserved addresses of the cluster stay as they were: %s (%s)",
			 why->msg, why->detail);
	r->refused = true;
	r->why = *why;
}

/* ---- begin and end ---- */

int reserved_new(const struct reserved_conf *conf, struct reserved **out, struct err *e)
{
	static const struct follow_fns fns = { reserved_begun,   reserved_item,    reserved_listed,
					       reserved_changed, reserved_contact, reserved_refused,
					       driver_random };
	struct reserved *r = calloc(1, sizeof(*r));

	if (!r)
		return err_nomem(e);
	r->conf = *conf;
	r->which = (struct cluster_selector){ .kind = CLUSTER_RESERVED };
	if (!(r->settle = timer_new(conf->base, settled, r))) {
		free(r);
		return err_nomem(e);
	}
	if (own_ranges_new(&(struct own_ranges_conf){ conf->ctx, conf->base, conf->store,
						      conf->driver, conf->node, conf->look_ms,
						      nodes_changed, r },
			   &r->own, e) ||
	    follow_new(&(struct follow_conf){ conf->base, conf->store, &r->which, &fns, r },
		       &r->follow, e)) {
		reserved_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

void reserved_free(struct reserved *r)
{
	if (!r)
		return;
	follow_free(r->follow);
	own_ranges_free(r->own);
	timer_free(r->settle);
	json_free(r->named);
	node_ranges_clear(&r->nodes);
	json_free((struct json *)(uintptr_t)r->object.value);
	ranges_clear(&r->ranges);
	ranges_clear(&r->all);
	free(r);
}

int reserved_status(const struct reserved *r, struct json *obj, struct err *e)
{
	struct json *o = r ? json_add_object(obj, "reserved") : NULL;

	if (!r)
		return 0;
	if (!o || json_add_bool(o, "known", r->known) ||
	    json_add_int(o, "ranges", (int64_t)r->all.n) ||
	    json_add_str(o, "why", r->why.code ? r->why.msg : NULL))
		return err_nomem(e);
	return 0;
}
