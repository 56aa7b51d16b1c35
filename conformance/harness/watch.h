/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h: a run whose processes are stopped at their exec and at their end, and looked at then. */
#ifndef CONFORMANCE_HARNESS_WATCH_H
#define CONFORMANCE_HARNESS_WATCH_H

#include "conformance/harness/process.h"

struct watched {
	int processes;        /* that have ended; at most WATCHED_MAX are looked at */
	long largest, sum;    /* peak memory in KiB: of the largest process, of all together */
	int inherited, holds; /* descriptors above 2, the most: at an exec, at an end */
};
enum { WATCHED_MAX = 64 };

/* Run the command to its end, with all that it starts. The caller must have no other child. */
void command_watch(const struct command *c, struct watched *w, struct exited *e);

#endif
