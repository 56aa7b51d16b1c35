/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.c: one child at a time, and the scrapes that wait for it. */
#include "railheadd/metrics/sampler.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "lib/sys/exec.h"

#define READ_MAX 65536

struct waiter {
	TAILQ_ENTRY(waiter) all;
	void (*ready)(void *scrape);
	void *scrape;
};
TAILQ_HEAD(waiters, waiter);

struct sampler {
	struct sampler_conf conf;
	struct waiters waiters;
	struct exec_child child;
	struct event *output; /* NULL: no child runs */
	struct event *deadline;
	struct evbuffer *text;
	bool late;  /* the child passed its deadline, and is killed but not gone */
	bool whole; /* text is complete: only while the scrapes are answered */
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

static void end_child(struct sampler *s, bool whole)
{
	event_free(s->output);
	s->output = NULL;
	(void)event_del(s->deadline);
	/* It has closed its output, so it ends. */
	exec_kill(&s->child);
	s->took = ctx_mono_ms() - s->began;
	s->whole = whole && !s->late;
	s->late = false;
	answer_all(s);
	s->whole = false;
	(void)evbuffer_drain(s->text, evbuffer_get_length(s->text));
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	struct sampler *s = arg;

	(void)fd;
	(void)what;
	log_warn(&s->conf.ctx->log, "metrics: the devices were not read within %d ms",
		 s->conf.deadline_ms);
	s->late = true;
	s->took = ctx_mono_ms() - s->began;
	(void)kill(s->child.pid, SIGKILL);
	answer_all(s);
}

/* Each form ends with a split: without the second one the child was cut off. */
static bool is_whole(struct sampler *s)
{
	size_t n = evbuffer_get_length(s->text);
	const char *text = (const char *)evbuffer_pullup(s->text, -1);
	const char *split = text ? memchr(text, SAMPLER_SPLIT, n) : NULL;

	return split &&
	       memchr(split + 1, SAMPLER_SPLIT, n - (size_t)(split + 1 - text)) == text + n - 1;
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct sampler *s = arg;
	int n = evbuffer_read(s->text, fd, READ_MAX);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && evbuffer_get_length(s->text) <= SAMPLER_TEXT_MAX)
		return;
	if (n > 0)
		log_warn(&s->conf.ctx->log, "metrics: the devices have too many counters");
	end_child(s, n == 0 && is_whole(s));
}

static int start_child(struct sampler *s, struct err *e)
{
	const struct exec_req req = { .path = "railheadd-devices",
				      .run = s->conf.run,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = s->conf.deadline_ms };
	const struct timeval t = { .tv_sec = s->conf.deadline_ms / 1000,
				   .tv_usec = s->conf.deadline_ms % 1000 * 1000 };

	if (exec_start(&req, &s->child, e))
		return -1;
	(void)fcntl(s->child.out_fd, F_SETFL, O_NONBLOCK);
	s->output = event_new(s->conf.base, s->child.out_fd, EV_READ | EV_PERSIST, readable, s);
	if (!s->output || event_add(s->output, NULL) || event_add(s->deadline, &t)) {
		if (s->output)
			event_free(s->output);
		s->output = NULL;
		exec_kill(&s->child);
		return err_nomem(e);
	}
	s->began = ctx_mono_ms();
	return 0;
}

void sampler_wait(void *arg, void (*ready)(void *scrape), void *scrape)
{
	struct sampler *s = arg;
	struct waiter *w = s->late ? NULL : malloc(sizeof(*w));
	struct err e;

	if (w && !s->output && start_child(s, &e)) {
		log_warn(&s->conf.ctx->log, "metrics: %s", e.msg);
		free(w);
		w = NULL;
	}
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
	const char *text, *split;
	size_t n;

	if (!s->whole)
		return NULL;
	n = evbuffer_get_length(s->text);
	text = (const char *)evbuffer_pullup(s->text, -1);
	split = text ? memchr(text, SAMPLER_SPLIT, n) : NULL;
	if (!split)
		return NULL;
	*len = open ? (size_t)(split - text) : n - (size_t)(split + 1 - text) - 1;
	return open ? text : split + 1;
}

int64_t sampler_ms(const struct sampler *s)
{
	return s->took;
}

int sampler_new(const struct sampler_conf *conf, struct sampler **out, struct err *e)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	s->conf = *conf;
	s->child.out_fd = -1;
	TAILQ_INIT(&s->waiters);
	s->text = evbuffer_new();
	s->deadline = evtimer_new(conf->base, too_late, s);
	if (!s->text || !s->deadline) {
		sampler_free(s);
		return err_nomem(e);
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
	if (s->output)
		event_free(s->output);
	if (s->deadline)
		event_free(s->deadline);
	if (s->text)
		evbuffer_free(s->text);
	/* A child that hangs in the kernel ends with us, when it can. */
	if (s->late)
		(void)close(s->child.out_fd);
	else
		exec_kill(&s->child);
	free(s);
}
