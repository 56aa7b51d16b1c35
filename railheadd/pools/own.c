/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own.c: the blocks in the name of this node, and asks for them, as the cluster store shows them.
 *
 * A store that keeps copies to select by the node shows the copies. A person may delete or change
 * one without its object, so they are compared once in the period of the heartbeat.
 */

#include "lib/base/array.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/driver_parts.h"
#include "railheadd/pools/driver_priv.h"

#define OWN_MAX (1u << 20)

/* A block that cannot be read is not acted upon. */
static int read_seen(struct driver *d, const struct cluster_object *o, struct block_seen *out)
{
	struct err e;
	int rc = request_read_block(d->requests, o, out, &e);

	if (rc < 0)
		log_warn(&d->conf.ctx->log, "%s", e.msg);
	/* It may be of a pool that this node gets to know later. */
	d->own.skipped |= rc > 0;
	return rc;
}

static void own_begun(void *arg)
{
	struct driver *d = arg;

	free(d->own.listed);
	d->own.listed = NULL;
	d->own.n_listed = 0;
	d->own.skipped = false;
}

static void own_item(void *arg, const struct cluster_object *o)
{
	struct driver *d = arg;
	struct block_seen seen;
	struct err e;

	if (read_seen(d, o, &seen))
		return;
	if (ARRAY_GROW(d->own.listed, d->own.n_listed, OWN_MAX, "blocks of this node", &e))
		d->fatal = e;
	else
		d->own.listed[d->own.n_listed++] = seen;
}

static void own_listed(void *arg)
{
	struct driver *d = arg;

	if (!d->fatal.code)
		agent_listed(d->agent, d->own.listed, d->own.n_listed);
	free(d->own.listed);
	d->own.listed = NULL;
	d->own.n_listed = 0;
	driver_event(d);
}

static void own_changed(void *arg, const struct cluster_object *o, bool gone)
{
	struct driver *d = arg;
	struct block_seen seen;

	if (gone) {
		if (request_key(d->requests, o->name, &seen.key) == 0)
			agent_gone(d->agent, &seen.key);
	} else if (read_seen(d, o, &seen) == 0) {
		agent_saw(d->agent, &seen);
	}
	driver_event(d);
}

static const struct follow_fns follow_fns = { own_begun,
					      own_item,
					      own_listed,
					      own_changed,
					      driver_follow_contact,
					      driver_follow_refusal,
					      driver_random };

/* ---- copies ---- */

static void copy_wrong(void *arg, const struct err *why)
{
	const struct driver *d = arg;

	log_error(&d->conf.ctx->log, "%s (%s)", why->msg, why->detail);
}

static void copies_compared(void *arg, const struct cluster_result *r)
{
	struct driver *d = arg;

	d->own.copies_call = NULL;
	/* A store that is full answers reads and refuses writes: an answer to this ends nothing. */
	if (r->outcome == CLUSTER_REFUSED)
		driver_refused(d, &r->err);
	else if (r->outcome == CLUSTER_AWAY)
		driver_heard(d, &r->err);
	(void)timer_arm_ns(d->own.copies_due, d->conf.renew);
}

static void compare_copies(void *arg)
{
	static const struct cluster_copies_fns fns = { copy_wrong, copies_compared };
	struct driver *d = arg;
	struct cluster_store *s = d->conf.store;

	d->own.copies_call = s->ops->drop_copies(s, &d->own.which, &fns, d);
	if (!d->own.copies_call)
		(void)timer_arm_ns(d->own.copies_due, d->conf.renew); /* no memory */
}

/* ---- begin and end ---- */

int own_begin(struct driver *d, struct err *e)
{
	const struct follow_conf f = { d->conf.base, d->conf.store, &d->own.which, &follow_fns, d };

	if (d->conf.store->ops->drop_copies) {
		d->own.copies_due = timer_new(d->conf.base, compare_copies, d);
		if (!d->own.copies_due)
			return err_nomem(e);
		(void)timer_arm_ns(d->own.copies_due, 0);
	}
	return follow_new(&f, &d->own.follow, e);
}

void own_end(struct driver *d)
{
	follow_free(d->own.follow);
	d->own.follow = NULL;
	cluster_cancel(d->conf.store, &d->own.copies_call);
	timer_free(d->own.copies_due);
	d->own.copies_due = NULL;
}
