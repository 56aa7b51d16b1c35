/* SPDX-License-Identifier: Apache-2.0 */
/* exec.c: the child's side of a run: namespace, folders, descriptors, signals, then exec. */
#include "conformance/harness/exec.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

#include "conformance/harness/netns.h"

enum { NOT_PREPARED = 126, NOT_EXECUTED = 127, ARGS_MAX = 64 };

int64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void exec_die_with_parent(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void need(bool so)
{
	if (!so)
		_exit(NOT_PREPARED);
}

void exec_command(const struct command *c, const struct exec_fds *fds)
{
	char *argv[ARGS_MAX] = { (char *)(uintptr_t)c->program }, byte;
	sigset_t none;

	exec_die_with_parent();
	for (size_t i = 0; c->args && c->args[i]; i++) {
		need(i + 2 < ARGS_MAX);
		argv[i + 1] = (char *)(uintptr_t)c->args[i];
	}
	(void)setpgid(0, 0);
	need(!c->netns || netns_enter(c->netns) == 0);
	need(!c->root || (chroot(c->root) == 0 && chdir("/") == 0));
	need(!c->cwd || chdir(c->cwd) == 0);

	if (fds->in >= 0)
		need(dup2(fds->in, STDIN_FILENO) >= 0);
	else
		(void)close(STDIN_FILENO);
	need(dup2(fds->out, STDOUT_FILENO) >= 0 && dup2(fds->err, STDERR_FILENO) >= 0);
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);

	need(fds->gate < 0 || read(fds->gate, &byte, 1) == 1);
	need(!c->traced || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0);
	/* Descriptors of the harness close on exec; those of its caller may not. */
	(void)close_range(STDERR_FILENO + 1, ~0U, 0);
	/* A name is looked up in the PATH of the command, and a script may lack its first line. */
	environ = (char **)(uintptr_t)c->env;
	if (strchr(c->program, '/'))
		(void)execve(c->program, argv, environ);
	else
		(void)execvp(c->program, argv);
	_exit(NOT_EXECUTED);
}
