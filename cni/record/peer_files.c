/* SPDX-License-Identifier: Apache-2.0 */
/* peer_files.c: lists the files of another CNI program, and splits their names. */
#include "cni/record/peer_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"

#define LONG_ID 32 /* identifiers of container runtimes have 64 digits, or 32 */

int peer_files_open(const struct ctx *ctx, const char *folder, int *dir, struct err *e)
{
	char path[PATH_MAX];
	struct err why;
	auto_fd int top = fs_open_dir(ctx->cni_dir, false, &why);

	*dir = top < 0 ? -1 : fs_open_dir_at(top, folder, false, &why);
	if (*dir >= 0)
		return 1;
	(void)snprintf(path, sizeof(path), "%.1024s/%.255s", ctx->cni_dir, folder);
	return fs_is_gone(AT_FDCWD, path, &why) ? 0 : err_pass(e, &why);
}

int peer_files_each(const struct ctx *ctx, const char *folder, peer_files_fn fn, void *arg,
		    struct err *e)
{
	auto_fd int dir = -1;
	auto_fs_names struct fs_names files = { .n = 0 };
	int rc = peer_files_open(ctx, folder, &dir, e);

	if (rc <= 0)
		return rc;
	if (fs_names_at(dir, ".", FS_NAMES_MAX, &files, e))
		return err_wrap(e, "%s/%s", ctx->cni_dir, folder);
	for (size_t i = 0; i < files.n; i++)
		if (fn(dir, files.name[i], arg))
			break;
	return 0;
}

/* The length of a long identifier at s with a dash behind it; 0: there is none. */
static size_t long_id(const char *s)
{
	size_t len = strspn(s, HEX_DIGITS);

	return len >= LONG_ID && s[len] == '-' ? len : 0;
}

void peer_file_split(const char *file, struct peer_file *out)
{
	const char *last = strrchr(file, '-');
	size_t len = long_id(file);

	if (!len)
		len = last ? (size_t)(last - file) : strlen(file);
	const char *end = file + len;

	*out = (struct peer_file){ { file, len }, { file, 0 } };
	if (*end == '-')
		out->ifname = (struct slice){ end + 1, strlen(end + 1) };
}

void peer_file_copy(struct slice part, char *buf, size_t size)
{
	(void)snprintf(buf, size, "%.*s", (int)part.len, part.p);
}
