/* SPDX-License-Identifier: Apache-2.0 */
/* lmdb_recover.c: checks the store's file, keeps a copy of it, and restores it from the copy. */
#include "ipam/store/lmdb_recover.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ipam/store/lmdb_file.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define CHUNK 65536

int lmdb_damaged(const char *file, const char *how, struct err *e)
{
	err_set(e, ERR_STORE, 0, "the store %s is damaged: %s", file, how);
	return err_hint(e, "move its directory away and restart the pods that hold addresses; "
			   "pools must be added again with `railctl ipam pool add`");
}

int lmdb_trust(const struct lmdb_place *p, enum lmdb_trust *out, struct err *e)
{
	static const char none[CTX_BOOT_ID_LEN];
	char stamp[CTX_BOOT_ID_LEN];
	ssize_t n = pread(p->lockfd, stamp, sizeof(stamp), 0);

	if (n < 0)
		return err_set(e, ERR_STORE, errno, "read the file \"lock\" beside %s", p->file);
	if (n == 0 || (n == CTX_BOOT_ID_LEN && memcmp(stamp, none, sizeof(none)) == 0))
		*out = LMDB_NEW;
	else if (n == CTX_BOOT_ID_LEN && memcmp(stamp, p->boot, CTX_BOOT_ID_LEN) == 0)
		*out = LMDB_TRUSTED;
	else
		*out = LMDB_DOUBTED;
	return 0;
}

static int open_file(const struct lmdb_place *p, const char *name, int *fd, struct err *e)
{
	struct err why;

	*fd = safe_open_file(p->dirfd, name, O_RDWR, &why);
	if (*fd >= 0 || why.errnum == ENOENT)
		return 0;
	*e = why;
	e->code = ERR_STORE;
	return err_wrap(e, "open %s beside %s", name, p->file);
}

/* The first error in the whole file; NULL: it is good. */
static const char *inspect_all(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_size == 0)
		return "it is empty";
	if (!S_ISREG(st.st_mode))
		return "it is not a file";
	size_t len = (size_t)st.st_size;
	void *map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return "it cannot be read";
	const char *bad = lmdb_check(map, len);
	(void)munmap(map, len);
	return bad;
}

/* Copies the first len bytes. The bytes after them are reserved space. */
static int copy_all(int from, int to, off_t len, struct err *e)
{
	auto_free char *buf = malloc(CHUNK);
	off_t at = 0;
	ssize_t n = 0;

	if (!buf)
		return err_nomem(e);
	while (at < len && (n = pread(from, buf, CHUNK, at)) > 0) {
		if (fs_write_fd(to, buf, (size_t)n, e))
			return -1;
		at += n;
	}
	return n < 0 ? err_set(e, ERR_STORE, errno, "read") : 0;
}

/* Atomic and durable: after a crash, name is the old file or the whole new one. */
static int copy_to(const struct lmdb_place *p, int from, const char *name, struct err *e)
{
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	struct lmdb_file f;

	if (lmdb_file_inspect(from, &f, e))
		return -1;
	(void)unlinkat(p->dirfd, LMDB_TEMP, 0); /* left by a writer that was killed */
	auto_fd int to = openat(p->dirfd, LMDB_TEMP, flags, 0600);
	int rc = to < 0 ? err_set(e, ERR_STORE, errno, "create")
			: copy_all(from, to, (off_t)f.want, e);

	if (rc == 0 &&
	    (fsync(to) || renameat(p->dirfd, LMDB_TEMP, p->dirfd, name) || fsync(p->dirfd)))
		rc = err_set(e, ERR_STORE, errno, "sync");
	if (rc == 0)
		return 0;
	(void)unlinkat(p->dirfd, LMDB_TEMP, 0);
	if (e->code == ERR_NOMEM)
		return -1;
	e->code = ERR_STORE;
	return err_wrap(e, "%s beside %s", name, p->file);
}

/* The file is damaged. A copy from an earlier boot can replace it: the leases of that boot ended.
 */
static int restore_copy(const struct lmdb_place *p, int data, const char *bad, struct err *e)
{
	enum lmdb_trust trust;
	auto_fd int safe = -1;

	if (lmdb_trust(p, &trust, e) || open_file(p, LMDB_SAFE, &safe, e))
		return -1;
	if (trust == LMDB_TRUSTED)
		return lmdb_damaged(p->file, bad, e);
	if (inspect_all(safe) == NULL)
		return copy_to(p, safe, LMDB_DATA, e);
	/* The boot ended before the first transaction of a new store. */
	if (trust == LMDB_NEW && safe < 0 && data >= 0 && ftruncate(data, 0) == 0)
		return 0;
	return lmdb_damaged(p->file, bad, e);
}

int lmdb_prepare(const struct lmdb_place *p, struct err *e)
{
	struct lmdb_file f;
	auto_fd int fd = -1;
	struct stat st;

	if (open_file(p, LMDB_DATA, &fd, e) || lmdb_file_inspect(fd, &f, e))
		return -1;
	bool safe = fstatat(p->dirfd, LMDB_SAFE, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (f.state == LMDB_FILE_EMPTY && !safe) {
		if (fd >= 0 && ftruncate(fd, 0))
			return err_set(e, ERR_STORE, errno, "empty %s", p->file);
		return 0;
	}
	const char *bad = inspect_all(fd);
	if (bad)
		return restore_copy(p, fd, bad, e);
	/* Pages that were never used can be after the end of the file. Make them readable. */
	if (f.state == LMDB_FILE_SHORT && ftruncate(fd, (off_t)f.want))
		return err_set(e, ERR_STORE, errno, "extend %s", p->file);
	return 0;
}

int lmdb_checkpoint(const struct lmdb_place *p, struct err *e)
{
	auto_fd int fd = -1;

	if (open_file(p, LMDB_DATA, &fd, e))
		return -1;
	if (fd < 0 || fdatasync(fd))
		return err_set(e, ERR_STORE, errno, "sync %s", p->file);
	if (copy_to(p, fd, LMDB_SAFE, e))
		return -1;
	/* Not synced: whatever a power loss leaves of it, it is not the id of the next boot. */
	if (pwrite(p->lockfd, p->boot, CTX_BOOT_ID_LEN, 0) != CTX_BOOT_ID_LEN)
		return err_set(e, ERR_STORE, errno, "write the file \"lock\" beside %s", p->file);
	return 0;
}
