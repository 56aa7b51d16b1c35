/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slay.c: slay N PROGRAM [ARGUMENT...]: run a program, and kill it in place of its N-th system
 * call.
 *
 * The calls of all its threads count, from its exec on. Exit 0: it was killed there. 3: it ended
 * before. SIGTERM ends both.
 */
#include "conformance/harness/traced.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

static void die(const char *what)
{
	fprintf(stderr, "slay: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool begins_call(pid_t pid, long *nr)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return false;
	*nr = (long)info.entry.nr;
	return true;
}

/* Returns the number of the call that the program did not live to make; -1: it ended before. */
static long run_to(pid_t child, unsigned long n)
{
	unsigned long seen = 0;
	bool runs = false;
	int status;
	pid_t pid;
	long nr;

	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			if (pid == child)
				return -1;
			continue;
		}
		if (status >> 8 == (SIGTRAP | (PTRACE_EVENT_EXEC << 8)))
			runs = true;
		else if (runs && WSTOPSIG(status) == (SIGTRAP | 0x80) && begins_call(pid, &nr) &&
			 ++seen == n)
			return nr;
		/* A thread that was killed meanwhile is reported as such. */
		(void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)traced_signal(status));
	}
	return -1;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	pid_t child;
	long nr;

	if (n == 0) {
		fprintf(stderr, "usage: slay N PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	child = traced_start(argv + 2, OPTIONS);
	if (child < 0)
		die("trace");
	nr = run_to(child, n);
	if (nr < 0)
		return 3;
	(void)kill(child, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0)
		;
	printf("killed at call %lu, system call %ld\n", n, nr);
	return 0;
}
