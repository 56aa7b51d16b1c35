/* SPDX-License-Identifier: Apache-2.0 */
/* fs_test.c: shows how folders, names and whole files are read and made, and the limits of each. */
#include "lib/sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

static int top(void)
{
	int fd = open(testing_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static mode_t mode(const char *path)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_mode & 07777;
}

static void holds(int dir, const char *name, const char *expected)
{
	auto_free char *text = NULL;
	struct err e = { 0 };
	ssize_t len = fs_read_at(dir, name, 1024, &text, &e);

	ck_assert_msg(len == (ssize_t)strlen(expected), "%s", e.msg);
	ck_assert_str_eq(text, expected);
}

static void put(int dir, const char *name, const char *text, bool durable)
{
	struct err e = { 0 };

	ck_assert_msg(fs_replace_at(dir, name, text, durable, &e) == 0, "%s", e.msg);
}

/* ---- directories ---- */

START_TEST(makes_missing_directories_for_us_alone)
{
	struct err e = { 0 };
	auto_fd int dir = top();

	(void)umask(0);

	auto_fd int fd = fs_open_dir("/mnt//a/b/c/", true, &e);

	ck_assert_msg(fd >= 0, "%s", e.msg);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_uint_eq(mode("/mnt/a"), 0700);
	ck_assert_uint_eq(mode("/mnt/a/b/c"), 0700);
	auto_fd int again = fs_open_dir("/mnt/a/b/c", true, &e);
	ck_assert_int_ge(again, 0);
	auto_fd int below = fs_open_dir_at(dir, "d", true, &e);
	ck_assert_int_ge(below, 0);
	ck_assert_uint_eq(mode("/mnt/d"), 0700);
	ck_assert_int_eq(chdir("/mnt"), 0);
	auto_fd int relative = fs_open_dir("x/y", true, &e);
	ck_assert_int_ge(relative, 0);
	ck_assert_uint_eq(mode("/mnt/x/y"), 0700);
}
END_TEST

START_TEST(an_administrators_directory_stands_as_it_is)
{
	struct err e = { 0 };
	auto_fd int dir = top();

	ck_assert_int_eq(mkdir("/mnt/wide", 0777), 0);
	ck_assert_int_eq(chmod("/mnt/wide", 0777), 0);
	ck_assert_int_eq(symlink("wide", "/mnt/link"), 0);
	auto_fd int a = fs_open_dir("/mnt/wide", true, &e);
	ck_assert_int_ge(a, 0);
	auto_fd int b = fs_open_dir("/mnt/link/deeper", true, &e);
	ck_assert_int_ge(b, 0);
	ck_assert_uint_eq(mode("/mnt/wide"), 0777);
	ck_assert_uint_eq(mode("/mnt/wide/deeper"), 0700);
	auto_fd int c = fs_open_dir("/mnt/link", false, &e);
	ck_assert_int_ge(c, 0);
	/* One component that we name ourselves is never a link. */
	ck_assert_int_eq(fs_open_dir_at(dir, "link", true, &e), -1);
	ck_assert_int_eq(e.errnum, ENOTDIR);
	ck_assert_int_eq(fs_open_dir_at(dir, "link", false, &e), -1);
}
END_TEST

START_TEST(directories_that_cannot_be_opened)
{
	struct err e = { 0 };
	auto_fd int dir = top();
	char name[NAME_MAX + 10];

	memset(name, 'x', sizeof(name));
	memcpy(name, "/mnt/", 5);
	name[sizeof(name) - 1] = '\0';
	testing_file("/mnt/file", 0600, "");
	ck_assert_int_eq(symlink("/mnt/nowhere", "/mnt/dangling"), 0);

	static const struct {
		const char *path;
		int errnum;
	} c[] = { { "/mnt/file", ENOTDIR },
		  { "/mnt/file/x", ENOTDIR },
		  { "/mnt/dangling", ENOENT },
		  { "", ENOENT },
		  { "/proc/nonesuch/x", ENOENT } };

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		ck_assert_int_eq(fs_open_dir(c[i].path, true, &e), -1);
		ck_assert_int_eq(e.code, ERR_IO);
		ck_assert_msg(e.errnum == c[i].errnum, "%s: %s", c[i].path, e.msg);
	}
	ck_assert_int_eq(fs_open_dir(name, true, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(fs_open_dir("/mnt/nonesuch", false, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(fs_open_dir_at(dir, "nonesuch", false, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(access("/mnt/nowhere", F_OK), -1);
}
END_TEST

/* ---- below a folder ---- */

START_TEST(a_path_stays_below_its_folder)
{
	auto_fd int dir = top();

	ck_assert_int_eq(mkdir("/mnt/in", 0700), 0);
	testing_file("/mnt/in/file", 0600, "");
	ck_assert_int_eq(symlink("/mnt/in", "/mnt/link"), 0);
	auto_fd int fd = fs_openat2(dir, "in/file", O_RDONLY | O_CLOEXEC, RESOLVE_BENEATH);
	if (fd < 0 && errno == ENOSYS)
		return;
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fs_openat2(dir, "../mnt", O_RDONLY, RESOLVE_BENEATH), -1);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_eq(fs_openat2(dir, "link/file", O_RDONLY, RESOLVE_NO_SYMLINKS), -1);
	ck_assert_int_eq(errno, ELOOP);
	ck_assert_int_eq(fs_openat2(dir, "none", O_RDONLY, RESOLVE_BENEATH), -1);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(names_are_sorted_and_visible)
{
	static const char *const made[] = { "/mnt/b", "/mnt/.hidden", "/mnt/a", "/mnt/B" };
	auto_fs_names struct fs_names at = { .n = 0 }, named = { .n = 0 }, none = { .n = 0 };
	auto_fd int dir = top();
	struct err e = { 0 };

	ck_assert_int_eq(fs_names_at(dir, ".", 0, &none, &e), 0);
	ck_assert_uint_eq(none.n, 0);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		testing_file(made[i], 0600, "");
	ck_assert_int_eq(fs_names_at(dir, ".", 3, &at, &e), 0);
	ck_assert_uint_eq(at.n, 3);
	ck_assert_str_eq(at.name[0], "B");
	ck_assert_str_eq(at.name[1], "a");
	ck_assert_str_eq(at.name[2], "b");
	ck_assert_int_eq(symlink("/mnt", "/mnt/link"), 0);
	/* An administrator's path may be a link. */
	ck_assert_int_eq(fs_names_at(AT_FDCWD, "/mnt/link", 4, &named, &e), 0);
	ck_assert_uint_eq(named.n, 4);
}
END_TEST

START_TEST(folders_that_cannot_be_listed)
{
	struct fs_names names = { .n = 7 };
	auto_fd int dir = top();
	struct err e = { 0 };

	testing_file("/mnt/a", 0600, "");
	testing_file("/mnt/b", 0600, "");
	ck_assert_int_eq(symlink("/mnt", "/mnt/link"), 0);
	ck_assert_int_eq(fs_names_at(dir, ".", 2, &names, &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);
	ck_assert_str_eq(e.msg, "list the folder: more than 2 entries: File too large");
	ck_assert_int_eq(fs_names_at(dir, "none", 9, &names, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(fs_names_at(dir, "a", 9, &names, &e), -1);
	ck_assert_int_eq(e.errnum, ENOTDIR);
	ck_assert_int_eq(fs_names_at(dir, "link", 9, &names, &e), -1);
	ck_assert_int_eq(e.errnum, ENOTDIR);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_uint_eq(names.n, 7);
}
END_TEST

/* ---- reading and writing ---- */

START_TEST(reads_up_to_the_limit)
{
	static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 100000 };
	struct err e = { 0 };
	auto_fd int dir = top();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		auto_free char *text = calloc(1, sizes[i] + 1), *got = NULL, *none = NULL;

		ck_assert_ptr_nonnull(text);
		memset(text, 'y', sizes[i]);
		put(dir, "f", text, false);
		ck_assert_int_eq(fs_read_at(dir, "f", sizes[i], &got, &e), (ssize_t)sizes[i]);
		ck_assert_str_eq(got, text);
		if (sizes[i] == 0)
			continue;
		ck_assert_int_eq(fs_read_at(dir, "f", sizes[i] - 1, &none, &e), -1);
		ck_assert_int_eq(e.errnum, EFBIG);
		ck_assert_int_eq(e.code, ERR_IO);
		ck_assert_ptr_null(none);
	}
}
END_TEST

START_TEST(what_cannot_be_read)
{
	struct err e = { 0 };
	auto_fd int dir = top();
	char *text = NULL;

	testing_file("/mnt/file", 0600, "text");
	ck_assert_int_eq(symlink("file", "/mnt/link"), 0);
	ck_assert_int_eq(mkfifo("/mnt/fifo", 0600), 0);
	ck_assert_int_eq(fs_read_at(dir, "nonesuch", 10, &text, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(fs_read_at(dir, "link", 10, &text, &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
	ck_assert_int_eq(fs_read_at(dir, ".", 10, &text, &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_ptr_null(text);
	/* An administrator's path may be a link; and nobody waits for a writer. */
	holds(AT_FDCWD, "/mnt/link", "text");
	holds(dir, "fifo", "");
}
END_TEST

/* As root only: another owner cannot be had otherwise. */
START_TEST(what_others_may_have_written)
{
	struct err e = { 0 };
	auto_free char *text = NULL;
	auto_fd int dir = top();

	testing_file("/mnt/file", 0644, "text");
	ck_assert_int_eq(fs_read_trusted_at(dir, "file", 10, &text, &e), 4);
	ck_assert_str_eq(text, "text");
	ck_assert_int_eq(fs_read_trusted_at(dir, "file", 3, &text, &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);
	ck_assert_int_eq(fs_read_trusted_at(dir, "nonesuch", 9, &text, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(mkfifo("/mnt/fifo", 0600), 0);
	ck_assert_int_eq(fs_read_trusted_at(dir, "fifo", 9, &text, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	for (mode_t m = 020; m; m = m == 020 ? 02 : 0) {
		ck_assert_int_eq(chmod("/mnt/file", 0644 | m), 0);
		ck_assert_int_eq(fs_read_trusted_at(dir, "file", 9, &text, &e), -1);
		ck_assert_int_eq(e.code, ERR_FORBIDDEN);
		ck_assert_str_eq(e.msg, "file: others than root may write it");
		ck_assert_str_eq(e.detail, "it says what root does: chown root file; chmod go-w "
					   "file");
		e.detail[0] = '\0';
	}
	if (chown("/mnt/file", 65534, 0))
		return;
	ck_assert_int_eq(chmod("/mnt/file", 0600), 0);
	ck_assert_int_eq(fs_read_trusted_at(dir, "file", 9, &text, &e), -1);
	ck_assert_str_eq(e.msg, "file: does not belong to root");
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	struct err e = { 0 };
	auto_fd int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ck_assert_int_eq(fs_write_fd(fd, "x", 1, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_int_eq(e.errnum, ENOSPC);
	ck_assert_int_eq(fs_write_fd(fd, "", 0, &e), 0);
}
END_TEST

static int read_passwd(void *arg, struct err *e)
{
	char *text = NULL;
	ssize_t n = fs_read_at(AT_FDCWD, arg, 1 << 20, &text, e);

	free(text);
	return n < 0 ? -1 : 0;
}

static int list_folder(void *arg, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };

	return fs_names_at(AT_FDCWD, arg, 1 << 20, &names, e);
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(read_passwd, "/proc/self/maps"), "ok");
	ck_assert_str_eq(alloc_fail_each(list_folder, "/proc/self"), "ok");
}
END_TEST

/* Only the kernel's word that nothing is there counts. */
START_TEST(what_may_exist)
{
	(void)testing_dir();
	testing_file("/mnt/there", 0600, "");
	ck_assert_int_eq(symlink("nowhere", "/mnt/dangling"), 0);
	ck_assert(fs_may_exist("/mnt/there") && fs_may_exist("/mnt/dangling"));
	ck_assert(!fs_may_exist("/mnt/nowhere") && !fs_may_exist("/mnt/there/below"));
	ck_assert_int_eq(symlink("loop", "/mnt/loop"), 0);
	ck_assert(fs_may_exist("/mnt/loop/below"));
}
END_TEST

TEST_PROGRAM("fs", makes_missing_directories_for_us_alone,
	     an_administrators_directory_stands_as_it_is, directories_that_cannot_be_opened,
	     a_path_stays_below_its_folder, names_are_sorted_and_visible,
	     folders_that_cannot_be_listed, reads_up_to_the_limit, what_cannot_be_read,
	     what_others_may_have_written, a_full_disk_is_an_error, allocations_may_fail,
	     what_may_exist)
