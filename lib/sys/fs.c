/* SPDX-License-Identifier: Apache-2.0 */
/* fs.c: opening, listing, reading and writing. Replacing a file whole is in fs_replace.c. */
#include "lib/sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/array.h"
#include "lib/base/retry.h"

#define DIR_FLAGS  (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define READ_FIRST 4096

static bool says_missing(int errnum)
{
	return errnum == ENOENT || errnum == ENOTDIR;
}

bool fs_may_exist(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 || !says_missing(errno);
}

bool fs_is_gone(int dirfd, const char *name, const struct err *why)
{
	struct stat st;

	if (!says_missing(why->errnum))
		return false;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return says_missing(errno);
	return why->errnum == ENOTDIR && !S_ISDIR(st.st_mode);
}

/* ---- directories ---- */

/* A directory we have just made: nobody may have put something else there, nor may others write. */
static int open_made(int dirfd, const char *name, struct err *e)
{
	struct stat st;
	auto_fd int fd = openat(dirfd, name, DIR_FLAGS | O_NOFOLLOW);

	if (fd < 0 || fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "open the new directory %s", name);
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return err_set(e, ERR_IO, EPERM, "the new directory %s can be written by others",
			       name);
	return TAKE_FD(fd);
}

static int open_or_make(int dirfd, const char *name, int flags, struct err *e)
{
	int fd = openat(dirfd, name, flags);

	if (fd >= 0)
		return fd;
	if (errno != ENOENT)
		return err_set(e, ERR_IO, errno, "open directory %s", name);
	if (mkdirat(dirfd, name, 0700) == 0)
		return open_made(dirfd, name, e);
	if (errno != EEXIST)
		return err_set(e, ERR_IO, errno, "make directory %s", name);
	/* Another process was faster, or it is a dangling link. */
	fd = openat(dirfd, name, flags);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open directory %s", name);
	return fd;
}

static int make_path(const char *path, struct err *e)
{
	char name[NAME_MAX + 1];
	auto_fd int dir = open(*path == '/' ? "/" : ".", DIR_FLAGS);

	if (dir < 0)
		return err_set(e, ERR_IO, errno, "open the start of %s", path);
	for (const char *p = path + strspn(path, "/"); *p; p += strspn(p, "/")) {
		size_t len = strcspn(p, "/");

		if (len > NAME_MAX)
			return err_set(e, ERR_IO, ENAMETOOLONG, "open directory %s", path);
		memcpy(name, p, len);
		name[len] = '\0';
		p += len;

		int next = open_or_make(dir, name, DIR_FLAGS, e);

		if (next < 0)
			return err_wrap(e, "%s", path);
		(void)close(dir);
		dir = next;
	}
	return TAKE_FD(dir);
}

int fs_open_dir(const char *path, bool create, struct err *e)
{
	int fd = open(path, DIR_FLAGS);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && create && *path)
		return make_path(path, e);
	return err_set(e, ERR_IO, errno, "open directory %s", path);
}

int fs_open_dir_at(int dirfd, const char *name, bool create, struct err *e)
{
	if (create)
		return open_or_make(dirfd, name, DIR_FLAGS | O_NOFOLLOW, e);

	int fd = openat(dirfd, name, DIR_FLAGS | O_NOFOLLOW);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open directory %s", name);
	return fd;
}

int fs_openat2(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
	struct open_how how = { .flags = flags, .resolve = resolve };
	unsigned tries = 0;
	int fd;

	do
		fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
	while (fd < 0 && retry_raced(&tries));
	return fd;
}

/* ---- names in a folder ---- */

static void close_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void fs_names_clear(struct fs_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct fs_names){ .n = 0 };
}

static int read_names(DIR *d, const char *what, size_t max, struct fs_names *all, struct err *e)
{
	const struct dirent *entry;

	while (errno = 0, entry = readdir(d)) {
		if (*entry->d_name == '.')
			continue;
		if (all->n == max)
			return err_set(e, ERR_IO, EFBIG, "list %s: more than %zu entries", what,
				       max);
		if (ARRAY_GROW(all->name, all->n, max, "entries", e))
			return -1;
		all->name[all->n] = strdup(entry->d_name);
		if (!all->name[all->n])
			return err_nomem(e);
		all->n++;
	}
	return errno ? err_set(e, ERR_IO, errno, "list %s", what) : 0;
}

int fs_names_at(int dirfd, const char *folder, size_t max, struct fs_names *out, struct err *e)
{
	int nofollow = dirfd == AT_FDCWD ? 0 : O_NOFOLLOW;
	auto_fd int fd = openat(dirfd, folder, DIR_FLAGS | nofollow);
	auto_clean(close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const char *what = strcmp(folder, ".") == 0 ? "the folder" : folder;
	struct fs_names all = { .n = 0 };

	if (!d)
		return errno == ENOMEM ? err_nomem(e) : err_set(e, ERR_IO, errno, "list %s", what);
	(void)TAKE_FD(fd); /* closedir() closes it */
	if (read_names(d, what, max, &all, e)) {
		fs_names_clear(&all);
		return -1;
	}
	if (all.n)
		qsort(all.name, all.n, sizeof(*all.name), by_bytes);
	*out = all;
	return 0;
}

/* ---- reading, writing ---- */

static ssize_t read_retry(int fd, void *buf, size_t len)
{
	unsigned tries = 0;
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && retry_interrupted(&tries));
	return n;
}

/* Grow to room for one byte more than max (to see that there is more) and the NUL. */
static int fs_grow_buffer(char **buf, size_t *cap, size_t max, struct err *e)
{
	size_t want = *cap ? *cap * 2 : READ_FIRST;

	if (want < *cap || want > max + 2)
		want = max + 2;

	if (ARRAY_GROW_BY(*buf, *cap, want - *cap, max + 2, "bytes", e))
		return -1;
	*cap = want;
	return 0;
}

int fs_read_fd(int fd, size_t max, char **out, size_t *len, struct err *e)
{
	auto_free char *buf = NULL;
	size_t cap = 0, n = 0;

	for (;;) {
		if (n + 1 >= cap && fs_grow_buffer(&buf, &cap, max, e))
			return -1;

		ssize_t got = read_retry(fd, buf + n, cap - n - 1);

		if (got < 0)
			return err_set(e, ERR_IO, errno, "read");
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > max)
			return err_set(e, ERR_IO, EFBIG, "read: more than %zu bytes", max);
	}
	buf[n] = '\0';
	*out = TAKE_PTR(buf);
	*len = n;
	return 0;
}

/* O_NONBLOCK: a FIFO of that name must not hold us up. */
static int open_to_read(int dirfd, const char *name, struct err *e)
{
	int nofollow = dirfd == AT_FDCWD ? 0 : O_NOFOLLOW;
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | nofollow);

	return fd < 0 ? err_set(e, ERR_IO, errno, "open %s", name) : fd;
}

static ssize_t read_named(int fd, const char *name, size_t max, char **out, struct err *e)
{
	size_t len = 0;

	return fs_read_fd(fd, max, out, &len, e) ? err_wrap(e, "%s", name) : (ssize_t)len;
}

ssize_t fs_read_at(int dirfd, const char *name, size_t max, char **out, struct err *e)
{
	auto_fd int fd = open_to_read(dirfd, name, e);

	return fd < 0 ? -1 : read_named(fd, name, max, out, e);
}

static int check_trusted(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "%s", name);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_FORBIDDEN, 0, "%s: is not a plain file", name);
	if (st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	err_set(e, ERR_FORBIDDEN, 0,
		st.st_uid ? "%s: does not belong to root" : "%s: others than root may write it",
		name);
	return err_hint(e, "it says what root does: chown root %s; chmod go-w %s", name, name);
}

ssize_t fs_read_trusted_at(int dirfd, const char *name, size_t max, char **out, struct err *e)
{
	auto_fd int fd = open_to_read(dirfd, name, e);

	return fd < 0 || check_trusted(fd, name, e) ? -1 : read_named(fd, name, max, out, e);
}

int fs_write_fd(int fd, const void *data, size_t len, struct err *e)
{
	const char *p = data;
	unsigned tries = 0;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && retry_interrupted(&tries))
			continue;
		if (n < 0)
			return err_set(e, ERR_IO, errno, "write");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}
