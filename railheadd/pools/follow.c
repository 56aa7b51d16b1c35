/* SPDX-License-Identifier: Apache-2.0 */
/* follow.c: lists and watches take turns; a pause grows with each failure. */
#include "railheadd/pools/follow.h"

#include <stdio.h>

#include "lib/sys/timer.h"

#define PAUSE_MS     200
#define PAUSE_DOUBLE 5 /* at most so often */

struct follow {
	struct follow_conf is;
	struct cluster_call *call; /* NULL: the timer runs */
	struct timer *timer;
	char revision[CLUSTER_REVISION_LEN]; /* "": list first */
	unsigned failures;
	bool again; /* the timer runs, and then the objects are listed again */
};

static void follow_begin(struct follow *f);

static void pause_then_begin(struct follow *f, unsigned least_ms)
{
	unsigned shift = f->failures < PAUSE_DOUBLE ? f->failures : PAUSE_DOUBLE;
	unsigned ms = (unsigned)PAUSE_MS << shift;

	ms = ms / 2 + (unsigned)(f->is.fns->random(f->is.arg) % (ms / 2 + 1));
	if (ms < least_ms)
		ms = least_ms;

	f->failures++;
	(void)timer_arm(f->timer, ms);
}

static void follow_failed(struct follow *f, const struct cluster_result *r)
{
	f->revision[0] = '\0';
	/* The revision is too old: the store itself is well. */
	if (r->outcome == CLUSTER_REFUSED)
		f->is.fns->refused(f->is.arg, &r->err);
	else if (r->outcome != CLUSTER_EXPIRED)
		f->is.fns->contact(f->is.arg, &r->err);
	pause_then_begin(f, r->retry_ms);
}

static void follow_list_item(void *arg, const struct cluster_object *object)
{
	struct follow *f = arg;

	f->is.fns->item(f->is.arg, object);
}

static void follow_list_done(void *arg, const struct cluster_result *r, const char *revision)
{
	struct follow *f = arg;

	f->call = NULL;
	if (r->outcome != CLUSTER_OK) {
		follow_failed(f, r);
		return;
	}
	(void)snprintf(f->revision, sizeof(f->revision), "%s", revision);
	f->failures = 0;
	f->is.fns->contact(f->is.arg, NULL);
	f->is.fns->listed(f->is.arg);
	follow_begin(f);
}

static void watch_changed(void *arg, const struct cluster_object *object, bool gone)
{
	struct follow *f = arg;

	f->is.fns->changed(f->is.arg, object, gone);
}

static void watch_revision(void *arg, const char *revision)
{
	struct follow *f = arg;

	(void)snprintf(f->revision, sizeof(f->revision), "%s", revision);
	f->failures = 0;
}

static void watch_ended(void *arg, const struct cluster_result *r)
{
	struct follow *f = arg;

	f->call = NULL;
	if (r->outcome == CLUSTER_OK)
		pause_then_begin(f, 0);
	else
		follow_failed(f, r);
}

static void follow_begin(struct follow *f)
{
	static const struct cluster_list_fns list = { .item = follow_list_item,
						      .done = follow_list_done };
	static const struct cluster_watch_fns watch = { watch_changed, watch_revision,
							watch_ended };
	const struct cluster_store_ops *ops = f->is.store->ops;

	if (!*f->revision)
		f->is.fns->begun(f->is.arg);
	f->call = *f->revision ? ops->watch(f->is.store, f->is.which, f->revision, &watch, f)
			       : ops->list(f->is.store, f->is.which, &list, f);
	if (!f->call)
		pause_then_begin(f, 0); /* no memory */
}

static void follow_due(void *arg)
{
	struct follow *f = arg;

	cluster_cancel(f->is.store, &f->call);
	if (f->again)
		f->revision[0] = '\0';
	f->again = false;
	follow_begin(f);
}

int follow_new(const struct follow_conf *conf, struct follow **out, struct err *e)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f || !(f->timer = timer_new(conf->base, follow_due, f))) {
		free(f);
		return err_nomem(e);
	}
	f->is = *conf;
	follow_begin(f);
	*out = f;
	return 0;
}

/* Not at once: the caller may be one of fns, inside the call that would be cancelled. */
void follow_again(struct follow *f)
{
	if (f->again)
		return;
	f->again = true;
	f->failures = 0;
	pause_then_begin(f, 0);
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	cluster_cancel(f->is.store, &f->call);
	timer_free(f->timer);
	free(f);
}
