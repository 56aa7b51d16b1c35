/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c: a run in which every process is stopped at its exec and at its end, while its memory and
 * its descriptors can still be asked for. VmHWM belongs to the memory map, which a program gets
 * anew on exec: nothing of the driver's is in it.
 */
#include "conformance/soak/call.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static long peak_kib(pid_t pid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		fail(path);
	close(fd);
	text[n] = '\0';
	const char *at = strstr(text, "\nVmHWM:");
	return at ? strtol(at + strlen("\nVmHWM:"), NULL, 10) : 0;
}

/* Descriptors besides standard input, output and error. */
static int descriptors(pid_t pid)
{
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *d = opendir(path);
	if (!d)
		fail(path);
	for (struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.' && strtol(e->d_name, NULL, 10) > 2;
	closedir(d);
	return n;
}

static void child(const char *program, const char *conf, struct env *v)
{
	char *argv[] = { (char *)(uintptr_t)program, NULL };
	int in = open(conf, O_RDONLY | O_CLOEXEC), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(in, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0 ||
	    ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(126);
	execve(program, argv, v->p);
	_exit(127);
}

static void at_stop(struct traced *t, pid_t pid, int event)
{
	if (event == PTRACE_EVENT_EXEC) {
		int n = descriptors(pid);
		t->inherited = n > t->inherited ? n : t->inherited;
	} else if (event == PTRACE_EVENT_EXIT) {
		int n = descriptors(pid);
		long rss = peak_kib(pid);

		t->processes++;
		t->holds = n > t->holds ? n : t->holds;
		t->rss = rss > t->rss ? rss : t->rss;
	}
}

/* A stop that tracing itself made hands no signal on. */
static long to_deliver(int status)
{
	int sig = WSTOPSIG(status);

	return sig == SIGTRAP || sig == SIGSTOP ? 0 : sig;
}

struct traced trace_run(const char *program, const char *conf, struct env *v)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
	struct traced t = { .status = -1 };
	int status;
	pid_t root = fork(), pid;

	if (root == 0)
		child(program, conf, v);
	if (root < 0 || waitpid(root, &status, 0) != root || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, root, NULL, (void *)options) != 0)
		fail("trace a run");
	at_stop(&t, root, PTRACE_EVENT_EXEC);
	if (ptrace(PTRACE_CONT, root, NULL, NULL) != 0)
		fail("trace a run");
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (!WIFSTOPPED(status)) {
			t.status = pid == root ? status : t.status;
			continue;
		}
		at_stop(&t, pid, status >> 16);
		(void)ptrace(PTRACE_CONT, pid, NULL, (void *)to_deliver(status));
	}
	return t;
}
