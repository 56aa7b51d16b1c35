/* SPDX-License-Identifier: Apache-2.0 */
/* lock_test.c: shows that a lock excludes others, has a deadline, and ends with its holder. */
#include "lib/sys/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/base/ctx.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

static int top(void)
{
	int fd = open(testing_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(locks_exclude_and_time_out)
{
	auto_fd int dir = top();
	struct err e = { 0 };
	struct stat st;
	int first = lock_name(dir, "one", true, 0, &e);
	int64_t start = ctx_mono_ms();

	ck_assert_msg(first >= 0, "%s", e.msg);
	ck_assert_int_eq(fstatat(dir, "lock", &st, 0), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(lock_name(dir, "one", false, 30, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_str_eq(e.msg, "another process works on one; try again");
	ck_assert_int_ge(ctx_mono_ms() - start, 30);
	auto_fd int other = lock_name(dir, "another", false, 0, &e);
	ck_assert_int_ge(other, 0);
	(void)close(first);
	auto_fd int second = lock_name(dir, "one", false, 0, &e);
	ck_assert_int_ge(second, 0);
}
END_TEST

/* Two processes open one namespace, each for itself. */
START_TEST(a_namespace_is_locked)
{
	auto_fd int one = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC),
		    other = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	struct err e = { 0 };

	ck_assert_int_eq(lock_descriptor(one, "the pod", 0, &e), 0);
	ck_assert_int_eq(lock_descriptor(one, "the pod", 0, &e), 0);
	ck_assert_int_eq(lock_descriptor(other, "the pod", 10, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_str_eq(e.msg, "another process works on the pod; try again");
	(void)close(one);
	one = -1;
	ck_assert_int_eq(lock_descriptor(other, "the pod", 0, &e), 0);
}
END_TEST

START_TEST(the_file_is_made_only_when_asked_for_and_no_link)
{
	auto_fd int dir = top();
	struct err e = { 0 };

	ck_assert_int_eq(lock_name(dir, "one", false, 0, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(symlinkat("elsewhere", dir, "lock"), 0);
	ck_assert_int_eq(lock_name(dir, "one", true, 0, &e), -1);
	ck_assert_int_eq(e.errnum, ELOOP);
}
END_TEST

START_TEST(a_lock_is_had_when_its_holder_dies)
{
	auto_fd int dir = top();
	struct err e = { 0 };
	int ready[2];
	char c;

	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);

	pid_t holder = fork();

	if (holder == 0) {
		int fd = lock_name(dir, "one", true, 0, &e);

		if (fd < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	ck_assert_int_eq(lock_name(dir, "one", true, 0, &e), -1);
	ck_assert_int_eq(kill(holder, SIGKILL), 0);
	auto_fd int fd = lock_name(dir, "one", true, 10000, &e);
	ck_assert_msg(fd >= 0, "%s", e.msg);
	ck_assert_int_eq(waitpid(holder, NULL, 0), holder);
}
END_TEST

TEST_PROGRAM("lock", locks_exclude_and_time_out, a_namespace_is_locked,
	     the_file_is_made_only_when_asked_for_and_no_link, a_lock_is_had_when_its_holder_dies)
