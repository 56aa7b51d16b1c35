/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbours.h: listens for LLDP by the interfaces of rails, and remembers who is at the other end.
 *
 * It never sends. A child finds the interfaces, because a driver may hang. A restart forgets no
 * neighbour, and knows how old each is. Another lldpd of the host hears the same frames.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_NEIGHBOURS_H
#define RAILHEAD_RAILHEADD_WATCH_NEIGHBOURS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct json;
struct neighbour_watch;

/* Everything is borrowed. */
struct neighbour_watch_conf {
	struct event_base *base;
	const struct ctx *ctx;
	/* After each look: what neighbour_table_rails() makes, which is taken over. NULL: not
	 * wanted. */
	void (*report)(void *arg, struct json *rails);
	void *arg;
	int64_t every;   /* ms between two looks at the interfaces */
	int deadline_ms; /* of a look */
};

/* neighbour_watch_new - the first look begins with the loop. neighbour_watch_free - NULL is fine.
 */
int neighbour_watch_new(const struct neighbour_watch_conf *conf, struct neighbour_watch **out,
			struct err *e) must_check;
void neighbour_watch_free(struct neighbour_watch *w);

/* neighbour_watch_status - add "neighbours" to obj, see railhead-agent.sock(5); w NULL: false. */
int neighbour_watch_status(const struct neighbour_watch *w, struct json *obj,
			   struct err *e) must_check;

#endif
