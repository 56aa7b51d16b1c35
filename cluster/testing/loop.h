/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h: an event loop that runs until something happened.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_LOOP_H
#define RAILHEAD_CLUSTER_TESTING_LOOP_H

#include "lib/base/base.h"

struct event_base;

/* loop_new, loop_free - a loop; never NULL. */
struct event_base *loop_new(void);
void loop_free(struct event_base *base);

/* loop_until - run until cond(arg), which is asked after each event; fails the test after 60 s. */
void loop_until(struct event_base *base, bool (*cond)(const void *arg), const void *arg);

/* loop_turn - handle the events that are there, without waiting. */
void loop_turn(struct event_base *base);

#endif
