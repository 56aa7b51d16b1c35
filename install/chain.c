/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c: the files of a folder of network configurations. */
#include "install/chain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/json/json.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define FILES_MAX 1024

int chain_open(const char *path, struct err *e)
{
	int dir = safe_open_dir(path, SAFE_OWNED, e);

	return dir < 0 ? err_wrap(e, "folder of network configurations %s", path) : dir;
}

/* ---- one file ---- */

static int read_file(int dir, const char *name, char **text, struct stat *st, struct err *e)
{
	auto_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len;

	if (fd < 0 || fstat(fd, st))
		return err_set(e, ERR_IO, errno, "open %s", name);
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_IO, 0, "%s is not a plain file", name);
	return fs_read_fd(fd, JSON_MAX_SIZE, text, &len, e) ? err_wrap(e, "read %s", name) : 0;
}

static int write_spare(int dir, const char *spare, const char *text, const struct stat *st,
		       struct err *e)
{
	auto_fd int fd =
		openat(dir, spare, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "create %s", spare);
	if (fs_write_fd(fd, text, strlen(text), e))
		return -1;
	if (fchown(fd, st->st_uid, st->st_gid) || fchmod(fd, st->st_mode & 07777) || fsync(fd))
		return err_set(e, ERR_IO, errno, "write %s", spare);
	return 0;
}

/*
 * The two files change their names, and then what had the name is read again: its owner may have
 * written it meanwhile, also into the file that was open. An owner that has found the file and has
 * not emptied it yet shows by nothing, so there is a pause before the look. A file system without
 * exchange gets a rename.
 */
#define OPENING_NS 20000000 /* longer than a process that can run waits for a processor */
static int exchange(int dir, const char *spare, const char *name, const char *before, struct err *e)
{
	static const struct timespec opening = { .tv_nsec = OPENING_NS };
	auto_free char *now = NULL;
	struct stat st;

	if (renameat2(dir, spare, dir, name, RENAME_EXCHANGE)) {
		if ((errno != EINVAL && errno != ENOSYS) || renameat(dir, spare, dir, name))
			return err_set(e, ERR_IO, errno, "replace %s", name);
		return 0;
	}
	(void)nanosleep(&opening, NULL);
	if (read_file(dir, spare, &now, &st, e) == 0 && strcmp(now, before) == 0)
		return 0;
	if (renameat2(dir, spare, dir, name, RENAME_EXCHANGE))
		return err_set(e, ERR_IO, errno, "put back %s", name);
	return err_set(e, ERR_AGAIN, 0, "another program writes %s at this moment", name);
}

/* 1: it was changed. 0: it was not. ERR_DECODE, with errnum EINVAL: it has not even our name. */
static int edit_file(int dir, const char *name, bool wanted, enum chain_kind *kind, struct err *e)
{
	auto_free char *text = NULL, *changed = NULL;
	char spare[NAME_MAX + 1];
	struct stat st;

	if (snprintf(spare, sizeof(spare), ".%s.railhead-new", name) > NAME_MAX)
		return err_set(e, ERR_IO, ENAMETOOLONG, "%s", name);
	(void)unlinkat(dir, spare, 0); /* of a killed run */
	if (read_file(dir, name, &text, &st, e))
		return -1;
	if (chain_edit(text, wanted, kind, &changed, e)) {
		e->errnum = strstr(text, "\"" CHAIN_PROGRAM "\"") ? 0 : EINVAL;
		return err_wrap(e, "%s", name);
	}
	if (!changed)
		return 0;

	int rc = write_spare(dir, spare, changed, &st, e) || exchange(dir, spare, name, text, e);

	(void)unlinkat(dir, spare, 0);
	return rc ? -1 : 1;
}

/* ---- the folder ---- */

static bool is_configuration(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (strcmp(dot, ".conf") == 0 || strcmp(dot, ".conflist") == 0 ||
		       strcmp(dot, ".json") == 0);
}

int chain_put(int dir, char file[CHAIN_FILE_LEN], struct err *e)
{
	auto_fs_names struct fs_names names = { 0 };
	enum chain_kind kind = CHAIN_POINTER;
	int changed = 0;

	*file = '\0';
	if (fs_names_at(dir, ".", FILES_MAX, &names, e))
		return -1;
	for (size_t i = 0; i < names.n && (kind == CHAIN_COPY || kind == CHAIN_POINTER); i++) {
		if (!is_configuration(names.name[i]))
			continue;
		int rc = edit_file(dir, names.name[i], true, &kind, e);
		if (rc < 0)
			return -1;
		changed |= rc;
		(void)snprintf(file, CHAIN_FILE_LEN, "%s", names.name[i]);
	}
	if (kind == CHAIN_POINTER)
		return err_set(e, ERR_NOTFOUND, 0, "no file has the pod network%s",
			       *file ? " of Multus" : "");
	if (kind == CHAIN_NO_CHAIN)
		return err_set(e, ERR_CONFIG, 0,
			       "%s is not a list of plugins of protocol 0.3.0 or newer", file);
	return changed;
}

int chain_take(int dir, struct err *e)
{
	auto_fs_names struct fs_names names = { 0 };
	enum chain_kind kind;
	int changed = 0, rc = 0;

	if (fs_names_at(dir, ".", FILES_MAX, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		/* Owners set files aside: 10-calico.conflist.cilium_bak, 10-flannel.conflist.old.
		 */
		if (!strstr(names.name[i], ".conf") && !is_configuration(names.name[i]))
			continue;
		struct err why = { .msg = "" };
		while ((rc = edit_file(dir, names.name[i], false, &kind, &why)) > 0)
			changed = 1;
		if (rc < 0 && (why.code != ERR_DECODE || !why.errnum))
			return err_pass(e, &why);
	}
	return changed;
}
