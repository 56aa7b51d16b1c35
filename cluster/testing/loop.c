/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c: the limit of time only ends a wait for an event that never comes. */
#include "cluster/testing/loop.h"

#include <event2/event.h>

#include "lib/testing/testing.h"

#define LIMIT_S 60

struct event_base *loop_new(void)
{
	struct event_base *base = event_base_new();

	ck_assert_ptr_nonnull(base);
	return base;
}

void loop_free(struct event_base *base)
{
	event_base_free(base);
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	*(bool *)arg = true;
}

void loop_until(struct event_base *base, bool (*cond)(const void *arg), const void *arg)
{
	struct timeval limit = { .tv_sec = LIMIT_S };
	bool late = false;
	struct event *timer = evtimer_new(base, too_late, &late);

	(void)event_add(timer, &limit);
	while (!cond(arg) && !late)
		(void)event_base_loop(base, EVLOOP_ONCE);
	event_free(timer);
	ck_assert_msg(!late, "not within %d s", LIMIT_S);
}

void loop_turn(struct event_base *base)
{
	(void)event_base_loop(base, EVLOOP_NONBLOCK);
}
