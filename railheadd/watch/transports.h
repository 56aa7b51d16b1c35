/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transports.h: looks from time to time whether the pods of this node that hold rails use RDMA, and
 * tells people of a job that does not: log, one Event a job and day.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_TRANSPORTS_H
#define RAILHEAD_RAILHEADD_WATCH_TRANSPORTS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct events;
struct transport_table;
struct transport_watch;

/* Everything is borrowed. */
struct transport_watch_conf {
	struct event_base *base;
	const struct ctx *ctx;
	struct events *events; /* NULL: only the log says it */
	int64_t every;         /* ms between two looks */
	uint32_t limit;        /* Mbit/s, see transport.h */
	/* transport_look_main, or a test's own */
	int (*run)(const struct transport_table *before, uint32_t limit);
	int deadline_ms; /* of a look */
};

/* transport_watch_new - the first look begins with the loop. transport_watch_free - NULL is fine.
 */
int transport_watch_new(const struct transport_watch_conf *conf, struct transport_watch **out,
			struct err *e) must_check;
void transport_watch_free(struct transport_watch *w);

/* transport_watch_status - add "transport" to obj, see railhead-agent.sock(5); w NULL: false. */
int transport_watch_status(const struct transport_watch *w, struct json *obj,
			   struct err *e) must_check;

#endif
