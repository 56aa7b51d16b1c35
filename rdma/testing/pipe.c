/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.c: makes named pipes, and processes that wait in open() until a reader comes. That open()
 * succeeds also after a reader that is gone, and else ends with a signal.
 */
#include "rdma/testing/pipe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int number)
{
	(void)number;
}

#define NAME "pipe_watch"

/* The process sleeps: it is in open(). */
static void wait_for_sleep(pid_t pid)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	char path[64], text[256] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!strstr(text, "(" NAME ") S")) {
		FILE *file = fopen(path, "r");

		ck_assert_ptr_nonnull(file);
		ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
		ck_assert_int_eq(fclose(file), 0);
		(void)nanosleep(&ms, NULL);
	}
}

pid_t pipe_watch(const char *path)
{
	const struct sigaction act = { .sa_handler = on_signal };

	ck_assert_int_eq(mkfifo(path, 0600), 0);

	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)sigaction(SIGUSR1, &act, NULL);
		(void)prctl(PR_SET_NAME, NAME);
		_exit(open(path, O_WRONLY | O_CLOEXEC) < 0);
	}
	wait_for_sleep(pid);
	return pid;
}

bool pipe_was_opened(pid_t watcher)
{
	int status;

	ck_assert_int_eq(kill(watcher, SIGUSR1), 0);
	ck_assert_int_eq(waitpid(watcher, &status, 0), watcher);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status) == 0;
}
