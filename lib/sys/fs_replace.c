/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_replace.c: replaces a file in one step, so that no reader sees half of it.
 *
 * The new content is written to a file without a name (O_TMPFILE), which vanishes with its writer.
 * If NAME is free, the file gets it in one step. If NAME is taken, the file gets the spare name
 * ".NAME.tmp" for an instant, and rename(2) replaces NAME. A writer killed in that instant leaves
 * the spare name behind. The next writer of NAME, or fs_unlink_at, removes it: there is at most
 * one.
 *
 * Two writers may meet at the spare name. The second waits a little before it removes the name. If
 * the first was still at work, it finds its spare name gone. It starts again with a new file,
 * because the kernel gives a file without a name one name only once.
 */
#include "lib/sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define DIR_FLAGS     (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
#define REPLACE_TRIES 16
#define SPARE_TRIES   16
#define SPARE_NAPS    4 /* before a spare name counts as left over */
#define SPARE_NAP_NS  100000

static int spare_name(const char *name, char out[NAME_MAX + 1])
{
	int n = snprintf(out, NAME_MAX + 1, ".%s.tmp", name);

	if (n >= 0 && n <= NAME_MAX)
		return 0;
	errno = ENAMETOOLONG;
	return -1;
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

static int link_spare(int fd, int dirfd, const char *spare)
{
	static const struct timespec nap = { .tv_nsec = SPARE_NAP_NS };

	for (int i = 0; i < SPARE_TRIES; i++) {
		if (link_fd(fd, dirfd, spare) == 0)
			return 0;
		if (errno != EEXIST)
			return -1;
		if (i < SPARE_NAPS)
			(void)nanosleep(&nap, NULL);
		else
			(void)unlinkat(dirfd, spare, 0);
	}
	errno = EAGAIN;
	return -1;
}

/* errno EAGAIN: another writer was in the way. */
static int link_over(int fd, int dirfd, const char *name)
{
	char spare[NAME_MAX + 1];

	if (link_fd(fd, dirfd, name) == 0)
		return 0;
	if (errno != EEXIST || spare_name(name, spare) || link_spare(fd, dirfd, spare))
		return -1;
	if (renameat(dirfd, spare, dirfd, name) == 0)
		return 0;
	if (errno == ENOENT) {
		errno = EAGAIN;
		return -1;
	}

	int errnum = errno;

	(void)unlinkat(dirfd, spare, 0);
	errno = errnum;
	return -1;
}

static int write_content(int fd, const struct fs_content *c, struct err *e)
{
	if (fs_write_fd(fd, c->data, c->len, e))
		return -1;
	if (c->durable && fsync(fd))
		return err_set(e, ERR_IO, errno, "fsync");
	return 0;
}

/* For file systems without O_TMPFILE (NFS, older overlayfs): here a killed writer does leave a
 * file. */
static int replace_by_name(int dirfd, const char *name, const struct fs_content *c, struct err *e)
{
	char tmp[NAME_MAX + 1];
	uint64_t r = 0;

	if (getrandom(&r, sizeof(r), 0) < 0)
		return err_set(e, ERR_IO, errno, "random name for %s", name);

	int n = snprintf(tmp, sizeof(tmp), ".%s.%016llx.tmp", name, (unsigned long long)r);

	if (n < 0 || (size_t)n >= sizeof(tmp))
		return err_set(e, ERR_IO, ENAMETOOLONG, "temporary file beside %s", name);

	auto_fd int fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, c->mode);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "create %s", tmp);

	int rc = write_content(fd, c, e);

	if (rc == 0 && renameat(dirfd, tmp, dirfd, name))
		rc = err_set(e, ERR_IO, errno, "rename to %s", name);
	if (rc)
		(void)unlinkat(dirfd, tmp, 0);
	return rc;
}

/* 0, -1, or 1: start over. */
static int replace_once(int dirfd, const char *name, const struct fs_content *c, struct err *e)
{
	auto_fd int fd = openat(dirfd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, c->mode);

	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		return replace_by_name(dirfd, name, c, e);
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "create a file");
	if (write_content(fd, c, e))
		return -1;
	if (link_over(fd, dirfd, name) == 0)
		return 0;
	return errno == EAGAIN ? 1 : err_set(e, ERR_IO, errno, "put the new content in place");
}

static int replace_in(int dirfd, const char *name, const struct fs_content *c, struct err *e)
{
	int rc = 1;

	for (int i = 0; rc == 1 && i < REPLACE_TRIES; i++)
		rc = replace_once(dirfd, name, c, e);
	if (rc == 1)
		return err_set(e, ERR_IO, EAGAIN, "other writers keep replacing it");
	if (rc == 0 && c->durable && fsync(dirfd))
		return err_set(e, ERR_IO, errno, "fsync the directory");
	return rc;
}

/* The directory of name, and *last its last component. -1: errno. AT_FDCWD and "." serve as well.
 */
static int fs_replace_open_parent(int dirfd, const char *name, const char **last)
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

static int replace_content(int dirfd, const char *name, const struct fs_content *c, struct err *e)
{
	const char *last = name;
	auto_fd int parent = -1;

	if (dirfd == AT_FDCWD || strchr(name, '/')) {
		parent = fs_replace_open_parent(dirfd, name, &last);
		if (parent < 0)
			return err_set(e, ERR_IO, errno, "directory of %s", name);
	}
	if (replace_in(parent < 0 ? dirfd : parent, last, c, e))
		return err_wrap(e, "write %s", name);
	return 0;
}

int fs_replace_at(int dirfd, const char *name, const char *text, bool durable, struct err *e)
{
	return replace_content(dirfd, name,
			       &(struct fs_content){ text, strlen(text), 0600, durable }, e);
}

int fs_put(const char *path, const struct fs_content *c, struct err *e)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return replace_content(AT_FDCWD, path, c, e);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, EISDIR, "%s", path);

	/* A device or a pipe cannot be replaced. A FIFO without a reader must not hold us up. */
	auto_fd int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && errno == ENXIO && S_ISFIFO(st.st_mode))
		return err_set(e, ERR_IO, 0, "%s: no program reads this FIFO: start it first",
			       path);
	if (fd < 0 || fcntl(fd, F_SETFL, 0))
		return err_set(e, ERR_IO, errno, "%s", path);
	return fs_write_fd(fd, c->data, c->len, e) ? err_wrap(e, "%s", path) : 0;
}

int fs_put_stream(const char *path, mode_t mode, fs_stream_fn fn, void *arg, struct err *e)
{
	auto_free char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	if (!to)
		return err_nomem(e);
	int rc = fn(to, arg, e);
	/* A write that failed fails the stream, and text and len are there only from now on. */
	bool whole = !ferror(to);
	if (fclose(to) || !whole)
		return rc ? -1 : err_nomem(e);
	const struct fs_content all = { .data = text, .len = len, .mode = mode };
	return rc || fs_put(path, &all, e) ? -1 : 0;
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
	struct err why;

	if (unlinkat(dirfd, name, 0)) {
		err_set(&why, ERR_IO, errno, "remove %s", name);
		if (!fs_is_gone(dirfd, name, &why))
			return err_pass(e, &why);
	}
	if (unlink_spare(dirfd, name))
		return err_set(e, ERR_IO, errno, "remove the temporary file of %s", name);
	return 0;
}

int fs_unlink_in(const char *folder, const char *name, struct err *e)
{
	struct err why;
	auto_fd int dir = fs_open_dir(folder, false, &why);

	if (dir < 0)
		return fs_is_gone(AT_FDCWD, folder, &why) ? 0 : err_pass(e, &why);
	return fs_unlink_at(dir, name, e);
}

int fs_remove_empty_at(int dirfd, const char *name, struct err *e)
{
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY || errno == EEXIST ||
	    errno == ENOENT || errno == ENOTDIR)
		return 0;
	return err_set(e, ERR_IO, errno, "remove the empty folder %s", name);
}
