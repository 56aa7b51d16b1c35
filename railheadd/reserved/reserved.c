/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved.c: a list and a watch of one object. The driver has watches of its own, and reports
 * whether the cluster store answers.
 */
#include "railheadd/reserved/reserved.h"

#include <stdio.h>
#include <string.h>

#include "cluster/protocol/object_json.h"
#include "ipam/admin/admin.h"
#include "ipam/conf/range_list.h"
#include "railheadd/follow/follow.h"

#define NAMED 16 /* pods in the log after one change; `railctl ipam conflicts` has all */

struct reserved {
	struct reserved_conf conf;
	struct cluster_selector which;
	struct follow *follow;
	struct ranges ranges; /* of the object */
	struct node_pool of;  /* that object, as this node reports it */
	bool handed;          /* the driver has these */
	bool known;           /* that, or the cluster store does not have the kind */
	bool there;           /* in the list that runs */
	bool refused;         /* that is logged */
	struct err why;       /* what is wrong now; code 0: nothing is */
};

/* ---- pods ---- */

static size_t name_pods(const struct reserved *r, const struct json *range, size_t left)
{
	size_t n = 0;

	json_each (pod, json_get(range, "pods")) {
		const char *ns = json_str(json_get(pod, "namespace"));
		const char *name = json_str(json_get(pod, "pod"));

		if (n++ < left)
			log_warn(&r->conf.ctx->log,
				 "address %s of pool %s is reserved now, and pod %s/%s keeps it",
				 json_str(json_get(pod, "address")),
				 json_str(json_get(range, "pool")), ns ? ns : "?",
				 name ? name : "?");
	}
	return n < left ? left - n : 0;
}

/* A pod that lives keeps its address: people decide when it ends. */
static void report_pods(const struct reserved *r)
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
}

/* ---- the object ---- */

static bool is_same(const struct ranges *a, const struct ranges *b)
{
	auto_json struct json *x = range_list_print(a), *y = range_list_print(b);

	return x && y && json_same(x, y);
}

static bool is_reported(const struct reserved *r, const struct cluster_object *o)
{
	return !*r->of.waits && strcmp(r->of.uid, o ? o->at.uid : "") == 0 &&
	       r->of.generation == (o ? o->generation : 0);
}

static void report(struct reserved *r, const struct cluster_object *o)
{
	r->of = (struct node_pool){ .name = CLUSTER_RESERVED_NAME };
	if (!o)
		return;
	memcpy(r->of.uid, o->at.uid, sizeof(r->of.uid));
	r->of.generation = o->generation;
}

/* Takes *ranges over. o NULL: there is no object. */
static void hand_over(struct reserved *r, struct ranges *ranges, const struct cluster_object *o)
{
	bool same = r->handed && is_same(&r->ranges, ranges);
	bool said = r->handed && is_reported(r, o);

	ranges_clear(&r->ranges);
	r->ranges = *ranges;
	*ranges = (struct ranges){ .n = 0 };
	r->why.code = 0;
	r->known = r->handed = true;
	if (same && said)
		return;
	report(r, o);
	driver_reserved(r->conf.driver, &r->ranges, &r->of);
	if (same)
		return;
	if (r->ranges.n)
		log_info(&r->conf.ctx->log, "the cluster reserves %zu range%s of addresses",
			 r->ranges.n, r->ranges.n == 1 ? "" : "s");
	report_pods(r);
}

static void see(struct reserved *r, const struct cluster_object *o)
{
	auto_ranges struct ranges ranges = { .n = 0 };
	struct err e;

	if (cluster_reserved_decode(o->value, &ranges, &e) == 0) {
		hand_over(r, &ranges, o);
		return;
	}
	if (!r->known)
		driver_refused(r->conf.driver, &e);
	if (r->handed) {
		(void)snprintf(r->of.waits, sizeof(r->of.waits), "%.255s", e.msg);
		driver_reserved(r->conf.driver, &r->ranges, &r->of);
	}
	log_error(&r->conf.ctx->log, "the reserved addresses of the cluster %s: %s",
		  r->known ? "stay as they were" : "are not known", e.msg);
	r->why = e;
}

static bool is_ours(const struct reserved *r, const struct cluster_object *o)
{
	if (strcmp(o->name, CLUSTER_RESERVED_NAME) == 0)
		return true;
	log_warn(&r->conf.ctx->log,
		 "reserved addresses of the name \"%s\" have no effect: the object is \"%s\"",
		 o->name, CLUSTER_RESERVED_NAME);
	return false;
}

static void none(struct reserved *r)
{
	auto_ranges struct ranges empty = { .n = 0 };

	hand_over(r, &empty, NULL);
}

/* ---- follow ---- */

static void begun(void *arg)
{
	struct reserved *r = arg;

	r->there = false;
}

static void item(void *arg, const struct cluster_object *o)
{
	struct reserved *r = arg;

	if (!is_ours(r, o))
		return;
	r->there = true;
	see(r, o);
}

static void listed(void *arg)
{
	struct reserved *r = arg;

	r->refused = false;
	if (!r->there)
		none(r);
}

static void changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct reserved *r = arg;

	if (!is_ours(r, o))
		return;
	if (gone)
		none(r);
	else
		see(r, o);
}

/*
 * The types of the cluster are of an older release, so there is no such object. A pool that has
 * reserved addresses all the same keeps them: its type may have been deleted by mistake.
 */
static void contact(void *arg, const struct err *why)
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

static void refused(void *arg, const struct err *why)
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
	static const struct follow_fns fns = { begun,   item,    listed,       changed,
					       contact, refused, driver_random };
	struct reserved *r = calloc(1, sizeof(*r));

	if (!r)
		return err_nomem(e);
	r->conf = *conf;
	r->which = (struct cluster_selector){ .kind = CLUSTER_RESERVED };
	if (follow_new(&(struct follow_conf){ conf->base, conf->store, &r->which, &fns, r },
		       &r->follow, e)) {
		free(r);
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
	ranges_clear(&r->ranges);
	free(r);
}

int reserved_status(const struct reserved *r, struct json *obj, struct err *e)
{
	struct json *o = r ? json_add_object(obj, "reserved") : NULL;

	if (!r)
		return 0;
	if (!o || json_add_bool(o, "known", r->known) ||
	    json_add_int(o, "ranges", (int64_t)r->ranges.n) ||
	    json_add_str(o, "why", r->why.code ? r->why.msg : NULL))
		return err_nomem(e);
	return 0;
}
