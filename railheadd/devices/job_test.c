/* SPDX-License-Identifier: Apache-2.0 */
/* job_test.c: children that answer, fail, say nothing or too much, and hang. */
#include "railheadd/devices/job.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static struct event_base *base;
static struct jobs *jobs;
static struct ended {
	unsigned times;
	char answer[64]; /* "": an error */
	struct err why;
} ended;

static void done(void *arg, const struct json *answer, const struct err *why)
{
	struct ended *to = arg;

	to->times++;
	(void)snprintf(to->answer, sizeof(to->answer), "%s",
		       answer ? json_text(answer, "text") : "");
	if (!answer)
		to->why = *why;
}

static bool has_ended(const void *arg)
{
	return ((const struct ended *)arg)->times > 0;
}

static void begin(void)
{
	struct err e;

	base = loop_new();
	ck_assert_int_eq(jobs_new(base, &jobs, &e), 0);
}

static void end(void)
{
	jobs_free(jobs);
	loop_free(base);
}

static struct job *start(int (*run)(void), int timeout_ms)
{
	const struct job_conf conf = { "a job", run, "hello", timeout_ms, done, &ended };
	struct job *j = NULL;
	struct err e;

	ended = (struct ended){ .times = 0 };
	ck_assert_msg(job_start(jobs, &conf, &j, &e) == 0, "%s", e.msg);
	return j;
}

static void run_to_end(int (*run)(void), int timeout_ms)
{
	(void)start(run, timeout_ms);
	loop_until(base, has_ended, &ended);
}

static int says_its_input(void)
{
	auto_json struct json *o = json_new_object();
	char text[64];

	return !fgets(text, sizeof(text), stdin) || json_add_str(o, "text", text) ||
	       job_say(o, NULL);
}

static int says_an_error(void)
{
	struct err e;

	err_set(&e, ERR_NOTFOUND, 0, "no such device");
	err_hint(&e, "look at it");
	return job_say(NULL, &e);
}

static int says_nothing(void)
{
	return 0;
}

static int says_half(void)
{
	return fputs("{\"answer\":{\"te", stdout) < 0 || fflush(stdout);
}

static int says_something_else(void)
{
	return fputs("{\"x\":1}", stdout) < 0 || fflush(stdout);
}

static int says_too_much(void)
{
	static const char line[4096] = { ' ' };

	while (fwrite(line, 1, sizeof(line), stdout) == sizeof(line)) {
	}
	return 0;
}

static int hangs(void)
{
	while (pause()) {
	}
	return 0;
}

START_TEST(a_child_answers)
{
	begin();
	run_to_end(says_its_input, 60000);
	ck_assert_str_eq(ended.answer, "hello");
	ck_assert_uint_eq(ended.times, 1);
	end();
}
END_TEST

START_TEST(a_child_that_fails)
{
	begin();
	run_to_end(says_an_error, 60000);
	ck_assert_int_eq(ended.why.code, ERR_NOTFOUND);
	ck_assert_str_eq(ended.why.msg, "no such device");
	ck_assert_str_eq(ended.why.detail, "look at it");
	run_to_end(says_nothing, 60000);
	ck_assert_int_eq(ended.why.code, ERR_DELEGATE);
	ck_assert_str_eq(ended.why.msg, "a job: the child ended without an answer");
	run_to_end(says_half, 60000);
	ck_assert_int_eq(ended.why.code, ERR_DECODE);
	run_to_end(says_something_else, 60000);
	ck_assert_int_eq(ended.why.code, ERR_DELEGATE);
	run_to_end(says_too_much, 60000);
	ck_assert_ptr_nonnull(strstr(ended.why.msg, "printed more than"));
	end();
}
END_TEST

START_TEST(a_child_that_hangs_ends_at_its_deadline)
{
	begin();
	run_to_end(hangs, 20);
	ck_assert_int_eq(ended.why.code, ERR_AGAIN);
	ck_assert_str_eq(ended.why.msg, "a job: no answer within 20 ms: Connection timed out");
	run_to_end(says_its_input, 60000);
	ck_assert_str_eq(ended.answer, "hello");
	end();
}
END_TEST

START_TEST(a_cancelled_job_has_no_end)
{
	begin();
	job_cancel(start(hangs, 60000));
	job_cancel(NULL);
	(void)start(hangs, 60000);
	end();
	ck_assert_uint_eq(ended.times, 0);
}
END_TEST

/* Its output stays open after it was killed, as that of a child that hangs in the kernel. */
static int leaves_its_output_open(void)
{
	char pid[32];
	pid_t other = fork();

	if (other == 0 && setsid() > 0) {
		while (pause()) {
		}
	}
	(void)snprintf(pid, sizeof(pid), "%d\n", (int)other);
	FILE *f = fopen("/mnt/pids", "ae");
	if (!f || fputs(pid, f) < 0 || fclose(f))
		return 1;
	return hangs();
}

static void end_them(void)
{
	FILE *f = fopen("/mnt/pids", "re");
	char line[32];

	while (f && fgets(line, sizeof(line), f))
		ck_assert_int_eq(kill((pid_t)strtol(line, NULL, 10), SIGKILL), 0);
	if (f)
		(void)fclose(f);
}

static struct err refusal;

static bool is_refused(const void *arg)
{
	const struct job_conf conf = { "a job", says_its_input, "", 60000, done, &ended };
	struct job *j = NULL;

	(void)arg;
	if (job_start(jobs, &conf, &j, &refusal) == 0) {
		job_cancel(j);
		return false;
	}
	return true;
}

static bool is_accepted(const void *arg)
{
	return !is_refused(arg);
}

START_TEST(children_in_the_kernel_have_a_limit)
{
	(void)testing_dir();
	begin();
	for (int i = 0; i < JOBS_HELD_MAX; i++)
		run_to_end(leaves_its_output_open, 500);
	loop_until(base, is_refused, NULL);
	ck_assert_int_eq(refusal.code, ERR_BUSY);
	ck_assert_str_eq(refusal.msg, "a job: 4 earlier children hang in the kernel");
	end_them();
	loop_until(base, is_accepted, NULL);
	end();
}
END_TEST

/* As when a kubelet closes its connection with many calls: they end as soon as the loop runs. */
START_TEST(cancelled_children_do_not_hang)
{
	begin();
	for (int i = 0; i < 2 * JOBS_HELD_MAX; i++)
		job_cancel(start(hangs, 60000));
	run_to_end(says_its_input, 60000);
	ck_assert_str_eq(ended.answer, "hello");
	end();
}
END_TEST

TEST_PROGRAM("railheadd/devices/job", a_child_answers, a_child_that_fails,
	     a_child_that_hangs_ends_at_its_deadline, a_cancelled_job_has_no_end,
	     children_in_the_kernel_have_a_limit, cancelled_children_do_not_hang)
