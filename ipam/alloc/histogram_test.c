/* SPDX-License-Identifier: Apache-2.0 */
/* histogram_test.c: shows to which bound a duration belongs. */
#include "ipam/alloc/histogram.h"

#include "lib/testing/testing.h"

START_TEST(a_bound_belongs_to_itself)
{
	struct histogram h = { .sum = 0 };

	histogram_observe(&h, 0);
	histogram_observe(&h, 50);
	histogram_observe(&h, 51);
	histogram_observe(&h, 1000);
	histogram_observe(&h, UINT32_MAX);
	ck_assert_uint_eq(h.n[0], 2);
	ck_assert_uint_eq(h.n[1], 1);
	ck_assert_uint_eq(h.n[4], 1);
	ck_assert_uint_eq(h.n[HISTOGRAM_BOUNDS], 1);
	ck_assert_uint_eq(h.sum, UINT64_C(1101) + UINT32_MAX);
}
END_TEST

START_TEST(bounds_grow)
{
	for (size_t i = 1; i < HISTOGRAM_BOUNDS; i++)
		ck_assert_uint_lt(histogram_bounds[i - 1], histogram_bounds[i]);
}
END_TEST

TEST_PROGRAM("histogram", a_bound_belongs_to_itself, bounds_grow)
