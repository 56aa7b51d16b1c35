/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h: a timer of the event loop, in milliseconds. */
#ifndef RAILHEAD_RAILHEADD_WATCH_TIMER_H
#define RAILHEAD_RAILHEADD_WATCH_TIMER_H

#include <event2/event.h>
#include <stdint.h>

/* timer_arm - the timer ends in ms from now, and not when it was to end before. -1: no memory. */
static inline int timer_arm(struct event *timer, int64_t ms)
{
	const struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	return event_add(timer, &t);
}

#endif
