/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c: one child at a time, and the scrapes that wait for it. */
#include "railheadd/metrics/sampler.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "railheadd/watch/child.h"

struct waiter {
	TAILQ_ENTRY(waiter) all;
	void (*ready)(void *scrape);
	void *scrape;
};
TAILQ_HEAD(waiters, waiter);

struct sampler {
	struct sampler_conf conf;
	struct waiters waiters;
	struct child *child;
	const char *text; /* only while the scrapes are answered; NULL: it is not whole */
	size_t len;
	int64_t began, took;
};

static void answer_all(struct sampler *s)
{
	struct waiter *w;

	while ((w = TAILQ_FIRST(&s->waiters)) != NULL) {
		struct waiter one = *w;

		TAILQ_REMOVE(&s->waiters, w, all);
		free(w);
		one.ready(one.scrape);
	}
}

/* Each form ends with a split: without the second one the child was cut off. */
static bool is_whole(const char *text, size_t n)
{
	const char *split = n ? memchr(text, SAMPLER_SPLIT, n) : NULL;

	return split &&
	       memchr(split + 1, SAMPLER_SPLIT, n - (size_t)(split + 1 - text)) == text + n - 1;
}

static void sampler_ended(void *arg, enum child_end how, const char *text, size_t len)
{
	struct sampler *s = arg;

	if (how == CHILD_LATE)
		log_warn(&s->conf.ctx->log, "metrics: the devices were not read within %d ms",
			 s->conf.deadline_ms);
	else if (how == CHILD_TOO_MUCH)
		log_warn(&s->conf.ctx->log, "metrics: the devices have too many counters");
	s->took = ctx_mono_ms() - s->began;
	if (how == CHILD_ENDED && is_whole(text, len)) {
		s->text = text;
		s->len = len;
	}
	answer_all(s);
	s->text = NULL;
}

static int sample_in_child(const void *arg)
{
	return ((const struct sampler *)arg)->conf.run();
}

/* False: no child runs that will answer. */
static bool has_child(struct sampler *s)
{
	struct err e;

	if (child_runs(s->child))
		return !child_is_late(s->child);
	if (child_start(s->child, &e)) {
		log_warn(&s->conf.ctx->log, "metrics: %s", e.msg);
		return false;
	}
	s->began = ctx_mono_ms();
	return true;
}

void sampler_wait(void *arg, void (*ready)(void *scrape), void *scrape)
{
	struct sampler *s = arg;
	struct waiter *w = has_child(s) ? malloc(sizeof(*w)) : NULL;

	if (!w) {
		ready(scrape);
		return;
	}
	*w = (struct waiter){ .ready = ready, .scrape = scrape };
	TAILQ_INSERT_TAIL(&s->waiters, w, all);
}

void sampler_cancel(void *arg, void *scrape)
{
	struct sampler *s = arg;
	struct waiter *w = TAILQ_FIRST(&s->waiters);

	while (w && w->scrape != scrape)
		w = TAILQ_NEXT(w, all);
	if (!w)
		return;
	TAILQ_REMOVE(&s->waiters, w, all);
	free(w);
}

const char *sampler_text(const struct sampler *s, bool open, size_t *len)
{
	const char *split = s->text ? memchr(s->text, SAMPLER_SPLIT, s->len) : NULL;

	if (!split)
		return NULL;
	*len = open ? (size_t)(split - s->text) : s->len - (size_t)(split + 1 - s->text) - 1;
	return open ? s->text : split + 1;
}

int64_t sampler_ms(const struct sampler *s)
{
	return s->took;
}

int sampler_new(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	struct sampler *s = calloc(1, sizeof(*s));
	const struct child_conf child = { .base = conf->base,
					  .path = "railheadd-devices",
					  .run = sample_in_child,
					  .deadline_ms = conf->deadline_ms,
					  .text_max = SAMPLER_TEXT_MAX,
					  .done = sampler_ended,
					  .arg = s };

	if (!s)
		return err_nomem(e);
	s->conf = *conf;
	TAILQ_INIT(&s->waiters);
	if (child_new(&child, &s->child, e)) {
		sampler_free(s);
		return -1;
	}
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	struct waiter *w;

	if (!s)
		return;
	while ((w = TAILQ_FIRST(&s->waiters)) != NULL) {
		TAILQ_REMOVE(&s->waiters, w, all);
		free(w);
	}
	child_free(s->child);
	free(s);
}
