/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.c: the process that attaches the claims of a pod, if it was stopped. A running one ends by
 * itself: it has an alarm, or its caller's limit.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"
#include "plugins/prepared/prepared_priv.h"

int prepared_hold(int dir, struct err *e)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%d", getpid());
	return fs_replace_at(dir, PREPARED_HOLDER, text, false, e);
}

/* "4711 (name) T ...": the name may have any characters. */
static bool is_stopped(int proc)
{
	auto_free char *text = NULL;
	struct err ignored;

	if (fs_read_at(proc, "stat", 4096, &text, &ignored) < 0)
		return false;
	const char *end = strrchr(text, ')');
	return end && strncmp(end, ") T", 3) == 0;
}

/* Only programs of railhead open the lock file, and the kernel gave the number to no other. */
static bool has_open(int proc, const struct stat *lock)
{
	auto_fs_names struct fs_names fds = { .n = 0 };
	struct err ignored;
	char name[300];
	struct stat st;

	if (fs_names_at(proc, "fd", FS_NAMES_MAX, &fds, &ignored))
		return false;
	for (size_t i = 0; i < fds.n; i++) {
		(void)snprintf(name, sizeof(name), "fd/%.255s", fds.name[i]);
		if (fstatat(proc, name, &st, 0) == 0 && st.st_dev == lock->st_dev &&
		    st.st_ino == lock->st_ino)
			return true;
	}
	return false;
}

bool prepared_free_lock(const struct ctx *ctx, int all, int dir)
{
	auto_free char *text = NULL;
	struct err ignored;
	char name[PATH_MAX];
	struct stat lock;
	uint64_t pid;

	if (dir < 0 || fs_read_at(dir, PREPARED_HOLDER, 64, &text, &ignored) < 0 ||
	    parse_u64(text, 1, INT32_MAX, &pid) || pid == (uint64_t)getpid() ||
	    fstatat(all, "lock", &lock, AT_SYMLINK_NOFOLLOW))
		return false;
	/* From here on the number cannot become that of another process: the signal meets this one.
	 */
	auto_fd int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	(void)snprintf(name, sizeof(name), "%.1024s/%d", ctx->proc, (int)pid);
	auto_fd int proc = fd < 0 ? -1 : fs_open_dir(name, false, &ignored);
	if (proc < 0 || !is_stopped(proc) || !has_open(proc, &lock) ||
	    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0))
		return false;
	log_warn(&ctx->log, "process %d, which was stopped, had the lock of the pod's claims: %s",
		 (int)pid, "it is killed");
	return true;
}
