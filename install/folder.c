/* SPDX-License-Identifier: Apache-2.0 */
/* folder.c: system calls on the files of a CNI folder. */
#include "install/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "lib/base/parse.h"
#include "lib/base/sha256.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define SPARE_LEN (PROGRAM_NAME_LEN + 16)
#define READ      (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

void content_clear(struct content *c)
{
	free(c->data);
	c->data = NULL;
}

static const char *new_name(const char *name, char out[SPARE_LEN])
{
	(void)snprintf(out, SPARE_LEN, ".%s.railhead-new", name);
	return out;
}

static const char *old_name(const char *name, char out[SPARE_LEN])
{
	(void)snprintf(out, SPARE_LEN, ".%s.railhead-old", name);
	return out;
}

/* An error of a change, with what an operator can do about it. */
static int folder_explain(int errnum, struct err *e)
{
	switch (errnum) {
	case ENOSPC:
	case EDQUOT:
		return err_hint(e, "free some space in the file system of the CNI folder");
	case EROFS:
		return err_hint(e, "mount the folder writable, or name the folder where the "
				   "runtime of this host looks for plugins: --target or CNI_BIN");
	case EACCES:
	case EPERM:
		return err_hint(e, "run as root; a security module (SELinux, AppArmor) may also "
				   "forbid it");
	default:
		return -1;
	}
}

static int folder_failed(struct err *e, const char *what, const char *name)
{
	int errnum = errno;

	err_set(e, ERR_IO, errnum, "%s %s", what, name);
	return folder_explain(errnum, e);
}

int folder_open(const char *path, struct err *e)
{
	auto_fd int dir = safe_open_dir(path, SAFE_OWNED, e);
	struct statvfs fs;

	if (dir < 0) {
		bool missing = e->errnum == ENOENT;

		err_wrap(e, "CNI folder %s", path);
		return missing ? err_hint(e, "it is not made here, because a mount may be missing: "
					     "mount the host's folder (hostPath, type "
					     "DirectoryOrCreate), or make it")
			       : -1;
	}
	if (fstatvfs(dir, &fs))
		return folder_failed(e, "look at", path);
	if (fs.f_flag & ST_NOEXEC) {
		err_set(e, ERR_FORBIDDEN, 0, "CNI folder %s: it is mounted noexec", path);
		return err_hint(e, "no runtime can start plugins there; mount it without noexec");
	}
	return TAKE_FD(dir);
}

/* ---- looking ---- */

static void digest(struct content *c)
{
	uint8_t sum[SHA256_LEN];
	char *p = c->sha256;

	sha256(c->data, c->len, sum);
	for (size_t i = 0; i < sizeof(sum); i++)
		p = hex_octet_put(p, sum[i]);
}

/* The mark of the program, if it is one of railhead. */
static bool has_mark(int fd, struct build_mark *mark)
{
	char head[BUILD_MARK_HEAD];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 && build_mark_read(head, (size_t)n, mark) == 0;
}

/* *out is the descriptor of a program of railhead, or -1. */
static int open_held(int dir, const char *name, enum held *held, int *out, struct err *e)
{
	auto_fd int fd = openat(dir, name, READ);
	struct build_mark mark;
	struct stat st;

	*out = -1;
	*held = HELD_FOREIGN;
	if (fd < 0 && errno == ENOENT) {
		*held = HELD_NONE;
		return 0;
	}
	/* A link, a socket, or a file that root without capabilities may not read. Ours can be. */
	if (fd < 0 && (errno == ELOOP || errno == ENXIO || errno == EACCES))
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return folder_failed(e, "look at", name);
	if (S_ISDIR(st.st_mode))
		*held = HELD_FOLDER;
	if (!S_ISREG(st.st_mode) || !has_mark(fd, &mark))
		return 0;
	*held = HELD_OURS;
	*out = TAKE_FD(fd);
	return 0;
}

/* A runtime executes it as root: others may not change it, nor have its rights. */
static bool is_wrong(int fd)
{
	struct stat st;

	return fstat(fd, &st) || st.st_uid != geteuid() || (st.st_mode & 07777) != 0755 ||
	       fgetxattr(fd, "security.capability", NULL, 0) >= 0;
}

/* sha256 is "" unless it is a program of railhead. */
static int folder_look_at(int dir, const char *file, struct plan_item *x, struct err *e)
{
	char *sha256 = x->held_sha256;
	enum held *held = &x->held;
	auto_content struct content c = { .data = NULL };
	auto_fd int fd = -1;

	if (open_held(dir, file, held, &fd, e))
		return -1;
	sha256[0] = '\0';
	if (*held != HELD_OURS)
		return 0;
	if (fs_read_fd(fd, PROGRAM_MAX, &c.data, &c.len, e))
		return err_wrap(e, "read %s", file);
	digest(&c);
	memcpy(sha256, c.sha256, sizeof(c.sha256));
	x->held_wrong = is_wrong(fd);
	return 0;
}

int folder_look(int dir, struct plan_item *x, struct err *e)
{
	return folder_look_at(dir, x->name, x, e);
}

static int is_other(int dir, const char *file, const struct plan_item *x, struct err *e)
{
	struct plan_item now = { .held = HELD_NONE };

	if (folder_look_at(dir, file, &now, e))
		return -1;
	return now.held != x->held || strcmp(now.held_sha256, x->held_sha256) != 0;
}

int folder_is_other(int dir, const struct plan_item *x, struct err *e)
{
	return is_other(dir, x->name, x, e);
}

int folder_is_other_aside(int dir, const struct plan_item *x, struct err *e)
{
	char spare[SPARE_LEN];

	return is_other(dir, old_name(x->name, spare), x, e);
}

int folder_read(int dir, const char *name, struct content *out, struct build_mark *mark,
		struct err *e)
{
	auto_fd int fd = openat(dir, name, READ);
	auto_content struct content c = { .data = NULL };

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", name);
	if (!has_mark(fd, mark))
		return err_set(e, ERR_STATE, 0, "%s is not a program of railhead", name);
	if (fs_read_fd(fd, PROGRAM_MAX, &c.data, &c.len, e))
		return err_wrap(e, "read %s", name);
	digest(&c);
	*out = c;
	c.data = NULL;
	return 0;
}

/* ---- changing ---- */

static int write_staged(int dir, const char *spare, const struct content *c, struct err *e)
{
	auto_fd int fd =
		openat(dir, spare, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);

	if (fd < 0)
		return folder_failed(e, "create", spare);
	if (fs_write_fd(fd, c->data, c->len, e))
		return folder_explain(e->errnum, e);
	/* The umask does not count. */
	if (fchmod(fd, 0755) || fsync(fd))
		return folder_failed(e, "write", spare);
	return 0;
}

int folder_stage(int dir, const char *name, const struct content *c, struct err *e)
{
	char spare[SPARE_LEN];

	(void)unlinkat(dir, new_name(name, spare), 0);
	if (write_staged(dir, spare, c, e) == 0)
		return 0;
	(void)unlinkat(dir, spare, 0);
	return err_wrap(e, "write %s", name);
}

void folder_unstage(int dir, const char *name)
{
	char spare[SPARE_LEN];

	(void)unlinkat(dir, new_name(name, spare), 0);
}

/* On a file system without RENAME_NOREPLACE, look first: only this program makes the name. */
static int rename_free(int dir, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (fstatat(dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return errno == ENOENT ? renameat(dir, from, dir, to) : -1;
}

int folder_switch(int dir, const struct plan_item *x, struct err *e)
{
	char spare[SPARE_LEN];
	int rc;

	(void)new_name(x->name, spare);
	rc = x->held == HELD_NONE ? rename_free(dir, spare, x->name)
				  : renameat(dir, spare, dir, x->name);
	return rc ? folder_failed(e, "replace", x->name) : 0;
}

int folder_sync(int dir, struct err *e)
{
	return fsync(dir) ? folder_failed(e, "sync", "the CNI folder") : 0;
}

int folder_set_aside(int dir, const char *name, struct err *e)
{
	char spare[SPARE_LEN];

	if (renameat(dir, name, dir, old_name(name, spare)))
		return folder_failed(e, "set aside", name);
	return 0;
}

/* Another file has the name by now. The one that was set aside may be of another project, too. */
static int discard_ours(int dir, const char *name, const char *spare, struct err *e)
{
	struct plan_item now = { .held = HELD_NONE };

	if (folder_look_at(dir, spare, &now, e))
		return -1;
	if (now.held == HELD_OURS)
		return folder_discard(dir, name, e);
	err_set(e, ERR_BUSY, 0, "%s and %s are files of another project", name, spare);
	return err_hint(e, "move one of them out of the CNI folder, and try again");
}

int folder_put_back(int dir, const char *name, struct err *e)
{
	char spare[SPARE_LEN];

	if (rename_free(dir, old_name(name, spare), name) == 0)
		return 0;
	return errno == EEXIST ? discard_ours(dir, name, spare, e)
			       : folder_failed(e, "put back", name);
}

int folder_discard(int dir, const char *name, struct err *e)
{
	char spare[SPARE_LEN];

	if (unlinkat(dir, old_name(name, spare), 0) && errno != ENOENT)
		return folder_failed(e, "remove", name);
	return 0;
}

int folder_runs_aside(int dir, const char *name, struct err *e)
{
	char spare[SPARE_LEN];

	/* The kernel does not open a program for writing while a process executes it. */
	auto_fd int fd =
		openat(dir, old_name(name, spare), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		return 0;
	return errno == ETXTBSY ? 1 : folder_failed(e, "find out whether a process executes", name);
}

int folder_heal(int dir, const char *name, struct err *e)
{
	char spare[SPARE_LEN];
	struct stat st;

	folder_unstage(dir, name);
	if (fstatat(dir, old_name(name, spare), &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : folder_failed(e, "look at", spare);
	return folder_put_back(dir, name, e);
}

/* ---- the receipt ---- */

int folder_receipt(int dir, struct receipt *out, struct err *e)
{
	auto_free char *text = NULL;
	struct err why = { .msg = "" };
	ssize_t len = fs_read_trusted_at(dir, RECEIPT_FILE, RECEIPT_MAX, &text, &why);

	if (len < 0 && why.errnum == ENOENT)
		return 1;
	if (len < 0)
		return err_pass(e, &why);
	return receipt_decode(text, (size_t)len, out, e) ? err_wrap(e, RECEIPT_FILE) : 0;
}

void folder_heal_receipt(int dir)
{
	/* The spare name of fs_replace_at(). */
	(void)unlinkat(dir, "." RECEIPT_FILE ".tmp", 0);
}

int folder_write_receipt(int dir, const struct receipt *r, struct err *e)
{
	if (!r)
		return fs_unlink_at(dir, RECEIPT_FILE, e);

	auto_free char *text = receipt_print(r);

	if (!text)
		return err_nomem(e);
	return fs_replace_at(dir, RECEIPT_FILE, text, true, e) ? folder_explain(e->errnum, e) : 0;
}
