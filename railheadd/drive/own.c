/* SPDX-License-Identifier: Apache-2.0 */
/* own.c: the blocks in the name of this node, and asks for them, as the cluster store shows them.
 */
#include "lib/base/array.h"
#include "railheadd/drive/driver_parts.h"
#include "railheadd/drive/driver_priv.h"

#define OWN_MAX (1u << 20)

/* A block that cannot be read is not acted upon. */
static int read_seen(struct driver *d, const struct cluster_object *o, struct block_seen *out)
{
	struct err e;
	int rc = request_read_block(d->requests, o, out, &e);

	if (rc < 0)
		log_warn(&d->conf.ctx->log, "%s", e.msg);
	/* It may be of a pool that this node gets to know later. */
	d->own_skipped |= rc > 0;
	return rc;
}

static void own_begun(void *arg)
{
	struct driver *d = arg;

	free(d->listed);
	d->listed = NULL;
	d->n_listed = 0;
	d->own_skipped = false;
	leave_listing(d);
}

static void own_item(void *arg, const struct cluster_object *o)
{
	struct driver *d = arg;
	struct block_seen seen;
	struct err e;

	if (read_seen(d, o, &seen))
		return;
	if (ARRAY_GROW(d->listed, d->n_listed, OWN_MAX, "blocks of this node", &e))
		d->fatal = e;
	else
		d->listed[d->n_listed++] = seen;
}

static void own_listed(void *arg)
{
	struct driver *d = arg;

	if (!d->fatal.code)
		agent_listed(d->agent, d->listed, d->n_listed);
	leave_listed(d);
	free(d->listed);
	d->listed = NULL;
	d->n_listed = 0;
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

static void contact(void *arg, const struct err *why)
{
	driver_heard(arg, why);
}

static void refusal(void *arg, const struct err *why)
{
	driver_refused(arg, why);
}

const struct follow_fns own_follow_fns = { own_begun, own_item, own_listed,   own_changed,
					   contact,   refusal,  driver_random };
