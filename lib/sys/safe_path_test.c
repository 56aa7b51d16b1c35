/* SPDX-License-Identifier: Apache-2.0 */
/* safe_path_test.c: shows which folders and files are refused, also while links are swapped. */
#include "lib/sys/safe_path.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

START_TEST(paths_below_a_root_are_recognised)
{
	static const char *const roots[] = { "/var/lib/a", "/run/b/", NULL };
	static const char *const inside[] = { "/var/lib/a",   "/var/lib/a/",   "/var/lib/a/x/y",
					      "//var//lib/a", "/run/b",        "/run/b/c",
					      "/var/run/b",   "/var/run/b/..." };
	static const char *const outside[] = { "",
					       "/",
					       "var/lib/a",
					       "/var/lib",
					       "/var/lib/ab",
					       "/var/lib/a/../b",
					       "/var/lib/./a",
					       "/run",
					       "/run/bc",
					       "/var/running/b",
					       "/x/var/lib/a",
					       ".." };

	for (size_t i = 0; i < ARRAY_SIZE(inside); i++)
		ck_assert_msg(safe_path_below(inside[i], roots), "%s", inside[i]);
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		ck_assert_msg(!safe_path_below(outside[i], roots), "%s", outside[i]);
}
END_TEST

static void no_folder(const char *path, unsigned rules, int errnum)
{
	struct err e = { .msg = "" };

	ck_assert_msg(safe_open_dir(path, rules, &e) == -1, "%s", path);
	ck_assert_msg(e.errnum == errnum, "%s: %s", path, e.msg);
}

START_TEST(unsafe_folders_are_refused)
{
	struct err e = { .msg = "" };
	struct stat st;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/a", 0755) | mkdir("/mnt/a/b", 0755) | mkdir("/mnt/w", 0777) |
				 chmod("/mnt/w", 01777) | mkdir("/mnt/w/x", 0700) |
				 mkdir("/mnt/g", 0700) | chmod("/mnt/g", 0770) |
				 symlink("/mnt/a", "/mnt/l") | symlink("b", "/mnt/a/k"),
			 0);
	testing_file("/mnt/f", 0600, "");
	auto_fd int fd = safe_open_dir("/mnt/a//b/", SAFE_OWNED, &e);
	ck_assert_msg(fd >= 0, "%s", e.msg);
	no_folder("/mnt/a/none", SAFE_OWNED, ENOENT);
	no_folder("/mnt/f", SAFE_OWNED, ENOTDIR);
	no_folder("/mnt/f/x", SAFE_OWNED | SAFE_CREATE, ENOTDIR);
	no_folder("/mnt/l/b", 0, ELOOP);
	no_folder("/mnt/a/k", 0, ELOOP);
	no_folder("/mnt/w", SAFE_OWNED, EPERM);
	no_folder("/mnt/w/x", SAFE_OWNED, EPERM);
	no_folder("/mnt/g", SAFE_OWNED, EPERM);
	no_folder("/mnt/../mnt", 0, EPERM);
	no_folder("mnt", 0, EPERM);
	no_folder("/mnt/a/b", SAFE_PUBLIC, EPERM); /* /mnt has mode 0700 */
	if (chown("/mnt/a/b", 1234, 0) == 0)
		no_folder("/mnt/a/b", SAFE_OWNED, EPERM);
	auto_fd int made = safe_open_dir("/mnt/a/c/d", SAFE_OWNED | SAFE_CREATE, &e);
	ck_assert_int_ge(made, 0);
	ck_assert_int_eq(fstat(made, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
}
END_TEST

static void no_file(int dir, const char *name, int flags, int errnum)
{
	struct err e = { .msg = "" };

	ck_assert_msg(safe_open_file(dir, name, flags, &e) == -1, "%s", name);
	ck_assert_msg(e.errnum == errnum, "%s: %s", name, e.msg);
}

START_TEST(unsafe_files_are_refused)
{
	struct err e = { .msg = "" };
	struct stat st;

	(void)testing_dir();
	testing_file("/mnt/f", 0600, "x");
	testing_file("/mnt/h", 0600, "x");
	ck_assert_int_eq(link("/mnt/h", "/mnt/h2") | symlink("f", "/mnt/l") |
				 symlink("none", "/mnt/dangling") | mkfifo("/mnt/p", 0600) |
				 mkdir("/mnt/d", 0700),
			 0);
	auto_fd int dir = open("/mnt", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int f = safe_open_file(dir, "f", O_RDWR, &e);
	ck_assert_msg(f >= 0, "%s", e.msg);
	ck_assert_int_eq(pwrite(f, "y", 1, 0), 1);
	no_file(dir, "none", O_RDWR, ENOENT);
	for (int create = 0; create <= O_CREAT; create += O_CREAT) {
		no_file(dir, "h", O_RDWR | create, EPERM);
		no_file(dir, "l", O_RDWR | create, ELOOP);
		no_file(dir, "dangling", O_RDWR | create, ELOOP);
		no_file(dir, "p", O_RDWR | create, EPERM);
		no_file(dir, "d", O_RDONLY | create, EPERM);
	}
	ck_assert_int_eq(access("/mnt/none", F_OK), -1);
	/* opening a device could start something: it is not opened at all */
	if (mknod("/mnt/dev", S_IFCHR | 0600, makedev(10, 130)) == 0) /* watchdog */
		no_file(dir, "dev", O_RDWR | O_CREAT, EPERM);
	if (chown("/mnt/f", 1234, 0) == 0)
		no_file(dir, "f", O_RDWR, EPERM);
	auto_fd int made = safe_open_file(dir, "new", O_RDWR | O_CREAT, &e);
	ck_assert_int_eq(fstat(made, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
}
END_TEST

static bool reads(const char *path, struct err *e)
{
	auto_free char *text = NULL;

	return safe_read_public(path, 4096, &text, e) >= 0;
}

START_TEST(what_everybody_may_read)
{
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(chmod("/mnt", 0755), 0);
	testing_file("/mnt/open", 0644, "nameserver 10.0.0.1\n");
	testing_file("/mnt/secret", 0640, "search secret\n");
	ck_assert_int_eq(symlink("/mnt/open", "/mnt/l") | symlink("secret", "/mnt/ls") |
				 mkfifo("/mnt/p", 0644) | mkdir("/mnt/d", 0700),
			 0);
	testing_file("/mnt/d/f", 0644, "x");
	ck_assert_msg(reads("/mnt/open", &e), "%s", e.msg);
	ck_assert_msg(reads("/mnt/l", &e), "%s", e.msg);
	ck_assert(!reads("/mnt/secret", &e));
	ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
	ck_assert(!reads("/mnt/ls", &e));
	ck_assert(!reads("/mnt/p", &e));
	ck_assert(!reads("/mnt/d/f", &e)); /* nobody else gets there */
	ck_assert(!reads("/mnt", &e));
	ck_assert(!reads("/dev/null", &e));
	ck_assert(!reads("/proc/kmsg", &e));
	ck_assert(!reads("/proc/version", &e));
	ck_assert(!reads("/sys/kernel/notes", &e));
	ck_assert(!reads("/mnt/none", &e));
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

/* Somebody swaps folder and link for each other all the time: root is never led away. */
START_TEST(links_swapped_meanwhile)
{
	struct err e;
	int opened = 0;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/host", 0700) | mkdir("/mnt/dir", 0700) |
				 symlink("/mnt/host", "/mnt/link"),
			 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	for (volatile bool child = pid == 0; child;)
		(void)!renameat2(AT_FDCWD, "/mnt/dir", AT_FDCWD, "/mnt/link", RENAME_EXCHANGE);
	for (int i = 0; i < 20000 || opened == 0; i++) {
		auto_fd int dir = safe_open_dir("/mnt/dir", SAFE_OWNED | SAFE_CREATE, &e);
		auto_fd int f = dir < 0 ? -1 : safe_open_file(dir, "nologin", O_RDWR | O_CREAT, &e);
		opened += f >= 0;
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(access("/mnt/host/nologin", F_OK), -1);
}
END_TEST

static void no_program(const char *path, int errnum)
{
	struct err e = { .msg = "" };
	char real[PATH_MAX];

	ck_assert_msg(safe_program(path, real, &e) == -1, "%s", path);
	ck_assert_msg(e.errnum == errnum, "%s: %s", path, e.msg);
	ck_assert_msg(errnum == ENOENT || *e.detail || strstr(e.msg, "plain"), "%s: %s", path,
		      e.msg);
}

START_TEST(only_root_can_have_put_a_program_there)
{
	struct err e = { .msg = "" };
	char real[PATH_MAX];

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/w", 0777) | chmod("/mnt/w", 01777) |
				 symlink("/mnt/good", "/mnt/link") |
				 symlink("w/good", "/mnt/bad-link") | mkfifo("/mnt/fifo", 0700),
			 0);
	testing_file("/mnt/good", 0755, "#!/bin/sh\n");
	testing_file("/mnt/w/good", 0755, "#!/bin/sh\n");
	testing_file("/mnt/group", 0775, "#!/bin/sh\n");
	testing_file("/mnt/plain", 0644, "#!/bin/sh\n");
	ck_assert_msg(safe_program("/mnt/link", real, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(real, "/mnt/good");
	no_program("/mnt/none", ENOENT);
	no_program("/mnt/bad-link", EPERM);
	no_program("/mnt/w/good", EPERM);
	no_program("/mnt/group", EPERM);
	no_program("/mnt/plain", EACCES);
	no_program("/mnt/fifo", EPERM);
	no_program("/mnt/w", EPERM);
	if (geteuid() == 0 && chown("/mnt/good", 1000, 1000) == 0)
		no_program("/mnt/link", EPERM);
}
END_TEST

TEST_PROGRAM("safe_path", only_root_can_have_put_a_program_there, paths_below_a_root_are_recognised,
	     unsafe_folders_are_refused, unsafe_files_are_refused, what_everybody_may_read,
	     links_swapped_meanwhile)
