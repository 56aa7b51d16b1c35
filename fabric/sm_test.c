/* SPDX-License-Identifier: Apache-2.0 */
/* sm_test.c: ADD and DEL with hooks that work, fail, hang and kill their caller. */
#include "fabric/sm.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "fabric/testing/sm.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

START_TEST(without_a_hook_nothing_is_written)
{
	struct stat st;

	testsm();
	testsm_must_add(1, "a");
	testsm_must_del("a");
	testsm_entries_are("");
	testsm_retry_gives("");
	ck_assert_int_eq(stat(TESTSM_STATE, &st), -1);
	testsm_ctx.etc_dir = NULL;
	testsm_must_add(1, "a");
}
END_TEST

START_TEST(hooks_run_in_the_order_of_names)
{
	testsm();
	testsm_hook(TESTSM_SECOND);
	testsm_hook(TESTSM_HOOK);
	testing_file(TESTSM_ETC "/sm.d/05-old~", 0644, "");
	testing_file(TESTSM_ETC "/sm.d/06-x.dpkg-old", 0644, "");
	testing_file(TESTSM_ETC "/sm.d/.hidden", 0644, "");
	testsm_must_add(1, "a");
	testsm_log_is("10-a add a\n20-b add a\n");
	testsm_entries_are("00:01 a member 0\n");
	testsm_must_del("a");
	testsm_log_is("10-a remove a\n20-b remove a\n");
	testsm_entries_are("");
	testsm_must_del("a"); /* a second DEL has nothing to do */
	testsm_log_is("");
}
END_TEST

START_TEST(a_failing_hook_fails_the_ADD_and_its_words_are_in_the_error)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_hook(TESTSM_SECOND);
	testsm_behave("20-b", "add",
		      "echo 'first'; printf 'no such\\tpartition \\377\\n\\n' >&2; exit 3");
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_DELEGATE);
	ck_assert_ptr_nonnull(strstr(e.msg, "20-b failed with exit status 3: no such partition"));
	ck_assert_ptr_nonnull(strstr(e.msg, "0x8001"));
	ck_assert_ptr_nonnull(strstr(e.detail, "railhead-sm.d(5)"));
	testsm_log_is("10-a add a\n20-b add a\n10-a remove a\n20-b remove a\n");
	testsm_entries_are("");
	/* The first failure ends an ADD. */
	testsm_behave("10-a", "add", "kill -9 $$");
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "10-a was ended by signal 9: it printed nothing"));
	testsm_log_is("10-a add a\n10-a remove a\n20-b remove a\n");
}
END_TEST

START_TEST(an_undo_that_fails_is_queued)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_behave("10-a", "add", "exit 1");
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "queued"));
	testsm_entries_are("00:01 a leaving 1\n");
	testsm_behave("10-a", "remove", NULL);
	testsm_retry_gives("a done\n");
	testsm_entries_are("");
}
END_TEST

START_TEST(a_hook_that_fails_on_DEL_is_called_again_by_the_next_plugin)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "remove", "echo away; exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	ck_assert_ptr_nonnull(strstr(e.msg, "away"));
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1); /* a second DEL tries at once */
	testsm_entries_are("00:01 a leaving 2\n");
	testsm_retry_gives("a failed\n");
	testsm_entries_are("00:01 a leaving 3\n");
	testsm_log_is("10-a add a\n10-a remove a\n10-a remove a\n10-a remove a\n");
	testsm_behave("10-a", "remove", NULL);
	testsm_must_add(2, "b");
	testsm_log_is("10-a add b\n10-a remove a\n");
	testsm_entries_are("00:02 b member 0\n");
}
END_TEST

START_TEST(a_hook_that_hangs_holds_neither_ADD_nor_DEL)
{
	const struct sm_member m = testsm_member(2, "b");
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "remove", "sleep 600");
	int64_t start = ctx_mono_ms();
	ck_assert_int_eq(testsm_del("a", 200, &e), 1);
	ck_assert_int_lt(ctx_mono_ms() - start, 60000);
	ck_assert_ptr_nonnull(strstr(e.msg, "did not finish in time"));
	testsm_entries_are("00:01 a leaving 1\n");
	testsm_behave("10-a", "remove", NULL);
	testsm_behave("10-a", "add", "sleep 600");
	ck_assert_int_eq(sm_add(&testsm_ctx, &m, 200, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "reachable"));
	testsm_entries_are("00:01 a leaving 1\n");
}
END_TEST

START_TEST(no_time_is_left_for_a_second_hook)
{
	const struct sm_member m = testsm_member(1, "a");
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	ck_assert_int_eq(sm_add(&testsm_ctx, &m, 0, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "no time was left"));
	testsm_log_is("");
	testsm_entries_are(""); /* no hook ran, so there is nothing to undo */
}
END_TEST

START_TEST(an_ADD_cancels_the_queued_removal_of_its_membership)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	testsm_behave("10-a", "remove", NULL);
	testsm_must_add(1, "b");
	testsm_retry_gives("");
	testsm_must_del("a");
	testsm_log_is("10-a add a\n10-a remove a\n10-a add b\n");
	testsm_entries_are("00:01 b member 0\n");
}
END_TEST

START_TEST(a_late_DEL_leaves_the_membership_of_the_new_pod)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(1, "b");
	testsm_must_del("a");
	testsm_entries_are("00:01 b member 0\n");
	/* and a new pod that fails leaves that of the old one */
	testsm_behave("10-a", "add", "exit 1");
	ck_assert_int_eq(testsm_add(1, "c", &e), -1);
	testsm_must_del("c");
	testsm_entries_are("00:01 b member 0\n");
	testsm_log_is("10-a add a\n10-a add b\n10-a add c\n");
}
END_TEST

START_TEST(one_attachment_may_have_several_memberships)
{
	struct sm_member m = testsm_member(1, "a");
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(2, "a");
	m.pkey = 0x0002;
	ck_assert_int_eq(sm_add(&testsm_ctx, &m, TESTSM_SOON, &e), 0);
	testsm_must_add(3, "b");
	testsm_entries_are(
		"00:01 a member 0\n00:02 a member 0\n00:03 b member 0\n00:01 a member 0\n");
	testsm_must_del("a");
	testsm_entries_are("00:03 b member 0\n");
}
END_TEST

/* Run fn in a child, which may be killed. Returns its wait status. */
static int in_child(int (*fn)(struct err *e))
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		struct err e;

		_exit(fn(&e) ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static int add_one(struct err *e)
{
	return testsm_add(1, "a", e);
}

static int del_one(struct err *e)
{
	return testsm_del("a", TESTSM_SOON, e);
}

START_TEST(a_plugin_that_is_killed_while_a_hook_runs_loses_nothing)
{
	int status;

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_behave("10-a", "add", "kill -9 $PPID");
	status = in_child(add_one);
	ck_assert(WIFSIGNALED(status));
	testsm_entries_are("00:01 a leaving 0\n");
	testsm_must_del("a");
	testsm_entries_are("");
	testsm_behave("10-a", "add", NULL);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "remove", "kill -9 $PPID");
	status = in_child(del_one);
	ck_assert(WIFSIGNALED(status));
	testsm_entries_are("00:01 a leaving 0\n");
	testsm_behave("10-a", "remove", NULL);
	testsm_retry_gives("a done\n");
	testsm_entries_are("");
}
END_TEST

START_TEST(hooks_that_others_may_change_are_refused)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	ck_assert_int_eq(chmod(TESTSM_HOOK, 0775), 0);
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.detail, "chmod go-w"));
	ck_assert_int_eq(chmod(TESTSM_HOOK, 0644), 0);
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "chmod +x"));
	ck_assert_int_eq(chmod(TESTSM_HOOK, 0755), 0);
	ck_assert_int_eq(chmod(TESTSM_ETC "/sm.d", 0777), 0);
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	testsm_entries_are("");
	testsm_log_is("");
}
END_TEST

START_TEST(a_hook_without_an_interpreter_is_explained)
{
	struct err e = { .msg = "" };

	testsm();
	testing_file(TESTSM_HOOK, 0755, "echo\n");
	ck_assert_int_eq(testsm_add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "#!/bin/sh"));
	testsm_entries_are("");
}
END_TEST

START_TEST(a_removal_that_cannot_be_recorded_fails_the_DEL_unless_it_succeeds)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	/* A folder with the name of the temporary file: no new text can be written. */
	ck_assert_int_eq(mkdir(TESTSM_STATE "/sm/.0001-0000000000000001.tmp", 0700), 0);
	ck_assert_int_eq(mkdir(TESTSM_STATE "/sm/.0001-0000000000000001.tmp/x", 0700), 0);
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "could not be queued"));
	testsm_behave("10-a", "remove", NULL);
	testsm_log_is("10-a add a\n10-a remove a\n");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 0);
	testsm_log_is("10-a remove a\n");
}
END_TEST

TEST_PROGRAM("sm", without_a_hook_nothing_is_written, hooks_run_in_the_order_of_names,
	     a_failing_hook_fails_the_ADD_and_its_words_are_in_the_error,
	     an_undo_that_fails_is_queued,
	     a_hook_that_fails_on_DEL_is_called_again_by_the_next_plugin,
	     a_hook_that_hangs_holds_neither_ADD_nor_DEL, no_time_is_left_for_a_second_hook,
	     an_ADD_cancels_the_queued_removal_of_its_membership,
	     a_late_DEL_leaves_the_membership_of_the_new_pod,
	     one_attachment_may_have_several_memberships,
	     a_plugin_that_is_killed_while_a_hook_runs_loses_nothing,
	     hooks_that_others_may_change_are_refused, a_hook_without_an_interpreter_is_explained,
	     a_removal_that_cannot_be_recorded_fails_the_DEL_unless_it_succeeds)
