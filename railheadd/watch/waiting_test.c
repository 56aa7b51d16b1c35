/* SPDX-License-Identifier: Apache-2.0 */
/* waiting_test.c: what is due, after which passes; and that a line survives its way. */
#include "railheadd/watch/waiting.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define GRACE 30000

static const struct leftover stale = {
	LEFTOVER_ATTACHMENT, LEFTOVER_STALE, "rails p1 net1", "01",
	"netns-gone",        "gone",         "ns/p1",         "u-1"
};

/* A pass at `now` that finds f (NULL: nothing). Returns whether it was news. */
static bool pass(struct waiting *w, const struct leftover *f, int64_t now)
{
	bool news;

	waiting_begin(w);
	news = f && waiting_note(w, f, now);
	waiting_end(w);
	return news;
}

static bool is_due(const struct waiting *w, const struct leftover *f, int64_t now)
{
	const struct waiting_due due = { w, now, GRACE };
	bool is = waiting_is_due(&due, f);

	ck_assert(!is || waiting_any_due(&due));
	return is;
}

START_TEST(due_when_found_again_after_the_grace_period)
{
	auto_waiting struct waiting w = { .n = 0 };

	ck_assert_int_eq(waiting_next(&w, 0, GRACE), -1);
	ck_assert(pass(&w, &stale, 1000));
	ck_assert(!is_due(&w, &stale, 1000));
	ck_assert_int_eq(waiting_next(&w, 1000, GRACE), GRACE);
	ck_assert(!pass(&w, &stale, 20000));
	ck_assert(!is_due(&w, &stale, 30999));
	ck_assert(is_due(&w, &stale, 31000));
	ck_assert_int_eq(waiting_next(&w, 40000, GRACE), 0);
}
END_TEST

START_TEST(one_that_was_not_seen_begins_anew)
{
	auto_waiting struct waiting w = { .n = 0 };

	ck_assert(pass(&w, &stale, 0));
	ck_assert(!pass(&w, NULL, 10000));
	ck_assert_uint_eq(w.n, 0);
	ck_assert(pass(&w, &stale, 20000));
	ck_assert(!is_due(&w, &stale, 40000));
	ck_assert(is_due(&w, &stale, 50000));
}
END_TEST

/* A pass that was cut off proves nothing about what it did not reach. */
START_TEST(a_pass_without_an_end_forgets_nothing)
{
	auto_waiting struct waiting w = { .n = 0 };

	ck_assert(pass(&w, &stale, 0));
	waiting_begin(&w);
	waiting_begin(&w);
	ck_assert(is_due(&w, &stale, GRACE));
}
END_TEST

START_TEST(another_record_of_the_same_name_begins_anew)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover other = stale;

	other.mark = "02";
	ck_assert(pass(&w, &stale, 0));
	ck_assert(!is_due(&w, &other, GRACE));
	ck_assert(pass(&w, &other, GRACE));
	ck_assert(!is_due(&w, &other, GRACE + 1));
	ck_assert(!is_due(&w, &stale, GRACE + 1));
	ck_assert(is_due(&w, &other, 2 * GRACE));
	other.kind = LEFTOVER_RDMA;
	ck_assert(!is_due(&w, &other, 2 * GRACE));
}
END_TEST

START_TEST(a_failure_is_tried_in_every_pass_and_told_once)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover failed = stale;

	failed.outcome = LEFTOVER_FAILED;
	failed.why = "no IPAM";
	ck_assert(pass(&w, &stale, 0));
	ck_assert(pass(&w, &failed, GRACE));
	ck_assert(!pass(&w, &failed, 2 * GRACE));
	ck_assert(is_due(&w, &stale, 2 * GRACE));
	ck_assert_int_eq(waiting_next(&w, 2 * GRACE, GRACE), -1);
	failed.outcome = LEFTOVER_REPAIRED;
	ck_assert(pass(&w, &failed, 3 * GRACE));
	ck_assert_uint_eq(w.n, 0);
}
END_TEST

START_TEST(what_is_left_to_a_person_is_never_due)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover alone = stale;

	alone.outcome = LEFTOVER_ALONE;
	ck_assert(pass(&w, &alone, 0));
	ck_assert(!is_due(&w, &alone, 100 * GRACE));
	ck_assert_int_eq(waiting_next(&w, 0, GRACE), -1);
	ck_assert_uint_eq(waiting_count(&w, LEFTOVER_ALONE), 1);
}
END_TEST

START_TEST(it_is_bounded)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover f = stale;
	char what[16];

	f.what = what;
	waiting_begin(&w);
	for (int i = 0; i < WAITING_MAX + 5; i++) {
		(void)snprintf(what, sizeof(what), "%d", i);
		ck_assert_int_eq(waiting_note(&w, &f, 0), i < WAITING_MAX);
	}
	waiting_end(&w);
	ck_assert_uint_eq(w.n, WAITING_MAX);
}
END_TEST

START_TEST(the_next_one_is_the_oldest_one)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover other = stale;

	other.what = "rails p2 net1";
	waiting_begin(&w);
	ck_assert(waiting_note(&w, &other, 5000));
	ck_assert(waiting_note(&w, &stale, 1000));
	other.what = "rails p3 net1";
	ck_assert(waiting_note(&w, &other, 9000));
	ck_assert_int_eq(waiting_next(&w, 9000, GRACE), 22000);
}
END_TEST

START_TEST(a_repair_of_what_no_pass_noted_is_news)
{
	auto_waiting struct waiting w = { .n = 0 };
	struct leftover repaired = stale, failed = stale;

	repaired.outcome = LEFTOVER_REPAIRED;
	ck_assert(waiting_note(&w, &repaired, 0));
	ck_assert_uint_eq(w.n, 0);
	failed.outcome = LEFTOVER_FAILED;
	ck_assert(waiting_note(&w, &failed, 0));
	failed.why = "another reason";
	ck_assert(waiting_note(&w, &failed, 0));
}
END_TEST

static int print_and_note(void *arg, struct err *e)
{
	auto_waiting struct waiting w = { .n = 0 };
	auto_free char *line = leftover_print(&stale);

	(void)arg;
	return line && waiting_note(&w, &stale, 0) ? 0 : err_nomem(e);
}

START_TEST(without_memory_nothing_is_noted)
{
	ck_assert_str_eq(alloc_fail_each(print_and_note, NULL), "ok");
}
END_TEST

START_TEST(a_line_survives_its_way)
{
	auto_json struct json *tree = NULL;
	auto_free char *line = leftover_print(&stale);
	struct leftover f;
	struct err e;

	ck_assert_ptr_nonnull(line);
	ck_assert_int_eq(leftover_parse(line, strlen(line) - 1, &tree, &f, &e), 0);
	ck_assert(f.kind == stale.kind && f.outcome == stale.outcome);
	ck_assert_str_eq(f.what, stale.what);
	ck_assert_str_eq(f.mark, stale.mark);
	ck_assert_str_eq(f.state, stale.state);
	ck_assert_str_eq(f.why, stale.why);
	ck_assert_str_eq(f.pod, stale.pod);
	ck_assert_str_eq(f.uid, stale.uid);
	ck_assert_int_eq(leftover_parse("{}", 2, &tree, &f, &e), -1);
	ck_assert_int_eq(leftover_parse("{", 1, &tree, &f, &e), -1);
}
END_TEST

TEST_PROGRAM("railheadd/watch/waiting", due_when_found_again_after_the_grace_period,
	     one_that_was_not_seen_begins_anew, a_pass_without_an_end_forgets_nothing,
	     another_record_of_the_same_name_begins_anew,
	     a_failure_is_tried_in_every_pass_and_told_once, what_is_left_to_a_person_is_never_due,
	     it_is_bounded, the_next_one_is_the_oldest_one, a_repair_of_what_no_pass_noted_is_news,
	     without_memory_nothing_is_noted, a_line_survives_its_way)
