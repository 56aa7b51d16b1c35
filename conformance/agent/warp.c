/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c: warp FILE PROGRAM [ARGUMENT...]: run a program, and its children, with wrong clocks.
 *
 * FILE has two numbers, read at each call: the seconds by which CLOCK_REALTIME is wrong, and those
 * by which CLOCK_BOOTTIME is ahead, as after a sleep of the machine. A change of the file is a jump
 * of the clock. The programs lose their vDSO, so that each read of a clock is a system call.
 * Exit status: that of the program. SIGTERM ends both.
 */
#include "conformance/harness/traced.h"

#include <elf.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |  \
	 PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)
#define THREADS 4096

/* The call that a thread makes. */
struct call {
	pid_t pid;
	uint64_t nr, args[2];
};

struct warp {
	const char *file;
	struct call calls[THREADS];
};

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* A word of the program at `at`. */
static uint64_t get(pid_t pid, uint64_t at)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)(uintptr_t)at, NULL);
}

static void put(pid_t pid, uint64_t at, uint64_t word)
{
	(void)ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)at, (void *)(uintptr_t)word);
}

/* The start of a program: argc, argv, the environment, the auxiliary vector. */
static void hide_vdso(pid_t pid)
{
	struct __ptrace_syscall_info info;
	uint64_t at, type;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
		return;
	at = info.stack_pointer + 8 * (get(pid, info.stack_pointer) + 2);
	while (get(pid, at))
		at += 8;
	for (at += 8; (type = get(pid, at)) != AT_NULL; at += 16) {
		if (type == AT_SYSINFO_EHDR)
			put(pid, at, AT_IGNORE);
	}
}

static struct call *call_of(struct warp *w, pid_t pid)
{
	struct call *empty = NULL;

	for (size_t i = 0; i < THREADS; i++) {
		if (w->calls[i].pid == pid)
			return &w->calls[i];
		if (!w->calls[i].pid && !empty)
			empty = &w->calls[i];
	}
	if (!empty)
		die("too many threads");
	*empty = (struct call){ .pid = pid };
	return empty;
}

/* The seconds by which this clock is wrong now. */
static long error_of(const struct warp *w, uint64_t clock)
{
	long real = 0, boot = 0;
	char line[64], *rest;
	FILE *f = fopen(w->file, "r");

	if (f && fgets(line, sizeof(line), f)) {
		real = strtol(line, &rest, 10);
		boot = strtol(rest, NULL, 10);
	}
	if (f)
		(void)fclose(f);
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		return real;
	return clock == CLOCK_BOOTTIME ? boot : 0;
}

static void add_seconds(pid_t pid, uint64_t at, long seconds)
{
	if (seconds && at)
		put(pid, at, get(pid, at) + (uint64_t)seconds);
}

#ifdef __x86_64__
/* The time is also the result of this call, which newer architectures do not have. */
static void ended_time(const struct warp *w, pid_t pid, uint64_t at)
{
	long real = error_of(w, CLOCK_REALTIME);
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, NULL, &regs))
		return;
	regs.rax += (uint64_t)real;
	(void)ptrace(PTRACE_SETREGS, pid, NULL, &regs);
	add_seconds(pid, at, real);
}
#endif

static void ended_call(const struct warp *w, pid_t pid, const struct call *c)
{
	if (c->nr == SYS_clock_gettime)
		add_seconds(pid, c->args[1], error_of(w, c->args[0]));
	else if (c->nr == SYS_gettimeofday)
		add_seconds(pid, c->args[0], error_of(w, CLOCK_REALTIME));
#ifdef __x86_64__
	else if (c->nr == SYS_time)
		ended_time(w, pid, c->args[0]);
#endif
}

static void call_stop(struct warp *w, pid_t pid)
{
	struct call *c = call_of(w, pid);
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		c->nr = info.entry.nr;
		c->args[0] = info.entry.args[0];
		c->args[1] = info.entry.args[1];
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT && !info.exit.is_error) {
		ended_call(w, pid, c);
	}
}

/* A stop of a thread. Returns the signal that it must get; 0: none. */
static int stopped(struct warp *w, pid_t pid, int status)
{
	if (status >> 16 == PTRACE_EVENT_EXEC)
		hide_vdso(pid);
	else if (WSTOPSIG(status) == (SIGTRAP | 0x80))
		call_stop(w, pid);
	return traced_signal(status);
}

int main(int argc, char **argv)
{
	static struct warp w;
	int status, rc = 2;
	pid_t child, pid;

	if (argc < 3) {
		fprintf(stderr, "usage: warp FILE PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	w.file = argv[1];
	child = traced_start(argv + 2, OPTIONS);
	if (child < 0)
		die("trace");
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			int sig = stopped(&w, pid, status);

			(void)ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)sig);
			continue;
		}
		call_of(&w, pid)->pid = 0;
		if (pid == child)
			rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	return rc;
}
