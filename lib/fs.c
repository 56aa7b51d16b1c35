/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#include "lib/ctx.h"

#define DIR_FLAGS    (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define READ_FIRST   4096
#define RENAME_TRIES 16
#define LOCK_NAP_MIN INT64_C(100000)  /* ns */
#define LOCK_NAP_MAX INT64_C(2000000) /* ns */

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
	/* Somebody was faster, or it is a link to nowhere. */
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

/* ---- reading, writing ---- */

static ssize_t read_retry(int fd, void *buf, size_t len)
{
	ssize_t n;

	do
		n = read(fd, buf, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Grow to room for one byte more than max (to see that there is more) and the NUL. */
static int grow(char **buf, size_t *room, size_t max, struct err *e)
{
	size_t want = *room ? *room * 2 : READ_FIRST;

	if (want < *room || want > max + 2)
		want = max + 2;

	char *p = realloc(*buf, want);

	if (!p)
		return err_nomem(e);
	*buf = p;
	*room = want;
	return 0;
}

int fs_read_fd(int fd, size_t max, char **out, size_t *len, struct err *e)
{
	auto_free char *buf = NULL;
	size_t room = 0, n = 0;

	for (;;) {
		if (n + 1 >= room && grow(&buf, &room, max, e))
			return -1;

		ssize_t got = read_retry(fd, buf + n, room - n - 1);

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
ssize_t fs_read_at(int dirfd, const char *name, size_t max, char **out, struct err *e)
{
	size_t len = 0;
	int nofollow = dirfd == AT_FDCWD ? 0 : O_NOFOLLOW;
	auto_fd int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | nofollow);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", name);
	if (fs_read_fd(fd, max, out, &len, e))
		return err_wrap(e, "%s", name);
	return (ssize_t)len;
}

int fs_write_fd(int fd, const void *data, size_t len, struct err *e)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, ERR_IO, errno, "write");
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- replacing ---- */

/*
 * The new content is written to a file without a name (O_TMPFILE), which vanishes with its writer.
 * A name that is free is then given to it in one step. One that is taken needs rename(2), hence for
 * an instant the spare name ".NAME.tmp": a writer killed in that instant leaves it behind, and the
 * next writer of NAME, or fs_unlink_at, removes it. So there is never more than one left-over per
 * name.
 *
 * Two writers may meet at the spare name. Either one's complete content becomes visible, and who
 * finds its spare name taken away starts over.
 */
static int spare_name(const char *name, char out[NAME_MAX + 1])
{
	int n = snprintf(out, NAME_MAX + 1, ".%s.tmp", name);

	return n < 0 || n > NAME_MAX ? -1 : 0;
}

/* AT_EMPTY_PATH needs a capability of the initial user namespace, the other way /proc. */
static int link_fd(int fd, int dirfd, const char *name)
{
	char path[64];

	if (linkat(fd, "", dirfd, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, path, dirfd, name, AT_SYMLINK_FOLLOW);
}

static int link_over(int fd, int dirfd, const char *name)
{
	char spare[NAME_MAX + 1];

	if (spare_name(name, spare)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (int i = 0; i < RENAME_TRIES; i++) {
		if (link_fd(fd, dirfd, name) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (link_fd(fd, dirfd, spare)) {
			if (errno != EEXIST)
				return -1;
			(void)unlinkat(dirfd, spare, 0);
			continue;
		}
		if (renameat(dirfd, spare, dirfd, name) == 0)
			return 0;
		if (errno != ENOENT)
			return -1;
	}
	errno = EAGAIN;
	return -1;
}

static int fill(int fd, const char *text, bool durable, struct err *e)
{
	if (fs_write_fd(fd, text, strlen(text), e))
		return -1;
	if (durable && fsync(fd))
		return err_set(e, ERR_IO, errno, "fsync");
	return 0;
}

/* For file systems without O_TMPFILE (NFS, older overlayfs): here a killed writer does leave a
 * file. */
static int replace_by_name(int dirfd, const char *name, const char *text, bool durable,
			   struct err *e)
{
	char tmp[NAME_MAX + 1];
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), 0) < 0)
		return err_set(e, ERR_IO, errno, "random name for %s", name);

	int n = snprintf(tmp, sizeof(tmp), ".%s.%016llx.tmp", name, (unsigned long long)r);

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return err_set(e, ERR_IO, ENAMETOOLONG, "temporary file beside %s", name);

	auto_fd int fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "create %s", tmp);

	int rc = fill(fd, text, durable, e);

	if (rc == 0 && renameat(dirfd, tmp, dirfd, name))
		rc = err_set(e, ERR_IO, errno, "rename to %s", name);
	if (rc)
		(void)unlinkat(dirfd, tmp, 0);
	return rc;
}

static int replace_in(int dirfd, const char *name, const char *text, bool durable, struct err *e)
{
	auto_fd int fd = openat(dirfd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

	if (fd < 0 && errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return err_set(e, ERR_IO, errno, "create a file");
	if (fd < 0) {
		if (replace_by_name(dirfd, name, text, durable, e))
			return -1;
	} else {
		if (fill(fd, text, durable, e))
			return -1;
		if (link_over(fd, dirfd, name))
			return err_set(e, ERR_IO, errno, "put the new content in place");
	}
	if (durable && fsync(dirfd))
		return err_set(e, ERR_IO, errno, "fsync the directory");
	return 0;
}

/* The directory of name, and *last its last component. -1: errno. AT_FDCWD and "." serve as well.
 */
static int open_parent(int dirfd, const char *name, const char **last)
{
	char dir[PATH_MAX];
	const char *slash = strrchr(name, '/');
	size_t len = slash ? (size_t)(slash - name) + 1 : 0;

	if (len >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(dir, name, len);
	dir[len] = '\0';
	*last = name + len;
	return openat(dirfd, len ? dir : ".", DIR_FLAGS);
}

int fs_replace_at(int dirfd, const char *name, const char *text, bool durable, struct err *e)
{
	const char *last = name;
	auto_fd int parent = -1;

	if (dirfd == AT_FDCWD || strchr(name, '/')) {
		parent = open_parent(dirfd, name, &last);
		if (parent < 0)
			return err_set(e, ERR_IO, errno, "directory of %s", name);
	}
	if (replace_in(parent < 0 ? dirfd : parent, last, text, durable, e))
		return err_wrap(e, "write %s", name);
	return 0;
}

static int unlink_spare(int dirfd, const char *name)
{
	char spare[PATH_MAX];
	const char *slash = strrchr(name, '/');
	int dir_len = slash ? (int)(slash - name) + 1 : 0;
	int n = snprintf(spare, sizeof(spare), "%.*s.%s.tmp", dir_len, name, name + dir_len);

	/* Names too long for a spare one never had it. */
	if (n < 0 || (size_t)n >= sizeof(spare) || n - dir_len > NAME_MAX)
		return 0;
	return unlinkat(dirfd, spare, 0) && errno != ENOENT && errno != ENOTDIR ? -1 : 0;
}

int fs_unlink_at(int dirfd, const char *name, struct err *e)
{
	if (unlinkat(dirfd, name, 0) && errno != ENOENT)
		return err_set(e, ERR_IO, errno, "remove %s", name);
	if (unlink_spare(dirfd, name))
		return err_set(e, ERR_IO, errno, "remove the temporary file of %s", name);
	return 0;
}

/* ---- locking ---- */

/*
 * flock(2) has no deadline of its own, and an alarm would be everybody's. So: try, then nap; the
 * naps grow from a tenth of a millisecond, about a short holder's time, to two.
 */
static int lock_fd(int fd, int timeout_ms)
{
	int64_t deadline = ctx_mono_ms() + timeout_ms, nap = LOCK_NAP_MIN;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		struct timespec ts = { .tv_nsec = nap };

		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		if (ctx_mono_ms() >= deadline) {
			errno = EWOULDBLOCK;
			return -1;
		}
		(void)nanosleep(&ts, NULL);
		nap = nap * 2 < LOCK_NAP_MAX ? nap * 2 : LOCK_NAP_MAX;
	}
	return 0;
}

int fs_lock_at(int dirfd, const char *name, int timeout_ms, struct err *e)
{
	auto_fd int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open lock file %s", name);
	if (lock_fd(fd, timeout_ms) == 0)
		return TAKE_FD(fd);
	if (errno != EWOULDBLOCK)
		return err_set(e, ERR_IO, errno, "lock %s", name);
	err_set(e, ERR_AGAIN, EWOULDBLOCK, "lock %s is held by another process for over %d ms",
		name, timeout_ms);
	return -1;
}
