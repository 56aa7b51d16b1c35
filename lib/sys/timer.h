/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h: a timer of the event loop, in milliseconds or nanoseconds. */
#ifndef RAILHEAD_LIB_SYS_TIMER_H
#define RAILHEAD_LIB_SYS_TIMER_H

#include <stdint.h>

struct event_base;
struct timer;

/*
 * timer_new - due(arg) is called from the loop when the timer ends; it may free the timer. NULL: no
 * memory. timer_free - NULL is fine.
 */
struct timer *timer_new(struct event_base *base, void (*due)(void *arg), void *arg);
void timer_free(struct timer *t);

/* timer_arm - the timer ends in ms from now, not when it was to end before. -1: no memory. */
int timer_arm(struct timer *t, int64_t ms);
/* timer_arm_ns - the same in ns. */
int timer_arm_ns(struct timer *t, int64_t ns);
/* timer_now - it ends at once: the loop calls due, never this function. */
void timer_now(struct timer *t);
/* timer_stop - it does not end; NULL is fine. */
void timer_stop(struct timer *t);
/* timer_left - ns until it ends; -1: it is not armed. */
int64_t timer_left(const struct timer *t);

#endif
