/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h: looks from time to time whether the rails of this node are degraded, and tells
 * people of each change: log and Events.
 *
 * A child reads the rails, because a driver may hang. Two looks in a row must agree. The limits
 * of events.h may hold an Event back, and it may be lost on its way. A later look sends it, if it
 * is still true. After a restart the agent knows the rails from memory.h.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_RAILS_H
#define RAILHEAD_RAILHEADD_WATCH_RAILS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct events;
struct rail_watch;
struct repairer;

/* Everything is borrowed. */
struct rail_watch_conf {
	struct event_base *base;
	const struct ctx *ctx;
	struct events *events;     /* NULL: only the log says it */
	const char *const *except; /* rail_table_take() */
	struct repairer *repairer; /* a pass follows each change; NULL: none */
	int64_t every;             /* ms between two looks */
	int64_t confirm; /* ms: the second look at a change comes after it, if it is less */
	int (*run)(const struct json *known); /* NULL: rail_look_main; tests have their own */
	int deadline_ms;                      /* of a look */
};

/* rail_watch_new - the first look begins with the loop. rail_watch_free - NULL is fine. */
int rail_watch_new(const struct rail_watch_conf *conf, struct rail_watch **out,
		   struct err *e) must_check;
void rail_watch_free(struct rail_watch *w);

/* rail_watch_status - add "rails" to obj, see railhead-agent.sock(5); w NULL: false. */
int rail_watch_status(const struct rail_watch *w, struct json *obj, struct err *e) must_check;

/*
 * rail_watch_mark - add "degraded" to the objects of rails that the watch knows, by their "hca", or
 * by "pci" if they have none: the checks that two looks in a row agree are bad, with spaces
 * between; "": none is. Others get no key, and none does with w NULL, or after a look that failed.
 * ERR_NOMEM.
 */
int rail_watch_mark(const struct rail_watch *w, struct json *rails, struct err *e) must_check;

#endif
