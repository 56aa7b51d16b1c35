/* SPDX-License-Identifier: Apache-2.0 */
/* child.c: one child, the event of its output, and the timer of its deadline. */
#include "railheadd/child/child.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/exec.h"

#define READ_MAX 65536

struct child {
	struct child_conf conf;
	struct exec_child proc;
	struct event *output; /* NULL: no child runs */
	struct event *deadline;
	struct evbuffer *text;
	bool late; /* it is killed and not gone, and the caller knows how it ended */
};

/* It has closed its output, so it ends. */
static void end_child(struct child *c)
{
	bool was_late = c->late;
	size_t len = evbuffer_get_length(c->text);
	const char *text = len ? (const char *)evbuffer_pullup(c->text, -1) : "";

	event_free(c->output);
	c->output = NULL;
	(void)event_del(c->deadline);
	exec_kill(&c->proc);
	c->late = false;
	/* Either may free c. */
	if (!was_late)
		c->conf.done(c->conf.arg, CHILD_ENDED, text, len);
	else if (c->conf.gone)
		c->conf.gone(c->conf.arg);
}

/* It may hang in the kernel, so nothing waits for its end but the event of its output. */
void child_cancel(struct child *c)
{
	if (!c->output || c->late)
		return;
	c->late = true;
	(void)event_del(c->deadline);
	/* The group, if the child has made it already. */
	(void)kill(-c->proc.pid, SIGKILL);
	(void)kill(c->proc.pid, SIGKILL);
}

static void kill_child(struct child *c, enum child_end how)
{
	child_cancel(c);
	c->conf.done(c->conf.arg, how, NULL, 0);
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	kill_child(arg, CHILD_LATE);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct child *c = arg;
	int n = evbuffer_read(c->text, fd, READ_MAX);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		end_child(c);
	else if (c->late)
		(void)evbuffer_drain(c->text, evbuffer_get_length(c->text));
	else if (evbuffer_get_length(c->text) > c->conf.text_max)
		kill_child(c, CHILD_TOO_MUCH);
}

bool child_runs(const struct child *c)
{
	return c->output != NULL;
}

bool child_is_late(const struct child *c)
{
	return c->late;
}

int child_start(struct child *c, const char *input, struct err *e)
{
	const struct exec_req req = { .path = c->conf.path,
				      .run = c->conf.run,
				      .envp = environ,
				      .input = input,
				      .input_len = strlen(input),
				      .timeout_ms = c->conf.deadline_ms };
	const struct timeval t = { .tv_sec = c->conf.deadline_ms / 1000,
				   .tv_usec = c->conf.deadline_ms % 1000 * 1000 };

	(void)evbuffer_drain(c->text, evbuffer_get_length(c->text));
	if (exec_start(&req, &c->proc, e))
		return -1;
	(void)fcntl(c->proc.out_fd, F_SETFL, O_NONBLOCK);
	c->output = event_new(c->conf.base, c->proc.out_fd, EV_READ | EV_PERSIST, readable, c);
	if (!c->output || event_add(c->output, NULL) || event_add(c->deadline, &t)) {
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
	c->deadline = evtimer_new(conf->base, too_late, c);
	if (!c->text || !c->deadline) {
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
	if (c->deadline)
		event_free(c->deadline);
	if (c->text)
		evbuffer_free(c->text);
	/* A child that hangs in the kernel ends with us, when it can. */
	if (c->late)
		(void)close(c->proc.out_fd);
	else
		exec_kill(&c->proc);
	free(c);
}
