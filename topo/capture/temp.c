/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a temporary folder, and runs the process that removes it. */
#include "topo/capture/temp.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/base/retry.h"

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	(void)remove(path);
	return 0;
}

static void remove_tree(const char *dir)
{
	(void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* The process: signals to its parent's group do not end it, and it closes all other files. */
static _Noreturn void wait_and_remove(const char *dir, int until)
{
	unsigned tries = 0;
	sigset_t all;
	char c;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	if (chdir("/") || dup2(until, STDIN_FILENO) < 0)
		_exit(1);
	closefrom(STDIN_FILENO + 1);
	while (read(STDIN_FILENO, &c, 1) < 0 && retry_interrupted(&tries))
		;
	remove_tree(dir);
	_exit(0);
}

static int start_keeper(struct temp_dir *t, struct err *e)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return err_set(e, ERR_IO, errno, "make a pipe");

	auto_fd int until = fds[0], alive = fds[1];
	pid_t pid = fork();

	if (pid < 0)
		return err_set(e, ERR_IO, errno, "start a process");
	if (pid == 0) {
		(void)close(alive);
		wait_and_remove(t->path, until);
	}
	t->keeper = pid;
	t->alive = TAKE_FD(alive);
	return 0;
}

int temp_dir_make(struct temp_dir *out, struct err *e)
{
	const char *tmp = secure_getenv("TMPDIR");
	auto_temp_dir struct temp_dir t = { 0 };
	auto_free char *path = NULL;

	if (asprintf(&path, "%s/railctl-topo-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp") < 0) {
		path = NULL;
		return err_nomem(e);
	}
	if (!mkdtemp(path))
		return err_set(e, ERR_IO, errno, "make the folder %s", path);
	t.path = TAKE_PTR(path);
	if (start_keeper(&t, e))
		return -1;
	*out = t;
	t = (struct temp_dir){ 0 };
	return 0;
}

void temp_dir_clear(struct temp_dir *t)
{
	unsigned tries = 0;

	if (t->keeper) {
		(void)close(t->alive);
		while (waitpid(t->keeper, NULL, 0) < 0 && retry_interrupted(&tries))
			;
	} else if (t->path) {
		remove_tree(t->path);
	}
	free(t->path);
	*t = (struct temp_dir){ 0 };
}
