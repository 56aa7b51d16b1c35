/* SPDX-License-Identifier: Apache-2.0 */
/* timer.c: an event of the loop without a descriptor. */
#include "lib/sys/timer.h"

#include <event2/event.h>
#include <stdlib.h>

struct timer {
	struct event_base *base;
	struct event *event;
	void (*due)(void *arg);
	void *arg;
};

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	const struct timer *t = arg;

	(void)fd;
	(void)what;
	t->due(t->arg);
}

struct timer *timer_new(struct event_base *base, void (*due)(void *arg), void *arg)
{
	struct timer *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct timer){ base, NULL, due, arg };
	t->event = evtimer_new(base, on_timer, t);
	if (t->event)
		return t;
	free(t);
	return NULL;
}

void timer_free(struct timer *t)
{
	if (t)
		event_free(t->event);
	free(t);
}

int timer_arm_ns(struct timer *t, int64_t ns)
{
	const struct timeval left = { .tv_sec = ns / 1000000000,
				      .tv_usec = ns % 1000000000 / 1000 };

	return event_add(t->event, &left);
}

int timer_arm(struct timer *t, int64_t ms)
{
	return timer_arm_ns(t, ms * 1000000);
}

void timer_now(struct timer *t)
{
	event_active(t->event, EV_TIMEOUT, 0);
}

void timer_stop(struct timer *t)
{
	if (t)
		(void)event_del(t->event);
}

int64_t timer_left(const struct timer *t)
{
	struct timeval now, end, left;

	if (!event_pending(t->event, EV_TIMEOUT, &end))
		return -1;
	(void)event_base_gettimeofday_cached(t->base, &now);
	evutil_timersub(&end, &now, &left);
	return left.tv_sec < 0 ? 0 : left.tv_sec * INT64_C(1000000000) + left.tv_usec * 1000;
}
