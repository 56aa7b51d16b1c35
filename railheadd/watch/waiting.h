/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h: what passes found, and since when. Pure.
 *
 * A leftover is due when it was found with one mark in all passes of a grace period. A pass that
 * does not find it forgets it. Times are those of a clock that does not run while the machine
 * sleeps, because no DEL runs then either.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_WAITING_H
#define RAILHEAD_RAILHEADD_WATCH_WAITING_H

#include "railheadd/watch/leftover.h"

/* More leftovers than that wait for a later pass. */
#define WAITING_MAX 1000

struct waiting_item {
	enum leftover_kind kind;
	enum leftover_outcome outcome; /* the last one; never LEFTOVER_REPAIRED */
	char what[513], mark[17], state[33], why[257], pod[385];
	int64_t since; /* ms */
	bool seen;     /* in the pass that runs */
};

struct waiting {
	struct waiting_item *items; /* owned */
	size_t n;
};

/* waiting_clear - free what w owns; w becomes empty. */
void waiting_clear(struct waiting *w);
#define auto_waiting auto_clean(waiting_clear)

/* waiting_begin - a pass begins. waiting_end - it came to its end: forget what it did not find. */
void waiting_begin(struct waiting *w);
void waiting_end(struct waiting *w);

/*
 * waiting_note - a leftover of the pass, at time now (ms). True: it is news for the log; the same
 * failure of the next pass is none. Without memory, or with WAITING_MAX items, it is not kept.
 */
bool waiting_note(struct waiting *w, const struct leftover *f, int64_t now);

/* waiting_is_due - f has been stale for at least grace ms. waiting_any_due - something has. */
struct waiting_due {
	const struct waiting *w;
	int64_t now, grace;
};
bool waiting_is_due(const struct waiting_due *d, const struct leftover *f);
bool waiting_any_due(const struct waiting_due *d);

/*
 * waiting_next - in how many ms the next leftover is due; -1: none waits. One whose repair failed
 * does not count: every pass tries it again.
 */
int64_t waiting_next(const struct waiting *w, int64_t now, int64_t grace);

/* waiting_count - of one outcome. */
size_t waiting_count(const struct waiting *w, enum leftover_outcome outcome);

#endif
