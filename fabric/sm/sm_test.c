/* SPDX-License-Identifier: Apache-2.0 */
/* sm_test.c: memberships with hooks that work, fail, hang and kill their caller. */
#include "fabric/sm/sm.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define ETC    "/mnt/etc"
#define STATE  "/mnt/state"
#define HOOK   ETC "/sm.d/10-a"
#define SECOND ETC "/sm.d/20-b"
#define LOG    "/mnt/log"
#define SOON   10000 /* ms; no test waits for it */

/* Writes "NAME ACTION OWNER" into the log; /mnt/NAME.ACTION says what happens then. */
#define HOOK_TEXT                                                                                  \
	"#!/bin/sh\n"                                                                              \
	"m=$(cat)\n"                                                                               \
	"case $m in *'\"action\":\"add\"'*) a=add ;; *) a=remove ;; esac\n"                        \
	"o=${m#*'\"container\":\"'}\n"                                                             \
	"printf '%s %s %s\\n' \"${0##*/}\" $a \"${o%%\\\"*}\" >>" LOG "\n"                         \
	"[ ! -e /mnt/${0##*/}.$a ] || . /mnt/${0##*/}.$a\n"

static struct ctx ctx;
static int64_t clock_ns;

static int64_t tick(void *clock)
{
	(void)clock;
	return clock_ns += 1000000000;
}

static void boot(char digit)
{
	char id[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\n";

	for (char *c = id; *c; c++)
		*c = *c == 'x' ? digit : *c;
	testing_file("/mnt/proc/sys/kernel/random/boot_id", 0644, id);
}

static void begin(void)
{
	static const char *const dirs[] = { ETC,
					    ETC "/sm.d",
					    "/mnt/proc",
					    "/mnt/proc/sys",
					    "/mnt/proc/sys/kernel",
					    "/mnt/proc/sys/kernel/random" };

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		ck_assert_int_eq(mkdir(dirs[i], 0755), 0);
	ctx_init(&ctx, "test");
	ctx.etc_dir = ETC;
	ctx.state_dir = STATE;
	ctx.proc = "/mnt/proc";
	ctx.now = tick;
	ctx.log.level = LOG_LEVEL_ERROR;
	boot('1');
}

static void hook(const char *path)
{
	testing_file(path, 0755, HOOK_TEXT);
}

/* "10-a", "add": from now on this hook does that then, in shell. NULL: it succeeds again. */
static void behave(const char *name, const char *action, const char *shell)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/mnt/%s.%s", name, action);
	if (shell)
		testing_file(path, 0644, shell);
	else
		ck_assert_int_eq(unlink(path), 0);
}

static struct sm_member member(uint64_t guid, const char *container)
{
	return (struct sm_member){ .pkey = 0x8001,
				   .guid = guid_of_number(guid),
				   .who = { .network = "ib0",
					    .container = container,
					    .ifname = "net1",
					    .pod_namespace = "demo",
					    .pod_name = "pod" } };
}

static int add(uint64_t guid, const char *container, struct err *e)
{
	const struct sm_member m = member(guid, container);

	return sm_add(&ctx, &m, SOON, e);
}

static void must_add(uint64_t guid, const char *container)
{
	struct err e = { .msg = "" };

	ck_assert_msg(add(guid, container, &e) == 0, "%s", e.msg);
}

static int del(const char *container, int timeout_ms, struct err *e)
{
	const struct sm_who who = { .container = container, .ifname = "net1" };

	return sm_remove(&ctx, &who, timeout_ms, e);
}

static void must_del(const char *container)
{
	struct err e = { .msg = "" };

	ck_assert_msg(del(container, SOON, &e) == 0, "%s", e.msg);
}

static void log_is(const char *expected)
{
	auto_free char *text = NULL;
	struct err e = { .msg = "" };
	ssize_t n = fs_read_at(AT_FDCWD, LOG, 65536, &text, &e);

	ck_assert_str_eq(n < 0 ? "" : text, expected);
	(void)unlink(LOG);
}

static int note_entry(const struct sm_entry *x, void *arg)
{
	char *text = arg, line[256], guid[GUID_STR_LEN];

	(void)snprintf(line, sizeof(line), "%s %s %s %u\n", guid_format(x->member.guid, guid) + 18,
		       x->member.who.container, x->leaving ? "leaving" : "member", x->tries);
	testing_append(text, 1024, line);
	return 0;
}

/* "GUID-END OWNER STATE TRIES", a line for each. */
static void entries_are(const char *expected)
{
	char text[1024] = "";
	struct err e = { .msg = "" };

	ck_assert_msg(sm_each(&ctx, note_entry, text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(text, expected);
}

static void note_result(const struct sm_entry *x, const struct err *why, void *arg)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "%s %s\n", x->member.who.container,
		       why ? "failed" : "done");
	testing_append(arg, 1024, line);
}

static void retry_gives(const char *expected)
{
	char text[1024] = "";
	struct err e = { .msg = "" };
	const struct sm_budget budget = { .budget_ms = SOON };

	ck_assert_msg(sm_retry(&ctx, budget, note_result, text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(text, expected);
}

START_TEST(without_a_hook_nothing_is_written)
{
	struct stat st;

	begin();
	must_add(1, "a");
	must_del("a");
	entries_are("");
	retry_gives("");
	ck_assert_int_eq(stat(STATE, &st), -1);
	ctx.etc_dir = NULL;
	must_add(1, "a");
}
END_TEST

START_TEST(hooks_run_in_the_order_of_names)
{
	begin();
	hook(SECOND);
	hook(HOOK);
	testing_file(ETC "/sm.d/05-old~", 0644, "");
	testing_file(ETC "/sm.d/06-x.dpkg-old", 0644, "");
	testing_file(ETC "/sm.d/.hidden", 0644, "");
	must_add(1, "a");
	log_is("10-a add a\n20-b add a\n");
	entries_are("00:01 a member 0\n");
	must_del("a");
	log_is("10-a remove a\n20-b remove a\n");
	entries_are("");
	must_del("a"); /* a second DEL has nothing to do */
	log_is("");
}
END_TEST

START_TEST(a_failing_hook_fails_the_ADD_and_its_words_are_in_the_error)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	hook(SECOND);
	behave("20-b", "add", "echo 'first'; printf 'no such\\tpartition \\377\\n\\n' >&2; exit 3");
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
	ck_assert_ptr_nonnull(strstr(e.msg, "20-b failed with exit status 3: no such partition"));
	ck_assert_ptr_nonnull(strstr(e.msg, "0x8001"));
	ck_assert_ptr_nonnull(strstr(e.detail, "railhead-sm.d(5)"));
	log_is("10-a add a\n20-b add a\n10-a remove a\n20-b remove a\n");
	entries_are("");
	/* The first failure ends an ADD. */
	behave("10-a", "add", "kill -9 $$");
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "10-a was ended by signal 9: it printed nothing"));
	log_is("10-a add a\n10-a remove a\n20-b remove a\n");
}
END_TEST

START_TEST(an_undo_that_fails_is_queued)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	behave("10-a", "add", "exit 1");
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "queued"));
	entries_are("00:01 a leaving 1\n");
	behave("10-a", "remove", NULL);
	retry_gives("a done\n");
	entries_are("");
}
END_TEST

START_TEST(a_hook_that_fails_on_DEL_is_called_again_by_the_next_plugin)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	behave("10-a", "remove", "echo away; exit 1");
	ck_assert_int_eq(del("a", SOON, &e), 1);
	ck_assert_ptr_nonnull(strstr(e.msg, "away"));
	ck_assert_int_eq(del("a", SOON, &e), 1); /* a second DEL tries at once */
	entries_are("00:01 a leaving 2\n");
	retry_gives("a failed\n");
	entries_are("00:01 a leaving 3\n");
	log_is("10-a add a\n10-a remove a\n10-a remove a\n10-a remove a\n");
	behave("10-a", "remove", NULL);
	must_add(2, "b");
	log_is("10-a add b\n10-a remove a\n");
	entries_are("00:02 b member 0\n");
}
END_TEST

START_TEST(a_hook_that_hangs_holds_neither_ADD_nor_DEL)
{
	const struct sm_member m = member(2, "b");
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	behave("10-a", "remove", "sleep 600");
	int64_t start = ctx_mono_ms();
	ck_assert_int_eq(del("a", 200, &e), 1);
	ck_assert_int_lt(ctx_mono_ms() - start, 60000);
	ck_assert_ptr_nonnull(strstr(e.msg, "did not finish in time"));
	entries_are("00:01 a leaving 1\n");
	behave("10-a", "remove", NULL);
	behave("10-a", "add", "sleep 600");
	ck_assert_int_eq(sm_add(&ctx, &m, 200, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "reachable"));
	entries_are("00:01 a leaving 1\n");
}
END_TEST

START_TEST(no_time_is_left_for_a_second_hook)
{
	const struct sm_member m = member(1, "a");
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	ck_assert_int_eq(sm_add(&ctx, &m, 0, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "no time was left"));
	log_is("");
	entries_are(""); /* no hook ran, so there is nothing to undo */
}
END_TEST

START_TEST(an_ADD_cancels_the_queued_removal_of_its_membership)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(del("a", SOON, &e), 1);
	behave("10-a", "remove", NULL);
	must_add(1, "b");
	retry_gives("");
	must_del("a");
	log_is("10-a add a\n10-a remove a\n10-a add b\n");
	entries_are("00:01 b member 0\n");
}
END_TEST

START_TEST(a_late_DEL_leaves_the_membership_of_the_new_pod)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	must_add(1, "b");
	must_del("a");
	entries_are("00:01 b member 0\n");
	/* and a new pod that fails leaves that of the old one */
	behave("10-a", "add", "exit 1");
	ck_assert_int_eq(add(1, "c", &e), -1);
	must_del("c");
	entries_are("00:01 b member 0\n");
	log_is("10-a add a\n10-a add b\n10-a add c\n");
}
END_TEST

START_TEST(one_attachment_may_have_several_memberships)
{
	struct sm_member m = member(1, "a");
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	must_add(2, "a");
	m.pkey = 0x0002;
	ck_assert_int_eq(sm_add(&ctx, &m, SOON, &e), 0);
	must_add(3, "b");
	entries_are("00:01 a member 0\n00:02 a member 0\n00:03 b member 0\n00:01 a member 0\n");
	must_del("a");
	entries_are("00:03 b member 0\n");
}
END_TEST

START_TEST(no_membership_survives_a_boot)
{
	begin();
	hook(HOOK);
	must_add(1, "a");
	must_add(2, "b");
	boot('2');
	entries_are("00:01 a leaving 0\n00:02 b leaving 0\n");
	must_add(2, "c"); /* which takes over 2, and removes 1 */
	entries_are("00:02 c member 0\n");
	log_is("10-a add a\n10-a add b\n10-a add c\n10-a remove a\n");
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
	return add(1, "a", e);
}

static int del_one(struct err *e)
{
	return del("a", SOON, e);
}

START_TEST(a_plugin_that_is_killed_while_a_hook_runs_loses_nothing)
{
	int status;

	begin();
	hook(HOOK);
	behave("10-a", "add", "kill -9 $PPID");
	status = in_child(add_one);
	ck_assert(WIFSIGNALED(status));
	entries_are("00:01 a leaving 0\n");
	must_del("a");
	entries_are("");
	behave("10-a", "add", NULL);
	must_add(1, "a");
	behave("10-a", "remove", "kill -9 $PPID");
	status = in_child(del_one);
	ck_assert(WIFSIGNALED(status));
	entries_are("00:01 a leaving 0\n");
	behave("10-a", "remove", NULL);
	retry_gives("a done\n");
	entries_are("");
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
	return sm_retry(&ctx, (struct sm_budget){ .budget_ms = SOON }, NULL, NULL, e);
}

static int add_again(struct err *e)
{
	return add(1, "b", e);
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

	begin();
	hook(HOOK);
	must_add(1, "a");
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(del("a", SOON, &e), 1);
	log_is("10-a add a\n10-a remove a\n");
	behave("10-a", "remove",
	       ">/mnt/started; while [ ! -e /mnt/go ]; do sleep 0.01; done; echo late >>" LOG);
	pid_t remover = start_child(retry_all);
	wait_for("/mnt/started");
	/* Another retry, and a DEL, leave it to the one that runs. */
	retry_gives("");
	ck_assert_int_eq(del("a", SOON, &e), 1);
	pid_t adder = start_child(add_again);
	testing_file("/mnt/go", 0644, "");
	ends_well(remover);
	ends_well(adder);
	log_is("10-a remove a\nlate\n10-a add b\n");
	entries_are("00:01 b member 0\n");
}
END_TEST

START_TEST(hooks_that_others_may_change_are_refused)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	ck_assert_int_eq(chmod(HOOK, 0775), 0);
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.detail, "chmod go-w"));
	ck_assert_int_eq(chmod(HOOK, 0644), 0);
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "chmod +x"));
	ck_assert_int_eq(chmod(HOOK, 0755), 0);
	ck_assert_int_eq(chmod(ETC "/sm.d", 0777), 0);
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	entries_are("");
	log_is("");
}
END_TEST

START_TEST(a_hook_without_an_interpreter_is_explained)
{
	struct err e = { .msg = "" };

	begin();
	testing_file(HOOK, 0755, "echo\n");
	ck_assert_int_eq(add(1, "a", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "#!/bin/sh"));
	entries_are("");
}
END_TEST

START_TEST(a_removal_waits_for_a_hook_that_is_gone)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	must_add(2, "b");
	ck_assert_int_eq(unlink(HOOK), 0);
	ck_assert_int_eq(del("a", SOON, &e), 1);
	ck_assert_ptr_nonnull(strstr(e.msg, "no hook"));
	ck_assert_int_eq(del("b", SOON, &e), 1);
	retry_gives("a failed\nb failed\n");
	/* A pod of today keeps what the hook gave to the one of yesterday. */
	must_add(2, "c");
	hook(HOOK);
	retry_gives("a done\n");
	entries_are("");
	log_is("10-a add a\n10-a add b\n10-a remove a\n");
}
END_TEST

START_TEST(the_longest_wait_comes_first_and_a_failure_may_end_the_queue)
{
	const struct sm_budget careful = { .budget_ms = SOON, .stop_at_failure = true };
	char text[1024] = "";
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	must_add(2, "b");
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(del("b", SOON, &e), 1);
	ck_assert_int_eq(del("a", SOON, &e), 1);
	ck_assert_int_eq(sm_retry(&ctx, careful, note_result, text, &e), 0);
	ck_assert_str_eq(text, "b failed\n");
	retry_gives("a failed\nb failed\n");
	*text = '\0';
	ck_assert_int_eq(sm_retry(&ctx, (struct sm_budget){ 0 }, note_result, text, &e), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(a_person_may_drop_what_is_queued)
{
	struct err e = { .msg = "" };

	begin();
	ck_assert_int_eq(sm_forget(&ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	hook(HOOK);
	must_add(1, "a");
	ck_assert_int_eq(sm_forget(&ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(del("a", SOON, &e), 1);
	ck_assert_int_eq(sm_forget(&ctx, 0x0001, guid_of_number(1), &e), 0);
	ck_assert_int_eq(sm_forget(&ctx, 0x8001, guid_of_number(1), &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	entries_are("");
}
END_TEST

START_TEST(a_damaged_file_is_left_alone_until_an_ADD_replaces_it)
{
	begin();
	hook(HOOK);
	must_add(2, "b");
	testing_file(STATE "/sm/0001-0000000000000001", 0600, "{");
	testing_file(STATE "/sm/unrelated", 0600, "{");
	entries_are("00:02 b member 0\n");
	must_del("a");
	retry_gives("");
	must_add(1, "a");
	entries_are("00:01 a member 0\n00:02 b member 0\n");
	testing_file(STATE "/sm/0001-0000000000000001", 0600, "{");
	struct err e = { .msg = "" };
	ck_assert_msg(sm_forget(&ctx, 1, guid_of_number(1), &e) == 0, "%s", e.msg);
}
END_TEST

START_TEST(a_removal_that_cannot_be_recorded_fails_the_DEL_unless_it_succeeds)
{
	struct err e = { .msg = "" };

	begin();
	hook(HOOK);
	must_add(1, "a");
	/* A folder with the name of the temporary file: no new text can be written. */
	ck_assert_int_eq(mkdir(STATE "/sm/.0001-0000000000000001.tmp", 0700), 0);
	ck_assert_int_eq(mkdir(STATE "/sm/.0001-0000000000000001.tmp/x", 0700), 0);
	behave("10-a", "remove", "exit 1");
	ck_assert_int_eq(del("a", SOON, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "could not be queued"));
	behave("10-a", "remove", NULL);
	log_is("10-a add a\n10-a remove a\n");
	ck_assert_int_eq(del("a", SOON, &e), 0);
	log_is("10-a remove a\n");
}
END_TEST

TEST_PROGRAM("sm", without_a_hook_nothing_is_written, hooks_run_in_the_order_of_names,
	     a_failing_hook_fails_the_ADD_and_its_words_are_in_the_error,
	     an_undo_that_fails_is_queued,
	     a_hook_that_fails_on_DEL_is_called_again_by_the_next_plugin,
	     a_hook_that_hangs_holds_neither_ADD_nor_DEL, no_time_is_left_for_a_second_hook,
	     an_ADD_cancels_the_queued_removal_of_its_membership,
	     a_late_DEL_leaves_the_membership_of_the_new_pod,
	     one_attachment_may_have_several_memberships, no_membership_survives_a_boot,
	     a_plugin_that_is_killed_while_a_hook_runs_loses_nothing,
	     a_removal_that_runs_cannot_overtake_an_ADD, hooks_that_others_may_change_are_refused,
	     a_hook_without_an_interpreter_is_explained, a_removal_waits_for_a_hook_that_is_gone,
	     the_longest_wait_comes_first_and_a_failure_may_end_the_queue,
	     a_person_may_drop_what_is_queued,
	     a_damaged_file_is_left_alone_until_an_ADD_replaces_it,
	     a_removal_that_cannot_be_recorded_fails_the_DEL_unless_it_succeeds)
