/* SPDX-License-Identifier: Apache-2.0 */
/* event_limit_test.c: bursts, the rate after them, and what was told a short time ago. */
#include "railheadd/pools/event_limit.h"

#include "lib/testing/testing.h"

#define HOUR (INT64_C(3600) * 1000)

/* How many of `n` new events are told now. */
static int told(struct event_limit *l, uint64_t *key, int n, int64_t now)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		count += event_limit(l, ++*key, now) == EVENT_TELL;
	return count;
}

START_TEST(a_burst_and_then_a_rate)
{
	struct event_limit l = { .n = 0 };
	uint64_t key = 0;

	ck_assert_int_eq(told(&l, &key, 100, 5), EVENT_BURST);
	ck_assert_int_eq(told(&l, &key, 1, 5 + EVENT_EVERY_MS - 1), 0);
	ck_assert_int_eq(told(&l, &key, 9, 5 + EVENT_EVERY_MS), 1);
	ck_assert_int_eq(told(&l, &key, 100, 5 + 5 * EVENT_EVERY_MS), 4);
	ck_assert_int_eq(told(&l, &key, 100, HOUR), EVENT_BURST);
	ck_assert_int_eq(told(&l, &key, 100, HOUR), 0);
}
END_TEST

START_TEST(the_same_one_is_not_told_again)
{
	struct event_limit l = { .n = 0 };

	ck_assert_int_eq(event_limit(&l, 7, HOUR), EVENT_TELL);
	ck_assert_int_eq(event_limit(&l, 7, HOUR), EVENT_REPEATED);
	ck_assert_int_eq(event_limit(&l, 8, HOUR), EVENT_TELL);
	ck_assert_int_eq(event_limit(&l, 7, HOUR + EVENT_REPEAT_MS - 1), EVENT_REPEATED);
	ck_assert_int_eq(event_limit(&l, 7, HOUR + EVENT_REPEAT_MS), EVENT_TELL);
	ck_assert_int_eq(event_limit(&l, 7, HOUR + EVENT_REPEAT_MS + 1), EVENT_REPEATED);
	ck_assert_uint_eq(l.n, 2);
}
END_TEST

/* A dropped one is told when it comes again and there is room. */
START_TEST(what_was_dropped_is_not_remembered)
{
	struct event_limit l = { .n = 0 };
	uint64_t key = 100;

	ck_assert_int_eq(told(&l, &key, EVENT_BURST, 0), EVENT_BURST);
	ck_assert_int_eq(event_limit(&l, 7, 0), EVENT_DROPPED);
	ck_assert_int_eq(event_limit(&l, 7, EVENT_EVERY_MS), EVENT_TELL);
}
END_TEST

START_TEST(the_memory_is_bounded)
{
	struct event_limit l = { .n = 0 };
	int64_t now = 0;

	for (uint64_t key = 1; key <= EVENT_MEMORY + 1; key++, now += EVENT_EVERY_MS) {
		/* within the time of a repetition only the last hundred matter */
		ck_assert_int_eq(event_limit(&l, key, now), EVENT_TELL);
		ck_assert_int_eq(event_limit(&l, key, now), EVENT_REPEATED);
	}
	ck_assert_uint_eq(l.n, EVENT_MEMORY);
	ck_assert_int_eq(event_limit(&l, EVENT_MEMORY, now), EVENT_REPEATED);
}
END_TEST

TEST_PROGRAM("railheadd/pools/event_limit", a_burst_and_then_a_rate, the_same_one_is_not_told_again,
	     what_was_dropped_is_not_remembered, the_memory_is_bounded)
