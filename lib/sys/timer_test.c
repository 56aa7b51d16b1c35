/* SPDX-License-Identifier: Apache-2.0 */
/* timer_test.c: timers that end in turn, at once or not at all. */
#include "lib/sys/timer.h"

#include <event2/event.h>

#include "lib/testing/testing.h"

static struct timer *timer[3];
static char order[8];

static void first(void *arg)
{
	strcat(order, arg);
	timer_stop(timer[2]);
	timer_free(timer[0]);
}

static void second(void *arg)
{
	strcat(order, arg);
}

START_TEST(timers_end_in_turn)
{
	struct event_base *base = event_base_new();

	timer[0] = timer_new(base, first, "a");
	timer[1] = timer_new(base, second, "b");
	timer[2] = timer_new(base, second, "c");
	ck_assert_int_eq(timer_left(timer[1]), -1);
	ck_assert_int_eq(timer_arm(timer[1], 3600000), 0);
	ck_assert_int_gt(timer_left(timer[1]), INT64_C(3500) * 1000000000);
	ck_assert_int_eq(timer_arm(timer[1], 1), 0);
	ck_assert_int_eq(timer_arm_ns(timer[2], INT64_C(3600) * 1000000000), 0);
	timer_now(timer[0]);
	ck_assert_str_eq(order, "");
	(void)event_base_dispatch(base);
	ck_assert_str_eq(order, "ab");
	ck_assert_int_eq(timer_left(timer[2]), -1);
	timer_free(timer[1]);
	timer_free(timer[2]);
	timer_free(NULL);
	timer_stop(NULL);
	event_base_free(base);
}
END_TEST

TEST_PROGRAM("lib/sys/timer", timers_end_in_turn)
