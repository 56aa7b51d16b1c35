/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.h: everything that answers scrapes, as one part of the agent. */
#ifndef RAILHEAD_RAILHEADD_METRICS_METRICS_H
#define RAILHEAD_RAILHEADD_METRICS_METRICS_H

#include "railheadd/metrics/collect.h"

struct event_base;
struct metrics;

/* Everything is borrowed. port NULL: only the unix socket. from.sampler is set here. */
struct metrics_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *port;
	struct collect_from from;
};

/* metrics_new - as listener_new(). metrics_free - NULL is fine. */
int metrics_new(const struct metrics_conf *conf, struct metrics **out, struct err *e) must_check;
void metrics_free(struct metrics *m);

#endif
