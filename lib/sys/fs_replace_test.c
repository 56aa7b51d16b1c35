/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fs_replace_test.c: shows that a file is replaced whole, also by writers that meet or are killed.
 */
#include "lib/sys/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

static int top(void)
{
	int fd = open(testing_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static int entries(const char *path)
{
	DIR *d = opendir(path);
	int n = -2; /* . and .. */

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
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

START_TEST(replaces_and_leaves_nothing_else)
{
	auto_fd int dir = top();

	(void)umask(0);
	for (int durable = 0; durable < 2; durable++) {
		put(dir, "name", "first", durable);
		put(dir, "name", "second, which is longer", durable);
		put(dir, "name", "third", durable);
		holds(dir, "name", "third");
		ck_assert_uint_eq(mode("/mnt/name"), 0600);
		ck_assert_int_eq(entries("/mnt"), 1);
	}
	ck_assert_int_eq(mkdir("/mnt/sub", 0700), 0);
	put(dir, "sub/name", "below", true);
	put(AT_FDCWD, "/mnt/sub/name", "by path", false);
	holds(dir, "sub/name", "by path");
	ck_assert_int_eq(entries("/mnt/sub"), 1);
}
END_TEST

/* A link of that name is replaced, not written through. */
START_TEST(a_link_is_replaced_itself)
{
	auto_fd int dir = top();

	testing_file("/mnt/victim", 0600, "precious");
	ck_assert_int_eq(symlink("victim", "/mnt/name"), 0);
	put(dir, "name", "ours", false);
	holds(dir, "victim", "precious");
	holds(dir, "name", "ours");
}
END_TEST

START_TEST(what_a_killed_writer_left_goes_with_the_next)
{
	auto_fd int dir = top();
	struct err e = { 0 };

	testing_file("/mnt/.name.tmp", 0600, "half");
	put(dir, "name", "one", false); /* the name is free: the spare one is not touched */
	put(dir, "name", "two", false);
	holds(dir, "name", "two");
	ck_assert_int_eq(entries("/mnt"), 1);
	testing_file("/mnt/.name.tmp", 0600, "half");
	ck_assert_int_eq(fs_unlink_at(dir, "name", &e), 0);
	ck_assert_int_eq(entries("/mnt"), 0);
}
END_TEST

START_TEST(what_cannot_be_replaced)
{
	auto_fd int dir = top();
	struct err e = { 0 };
	char name[NAME_MAX + 1];

	ck_assert_int_eq(mkdir("/mnt/dir", 0700), 0);
	ck_assert_int_eq(fs_replace_at(dir, "dir", "x", false, &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(fs_replace_at(dir, "none/x", "x", false, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(fs_replace_at(-1, "x", "x", false, &e), -1);
	ck_assert_int_eq(e.errnum, EBADF);
	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = '\0';
	put(dir, name, "longest name", false);
	ck_assert_int_eq(fs_replace_at(dir, name, "again", false, &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(fs_unlink_at(dir, name, &e), 0);
	ck_assert_int_eq(entries("/mnt"), 1);
}
END_TEST

/* From here on the kernel has no O_TMPFILE, as far as this process can see. */
static void forget_tmpfile(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog prog = { ARRAY_SIZE(code), code };

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
}

START_TEST(where_there_is_no_O_TMPFILE)
{
	struct err e = { 0 };
	auto_fd int dir = top();

	forget_tmpfile();
	put(dir, "name", "first", false);
	put(dir, "name", "second", true);
	holds(dir, "name", "second");
	ck_assert_uint_eq(mode("/mnt/name"), 0600);
	ck_assert_int_eq(mkdir("/mnt/dir", 0700), 0);
	ck_assert_int_eq(fs_replace_at(dir, "dir", "x", false, &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(entries("/mnt"), 2);
}
END_TEST

static void writer(int dir, char c)
{
	char text[2000];
	struct err e;

	memset(text, c, sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 300; i++)
		if (fs_replace_at(dir, "name", text, false, &e))
			_exit(1);
	_exit(0);
}

/* Two writers and a reader: always one or the other content, never a mixture, never nothing. */
START_TEST(writers_do_not_mix)
{
	auto_fd int dir = top();
	int left = 2, status;

	put(dir, "name", "x", false);
	for (int i = 0; i < 2; i++)
		if (fork() == 0)
			writer(dir, (char)('a' + i));
	while (left > 0) {
		auto_free char *text = NULL;
		struct err e = { 0 };
		ssize_t n = fs_read_at(dir, "name", 4096, &text, &e);

		ck_assert_msg(n == 1 || n == 1999, "%zd %s", n, e.msg);
		ck_assert_uint_eq(strspn(text, (char[]){ text[0], '\0' }), (size_t)n);
		if (waitpid(-1, &status, WNOHANG) > 0) {
			ck_assert_int_eq(status, 0);
			left--;
		}
	}
	ck_assert_int_eq(entries("/mnt"), 1);
}
END_TEST

/* Killed at any instant: one content or the other, and at most one file beside it. */
START_TEST(a_killed_writer_does_no_harm)
{
	auto_fd int dir = top();

	for (int i = 0; i < 100; i++) {
		int started[2];
		char c;

		put(dir, "name", "whole", false);
		ck_assert_int_eq(entries("/mnt"), 1);
		ck_assert_int_eq(pipe2(started, O_CLOEXEC), 0);

		pid_t pid = fork();

		if (pid == 0) {
			struct err e;

			for (bool told = false;; told = true) {
				if (fs_replace_at(dir, "name", "whole", false, &e))
					_exit(1);
				if (!told && write(started[1], "x", 1) != 1)
					_exit(1);
			}
		}
		ck_assert_int_eq(read(started[0], &c, 1), 1);
		for (int n = 0; n < i; n++)
			holds(dir, "name", "whole");
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		holds(dir, "name", "whole");
		ck_assert_int_le(entries("/mnt"), 2);
		(void)close(started[0]);
		(void)close(started[1]);
	}
}
END_TEST

START_TEST(puts_what_a_user_asked_for)
{
	const struct fs_content c = { "a\0b", 3, 0666, false };
	auto_free char *text = NULL;
	auto_fd int dir = top();
	struct err e = { 0 };

	(void)umask(026);
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(fs_put("/mnt/file", &c, &e) == 0, "%s", e.msg);
		ck_assert_int_eq(fs_read_at(dir, "file", 9, &text, &e), 3);
		ck_assert_mem_eq(text, "a\0b", 4);
		free(TAKE_PTR(text));
		ck_assert_uint_eq(mode("/mnt/file"), 0640);
		ck_assert_int_eq(entries("/mnt"), 1);
	}
	ck_assert_int_eq(fs_put("/mnt", &c, &e), -1);
	ck_assert_str_eq(e.msg, "/mnt: Is a directory");
	ck_assert_int_eq(fs_put("/mnt/none/file", &c, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

START_TEST(puts_into_what_is_no_plain_file)
{
	const struct fs_content c = { "text", 4, 0666, false };
	struct err e = { 0 };
	char got[8] = "";

	(void)testing_dir();
	ck_assert_int_eq(mkfifo("/mnt/fifo", 0600), 0);
	ck_assert_int_eq(fs_put("/mnt/fifo", &c, &e), -1);
	ck_assert_str_eq(e.msg, "/mnt/fifo: no program reads this FIFO: start it first");
	auto_fd int end = open("/mnt/fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ck_assert_int_eq(symlink("fifo", "/mnt/link"), 0);
	ck_assert_msg(fs_put("/mnt/link", &c, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(read(end, got, sizeof(got)), 4);
	ck_assert_str_eq(got, "text");
	ck_assert_int_eq(fs_put("/dev/full", &c, &e), -1);
	ck_assert_int_eq(e.errnum, ENOSPC);
	ck_assert_int_eq(entries("/mnt"), 2);
}
END_TEST

START_TEST(a_file_is_unlinked)
{
	auto_fd int dir = top();
	struct err e = { 0 };

	put(dir, "name", "x", false);
	ck_assert_int_eq(mkdir("/mnt/sub", 0700), 0);
	testing_file("/mnt/sub/.name.tmp", 0600, "");
	ck_assert_int_eq(fs_unlink_at(dir, "name", &e), 0);
	ck_assert_int_eq(fs_unlink_at(dir, "name", &e), 0);
	ck_assert_int_eq(fs_unlink_at(dir, "sub/name", &e), 0);
	ck_assert_int_eq(entries("/mnt/sub"), 0);
	ck_assert_int_eq(fs_unlink_at(dir, "sub", &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(fs_unlink_at(-1, "x", &e), -1);
	ck_assert_int_eq(e.errnum, EBADF);
}
END_TEST

static int print_twice(FILE *to, void *arg, struct err *e)
{
	for (int i = 0; i < 2; i++)
		if (fputs(arg, to) < 0)
			return err_nomem(e);
	return 0;
}

static int print_and_fail(FILE *to, void *arg, struct err *e)
{
	(void)fputs(arg, to);
	return err_set(e, ERR_STATE, 0, "half-way");
}

START_TEST(a_stream_is_written_whole_or_not_at_all)
{
	static char text[5000]; /* more than one piece of stdio */
	char one[] = "one", got[8] = "";
	struct err e = { .msg = "" };
	struct stat st;

	(void)testing_dir();
	memset(text, 'x', sizeof(text) - 1);
	ck_assert_int_eq(fs_put_stream("/mnt/file", 0600, print_and_fail, one, &e), -1);
	ck_assert_str_eq(e.msg, "half-way");
	ck_assert_int_eq(entries("/mnt"), 0);
	ck_assert_int_eq(fs_put_stream("/mnt/file", 0600, print_twice, one, &e), 0);
	ck_assert_int_eq(fs_put_stream("/mnt/file", 0600, print_and_fail, text, &e), -1);
	auto_fd int fd = open("/mnt/file", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(read(fd, got, sizeof(got)), 6);
	ck_assert_str_eq(got, "oneone");
	ck_assert_int_eq(fs_put_stream("/mnt/file", 0600, print_twice, text, &e), 0);
	ck_assert_int_eq(stat("/mnt/file", &st), 0);
	ck_assert_int_eq(st.st_size, 9998);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	ck_assert_int_eq(fs_put_stream("/mnt/none/file", 0600, print_twice, one, &e), -1);
}
END_TEST

START_TEST(a_file_of_a_folder_that_may_be_gone)
{
	struct err e = { 0 };
	auto_fd int dir = top();

	ck_assert_int_eq(fs_unlink_in("/mnt/folder", "name", &e), 0);
	ck_assert_int_eq(mkdirat(dir, "folder", 0700), 0);
	ck_assert_int_eq(fs_unlink_in("/mnt/folder", "name", &e), 0);
	ck_assert_int_eq(mknodat(dir, "folder/name", S_IFREG | 0600, 0), 0);
	ck_assert_int_eq(fs_unlink_in("/mnt/folder", "name", &e), 0);
	ck_assert_int_eq(faccessat(dir, "folder/name", F_OK, 0), -1);
	ck_assert_int_eq(symlinkat("loop", dir, "loop"), 0);
	ck_assert_int_eq(fs_unlink_in("/mnt/loop", "name", &e), -1);
}
END_TEST

TEST_PROGRAM("fs_replace", a_stream_is_written_whole_or_not_at_all,
	     replaces_and_leaves_nothing_else, puts_what_a_user_asked_for,
	     puts_into_what_is_no_plain_file, a_link_is_replaced_itself,
	     what_a_killed_writer_left_goes_with_the_next, what_cannot_be_replaced,
	     where_there_is_no_O_TMPFILE, writers_do_not_mix, a_killed_writer_does_no_harm,
	     a_file_is_unlinked, a_file_of_a_folder_that_may_be_gone)
