/* SPDX-License-Identifier: Apache-2.0 */
/* opensm_signal.c: finds the process opensm, and tells it to read its files again. */
#include "fabric/opensm_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"

#define PID_MAX UINT64_C(4194304)

static bool is_opensm(const struct ctx *ctx, const char *pid)
{
	auto_free char *comm = NULL;
	char path[512];
	struct err ignored;
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s/%s", ctx->proc, pid);
	if (stat(path, &st) || st.st_uid != geteuid())
		return false;
	(void)snprintf(path, sizeof(path), "%s/%s/comm", ctx->proc, pid);
	return fs_read_at(AT_FDCWD, path, 64, &comm, &ignored) > 0 && strcmp(comm, "opensm\n") == 0;
}

/* The number of a process that ends may become another's between a look and a signal; a pidfd
 * stays with its process. */
static int send_reload(const struct ctx *ctx, const char *pid, size_t *n, struct err *e)
{
	uint64_t number;

	if (parse_u64(pid, 1, PID_MAX, &number))
		return 0;
	auto_fd int fd = (int)syscall(SYS_pidfd_open, (pid_t)number, 0);
	if (!is_opensm(ctx, pid))
		return 0;
	if (fd < 0 ? kill((pid_t)number, SIGHUP)
		   : syscall(SYS_pidfd_send_signal, fd, SIGHUP, NULL, 0)) {
		if (errno == ESRCH)
			return 0;
		return err_set(e, ERR_IO, errno, "send SIGHUP to opensm, process %s", pid);
	}
	(*n)++;
	return 0;
}

static int reload_by_file(const struct ctx *ctx, const char *path, size_t *n, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;

	if (fs_read_at(AT_FDCWD, path, 64, &text, &why) < 0)
		return why.errnum == ENOENT ? 0 : err_pass(e, &why);
	text[strspn(text, "0123456789")] = '\0';
	return send_reload(ctx, text, n, e);
}

int opensm_reload(const struct ctx *ctx, const char *pid_file, size_t *n, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };

	*n = 0;
	if (pid_file)
		return reload_by_file(ctx, pid_file, n, e);
	if (fs_names_at(AT_FDCWD, ctx->proc, FS_NAMES_MAX, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (send_reload(ctx, names.name[i], n, e))
			return -1;
	}
	return 0;
}
