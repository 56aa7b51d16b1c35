/* SPDX-License-Identifier: Apache-2.0 */
/* sm_queue_test.c: what is queued is tried again, in order, and never overtakes an ADD. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "fabric/sm.h"
#include "fabric/testing/sm.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

START_TEST(no_membership_survives_a_boot)
{
	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(2, "b");
	testsm_boot('2');
	testsm_entries_are("00:01 a leaving 0\n00:02 b leaving 0\n");
	testsm_must_add(2, "c"); /* which takes over 2, and removes 1 */
	testsm_entries_are("00:02 c member 0\n");
	testsm_log_is("10-a add a\n10-a add b\n10-a add c\n10-a remove a\n");
}
END_TEST

static void wait_for(const char *path)
{
	const struct timespec nap = { .tv_nsec = 5000000 };
	struct stat st;

	while (stat(path, &st))
		(void)nanosleep(&nap, NULL);
}

static int retry_all(struct err *e)
{
	return sm_retry(&testsm_ctx, (struct sm_budget){ .budget_ms = TESTSM_SOON }, NULL, NULL, e);
}

static int add_again(struct err *e)
{
	return testsm_add(1, "b", e);
}

static pid_t start_child(int (*fn)(struct err *e))
{
	pid_t pid = fork();

	if (pid == 0) {
		struct err e;

		_exit(fn(&e) ? 1 : 0);
	}
	return pid;
}

static void ends_well(pid_t pid)
{
	int status = -1;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(a_removal_that_runs_cannot_overtake_an_ADD)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	testsm_log_is("10-a add a\n10-a remove a\n");
	testsm_behave("10-a", "remove",
		      ">/mnt/started; while [ ! -e /mnt/go ]; do sleep 0.01; done; echo late "
		      ">>" TESTSM_LOG);
	pid_t remover = start_child(retry_all);
	wait_for("/mnt/started");
	/* Another retry, and a DEL, leave it to the one that runs. */
	testsm_retry_gives("");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	pid_t adder = start_child(add_again);
	testing_file("/mnt/go", 0644, "");
	ends_well(remover);
	ends_well(adder);
	testsm_log_is("10-a remove a\nlate\n10-a add b\n");
	testsm_entries_are("00:01 b member 0\n");
}
END_TEST

#define WAITS ">/mnt/started; while [ ! -e /mnt/go ]; do sleep 0.01; done"

START_TEST(a_pod_that_starts_while_the_queue_runs_keeps_its_membership)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(2, "b");
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	ck_assert_int_eq(testsm_del("b", TESTSM_SOON, &e), 1);
	testsm_log_is("10-a add a\n10-a add b\n10-a remove a\n10-a remove b\n");
	testsm_behave("10-a", "remove", WAITS);
	pid_t remover =
		start_child(retry_all); /* at work on the first, with the second on its list */
	wait_for("/mnt/started");
	testsm_must_add(2, "c");
	testing_file("/mnt/go", 0644, "");
	ends_well(remover);
	testsm_log_is("10-a remove a\n10-a add c\n");
	testsm_entries_are("00:02 c member 0\n");
}
END_TEST

static int del_old(struct err *e)
{
	return testsm_del("a", TESTSM_SOON, e);
}

/* The process has the lock file open: it waits for a lock. */
static void wait_for_lock(pid_t pid)
{
	char path[64], link[PATH_MAX];

	for (int fd = 0;; fd = fd < 32 ? fd + 1 : 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
		ssize_t n = readlink(path, link, sizeof(link) - 1);

		link[n < 0 ? 0 : n] = '\0';
		if (strcmp(link, TESTSM_STATE "/sm/lock") == 0)
			return;
	}
}

START_TEST(a_DEL_that_waits_for_an_ADD_leaves_the_new_owner_alone)
{
	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_behave("10-a", "add", WAITS);
	pid_t adder = start_child(add_again);
	wait_for("/mnt/started");
	pid_t remover = start_child(del_old); /* which has read that the owner is a */
	wait_for_lock(remover);
	testing_file("/mnt/go", 0644, "");
	ends_well(adder);
	ends_well(remover);
	testsm_log_is("10-a add a\n10-a add b\n");
	testsm_entries_are("00:01 b member 0\n");
}
END_TEST

START_TEST(a_removal_waits_for_a_hook_that_is_gone)
{
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(2, "b");
	ck_assert_int_eq(unlink(TESTSM_HOOK), 0);
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	ck_assert_ptr_nonnull(strstr(e.msg, "no hook"));
	ck_assert_int_eq(testsm_del("b", TESTSM_SOON, &e), 1);
	testsm_retry_gives("a failed\nb failed\n");
	/* A pod of today keeps what the hook gave to the one of yesterday. */
	testsm_must_add(2, "c");
	testsm_hook(TESTSM_HOOK);
	testsm_retry_gives("a done\n");
	testsm_entries_are("");
	testsm_log_is("10-a add a\n10-a add b\n10-a remove a\n");
}
END_TEST

START_TEST(the_longest_wait_comes_first_and_a_failure_may_end_the_queue)
{
	const struct sm_budget careful = { .budget_ms = TESTSM_SOON, .stop_at_failure = true };
	char text[1024] = "";
	struct err e = { .msg = "" };

	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	testsm_must_add(2, "b");
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("b", TESTSM_SOON, &e), 1);
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	ck_assert_int_eq(sm_retry(&testsm_ctx, careful, testsm_note_result, text, &e), 0);
	ck_assert_str_eq(text, "b failed\n");
	testsm_retry_gives("a failed\nb failed\n");
	*text = '\0';
	ck_assert_int_eq(
		sm_retry(&testsm_ctx, (struct sm_budget){ 0 }, testsm_note_result, text, &e), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_person_may_drop_what_is_queued)
{
	struct err e = { .msg = "" };

	testsm();
	ck_assert_int_eq(sm_forget(&testsm_ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(1, "a");
	ck_assert_int_eq(sm_forget(&testsm_ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	testsm_behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(testsm_del("a", TESTSM_SOON, &e), 1);
	ck_assert_int_eq(sm_forget(&testsm_ctx, 0x0001, guid_of_number(1), &e), 0);
	ck_assert_int_eq(sm_forget(&testsm_ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	testsm_entries_are("");
}
END_TEST

START_TEST(a_damaged_file_is_left_alone_until_an_ADD_replaces_it)
{
	testsm();
	testsm_hook(TESTSM_HOOK);
	testsm_must_add(2, "b");
	testing_file(TESTSM_STATE "/sm/0001-0000000000000001", 0600, "{");
	testing_file(TESTSM_STATE "/sm/unrelated", 0600, "{");
	testsm_entries_are("00:02 b member 0\n");
	testsm_must_del("a");
	testsm_retry_gives("");
	testsm_must_add(1, "a");
	testsm_entries_are("00:01 a member 0\n00:02 b member 0\n");
	testing_file(TESTSM_STATE "/sm/0001-0000000000000001", 0600, "{");
	struct err e = { .msg = "" };
	ck_assert_msg(sm_forget(&testsm_ctx, 1, guid_of_number(1), &e) == 0, "%s", e.msg);
}
END_TEST

TEST_PROGRAM("sm_queue", no_membership_survives_a_boot, a_removal_that_runs_cannot_overtake_an_ADD,
	     a_pod_that_starts_while_the_queue_runs_keeps_its_membership,
	     a_DEL_that_waits_for_an_ADD_leaves_the_new_owner_alone,
	     a_removal_waits_for_a_hook_that_is_gone,
	     the_longest_wait_comes_first_and_a_failure_may_end_the_queue,
	     a_person_may_drop_what_is_queued,
	     a_damaged_file_is_left_alone_until_an_ADD_replaces_it)
