/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_limit.h: a token bucket, and a memory of events: a restored store must not bring a flood of
 * them. Pure.
 */
#ifndef RAILHEAD_RAILHEADD_POOLS_EVENT_LIMIT_H
#define RAILHEAD_RAILHEADD_POOLS_EVENT_LIMIT_H

#include "lib/base/base.h"

#define EVENT_BURST     20               /* at once */
#define EVENT_EVERY_MS  6000             /* and then one in this time */
#define EVENT_REPEAT_MS (10 * 60 * 1000) /* the same one is sent again after it */
#define EVENT_MEMORY    256              /* of more, the oldest may be sent again earlier */

enum event_verdict {
	EVENT_TELL,
	EVENT_REPEATED, /* it was sent a short time ago */
	EVENT_DROPPED,  /* too many were */
};

/* All 0: nothing was sent yet. */
struct event_limit {
	struct {
		uint64_t key;
		int64_t at; /* ms */
	} reported[EVENT_MEMORY];
	size_t n;       /* of told */
	int64_t credit; /* ms: when the bucket was empty, as if it had filled evenly since */
	bool begun;
};

/*
 * event_limit - an event with this key, at a time that never goes back (ms). Equal keys are one
 * event. Only EVENT_TELL is remembered.
 */
enum event_verdict event_limit(struct event_limit *l, uint64_t key, int64_t now);

#endif
