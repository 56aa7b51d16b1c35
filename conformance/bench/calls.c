/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c: calls PROGRAM [ARG...]: how many system calls a program makes, with all that it starts,
 * and how many bytes go to sockets and come from them: "calls N sent N received N" on stdout.
 *
 * Unlike times, these numbers are the same in each run. The output of the program goes to stderr.
 * If the program fails, this one fails too.
 */
#include "conformance/bench/bench.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { MAX_TASKS = 256 };

struct task {
	pid_t tid;
	uint64_t nr; /* number of the current system call */
};

struct counts {
	long long calls, sent, received;
	struct task task[MAX_TASKS];
	int n;
};

static struct task *task_of(struct counts *c, pid_t tid)
{
	for (int i = 0; i < c->n; i++)
		if (c->task[i].tid == tid)
			return &c->task[i];
	if (c->n == MAX_TASKS) {
		errno = E2BIG;
		fail("tasks");
	}
	c->task[c->n].tid = tid;
	return &c->task[c->n++];
}

static void note_end(struct counts *c, uint64_t nr, int64_t rval)
{
	if (rval <= 0)
		return;
	switch (nr) {
	case SYS_sendto:
	case SYS_sendmsg:
		c->sent += rval;
		break;
	case SYS_recvfrom:
	case SYS_recvmsg:
		c->received += rval;
		break;
	default:
		break;
	}
}

/* A call that never returns (exit) has no end, an execve that succeeds has one in the new program.
 */
static void note(struct counts *c, pid_t tid)
{
	struct __ptrace_syscall_info info;
	struct task *t = task_of(c, tid);

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, (void *)sizeof(info), &info) <= 0)
		fail("ptrace");
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		c->calls++;
		t->nr = info.entry.nr;
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
		note_end(c, t->nr, info.exit.rval);
	}
}

static int follow(pid_t root, struct counts *c)
{
	const int stop = SIGTRAP | 0x80;
	int status, root_status = -1;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (!WIFSTOPPED(status)) {
			root_status = tid == root ? status : root_status;
			continue;
		}
		if (WSTOPSIG(status) == stop)
			note(c, tid);
		else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
			sig = WSTOPSIG(status);
		(void)ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(long)sig);
	}
	return root_status;
}

static pid_t start(char **argv)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0 || dup2(2, 1) < 0)
			_exit(126);
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) != 0 ||
	    ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0)
		fail(argv[0]);
	return pid;
}

int main(int argc, char **argv)
{
	static struct counts c;

	if (argc < 2) {
		fprintf(stderr, "usage: calls PROGRAM [ARG...]\n");
		return 2;
	}
	int status = follow(start(argv + 1), &c);
	printf("calls %lld sent %lld received %lld\n", c.calls, c.sent, c.received);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
