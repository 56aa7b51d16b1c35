/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hints.h: hears what railhead-ipam says after an ADD and a DEL (ipam/alloc/hint.h).
 *
 * A datagram of another user than root, or one that is no hint, is dropped without a word: the
 * sender may be of a later release, and a log line for each ADD would hide the others.
 */
#ifndef RAILHEAD_RAILHEADD_HINTS_H
#define RAILHEAD_RAILHEADD_HINTS_H

#include "ipam/alloc/hint.h"

#define HINTS_AT_ONCE 64 /* then other events have their turn */

struct event_base;
struct hints;

/* base and ctx are borrowed; arg is handed to fn, which is called from the loop for each hint. */
struct hints_conf {
	struct event_base *base;
	const struct ctx *ctx;
	void (*fn)(void *arg, const struct hint *h);
	void *arg;
};

/*
 * hints_new - listen at <run_dir>/hint.sock. The caller has socket_lock(). hints_free - remove the
 * socket; NULL is fine.
 */
int hints_new(const struct hints_conf *conf, struct hints **out, struct err *e) must_check;
void hints_free(struct hints *h);

#endif
