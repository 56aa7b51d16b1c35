/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array_test.c: shows when an array grows, and that every limit and failed allocation is an error.
 */
#include "lib/base/array.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define NUMBERS_MAX 100

struct numbers {
	uint64_t *item;
	size_t n;
};

static int add_numbers(struct numbers *v, size_t more, struct err *e)
{
	if (ARRAY_GROW_BY(v->item, v->n, more, NUMBERS_MAX, "numbers", e))
		return -1;
	for (; more; more--, v->n++)
		v->item[v->n] = v->n;
	return 0;
}

static void check_numbers(const struct numbers *v, size_t n)
{
	ck_assert_uint_eq(v->n, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(v->item[i], i);
}

START_TEST(room_is_the_next_power_of_two)
{
	static const struct {
		size_t n, room;
	} want[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 2, 2 },
		{ 3, 4 },
		{ 4, 4 },
		{ 5, 8 },
		{ 1000, 1024 },
		{ SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1 },
		{ SIZE_MAX / 2 + 2, 0 },
		{ SIZE_MAX, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_uint_eq(array_room(want[i].n), want[i].room);
}
END_TEST

START_TEST(items_stay_when_an_array_grows_one_by_one)
{
	struct numbers v = { 0 };
	struct err e = { 0 };

	for (size_t i = 0; i < NUMBERS_MAX; i++)
		ck_assert_int_eq(add_numbers(&v, 1, &e), 0);
	check_numbers(&v, NUMBERS_MAX);
	free(v.item);
}
END_TEST

START_TEST(several_items_at_once)
{
	struct numbers v = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(add_numbers(&v, 0, &e), 0);
	ck_assert_ptr_null(v.item);
	ck_assert_int_eq(add_numbers(&v, 5, &e), 0);
	ck_assert_int_eq(add_numbers(&v, 0, &e), 0);
	ck_assert_int_eq(add_numbers(&v, 3, &e), 0);
	ck_assert_int_eq(add_numbers(&v, 40, &e), 0);
	check_numbers(&v, 48);
	free(v.item);
}
END_TEST

/* Under a sanitizer a write behind the room is seen. */
START_TEST(an_array_that_became_smaller_grows_again)
{
	for (size_t less = 0; less <= 20; less++) {
		struct numbers v = { 0 };
		struct err e = { 0 };

		ck_assert_int_eq(add_numbers(&v, 20, &e), 0);
		v.n = less;
		while (v.n < 50)
			ck_assert_int_eq(add_numbers(&v, 1, &e), 0);
		check_numbers(&v, 50);
		free(v.item);
	}
}
END_TEST

START_TEST(allocates_only_where_the_room_ends)
{
	struct numbers v = { 0 };
	struct err e = { 0 };

	int rc = 0;

	alloc_fail_begin(0);
	for (size_t i = 0; rc == 0 && i < 65; i++)
		rc = add_numbers(&v, 1, &e);
	free(v.item);
	struct alloc_count c = alloc_fail_end();
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(c.calls, 8); /* 1, 2, 4, ... 128 */
	ck_assert_uint_eq(c.live, 0);
}
END_TEST

START_TEST(beyond_the_maximum_is_an_error_that_names_it)
{
	struct numbers v = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(add_numbers(&v, NUMBERS_MAX, &e), 0);
	ck_assert_int_eq(add_numbers(&v, 1, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOMEM);
	ck_assert_str_eq(e.msg, "more than 100 numbers");
	check_numbers(&v, NUMBERS_MAX);
	/* also when n itself is beyond it, and when the sum would wrap */
	ck_assert_int_eq(ARRAY_GROW(v.item, v.n, 50, "numbers", &e), -1);
	ck_assert_str_eq(e.msg, "more than 50 numbers");
	ck_assert_int_eq(ARRAY_GROW_BY(v.item, v.n, SIZE_MAX, NUMBERS_MAX, "numbers", &e), -1);
	check_numbers(&v, NUMBERS_MAX);
	free(v.item);
}
END_TEST

START_TEST(a_kind_may_have_a_code_of_its_own)
{
	const struct array_kind kind = { sizeof(int), 2, "GPUs", ERR_FIELD };
	struct err e = { 0 };
	int *list = NULL;

	ck_assert_int_eq(array_grow(&list, 0, 3, kind, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_str_eq(e.msg, "more than 2 GPUs");
	ck_assert_ptr_null(list);
}
END_TEST

START_TEST(sizes_that_no_memory_holds_are_refused)
{
	static const size_t more[] = { SIZE_MAX / 8, SIZE_MAX / 8 + 1, SIZE_MAX / 2,
				       SIZE_MAX / 2 + 2, SIZE_MAX - 1 };
	struct numbers v = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(add_numbers(&v, 1, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		e = (struct err){ 0 };
		ck_assert_int_eq(ARRAY_GROW_BY(v.item, v.n, more[i], SIZE_MAX, "numbers", &e), -1);
		ck_assert_int_eq(e.code, ERR_NOMEM);
		check_numbers(&v, 1);
	}
	free(v.item);
}
END_TEST

static int grow_to_forty(void *arg, struct err *e)
{
	struct numbers v = { 0 };
	int rc = 0;

	(void)arg;
	while (rc == 0 && v.n < 40)
		rc = add_numbers(&v, 1, e);
	alloc_fail_pause(true); /* Check allocates */
	check_numbers(&v, v.n); /* what was there before the failure is still there */
	alloc_fail_pause(false);
	free(v.item);
	return rc;
}

START_TEST(the_first_that_is_not_before)
{
	static const int sorted[] = { 1, 3, 3, 7 };

	for (int want = 0; want < 9; want++) {
		size_t at = 0;

		while (at < ARRAY_SIZE(sorted) && sorted[at] < want)
			at++;
		ck_assert_uint_eq(ARRAY_PLACE(i, ARRAY_SIZE(sorted), sorted[i] < want), at);
	}
	ck_assert_uint_eq(ARRAY_PLACE(i, 0, sorted[i] < 1), 0);
}
END_TEST

START_TEST(an_item_is_appended_up_to_the_maximum)
{
	struct numbers v = { 0 };
	struct err e;

	for (uint64_t i = 0; i < 3; i++)
		ck_assert_int_eq(ARRAY_PUSH(v.item, v.n, 3, "numbers", i, &e), 0);
	ck_assert_int_eq(ARRAY_PUSH(v.item, v.n, 3, "numbers", 9, &e), -1);
	ck_assert_uint_eq(v.n, 3);
	ck_assert_uint_eq(v.item[2], 2);
	free(v.item);
}
END_TEST

START_TEST(each_allocation_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(grow_to_forty, NULL), "ok");
}
END_TEST

TEST_PROGRAM("array", room_is_the_next_power_of_two, items_stay_when_an_array_grows_one_by_one,
	     several_items_at_once, an_array_that_became_smaller_grows_again,
	     allocates_only_where_the_room_ends, beyond_the_maximum_is_an_error_that_names_it,
	     a_kind_may_have_a_code_of_its_own, sizes_that_no_memory_holds_are_refused,
	     the_first_that_is_not_before, an_item_is_appended_up_to_the_maximum,
	     each_allocation_may_fail)
