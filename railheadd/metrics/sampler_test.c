/* SPDX-License-Identifier: Apache-2.0 */
/* sampler_test.c: children that answer, fail, print too much, and hang. */
#include "railheadd/metrics/sampler.h"

#include <event2/event.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/testing/testing.h"

struct scrape {
	struct sampler *s;
	struct event_base *base;
	char open[32], older[32]; /* "": none */
	bool answered;
};

static void copy(const struct sampler *s, bool open, char out[32])
{
	size_t len = 0;
	const char *text = sampler_text(s, open, &len);

	(void)snprintf(out, 32, "%.*s", text ? (int)len : 0, text ? text : "");
}

static void ready(void *arg)
{
	struct scrape *c = arg;

	ck_assert(!c->answered);
	c->answered = true;
	copy(c->s, true, c->open);
	copy(c->s, false, c->older);
	(void)event_base_loopbreak(c->base);
}

static struct scrape scrape_of(int (*run)(void), int deadline_ms)
{
	static struct ctx ctx;
	struct scrape c = { .base = event_base_new() };
	const struct sampler_conf conf = { c.base, &ctx, run, deadline_ms };
	struct err e;

	ctx_init(&ctx, "test");
	ctx.log.fd = -1;
	ck_assert_int_eq(sampler_new(&conf, &c.s, &e), 0);
	return c;
}

static void end(struct scrape *c)
{
	sampler_free(c->s);
	event_base_free(c->base);
}

static void wait_for(struct scrape *c)
{
	c->answered = false;
	sampler_wait(c->s, ready, c);
	while (!c->answered)
		ck_assert_int_ge(event_base_loop(c->base, EVLOOP_ONCE), 0);
}

static int says_both(void)
{
	return fputs("open\folder\f", stdout) < 0 || fflush(stdout);
}

START_TEST(two_scrapes_share_a_child)
{
	struct scrape a = scrape_of(says_both, 60000), b = a, gone = a;

	sampler_wait(a.s, ready, &b);
	sampler_wait(a.s, ready, &gone);
	sampler_cancel(a.s, &gone);
	wait_for(&a);
	ck_assert_str_eq(a.open, "open");
	ck_assert_str_eq(a.older, "older");
	ck_assert(b.answered && !gone.answered);
	ck_assert_str_eq(b.older, "older");
	size_t len;
	ck_assert_ptr_null(sampler_text(a.s, true, &len));
	wait_for(&a);
	ck_assert_str_eq(a.open, "open");
	end(&a);
}
END_TEST

static int fails(void)
{
	(void)fputs("open\fol", stdout);
	return fflush(stdout) || 1;
}

static int says_too_much(void)
{
	static const char line[4096] = { SAMPLER_SPLIT };

	while (fwrite(line, 1, sizeof(line), stdout) == sizeof(line)) {
	}
	return 0;
}

START_TEST(a_child_that_fails_or_has_no_end)
{
	struct scrape a = scrape_of(fails, 60000);

	wait_for(&a);
	ck_assert_str_eq(a.open, "");
	end(&a);
	a = scrape_of(says_too_much, 60000);
	wait_for(&a);
	ck_assert_str_eq(a.open, "");
	end(&a);
}
END_TEST

static int hangs(void)
{
	(void)fputs("open\folder", stdout);
	(void)fflush(stdout);
	while (pause()) {
	}
	return 0;
}

/* The second scrape finds it either killed or gone; either way it is answered. */
START_TEST(a_child_that_hangs_holds_up_nobody)
{
	struct scrape a = scrape_of(hangs, 20);

	wait_for(&a);
	ck_assert_str_eq(a.open, "");
	ck_assert_int_gt(sampler_ms(a.s), 0);
	wait_for(&a);
	ck_assert_str_eq(a.older, "");
	end(&a);
}
END_TEST

START_TEST(it_ends_while_a_child_runs)
{
	struct scrape a = scrape_of(hangs, 60000);

	sampler_wait(a.s, ready, &a);
	end(&a);
	ck_assert(!a.answered);
	sampler_free(NULL);
}
END_TEST

TEST_PROGRAM("railheadd/metrics/sampler", two_scrapes_share_a_child,
	     a_child_that_fails_or_has_no_end, a_child_that_hangs_holds_up_nobody,
	     it_ends_while_a_child_runs)
