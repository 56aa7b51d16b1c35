/* SPDX-License-Identifier: Apache-2.0 */
/* child_test.c: children that answer, print too much, and hang. */
#include "railheadd/watch/child.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static struct event_base *base;
static struct child *child;
static unsigned ends, gones; /* how often done, gone were called */
static void gone(void *arg);
static enum child_end end_was;
static char text_was[64];

static void done(void *arg, enum child_end how, const char *text, size_t len)
{
	(void)arg;
	ends++;
	end_was = how;
	ck_assert_int_eq(text == NULL, how != CHILD_ENDED);
	(void)snprintf(text_was, sizeof(text_was), "%.*s", (int)len, text ? text : "");
}

static void begin_with(size_t (*take)(void *, const char *, size_t), int (*run)(const void *),
		       int deadline_ms)
{
	struct child_conf conf = { .path = "test",
				   .take = take,
				   .run = run,
				   .deadline_ms = deadline_ms,
				   .text_max = 4096,
				   .done = done,
				   .gone = gone };
	struct err e;

	base = event_base_new();
	conf.base = base;
	ends = gones = 0;
	ck_assert_int_eq(child_new(&conf, &child, &e), 0);
	ck_assert(!child_runs(child));
}

static void begin(int (*run)(const void *), int deadline_ms)
{
	begin_with(NULL, run, deadline_ms);
}

static void end(void)
{
	child_free(child);
	event_base_free(base);
}

static const char *memory;

static void run(const char *text)
{
	unsigned before = ends;
	struct err e;

	memory = text;
	ck_assert_int_eq(child_start(child, &e), 0);
	while (ends == before)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
}

static int says_memory(const void *arg)
{
	(void)arg;
	return fputs(memory, stdout) < 0 || fflush(stdout);
}

START_TEST(one_after_the_other_has_our_memory)
{
	begin(says_memory, 60000);
	run("first");
	ck_assert_str_eq(text_was, "first");
	ck_assert(!child_runs(child));
	run("");
	ck_assert_int_eq(end_was, CHILD_ENDED);
	ck_assert_str_eq(text_was, "");
	run("third");
	ck_assert_str_eq(text_was, "third");
	ck_assert_uint_eq(ends, 3);
	end();
}
END_TEST

static int prints_for_ever(const void *arg)
{
	(void)arg;
	while (puts("line") >= 0) {
	}
	return 0;
}

START_TEST(too_much_output_is_dropped)
{
	begin(prints_for_ever, 60000);
	run("");
	ck_assert_int_eq(end_was, CHILD_TOO_MUCH);
	/* Its end is not waited for here: it may hang in the kernel. */
	ck_assert(child_runs(child) && child_is_late(child));
	while (child_runs(child))
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_uint_eq(ends, 1);
	run("");
	ck_assert_uint_eq(ends, 2);
	end();
}
END_TEST

static size_t taken; /* bytes of whole lines */

static size_t take_lines(void *arg, const char *text, size_t len)
{
	const char *last = memrchr(text, '\n', len);
	size_t n = last ? (size_t)(last - text) + 1 : 0;

	(void)arg;
	taken += n;
	return n;
}

/* Far more than text_max. */
static int prints_lines(const void *arg)
{
	(void)arg;
	for (int i = 0; i < 10000; i++) {
		if (printf("%05d\n", i) < 0)
			return 1;
	}
	return fputs("rest", stdout) < 0 || fflush(stdout);
}

static int prints_a_long_line(const void *arg)
{
	(void)arg;
	while (putchar('a') != EOF) {
	}
	return 0;
}

START_TEST(lines_are_taken_as_they_come)
{
	begin_with(take_lines, prints_lines, 60000);
	run("");
	ck_assert_int_eq(end_was, CHILD_ENDED);
	ck_assert_uint_eq(taken, 60000);
	ck_assert_str_eq(text_was, "rest");
	end();
	taken = 0;
	begin_with(take_lines, prints_a_long_line, 60000);
	run("");
	ck_assert_int_eq(end_was, CHILD_TOO_MUCH);
	ck_assert_uint_eq(taken, 0);
	end();
}
END_TEST

static int hangs(const void *arg)
{
	(void)arg;
	(void)puts("line");
	(void)fflush(stdout);
	while (pause()) {
	}
	return 0;
}

/* Once it is gone, nothing more is said, and another one may begin. */
START_TEST(a_late_one_is_told_once)
{
	begin(hangs, 20);
	run("");
	ck_assert_int_eq(end_was, CHILD_LATE);
	ck_assert(child_is_late(child));
	while (child_runs(child))
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert(!child_is_late(child));
	ck_assert_uint_eq(ends, 1);
	run("");
	ck_assert_uint_eq(ends, 2);
	end();
}
END_TEST

static void gone(void *arg)
{
	(void)arg;
	gones++;
}

/* ---- a child that the kernel holds ---- */

/* A process that traces the child: the child is not a zombie for us as long as the tracer lives. */
struct tracer {
	pid_t pid;
	int says, hold; /* its output, non-blocking; it ends when hold is closed */
};

static _Noreturn void trace(pid_t traced, int says, int hold)
{
	siginfo_t si;
	char c;

	if (ptrace(PTRACE_SEIZE, traced, NULL, NULL) || write(says, "t", 1) != 1 ||
	    waitid(P_PID, (id_t)traced, &si, WEXITED | WNOWAIT) || write(says, "d", 1) != 1)
		_exit(1);
	_exit((int)read(hold, &c, 1));
}

static struct tracer start_tracer(pid_t traced)
{
	int says[2], hold[2];
	char c;

	ck_assert_int_eq(pipe2(says, O_CLOEXEC) | pipe2(hold, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		(void)close(hold[1]);
		trace(traced, says[1], hold[0]);
	}
	(void)close(says[1]);
	(void)close(hold[0]);
	ck_assert_int_eq(read(says[0], &c, 1), 1);
	ck_assert_int_eq(fcntl(says[0], F_SETFL, O_NONBLOCK), 0);
	return (struct tracer){ pid, says[0], hold[1] };
}

static void loop_until_dead(const struct tracer *t)
{
	char c;

	while (read(t->says, &c, 1) != 1)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_NONBLOCK), 0);
	ck_assert_int_eq(c, 'd');
}

static void end_tracer(const struct tracer *t)
{
	int status;

	(void)close(t->hold);
	(void)close(t->says);
	ck_assert_int_eq(waitpid(t->pid, &status, 0), t->pid);
	ck_assert_int_eq(status, 0);
}

static int closes_its_output(const void *arg)
{
	FILE *f;

	(void)arg;
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (puts("line") < 0 || fclose(stdout) || !(f = fopen("/mnt/pid", "we")) ||
	    fprintf(f, "%d", (int)getpid()) < 0 || fclose(f))
		return 1;
	while (pause()) {
	}
	return 0;
}

/* A child that has closed its output, and whose end is hidden from us. */
static struct tracer begin_held(int deadline_ms)
{
	char pid[16];
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(mkfifo("/mnt/pid", 0600), 0);
	begin(closes_its_output, deadline_ms);
	ck_assert_int_eq(child_start(child, &e), 0);
	FILE *f = fopen("/mnt/pid", "re");
	ck_assert(f && fgets(pid, sizeof(pid), f));
	(void)fclose(f);
	return start_tracer((pid_t)strtol(pid, NULL, 10));
}

START_TEST(an_end_is_not_awaited)
{
	const struct tracer t = begin_held(60000);

	loop_until_dead(&t);
	for (int i = 0; i < 3; i++)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_uint_eq(ends, 0);
	ck_assert(child_runs(child) && !child_is_late(child));
	end_tracer(&t);
	while (!ends)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_int_eq(end_was, CHILD_ENDED);
	ck_assert_str_eq(text_was, "line\n");
	ck_assert(!child_runs(child));
	end();
}
END_TEST

START_TEST(an_end_that_does_not_come_is_late)
{
	const struct tracer t = begin_held(20);

	while (!ends)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_int_eq(end_was, CHILD_LATE);
	ck_assert(child_runs(child) && child_is_late(child));
	end_tracer(&t);
	while (!gones)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert(!child_runs(child));
	ck_assert_uint_eq(ends, 1);
	end();
}
END_TEST

START_TEST(a_held_one_can_be_freed)
{
	const struct tracer t = begin_held(60000);

	loop_until_dead(&t);
	end();
	ck_assert_uint_eq(ends + gones, 0);
	end_tracer(&t);
}
END_TEST

static void free_it(void *arg, enum child_end how, const char *text, size_t len)
{
	done(arg, how, text, len);
	child_free(child);
	child = NULL;
}

static void frees_itself(int (*fn)(const void *), int deadline_ms)
{
	struct event_base *own = event_base_new();
	const struct child_conf conf = { .path = "test",
					 .run = fn,
					 .base = own,
					 .deadline_ms = deadline_ms,
					 .text_max = 4096,
					 .done = free_it };
	struct err e;

	base = own;
	ck_assert_int_eq(child_new(&conf, &child, &e), 0);
	run("text");
	ck_assert_ptr_null(child);
	end();
}

START_TEST(it_may_be_freed_by_its_caller)
{
	frees_itself(says_memory, 60000);
	ck_assert_int_eq(end_was, CHILD_ENDED);
	frees_itself(hangs, 20);
	ck_assert_int_eq(end_was, CHILD_LATE);
	frees_itself(prints_for_ever, 60000);
	ck_assert_int_eq(end_was, CHILD_TOO_MUCH);
}
END_TEST

START_TEST(it_ends_while_one_runs)
{
	struct err e;

	begin(hangs, 60000);
	ck_assert_int_eq(child_start(child, &e), 0);
	end();
	ck_assert_uint_eq(ends, 0);
	child_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/watch/child", one_after_the_other_has_our_memory,
	     too_much_output_is_dropped, lines_are_taken_as_they_come, a_late_one_is_told_once,
	     it_may_be_freed_by_its_caller, it_ends_while_one_runs, an_end_is_not_awaited,
	     an_end_that_does_not_come_is_late, a_held_one_can_be_freed)
