/* SPDX-License-Identifier: Apache-2.0 */
/* process.c: the parent's side of a run: start, wait with a limit of time, collect the output. */
#include "conformance/harness/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/harness/exec.h"
#include "conformance/harness/io.h"

char *process_output(const struct process *p)
{
	return io_read_back(p->out);
}

/* ---- start ---- */

void process_start(const struct command *c, struct process *p)
{
	int gate[2] = { -1, -1 };

	*p = (struct process){ .gate = -1 };
	int in = io_open_input(c, &p->writer);
	p->out = io_open_output(c);
	p->err = io_memory(NULL, 0);
	if (c->gated)
		io_pipe(gate);
	p->began = now_us();
	p->pid = fork();
	if (p->pid < 0)
		die("fork: %s", strerror(errno));
	if (p->pid == 0)
		exec_command(c, &(struct exec_fds){ in, p->out, p->err, gate[0] });
	if (in >= 0)
		(void)close(in);
	if (gate[0] >= 0)
		(void)close(gate[0]);
	p->gate = gate[1];
}

void process_release(struct process *p)
{
	if (write(p->gate, "", 1) != 1)
		die("gate: %s", strerror(errno));
	(void)close(p->gate);
	p->gate = -1;
}

/* ---- end ---- */

/* false: the limit came first. */
static bool ends_within(pid_t pid, long limit_ms)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	const int64_t end = now_us() + (int64_t)limit_ms * 1000;
	int n = 0;

	if (p.fd < 0)
		die("pidfd_open: %s", strerror(errno));
	for (int64_t left; n <= 0 && (left = end - now_us()) > 0;) {
		n = poll(&p, 1, (int)(left / 1000) + 1);
		if (n < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
	}
	(void)close(p.fd);
	return n > 0;
}

static void collect(struct process *p, struct exited *e)
{
	e->us = now_us() - p->began;
	if (p->writer) {
		(void)kill(p->writer, SIGKILL);
		(void)waitpid(p->writer, NULL, 0);
	}
	e->out = io_read_back(p->out);
	e->err = io_read_back(p->err);
	(void)close(p->out);
	(void)close(p->err);
	if (p->gate >= 0)
		(void)close(p->gate);
	*p = (struct process){ .gate = -1 };
}

void process_collect(struct process *p, int status, struct exited *e)
{
	*e = (struct exited){ .status = status };
	collect(p, e);
}

void process_wait(struct process *p, long limit_ms, struct exited *e)
{
	struct rusage usage = { 0 };

	*e = (struct exited){ .timed_out = limit_ms && !ends_within(p->pid, limit_ms) };
	if (e->timed_out) {
		(void)kill(-p->pid, SIGKILL);
		(void)kill(p->pid, SIGKILL);
	}
	while (wait4(p->pid, &e->status, 0, &usage) < 0) {
		if (errno != EINTR)
			die("wait4: %s", strerror(errno));
	}
	e->rss_kib = usage.ru_maxrss;
	collect(p, e);
}

void command_run(const struct command *c, long limit_ms, struct exited *e)
{
	struct process p;

	process_start(c, &p);
	process_wait(&p, limit_ms, e);
}

void program_run(const char *netns, const char *const *argv, struct exited *e)
{
	static char path[] = PATH_VARIABLE;
	static char *const env[] = { path, NULL };
	const struct command c = {
		.program = argv[0], .args = argv + 1, .env = env, .netns = netns
	};

	command_run(&c, 0, e);
}

bool exited_well(const struct exited *e)
{
	return WIFEXITED(e->status) && WEXITSTATUS(e->status) == 0;
}

void exited_free(struct exited *e)
{
	free(e->out);
	free(e->err);
	e->out = e->err = NULL;
}
