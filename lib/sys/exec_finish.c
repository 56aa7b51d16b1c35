/* SPDX-License-Identifier: Apache-2.0 */
/* exec_finish.c: collect the output of a child until its end or its limit of time. */
#include "lib/sys/exec.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/base/array.h"
#include "lib/base/ctx.h"
#include "lib/base/retry.h"

#define READ_SIZE 4096
/* Of the buffer: it doubles, and is read into before the length is compared. */
#define OUTPUT_MAX (4 * EXEC_MAX_OUTPUT)
/* How often to look for the end of a child on kernels before 5.3, which have no pollable pidfd. */
#define LOOK_MS 5

static pid_t reap_child(pid_t pid, int *status)
{
	unsigned tries = 0;
	pid_t got;

	do
		got = waitpid(pid, status, 0);
	while (got < 0 && retry_interrupted(&tries));
	return got;
}

struct output {
	char *buf;
	size_t len, cap;
	unsigned tries; /* reads and waits that were interrupted */
};

static int output_reserve(struct output *o, struct err *e)
{
	if (o->cap - o->len > READ_SIZE)
		return 0;

	size_t more = o->cap ? o->cap : 2 * READ_SIZE;

	if (ARRAY_GROW_BY(o->buf, o->cap, more, OUTPUT_MAX, "bytes of output", e))
		return -1;
	o->cap += more;
	return 0;
}

/* One read; the pipe is readable. At its end the descriptor is closed and becomes -1. */
static int read_some(struct exec_child *c, struct output *o, struct err *e)
{
	if (output_reserve(o, e))
		return -1;

	/* room for the NUL */
	ssize_t n = read(c->out_fd, o->buf + o->len, o->cap - o->len - 1);

	if (n < 0 && errno == EAGAIN)
		errno = EINTR;
	if (n < 0 && !retry_interrupted(&o->tries))
		return err_set(e, ERR_DELEGATE, errno, "read the output of %s", c->path);
	if (n > 0)
		o->len += (size_t)n;
	if (n == 0) {
		(void)close(c->out_fd);
		c->out_fd = -1;
	}
	if (o->len > EXEC_MAX_OUTPUT) {
		err_set(e, ERR_DELEGATE, EFBIG, "%s printed more than %d bytes", c->path,
			EXEC_MAX_OUTPUT);
		return -1;
	}
	return 0;
}

static bool exec_finish_has_ended(pid_t pid)
{
	siginfo_t si = { 0 };

	return waitid(P_PID, (id_t)pid, &si, WEXITED | WNOHANG | WNOWAIT) || si.si_pid == pid;
}

static int refuse_late(const struct exec_child *c, struct err *e)
{
	err_set(e, ERR_DELEGATE, ETIMEDOUT, "%s did not finish in time and was killed", c->path);
	return -1;
}

/*
 * Read until the child has ended and the pipe is empty. The end of the pipe alone is not enough,
 * because a child may close it and hang. It is not needed either: a grandchild may keep it open.
 * The caller may come after the deadline, so a child that has ended by then was in time.
 */
static int collect_output(struct exec_child *c, int pidfd, struct output *o, struct err *e)
{
	for (bool ended = false;;) {
		int64_t left = c->deadline_ms - ctx_mono_ms();
		struct pollfd p[2] = { { .fd = c->out_fd, .events = POLLIN },
				       { .fd = ended ? -1 : pidfd, .events = POLLIN } };

		if (ended && c->out_fd < 0)
			return 0;
		if (pidfd < 0 && left > LOOK_MS)
			left = LOOK_MS;

		int n = poll(p, 2, ended || left <= 0 ? 0 : (int)left);

		if (n < 0 && !retry_interrupted(&o->tries))
			return err_set(e, ERR_DELEGATE, errno, "wait for %s", c->path);
		if (n == 0 && ended)
			return 0;
		if (n > 0 && p[0].revents && read_some(c, o, e))
			return -1;
		if (!ended && (pidfd < 0 ? exec_finish_has_ended(c->pid) : n > 0 && p[1].revents))
			ended = true;
		else if (n >= 0 && !ended && left <= 0)
			return refuse_late(c, e);
	}
}

int exec_finish(struct exec_child *child, struct exec_result *res, struct err *e)
{
	auto_free char *buf = NULL;
	struct output o = { 0 };
	auto_fd int pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	int status = 0;
	int rc = output_reserve(&o, e) || collect_output(child, pidfd, &o, e);

	buf = o.buf;
	if (rc) {
		exec_kill(child);
		return -1;
	}
	if (reap_child(child->pid, &status) < 0) {
		exec_kill(child);
		return err_set(e, ERR_DELEGATE, errno, "exit status of %s", child->path);
	}
	child->pid = 0;
	exec_kill(child);
	buf[o.len] = '\0';
	*res = (struct exec_result){ .output = TAKE_PTR(buf), .len = o.len, .status = status };
	return 0;
}

/* The group before its leader is reaped: after that its number may be another's. */
void exec_send_kill(const struct exec_child *child)
{
	if (child->pid <= 0)
		return;
	(void)kill(-child->pid, SIGKILL);
	(void)kill(child->pid, SIGKILL);
}

static void forget_child(struct exec_child *child)
{
	child->pid = 0;
	if (child->out_fd >= 0)
		(void)close(child->out_fd);
	child->out_fd = -1;
}

bool exec_try_reap(struct exec_child *child)
{
	if (child->pid > 0 && waitpid(child->pid, NULL, WNOHANG) == 0)
		return false;
	forget_child(child);
	return true;
}

void exec_kill(struct exec_child *child)
{
	exec_send_kill(child);
	if (child->pid > 0)
		(void)reap_child(child->pid, NULL);
	forget_child(child);
}
