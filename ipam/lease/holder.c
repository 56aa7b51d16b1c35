/* SPDX-License-Identifier: Apache-2.0 */
/* holder.c: checks holders by their records, and keeps the results for the next transaction. */
#include "ipam/lease/holder.h"

#include <stdio.h>
#include <string.h>

#include "cni/engine/repair.h"
#include "lib/base/array.h"

#define UNREADABLE RECORD_MARK_NONE

/* ---- by records ---- */

static struct record_key holder_key_of(const struct owner *o, char ifname[OWNER_NAME_SIZE])
{
	return (struct record_key){ o->network, o->container, owner_interface(o->ifname, ifname) };
}

static uint64_t read_mark(const struct ctx *ctx, const struct owner *o)
{
	char ifname[OWNER_NAME_SIZE];
	const struct record_key key = holder_key_of(o, ifname);
	auto_record struct record r = { 0 };
	struct err why;

	if (record_read(ctx, &key, &r, &why))
		return why.code == ERR_NOTFOUND ? 0 : UNREADABLE;
	return record_mark(&r);
}

static void look_at_holder(const struct ctx *ctx, const struct owner *o, struct holder_view *out)
{
	char ifname[OWNER_NAME_SIZE];
	const struct record_key key = holder_key_of(o, ifname);
	auto_record struct record r = { 0 };
	struct repair_view view;
	struct err why;

	*out = (struct holder_view){ .state = HOLDER_UNKNOWN };
	if (record_read(ctx, &key, &r, &why)) {
		if (why.code == ERR_NOTFOUND)
			out->state = HOLDER_UNRECORDED;
		return;
	}
	out->mark = record_mark(&r);
	if (repair_examine(ctx, &r, &view, &why))
		return;
	out->state = HOLDER_MAY_LIVE;
	/*
	 * An interface that is missing in a living namespace may only have another name. And an
	 * address dies with its namespace, but the VF keeps its GUID until its plugin has restored
	 * it and removed the record.
	 */
	if (out->mark != UNREADABLE && !owner_is_of_guid(o->ifname) &&
	    (view.state == REPAIR_NETNS_GONE || view.state == REPAIR_NETNS_REPLACED))
		out->state = HOLDER_GONE;
}

const struct holder_ops holder_records = { look_at_holder, read_mark };

/* ---- checks ---- */

#define CHECKS_MAX (1u << 20)

void holder_checks_clear(struct holder_checks *p)
{
	free(p->items);
	*p = (struct holder_checks){ 0 };
}

static int add_check(struct holder_checks *p, const struct owner *o, struct err *e)
{
	if (ARRAY_GROW(p->items, p->n, CHECKS_MAX, "attachments to check", e))
		return -1;

	struct holder_check *x = &p->items[p->n++];

	*x = (struct holder_check){ .looked = false };
	(void)snprintf(x->who.container, sizeof(x->who.container), "%s", o->container);
	(void)snprintf(x->who.ifname, sizeof(x->who.ifname), "%s", o->ifname);
	(void)snprintf(x->who.network, sizeof(x->who.network), "%s", o->network);
	p->missing = true;
	return 0;
}

int holder_checks_is_gone(struct holder_checks *p, const struct holder_ops *ops,
			  const struct ctx *ctx, const struct owner *o, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct holder_check *x = &p->items[i];

		if (strcmp(x->who.container, o->container) != 0 ||
		    strcmp(x->who.ifname, o->ifname) != 0 ||
		    strcmp(x->who.network, o->network) != 0)
			continue;
		p->missing = p->missing || !x->looked;
		return x->looked && x->view.state == HOLDER_GONE &&
		       ops->mark(ctx, o) == x->view.mark;
	}
	return add_check(p, o, e);
}

size_t holder_checks_run(struct holder_checks *p, const struct holder_ops *ops,
			 const struct ctx *ctx)
{
	size_t gone = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct holder_check *x = &p->items[i];
		const struct owner o = {
			x->who.network, x->who.container, x->who.ifname, "", "", ""
		};

		if (!x->looked)
			ops->look(ctx, &o, &x->view);
		x->looked = true;
		gone += x->view.state == HOLDER_GONE || x->view.state == HOLDER_UNRECORDED;
	}
	p->missing = false;
	return gone;
}

const struct key_owner *holder_checks_unknown(const struct holder_checks *p)
{
	for (size_t i = 0; i < p->n; i++) {
		if (p->items[i].looked && p->items[i].view.state == HOLDER_UNKNOWN)
			return &p->items[i].who;
	}
	return NULL;
}
