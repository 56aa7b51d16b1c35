/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backoff.h: what the kernel tells by no event is asked again and again, until a deadline.
 *
 *	struct backoff p = backoff_for(5000);
 *	while (!is_so() && backoff_pause(&p))
 *		continue;
 *
 * The last question comes at the deadline, so that a pause does not shorten the wait.
 */
#ifndef RAILHEAD_LIB_BASE_BACKOFF_H
#define RAILHEAD_LIB_BASE_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/* Pauses begin at 1 ms and double, up to 32 ms. */
struct backoff {
	int64_t until_ms; /* of ctx_mono_ms() */
	int64_t pause_ms;
};

/* backoff_for - from now on, for so many milliseconds; at most 0: one question only. */
struct backoff backoff_for(int64_t ms);

/* backoff_until - until this time of ctx_mono_ms(). */
struct backoff backoff_until(int64_t until_ms);

/* backoff_pause - sleeps, and returns true; false at once: the deadline has passed. */
bool backoff_pause(struct backoff *p);

#endif
