/* SPDX-License-Identifier: Apache-2.0 */
/* child_test.c: children that answer, have a standard input, print too much, and hang. */
#include "railheadd/child/child.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void begin(int (*run)(void), int deadline_ms)
{
	struct child_conf conf = { .path = "test",
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

static void end(void)
{
	child_free(child);
	event_base_free(base);
}

static void run(const char *input)
{
	unsigned before = ends;
	struct err e;

	ck_assert_int_eq(child_start(child, input, &e), 0);
	while (ends == before)
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
}

static int echoes(void)
{
	int c;

	while ((c = getchar()) != EOF)
		(void)putchar(c);
	return fflush(stdout);
}

START_TEST(one_after_the_other_gets_its_input)
{
	begin(echoes, 60000);
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

static int prints_for_ever(void)
{
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

static int hangs(void)
{
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

START_TEST(a_cancelled_one_is_gone_without_an_end)
{
	struct err e;

	begin(hangs, 60000);
	child_cancel(child);
	ck_assert_int_eq(child_start(child, "", &e), 0);
	child_cancel(child);
	child_cancel(child);
	ck_assert(child_is_late(child));
	while (child_runs(child))
		ck_assert_int_ge(event_base_loop(base, EVLOOP_ONCE), 0);
	ck_assert_uint_eq(ends, 0);
	ck_assert_uint_eq(gones, 1);
	end();
}
END_TEST

static void free_it(void *arg, enum child_end how, const char *text, size_t len)
{
	done(arg, how, text, len);
	child_free(child);
	child = NULL;
}

static void frees_itself(int (*fn)(void), int deadline_ms)
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
	frees_itself(echoes, 60000);
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
	ck_assert_int_eq(child_start(child, "", &e), 0);
	end();
	ck_assert_uint_eq(ends, 0);
	child_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/child/child", one_after_the_other_gets_its_input,
	     too_much_output_is_dropped, a_late_one_is_told_once,
	     a_cancelled_one_is_gone_without_an_end, it_may_be_freed_by_its_caller,
	     it_ends_while_one_runs)
