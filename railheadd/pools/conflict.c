/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.c: asks the cluster store who has the blocks that this node lost, one after the other. A
 * record of this node says only that it lost them.
 */
#include "railheadd/pools/conflict.h"

#include "ipam/block/object_json.h"
#include "ipam/admin/admin.h"
#include "ipam/lease/audit.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

struct conflict_ask {
	struct ask is;
	struct driver *driver;
	struct json *conflicts, *blocks; /* blocks: in conflicts */
	size_t at;                       /* the block that is looked at */
};

static void conflict_clear(void *a)
{
	json_free(((struct conflict_ask *)a)->conflicts);
}

static int conflict_add_prefix(struct json *o, const char *key, struct ip_prefix p)
{
	char text[PREFIX_STR_LEN];

	return json_add_str(o, key, ip_format_prefix(p, text));
}

static int conflict_add_pool(struct json *list, const struct pool_seen *p)
{
	struct json *o = json_push_object(list);
	char since[AUDIT_TIME_LEN];

	if (!o || json_add_str(o, "name", p->name) || json_add_str(o, "uid", p->uid) ||
	    conflict_add_prefix(o, "subnet", p->subnet) ||
	    json_add_str(o, "older", p->rival->name) ||
	    conflict_add_prefix(o, "olderSubnet", p->rival->subnet) ||
	    json_add_str(o, "since", audit_time(p->rival_since, since)))
		return -1;
	/* A rival of another pool gives nothing, either. */
	return p->rival->rival ? json_add_null(o, "gives")
			       : json_add_str(o, "gives", p->rival->name);
}

static int conflict_add_pools(const struct driver *d, struct json *conflicts)
{
	struct json *list = json_add_array(conflicts, "pools");
	const struct pool_seen *p;

	for (p = TAILQ_FIRST(&d->seen); list && p; p = TAILQ_NEXT(p, all)) {
		if (p->rival && conflict_add_pool(list, p))
			return -1;
	}
	return list ? 0 : -1;
}

/* ---- numbers ---- */

static int add_numbers(const struct driver *d, struct json *conflicts)
{
	struct json *list = json_add_array(conflicts, "numbers");
	const struct number_twin *twins;
	char since[AUDIT_TIME_LEN];
	int64_t number;
	size_t n = number_twins_list(d->twins, &twins, &number);

	for (size_t i = 0; list && i < n; i++) {
		struct json *o = json_push_object(list);

		if (!o || json_add_int(o, "number", number) ||
		    json_add_str(o, "node", twins[i].node) ||
		    json_add_str(o, "since", audit_time(twins[i].since, since)))
			return -1;
	}
	return list ? 0 : -1;
}

/* ---- owners ---- */

static int note_owner(struct json *o, const struct cluster_result *r)
{
	struct block b = { .owner = { .node = "" } };
	struct err ignored;

	if (r->outcome == CLUSTER_OK &&
	    block_from_json(r->object->value, r->object->name, &b, &ignored))
		return 0;
	return json_add_or_null(o, "owner", b.owner.node);
}

static void conflict_was_read(void *arg, const struct cluster_result *r)
{
	struct conflict_ask *a = arg;
	bool answered = r->outcome == CLUSTER_OK || r->outcome == CLUSTER_NOT_FOUND;
	int rc = answered ? note_owner(json_at_mut(a->blocks, a->at), r)
			  : json_add_str(a->conflicts, "unknown", r->err.msg);

	a->is.call = NULL;
	if (rc)
		(void)err_nomem(&a->driver->fatal);
	/* After one call without an answer the others would wait as long. */
	a->at = answered ? a->at + 1 : CONFLICT_LOOKS;
	timer_now(a->is.timer);
}

/* The start of the block, also of the loan of one address. */
static int conflict_start_of(const struct json *o, struct ip *start)
{
	const char *block = json_str(json_get(o, "block"));

	return ip_parse(block ? block : json_str(json_get(o, "first")), start);
}

static void conflict_look(void *arg)
{
	struct conflict_ask *a = arg;
	struct cluster_store *s = a->is.store;
	const struct json *o = json_at_mut(a->blocks, a->at);
	char name[GRID_NAME_LEN];
	struct ip start;

	if (!s || !o || a->at >= CONFLICT_LOOKS || conflict_start_of(o, &start)) {
		ask_finish(&a->is, TAKE_PTR(a->conflicts), NULL);
		return;
	}
	(void)grid_name(json_str(json_get(o, "pool")), start, name);
	a->is.call = s->ops->get(s, CLUSTER_BLOCK, name, conflict_was_read, a);
	if (!a->is.call)
		ask_finish(&a->is, TAKE_PTR(a->conflicts), NULL);
}

struct ask *conflict_ask_begin(struct driver *d, const struct ask_end *end, struct err *e)
{
	auto_json struct json *blocks = NULL, *reserved = NULL, *all = json_new_object();
	struct conflict_ask a = { .is = { .in = &d->asks,
					  .base = d->conf.base,
					  .store = d->conf.store,
					  .due = conflict_look,
					  .clear = conflict_clear,
					  .end = *end },
				  .driver = d };

	if (admin_conflicts(d->conf.ipam, &blocks, e) || admin_reserved(d->conf.ipam, &reserved, e))
		return NULL;
	a.blocks = blocks;
	if (!all || json_put(all, "blocks", TAKE_PTR(blocks)) || conflict_add_pools(d, all) ||
	    json_put(all, "reserved", TAKE_PTR(reserved)) || add_numbers(d, all)) {
		(void)err_nomem(e);
		return NULL;
	}
	a.conflicts = TAKE_PTR(all);
	return ask_new(&a.is, sizeof(a), e);
}
