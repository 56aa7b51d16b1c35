/* SPDX-License-Identifier: Apache-2.0 */
/* event_limit.c: the bucket is a time: what has passed since then is what it holds. */
#include "railheadd/pools/event_limit.h"

#define FULL_MS ((int64_t)EVENT_BURST * EVENT_EVERY_MS)

/* Where the key is remembered, or else where it can be: a free place, or that of the oldest. */
static size_t event_limit_place_of(const struct event_limit *l, uint64_t key)
{
	size_t oldest = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (l->reported[i].key == key)
			return i;
		if (l->reported[i].at < l->reported[oldest].at)
			oldest = i;
	}
	return l->n < EVENT_MEMORY ? l->n : oldest;
}

enum event_verdict event_limit(struct event_limit *l, uint64_t key, int64_t now)
{
	size_t i = event_limit_place_of(l, key);

	if (i < l->n && l->reported[i].key == key && now - l->reported[i].at < EVENT_REPEAT_MS)
		return EVENT_REPEATED;
	if (!l->begun || now - l->credit > FULL_MS)
		l->credit = now - FULL_MS;
	l->begun = true;
	if (now - l->credit < EVENT_EVERY_MS)
		return EVENT_DROPPED;
	l->credit += EVENT_EVERY_MS;
	l->reported[i].key = key;
	l->reported[i].at = now;
	if (i == l->n)
		l->n++;
	return EVENT_TELL;
}
