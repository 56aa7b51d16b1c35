/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h: a text that a child makes for each scrape. A driver that hangs in a read delays
 * neither the agent nor the scrape.
 *
 * Scrapes that come while a child runs share its text. After the deadline they are answered without
 * one. A child that cannot even be killed (it hangs in the kernel) is not waited for, and until it
 * ends no other one is started.
 */
#ifndef RAILHEAD_RAILHEADD_METRICS_SAMPLER_H
#define RAILHEAD_RAILHEADD_METRICS_SAMPLER_H

#include "lib/base/ctx.h"

#define SAMPLER_TEXT_MAX (16 * 1024 * 1024)
#define SAMPLER_SPLIT    '\f' /* after each form of the text: OpenMetrics, the older one */

struct event_base;
struct sampler;

/* Everything is borrowed. run: see exec_req; its output is both forms of the text. */
struct sampler_conf {
	struct event_base *base;
	const struct ctx *ctx;
	int (*run)(void);
	int deadline_ms;
};

/* sampler_new - no child runs yet. sampler_free - the scrapes get no answer; NULL is fine. */
int sampler_new(const struct sampler_conf *conf, struct sampler **out, struct err *e) must_check;
void sampler_free(struct sampler *s);

/* sampler_wait, sampler_cancel - of struct listener_prepare; arg is the sampler. */
void sampler_wait(void *arg, void (*ready)(void *scrape), void *scrape);
void sampler_cancel(void *arg, void *scrape);

/*
 * sampler_text - the text of the last child, with its length; only while ready() runs. NULL: there
 * is none, because the child failed, was late, or was not started.
 */
const char *sampler_text(const struct sampler *s, bool open, size_t *len);

/* sampler_ms - how long the last child took. */
int64_t sampler_ms(const struct sampler *s);

#endif
