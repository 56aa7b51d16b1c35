/* SPDX-License-Identifier: Apache-2.0 */
/* traced.c: fork, stop, set the options, go on. */
#include "conformance/harness/traced.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t traced_start(char **argv, long options)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0)
			(void)execvp(argv[0], argv);
		perror(argv[0]);
		_exit(2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(intptr_t)options) ||
	    ptrace(PTRACE_SYSCALL, pid, NULL, NULL))
		return -1;
	return pid;
}

int traced_signal(int status)
{
	int sig = WSTOPSIG(status);

	return status >> 16 || sig == (SIGTRAP | 0x80) || sig == SIGTRAP || sig == SIGSTOP ? 0
											   : sig;
}
