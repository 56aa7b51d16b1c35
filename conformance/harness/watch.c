/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c: ptrace stops every process at its exec and at its end, while its memory and its
 * descriptors are still visible in /proc. VmHWM belongs to the memory map, and exec makes a new
 * one, so the memory of the harness is not counted.
 */
#include "conformance/harness/watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/harness/text.h"

struct tree {
	struct watched *w;
	struct {
		long tgid, kib;
	} of[WATCHED_MAX];
};

static void read_status(pid_t tid, char *buf, size_t size)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (n <= 0)
		die("%s cannot be read", path);
	(void)close(fd);
	buf[n] = '\0';
}

static long value_of(const char *status, const char *key)
{
	const char *at = strstr(status, key);

	return at ? strtol(at + strlen(key), NULL, 10) : 0;
}

/* Descriptors besides standard input, output and error. */
static int descriptors(pid_t tid)
{
	char path[64];
	int n = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", tid);
	DIR *d = opendir(path);
	if (!d)
		die("%s cannot be read", path);
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) > STDERR_FILENO;
	(void)closedir(d);
	return n;
}

/* A thread that ends counts for its process. */
static void note_memory(struct tree *t, pid_t tid)
{
	char status[4096];
	int i = 0;

	read_status(tid, status, sizeof(status));
	long tgid = value_of(status, "\nTgid:"), kib = value_of(status, "\nVmHWM:");
	while (i < t->w->processes && t->of[i].tgid != tgid)
		i++;
	if (i == WATCHED_MAX)
		return;
	if (i == t->w->processes) {
		t->w->processes++;
		t->of[i].tgid = tgid;
	}
	t->of[i].kib = kib > t->of[i].kib ? kib : t->of[i].kib;
}

static void at_stop(struct tree *t, pid_t tid, int event)
{
	int n = event == PTRACE_EVENT_EXEC || event == PTRACE_EVENT_EXIT ? descriptors(tid) : 0;

	if (event == PTRACE_EVENT_EXEC) {
		t->w->inherited = n > t->w->inherited ? n : t->w->inherited;
	} else if (event == PTRACE_EVENT_EXIT) {
		t->w->holds = n > t->w->holds ? n : t->w->holds;
		note_memory(t, tid);
	}
}

/* The signal to hand on to a stopped process: none of those that tracing itself makes. */
static long to_deliver(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

static int follow(struct tree *t, pid_t root)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int status, root_status = -1;
	pid_t tid;

	if (waitpid(root, &status, 0) != root || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, root, NULL, (void *)options))
		die("a run cannot be traced");
	at_stop(t, root, PTRACE_EVENT_EXEC);
	if (ptrace(PTRACE_CONT, root, NULL, NULL))
		die("a run cannot be traced");
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			root_status = tid == root ? status : root_status;
			continue;
		}
		at_stop(t, tid, status >> 16);
		(void)ptrace(PTRACE_CONT, tid, NULL, (void *)to_deliver(status));
	}
	return root_status;
}

void command_watch(const struct command *c, struct watched *w, struct exited *e)
{
	struct tree t = { .w = w };
	struct command traced = *c;
	struct process p;

	*w = (struct watched){ .processes = 0 };
	traced.traced = true;
	process_start(&traced, &p);
	process_collect(&p, follow(&t, p.pid), e);
	for (int i = 0; i < w->processes; i++) {
		w->largest = t.of[i].kib > w->largest ? t.of[i].kib : w->largest;
		w->sum += t.of[i].kib;
	}
}
