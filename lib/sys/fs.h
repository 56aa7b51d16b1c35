/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs.h: files below a directory descriptor, bounded reads, atomic writes, O_CLOEXEC always.
 *
 * Names given to the _at functions are single components or short relative paths that we made. The
 * last component is not followed if it is a symbolic link. Below AT_FDCWD it is followed: that is
 * an administrator's path, and /etc/resolv.conf is a link on many machines.
 */
#ifndef RAILHEAD_LIB_SYS_FS_H
#define RAILHEAD_LIB_SYS_FS_H

#include <stdio.h>
#include <sys/types.h>

#include "lib/base/err.h"

/*
 * fs_open_dir - open the directory path. With create, each missing component is made first, mode
 * 0700, and refused if it is a link or if others may write there by then. A directory that existed
 * before is accepted as an administrator made it. Returns the descriptor or -1.
 */
int fs_open_dir(const char *path, bool create, struct err *e) must_check;

/* fs_open_dir_at - the same for one component below dirfd; ENOENT when absent and !create. */
int fs_open_dir_at(int dirfd, const char *name, bool create, struct err *e) must_check;

/*
 * fs_openat2 - openat2(2) of a path below dirfd, made again while a rename or a mount disturbs it.
 * resolve is of RESOLVE_*. Returns the descriptor, or -1 with errno. ENOSYS (before Linux 5.6) and
 * EPERM (a filter of system calls) mean that the call is not available here.
 */
int fs_openat2(int dirfd, const char *path, uint64_t flags, uint64_t resolve) must_check;

/*
 * fs_names_at - the names in a folder below dirfd (AT_FDCWD for a path; "." is dirfd itself),
 * sorted by their bytes, without those that begin with a dot. ERR_IO: errnum ENOENT when the folder
 * is absent, EFBIG when it has more than max entries. *out is freed with fs_names_clear().
 */
#define FS_NAMES_MAX ((size_t)1 << 20) /* max for a folder that has no limit of its own */
struct fs_names {
	char **name;
	size_t n;
};
int fs_names_at(int dirfd, const char *folder, size_t max, struct fs_names *out,
		struct err *e) must_check;
/* fs_names_clear - free the names and the list. */
void fs_names_clear(struct fs_names *names);
#define auto_fs_names auto_clean(fs_names_clear)

/* fs_may_exist - false: the kernel says that nothing is at path. */
bool fs_may_exist(const char *path);

/*
 * fs_is_gone - why, of a call on name in dirfd (AT_FDCWD for a path), is ENOENT or ENOTDIR, and a
 * second look agrees: nothing is there, or no folder. For callers that would forget what name is
 * about.
 */
bool fs_is_gone(int dirfd, const char *name, const struct err *why);

/* fs_read_fd - read to end of file, NUL added; more than max bytes is ERR_IO (EFBIG). */
int fs_read_fd(int fd, size_t max, char **out, size_t *len, struct err *e) must_check;

/*
 * fs_read_at - open and read below dirfd (AT_FDCWD for a path), as fs_read_fd. Returns the length,
 * or -1; errnum ENOENT when absent.
 */
ssize_t fs_read_at(int dirfd, const char *name, size_t max, char **out, struct err *e) must_check;

/*
 * fs_read_trusted_at - the same for a file that only an administrator can have written.
 * ERR_FORBIDDEN unless it is a plain file of root without write permission for others.
 */
ssize_t fs_read_trusted_at(int dirfd, const char *name, size_t max, char **out,
			   struct err *e) must_check;

/* fs_write_fd - write all, EINTR and short writes handled. */
int fs_write_fd(int fd, const void *data, size_t len, struct err *e) must_check;

/*
 * fs_replace_at - make name a file of mode 0600 with this text in one step. A reader sees the old
 * content or the new, also after a crash. durable: fsync file and directory as well. A writer that
 * is killed may leave one ".NAME.tmp"; the next fs_replace_at or fs_unlink_at of that name removes
 * it. A reader of such a directory skips names that begin with a dot.
 */
int fs_replace_at(int dirfd, const char *name, const char *text, bool durable,
		  struct err *e) must_check;

/*
 * fs_put - the same at a path that a user named, of any bytes: the mode is the umask's to narrow.
 * If name exists and is not a plain file (/dev/null, a FIFO), the text is written into it. A
 * directory is refused, and a FIFO that no program reads.
 */
struct fs_content {
	const void *data;
	size_t len;
	mode_t mode; /* such as 0666 */
	bool durable;
};
int fs_put(const char *path, const struct fs_content *c, struct err *e) must_check;

/*
 * fs_put_stream - as fs_put(), with mode and without durable, with the bytes that fn writes into a
 * stream in memory. fn returns 0, or -1 with e. If it fails, or there is no memory, the file is as
 * before.
 */
typedef int (*fs_stream_fn)(FILE *to, void *arg, struct err *e);
int fs_put_stream(const char *path, mode_t mode, fs_stream_fn fn, void *arg,
		  struct err *e) must_check;

/* fs_unlink_at - remove, and what a killed fs_replace_at left beside it; absent is success. */
int fs_unlink_at(int dirfd, const char *name, struct err *e) must_check;

/* fs_unlink_in - the same below a path; a folder that is absent is success, too. */
int fs_unlink_in(const char *folder, const char *name, struct err *e) must_check;

/* fs_remove_empty_at - remove a folder; one that has something in it stays, and is success. */
int fs_remove_empty_at(int dirfd, const char *name, struct err *e) must_check;

#endif
