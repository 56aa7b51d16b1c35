/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave.c: pools that return to slices. An ADD or a DEL is an event, and so is the end of a
 * cooldown. So each event counts the leases outside of the slice, and nothing asks for them.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/lease/leave.h"
#include "ipam/conf/pool_blocks.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

/* ---- leases outside of the slice ---- */

static void leave_say(const struct driver *d, struct pool_seen *s, const char *why)
{
	if (strcmp(s->outside, why) == 0)
		return;
	(void)snprintf(s->outside, sizeof(s->outside), "%s", why);
	log_info(&d->conf.ctx->log, "pool %s returns to slices: %s", s->name,
		 *why ? why : "no lease of this node is outside of its slice");
}

/* A node that the pool is not for needs no number, once its pods have gone. */
static void leave_explain(struct driver *d, struct pool_seen *s, const struct pool_outside *o)
{
	bool elsewhere = node_labels_exclude(&d->labels, s->definition);
	char text[NODE_POOL_WAITS_LEN];

	s->number = elsewhere || o->no_slice.code ? -1 : (int64_t)o->number;
	pool_outside_explain(o, text, sizeof(text));
	if (o->no_slice.code && !elsewhere)
		leave_say(d, s, o->no_slice.msg);
	else
		leave_say(d, s, text);
}

/* The time of the clock that does not jump, when a time of the other clock comes. */
static int64_t since_boot(const struct driver *d, int64_t now, int64_t wall)
{
	int64_t left = wall - d->conf.ctx->now(d->conf.ctx->clock);

	return now + (left > 0 ? left : 1);
}

static bool leave_look_at(struct driver *d, struct pool_seen *s, int64_t now, int64_t *next)
{
	struct pool_outside o;
	int64_t until;
	struct err e;

	if (pool_outside(d->conf.ipam, s->name, &o, &e)) {
		leave_say(d, s, e.msg);
		return false;
	}
	leave_explain(d, s, &o);
	s->outside_known = true;
	if (o.until != INT64_MAX) {
		until = since_boot(d, now, o.until);
		*next = until < *next ? until : *next;
	}
	/* If the last try failed, the next one has its time. */
	bool due = s->state == POOL_CLOSED && !pool_outside_any(&o) && !s->again;

	s->fresh |= due;
	return due;
}

/* ---- blocks of a pool that was left ---- */

void leave_begin(struct driver *d, struct pool_entry *p)
{
	if (p->left && p->own != OWN_UNKNOWN)
		return;
	p->left = true;
	if (d->own.follow)
		follow_again(d->own.follow);
}

void leave_listing(struct driver *d)
{
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		if (p->left && p->own == OWN_UNKNOWN)
			p->own = OWN_LISTED;
	}
}

void leave_listed(struct driver *d)
{
	struct pool_entry *p;

	for (p = TAILQ_FIRST(&d->pools); p; p = TAILQ_NEXT(p, all)) {
		if (p->own != OWN_LISTED)
			continue;
		p->own = OWN_NONE;
		for (size_t i = 0; i < d->own.n_listed; i++) {
			if (strcmp(d->own.listed[i].key.pool, p->view.pool.name) == 0)
				p->own = OWN_SOME;
		}
	}
}

/* The agent looked at all that were listed. Another list shows whether that was enough. */
static void look_at_left(struct driver *d, struct pool_entry *p)
{
	if (p->own != OWN_SOME || agent_pool_blocks(d->agent, p->view.pool.name))
		return;
	p->own = OWN_UNKNOWN;
	if (d->own.follow)
		follow_again(d->own.follow);
}

/* ---- both ---- */

bool leave_look(struct driver *d, int64_t now, int64_t *next)
{
	struct pool_seen *s;
	bool any = false;

	for (s = TAILQ_FIRST(&d->seen); s; s = TAILQ_NEXT(s, all)) {
		struct pool_entry *p = pools_find(d, s->name);

		if (!pool_state_has_slices(s->state) || !p || s->taken != s->generation)
			continue;
		if (p->left)
			look_at_left(d, p);
		else if (!s->rival)
			any |= leave_look_at(d, s, now, next);
	}
	return any;
}

const char *leave_why(const struct driver *d, const struct pool_seen *s)
{
	const struct pool_entry *p =
		s && pool_state_has_slices(s->state) ? pools_find(d, s->name) : NULL;

	if (!p)
		return "";
	if (!p->left)
		return s->outside_known ? s->outside : "its leases are not counted yet";
	return p->own == OWN_NONE && !agent_pool_blocks(d->agent, s->name)
		       ? ""
		       : "it gives its blocks back";
}
