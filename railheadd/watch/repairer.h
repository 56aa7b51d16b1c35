/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repairer.h: repairs by itself what dead pods left, from the event loop.
 *
 * A pass runs in a forked child, because it waits: for locks, for the kernel, for an IPAM. The
 * child has a copy of the agent's memory and none of its descriptors, and dies with the agent. A
 * pass that is killed anywhere leaves what a killed DEL leaves: the next pass finishes it.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_REPAIRER_H
#define RAILHEAD_RAILHEADD_WATCH_REPAIRER_H

#include "lib/base/ctx.h"
#include "railheadd/watch/leftover.h"

struct event_base;
struct events;
struct repairer;

/* Everything is borrowed. */
struct repairer_conf {
	struct event_base *base;
	const struct ctx *ctx;
	int64_t every, grace;  /* ms: between passes; from the first leftover to the repair */
	struct events *events; /* NULL: repairs are only logged */
};

/* repairer_new - the first pass begins with the loop. repairer_free - NULL is fine. */
int repairer_new(const struct repairer_conf *conf, struct repairer **out, struct err *e) must_check;
void repairer_free(struct repairer *r);

/* repairer_soon - begin a pass now, or when the present one has ended. NULL is fine. */
void repairer_soon(struct repairer *r);

/* Since the start of the agent. */
struct repairer_counts {
	uint64_t passes, cut_off; /* cut_off: passes without an end */
	uint64_t repaired[LEFTOVER_KINDS], failed[LEFTOVER_KINDS];
	size_t waiting, left; /* now */
};
void repairer_counts(const struct repairer *r, struct repairer_counts *out);

/* repairer_status - add "repair" to obj, see railhead-agent.sock(5); r NULL: false. */
int repairer_status(const struct repairer *r, struct json *obj, struct err *e) must_check;

#endif
