/* SPDX-License-Identifier: Apache-2.0 */
/* safe_path.c: opens folders and files without following a link that another user may change. */
#include "lib/sys/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "lib/sys/fs.h"

#define DIR_FLAGS    (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define CREATE_TRIES 16

/* ---- the text ---- */

/* "/var/run" is a link to "/run" everywhere, and would be refused as one. */
static const char *as_run(const char *path)
{
	return strncmp(path, "/var/run", 8) == 0 && (path[8] == '/' || !path[8]) ? path + 4 : path;
}

/* The next component of *p, moved past it; its length, 0 at the end. */
static size_t next_part(const char **p, const char **part)
{
	*p += strspn(*p, "/");
	*part = *p;
	size_t len = strcspn(*p, "/");
	*p += len;
	return len;
}

static bool is_dots(const char *part, size_t len)
{
	return (len == 1 && part[0] == '.') || (len == 2 && part[0] == '.' && part[1] == '.');
}

static bool safe_path_is_plain(const char *path)
{
	const char *part;
	size_t len;

	if (*path != '/')
		return false;
	while ((len = next_part(&path, &part))) {
		if (is_dots(part, len))
			return false;
	}
	return true;
}

static bool is_below(const char *path, const char *root)
{
	const char *a, *b;
	size_t len;

	while ((len = next_part(&root, &b))) {
		if (next_part(&path, &a) != len || memcmp(a, b, len) != 0)
			return false;
	}
	return true;
}

bool safe_path_below(const char *path, const char *const *roots)
{
	if (!safe_path_is_plain(path))
		return false;
	for (; *roots; roots++) {
		if (is_below(as_run(path), as_run(*roots)))
			return true;
	}
	return false;
}

/* ---- folders ---- */

static int refuse_path(int errnum, const char *what, const char *name, struct err *e)
{
	return err_set(e, ERR_FORBIDDEN, errnum, "\"%.255s\" %s", name, what);
}

static bool safe_path_is_ours(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

static int check_folder(const struct stat *st, const char *name, unsigned rules, struct err *e)
{
	if ((rules & SAFE_PUBLIC) && !(st->st_mode & S_IXOTH))
		return refuse_path(EPERM, "is a folder that not every user may enter", name, e);
	if (!(rules & SAFE_OWNED))
		return 0;
	if (!safe_path_is_ours(st)) {
		(void)refuse_path(EPERM, "is a folder that does not belong to root", name, e);
		return err_hint(e, "give it to root, or choose a folder of root's: whoever owns it "
				   "could have root write elsewhere");
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		(void)refuse_path(EPERM, "is a folder in which others than root may write", name,
				  e);
		return err_hint(e, "chmod go-w, or choose a folder in which only root writes");
	}
	return 0;
}

static int not_a_folder(int dirfd, const char *name, int errnum, struct err *e)
{
	struct stat st;

	if (errnum != ENOENT && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode)) {
		(void)refuse_path(ELOOP, "is a symbolic link", name, e);
		return err_hint(e, "write the path that it leads to: no link is followed here");
	}
	return err_set(e, ERR_IO, errnum, "open directory %s", name);
}

static int open_next(int dirfd, const char *name, unsigned rules, struct err *e)
{
	auto_fd int fd = openat(dirfd, name, DIR_FLAGS);
	struct stat st;

	if (fd < 0 && errno == ENOENT && (rules & SAFE_CREATE)) {
		if (mkdirat(dirfd, name, 0700) && errno != EEXIST)
			return err_set(e, ERR_IO, errno, "make directory %s", name);
		fd = openat(dirfd, name, DIR_FLAGS);
	}
	if (fd < 0)
		return not_a_folder(dirfd, name, errno, e);
	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "look at directory %s", name);
	return check_folder(&st, name, rules, e) ? -1 : TAKE_FD(fd);
}

/* The folders of path up to end. */
static int check_folders(const char *path, const char *end, unsigned rules, struct err *e)
{
	auto_fd int dir = open("/", DIR_FLAGS);
	const char *part;
	size_t len;

	if (dir < 0)
		return err_set(e, ERR_IO, errno, "open /");
	while (path < end && (len = next_part(&path, &part))) {
		char name[NAME_MAX + 1];

		if (len > NAME_MAX)
			return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", part);
		memcpy(name, part, len);
		name[len] = '\0';
		int next = open_next(dir, name, rules, e);
		if (next < 0)
			return -1;
		(void)close(dir);
		dir = next;
	}
	return TAKE_FD(dir);
}

int safe_check_dir(int fd, const char *path, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "look at directory %s", path);
	return check_folder(&st, path, SAFE_OWNED, e);
}

static int check_text(const char *path, struct err *e)
{
	return safe_path_is_plain(path)
		       ? 0
		       : err_set(e, ERR_FORBIDDEN, EPERM,
				 "\"%.255s\" is not absolute, or has \".\" or \"..\" in it", path);
}

int safe_open_dir(const char *path, unsigned rules, struct err *e)
{
	if (check_text(path, e))
		return -1;
	path = as_run(path);
	return check_folders(path, path + strlen(path), rules, e);
}

int safe_open_parent(const char *path, unsigned rules, const char **last, struct err *e)
{
	if (check_text(path, e))
		return -1;
	path = as_run(path);
	const char *slash = strrchr(path, '/');
	if (!slash[1])
		return err_set(e, ERR_IO, EISDIR, "%.255s", path);
	*last = slash + 1;
	return check_folders(path, slash, rules, e);
}

/* ---- files ---- */

static int check_file(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "look at %s", name);
	if (S_ISLNK(st.st_mode))
		return refuse_path(ELOOP, "is a symbolic link", name, e);
	if (!S_ISREG(st.st_mode))
		return refuse_path(EPERM, "is not a plain file", name, e);
	if (st.st_nlink > 1)
		return refuse_path(EPERM, "has another name, too (a hard link)", name, e);
	return safe_path_is_ours(&st) ? 0 : refuse_path(EPERM, "does not belong to root", name, e);
}

/* Open the file of an O_PATH descriptor for reading or writing. -1 with errno. */
static int open_again(int fd, int flags)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* 1: it is not there */
static int open_existing(int dirfd, const char *name, int flags, int *out, struct err *e)
{
	auto_fd int at = openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (at < 0 && errno == ENOENT)
		return 1;
	if (at < 0)
		return err_set(e, ERR_IO, errno, "open %s", name);
	if (check_file(at, name, e))
		return -1;
	*out = open_again(at, flags);
	return *out < 0 ? err_set(e, ERR_IO, errno, "open %s", name) : 0;
}

int safe_open_file(int dirfd, const char *name, int flags, struct err *e)
{
	const int create = flags | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = -1;

	for (int i = 0; i < CREATE_TRIES; i++) {
		int rc = open_existing(dirfd, name, flags & ~O_CREAT, &fd, e);

		if (rc <= 0)
			return rc ? -1 : fd;
		if (!(flags & O_CREAT))
			return err_set(e, ERR_IO, ENOENT, "open %s", name);
		fd = openat(dirfd, name, create, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return err_set(e, ERR_IO, errno, "create %s", name);
	}
	return err_set(e, ERR_IO, EAGAIN, "%s comes and goes", name);
}

/* ---- files behind links ---- */

static bool is_of_the_kernel(int fd)
{
	static const unsigned long kinds[] = {
		PROC_SUPER_MAGIC,   SYSFS_MAGIC,         DEBUGFS_MAGIC, TRACEFS_MAGIC,
		CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,  SECURITYFS_MAGIC,
	};
	struct statfs s;

	if (fstatfs(fd, &s))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if ((unsigned long)s.f_type == kinds[i])
			return true;
	}
	return false;
}

/* Where the links of path lead; O_PATH opens nothing. */
static int resolve_links(const char *path, char out[PATH_MAX], struct err *e)
{
	auto_fd int fd = open(path, O_PATH | O_CLOEXEC);
	char self[32];

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %.255s", path);
	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(self, out, PATH_MAX);
	if (n < 0 || n == PATH_MAX)
		return err_set(e, ERR_IO, n < 0 ? errno : ENAMETOOLONG, "%.255s", path);
	out[n] = '\0';
	return 0;
}

static int safe_path_check_program(const struct stat *st, const char *name, struct err *e)
{
	if (!S_ISREG(st->st_mode))
		return refuse_path(EPERM, "is not a plain file", name, e);
	if (!safe_path_is_ours(st)) {
		(void)refuse_path(EPERM, "does not belong to root", name, e);
		return err_hint(e, "chown root, if you trust its content");
	}
	if (st->st_mode & (S_IWGRP | S_IWOTH)) {
		(void)refuse_path(EPERM, "may be written by others than root", name, e);
		return err_hint(e, "chmod go-w, if you trust its content");
	}
	if (st->st_mode & S_IXUSR)
		return 0;
	(void)refuse_path(EACCES, "is not executable", name, e);
	return err_hint(e, "chmod +x, or move it to another folder");
}

int safe_program(const char *path, char real[PATH_MAX], struct err *e)
{
	char place[PATH_MAX];
	const char *name;
	struct stat st;

	if (resolve_links(path, place, e))
		return -1;
	auto_fd int dir = safe_open_parent(place, SAFE_OWNED, &name, e);
	if (dir < 0)
		return -1;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_set(e, ERR_IO, errno, "look at %.255s", name);
	if (safe_path_check_program(&st, name, e))
		return -1;
	memcpy(real, place, sizeof(place));
	return 0;
}

static int check_public(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "look at %s", name);
	if (!S_ISREG(st.st_mode) || is_of_the_kernel(fd))
		return refuse_path(EPERM, "is not a plain file", name, e);
	if (st.st_mode & S_IROTH)
		return 0;
	(void)refuse_path(EPERM, "may not be read by every user", name, e);
	return err_hint(e, "chmod o+r, if it holds nothing that a pod must not see");
}

ssize_t safe_read(const char *path, size_t max, char **out, struct err *e)
{
	const char *name;
	auto_fd int dir = safe_open_parent(path, SAFE_OWNED, &name, e);
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, name, max, out, e);

	return n < 0 ? err_wrap(e, "%s", path) : n;
}

ssize_t safe_read_public(const char *path, size_t max, char **out, struct err *e)
{
	char real[PATH_MAX];
	const char *name;
	size_t len;

	if (*path != '/')
		return err_set(e, ERR_FORBIDDEN, EPERM, "\"%.255s\" is not absolute", path);
	if (resolve_links(path, real, e))
		return -1;
	auto_fd int dir = safe_open_parent(real, SAFE_PUBLIC, &name, e);
	auto_fd int at = dir < 0 ? -1 : openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return -1;
	if (at < 0)
		return err_set(e, ERR_IO, errno, "open %.255s", name);
	if (check_public(at, name, e))
		return -1;
	auto_fd int fd = open_again(at, O_RDONLY);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %.255s", name);
	return fs_read_fd(fd, max, out, &len, e) ? -1 : (ssize_t)len;
}
