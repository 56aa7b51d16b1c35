/* SPDX-License-Identifier: Apache-2.0 */
/* repairer_test.c: what the log says of a pass without an end. */
#include "railheadd/watch/repairer.h"

#include <event2/event.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/testing/testing.h"
#include "railheadd/watch/pass.h"

static bool too_long; /* the pass prints a line that is too long, and hangs */

/* Instead of a look at this host. */
int pass_main(const struct waiting_due *due)
{
	(void)due;
	if (!too_long)
		return 0;
	for (int i = 0; i < 2 * LEFTOVER_LINE_MAX; i++)
		(void)putchar('x');
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}

struct fixture {
	int reader, writer;
	struct ctx ctx;
	struct event_base *base;
	struct repairer *repairer;
};

static void begin(struct fixture *f)
{
	int fds[2];
	struct err e;

	ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	f->reader = fds[0];
	f->writer = fds[1];
	f->ctx.log = (struct log){ .fd = fds[1], .level = LOG_LEVEL_WARN, .tag = "t" };
	f->base = event_base_new();
	const struct repairer_conf conf = { .base = f->base, .ctx = &f->ctx, .every = 3600000 };
	ck_assert_int_eq(repairer_new(&conf, &f->repairer, &e), 0);
}

static void end(struct fixture *f)
{
	repairer_free(f->repairer);
	event_base_free(f->base);
	(void)close(f->reader);
	(void)close(f->writer);
}

/* What the log says of one more pass. */
static const char *pass(struct fixture *f)
{
	static char text[4096];
	struct repairer_counts before, now;

	repairer_counts(f->repairer, &before);
	repairer_soon(f->repairer);
	do {
		ck_assert_int_eq(event_base_loop(f->base, EVLOOP_ONCE), 0);
		repairer_counts(f->repairer, &now);
	} while (now.passes == before.passes);
	ck_assert_uint_eq(now.cut_off, before.cut_off + 1);
	ssize_t n = read(f->reader, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

#define LINE(text) "level=error program=t msg=\"repair: " text "\"\n"

START_TEST(a_pass_without_an_end_has_one_line)
{
	struct fixture f = { .base = NULL };

	begin(&f);
	too_long = false;
	ck_assert_str_eq(pass(&f), LINE("the pass ended early"));
	too_long = true;
	ck_assert_str_eq(pass(&f), LINE("a line has more than 8192 bytes"));
	too_long = false;
	ck_assert_str_eq(pass(&f), LINE("the pass ended early"));
	end(&f);
}
END_TEST

TEST_PROGRAM("railheadd/watch/repairer", a_pass_without_an_end_has_one_line)
