/* SPDX-License-Identifier: Apache-2.0 */
/* backoff_test.c: shows the pauses, and that the last question comes at the deadline. */
#include "lib/base/backoff.h"

#include "lib/base/ctx.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"

START_TEST(pauses_grow_until_the_deadline)
{
	static const int64_t after[] = { 1, 3, 7, 15, 31, 63, 95, 100 };
	size_t n = 0;

	faketime_begin(NULL);
	struct backoff p = backoff_for(100);
	while (backoff_pause(&p)) {
		ck_assert_uint_lt(n, ARRAY_SIZE(after));
		ck_assert_int_eq(faketime_gone(), after[n]);
		n++;
	}
	ck_assert_uint_eq(n, ARRAY_SIZE(after));
	ck_assert(!backoff_pause(&p));
}
END_TEST

START_TEST(without_patience_nothing_is_asked_again)
{
	faketime_begin(NULL);
	struct backoff none = backoff_for(0), late = backoff_until(ctx_mono_ms() - 1);

	ck_assert(!backoff_pause(&none));
	ck_assert(!backoff_pause(&late));
	ck_assert_int_eq(faketime_gone(), 0);
}
END_TEST

TEST_PROGRAM("backoff", pauses_grow_until_the_deadline, without_patience_nothing_is_asked_again)
