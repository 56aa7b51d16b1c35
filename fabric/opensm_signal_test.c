/* SPDX-License-Identifier: Apache-2.0 */
/* opensm_signal_test.c: SIGHUP reaches opensm, and no other process. */
#include "fabric/opensm_signal.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

/* A process that SIGHUP ends, and its entry in the /proc of this test. */
static pid_t process(const char *comm)
{
	char path[64];
	pid_t pid = fork();

	if (pid == 0) {
		(void)signal(SIGHUP, SIG_DFL);
		for (;;)
			(void)pause();
	}
	(void)snprintf(path, sizeof(path), "/mnt/proc/%d", pid);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	testing_append(path, sizeof(path), "/comm");
	testing_file(path, 0644, comm);
	return pid;
}

static void was_hung_up(pid_t pid, bool expected)
{
	int status = 0;

	if (!expected)
		(void)kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), expected ? SIGHUP : SIGKILL);
}

static struct ctx fixture(void)
{
	struct ctx ctx;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/proc", 0755), 0);
	ctx_init(&ctx, "test");
	ctx.proc = "/mnt/proc";
	return ctx;
}

static size_t reloads(const struct ctx *ctx, const char *pid_file)
{
	struct err e = { .msg = "" };
	size_t n = 99;

	ck_assert_msg(opensm_reload(ctx, pid_file, &n, &e) == 0, "%s", e.msg);
	return n;
}

START_TEST(each_opensm_gets_the_signal)
{
	struct ctx ctx = fixture();
	pid_t a = process("opensm\n"), b = process("opensm\n"), c = process("opensmd\n");

	ck_assert_int_eq(mkdir("/mnt/proc/self", 0755) | mkdir("/mnt/proc/0", 0755), 0);
	testing_file("/mnt/proc/self/comm", 0644, "opensm\n");
	testing_file("/mnt/proc/0/comm", 0644, "opensm\n");
	ck_assert_uint_eq(reloads(&ctx, NULL), 2);
	was_hung_up(a, true);
	was_hung_up(b, true);
	was_hung_up(c, false);
	ck_assert_uint_eq(reloads(&ctx, NULL), 0); /* they have ended */
}
END_TEST

START_TEST(a_file_names_one_of_them)
{
	struct ctx ctx = fixture();
	pid_t a = process("opensm\n"), b = process("opensm\n"), c = process("other\n");
	char text[32];

	ck_assert_uint_eq(reloads(&ctx, "/mnt/pid"), 0);
	(void)snprintf(text, sizeof(text), "%d\n", a);
	testing_file("/mnt/pid", 0644, text);
	ck_assert_uint_eq(reloads(&ctx, "/mnt/pid"), 1);
	was_hung_up(a, true);
	/* a stale file */
	(void)snprintf(text, sizeof(text), "%d", c);
	testing_file("/mnt/pid", 0644, text);
	ck_assert_uint_eq(reloads(&ctx, "/mnt/pid"), 0);
	testing_file("/mnt/pid", 0644, "x");
	ck_assert_uint_eq(reloads(&ctx, "/mnt/pid"), 0);
	was_hung_up(b, false);
	was_hung_up(c, false);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_an_error)
{
	struct ctx ctx = fixture();
	struct err e = { .msg = "" };
	size_t n = 0;

	ck_assert_int_eq(opensm_reload(&ctx, "/mnt/proc", &n, &e), -1);
	ctx.proc = "/mnt/nosuch";
	ck_assert_int_eq(opensm_reload(&ctx, NULL, &n, &e), -1);
}
END_TEST

TEST_PROGRAM("opensm_signal", each_opensm_gets_the_signal, a_file_names_one_of_them,
	     a_file_that_cannot_be_read_is_an_error)
