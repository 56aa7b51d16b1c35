/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: one child, the event of its output, the timer of its deadline, and that of its end. */
#include "railheadd/watch/child.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <unistd.h>

#include "lib/sys/exec.h"
#include "lib/sys/timer.h"

#define READ_MAX    65536
#define LOOK_MIN_MS 1 /* how often to look whether a child has ended that closed its output */
#define LOOK_MAX_MS 1000

struct child {
	struct child_conf conf;
	struct exec_child proc;
	struct event *output; /* NULL: it is closed, or no child runs */
	struct timer *deadline;
	struct timer *look;
	int pause_ms; /* until the next look whether it has ended */
	struct evbuffer *text;
	bool late; /* it is killed and not gone, and the caller knows how it ended */
};

static void tell_end(struct child *c)
{
	bool was_late = c->late;
	size_t len = evbuffer_get_length(c->text);
	const char *text = len ? (const char *)evbuffer_pullup(c->text, -1) : "";

	timer_stop(c->deadline);
	c->late = false;
	/* Either may free c. */
	if (!was_late)
		c->conf.done(c->conf.arg, CHILD_ENDED, text, len);
	else if (c->conf.gone)
		c->conf.gone(c->conf.arg);
}

static void watch_child_look(void *arg)
{
	struct child *c = arg;

	if (exec_try_reap(&c->proc)) {
		tell_end(c);
		return;
	}
	(void)timer_arm(c->look, c->pause_ms);
	c->pause_ms = c->pause_ms * 2 < LOOK_MAX_MS ? c->pause_ms * 2 : LOOK_MAX_MS;
}

/* So it ends, but the kernel may hold it meanwhile: nothing waits for that. */
static void output_closed(struct child *c)
{
	event_free(c->output);
	c->output = NULL;
	exec_send_kill(&c->proc);
	c->pause_ms = LOOK_MIN_MS;
	watch_child_look(c);
}

static void kill_child(struct child *c, enum child_end how)
{
	c->late = true;
	timer_stop(c->deadline);
	exec_send_kill(&c->proc);
	c->conf.done(c->conf.arg, how, NULL, 0);
}

static void child_too_late(void *arg)
{
	kill_child(arg, CHILD_LATE);
}

/* Without memory for it all is left for later. */
static void offer(struct child *c)
{
	size_t len = evbuffer_get_length(c->text);
	const char *text = (const char *)evbuffer_pullup(c->text, -1);

	if (text)
		(void)evbuffer_drain(c->text, c->conf.take(c->conf.arg, text, len));
}

static void child_readable(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	int n = evbuffer_read(c->text, fd, READ_MAX);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		output_closed(c);
	} else if (c->late) {
		(void)evbuffer_drain(c->text, evbuffer_get_length(c->text));
	} else {
		if (c->conf.take)
			offer(c);
		if (evbuffer_get_length(c->text) > c->conf.text_max)
			kill_child(c, CHILD_TOO_MUCH);
	}
}

bool child_runs(const struct child *c)
{
	return c->proc.pid > 0;
}

bool child_is_late(const struct child *c)
{
	return c->late;
}

int child_start(struct child *c, struct err *e)
{
	const struct exec_req req = { .path = c->conf.path,
				      .run = c->conf.run,
				      .arg = c->conf.arg,
				      .envp = environ,
				      .input = "",
				      .timeout_ms = c->conf.deadline_ms };

	(void)evbuffer_drain(c->text, evbuffer_get_length(c->text));
	if (exec_start(&req, &c->proc, e))
		return -1;
	(void)fcntl(c->proc.out_fd, F_SETFL, O_NONBLOCK);
	c->output =
		event_new(c->conf.base, c->proc.out_fd, EV_READ | EV_PERSIST, child_readable, c);
	if (!c->output || event_add(c->output, NULL) ||
	    timer_arm(c->deadline, c->conf.deadline_ms)) {
		if (c->output)
			event_free(c->output);
		c->output = NULL;
		exec_kill(&c->proc);
		return err_nomem(e);
	}
	return 0;
}

int child_new(const struct child_conf *conf, struct child **out, struct err *e)
{
	struct child *c = calloc(1, sizeof(*c));

	if (!c)
		return err_nomem(e);
	c->conf = *conf;
	c->proc.out_fd = -1;
	c->text = evbuffer_new();
	c->deadline = timer_new(conf->base, child_too_late, c);
	c->look = timer_new(conf->base, watch_child_look, c);
	if (!c->text || !c->deadline || !c->look) {
		child_free(c);
		return err_nomem(e);
	}
	*out = c;
	return 0;
}

void child_free(struct child *c)
{
	if (!c)
		return;
	if (c->output)
		event_free(c->output);
	timer_free(c->deadline);
	timer_free(c->look);
	if (c->text)
		evbuffer_free(c->text);
	/* A child that hangs in the kernel ends when it can. */
	exec_send_kill(&c->proc);
	if (!exec_try_reap(&c->proc))
		(void)close(c->proc.out_fd);
	free(c);
}
