/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c: counts the callbacks that run. A call or store that a callback drops is freed when the
 * count is zero.
 */
#include "cluster/http/call.h"

#include "lib/sys/timer.h"

static void on_later(void *arg)
{
	struct call *c = arg;

	call_end(c, c->result.outcome, NULL);
}

int call_begin(struct call_store *s, struct call *c)
{
	c->later = http_timer(s->http, on_later, c);
	if (!c->later)
		return -1;
	c->store = s;
	TAILQ_INSERT_TAIL(&s->calls, c, all);
	return 0;
}

void call_enter(struct call *c)
{
	c->busy++;
	c->store->busy++;
}

void call_leave(struct call *c)
{
	struct call_store *s = c->store;

	c->busy--;
	s->busy--;
	if (c->dead && !c->busy)
		c->free(c);
	if (s->closed && !s->busy)
		s->free(s);
}

void call_drop(struct call *c)
{
	if (c->dead)
		return;
	c->dead = true;
	TAILQ_REMOVE(&c->store->calls, c, all);
	if (c->http)
		http_cancel(TAKE_PTR(c->http));
	timer_free(TAKE_PTR(c->later));
	if (!c->busy)
		c->free(c);
}

void call_end(struct call *c, enum cluster_outcome outcome, const struct cluster_object *object)
{
	call_enter(c);
	c->result.outcome = outcome;
	c->result.object = object;
	c->report(c);
	call_drop(c);
	call_leave(c);
}

void call_end_later(struct call *c, enum cluster_outcome outcome)
{
	c->result.outcome = outcome;
	if (c->http)
		http_cancel(TAKE_PTR(c->http));
	timer_now(c->later);
}

void call_bad_name(struct call *c, const char *name)
{
	(void)err_set(&c->result.err, ERR_CONFIG, 0,
		      "\"%s\" is not the name of an object: small letters, digits, '-' and '.'",
		      name);
	call_end_later(c, CLUSTER_REFUSED);
}

void call_close(struct call_store *s)
{
	struct call *c;

	while ((c = TAILQ_FIRST(&s->calls)))
		call_drop(c);
	s->closed = true;
	if (!s->busy)
		s->free(s);
}
