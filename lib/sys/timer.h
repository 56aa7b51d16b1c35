/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h: a timer of the event loop, in milliseconds or nanoseconds. */
#ifndef RAILHEAD_LIB_SYS_TIMER_H
#define RAILHEAD_LIB_SYS_TIMER_H

#include <event2/event.h>
#include <stdint.h>

/* timer_arm_ns - the timer ends in ns from now, not when it was to end before. -1: no memory. */
static inline int timer_arm_ns(struct event *timer, int64_t ns)
{
	const struct timeval t = { .tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000 };

	return event_add(timer, &t);
}

/* timer_arm - the same in ms from now. */
static inline int timer_arm(struct event *timer, int64_t ms)
{
	return timer_arm_ns(timer, ms * 1000000);
}

#endif
