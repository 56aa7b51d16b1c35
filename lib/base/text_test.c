/* SPDX-License-Identifier: Apache-2.0 */
/* text_test.c: shows that pieces become one string, and that a failure is kept. */
#include "lib/base/text.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

START_TEST(pieces_become_one_string)
{
	auto_text struct text t = { 0 };

	text_add(&t, "a");
	text_add_len(&t, "bcd", 2);
	text_addf(&t, "%d-%s", 7, "xyz");
	text_addf(&t, "%s", "");
	ck_assert(!t.failed);
	ck_assert_str_eq(t.s, "abc7-xyz");
	ck_assert_uint_eq(t.len, strlen(t.s));
}
END_TEST

START_TEST(bytes_may_be_nul)
{
	auto_text struct text t = { 0 };

	text_add_len(&t, "a\0b", 3);
	text_add(&t, "c");
	ck_assert_uint_eq(t.len, 4);
	ck_assert_mem_eq(t.s, "a\0bc", 5);
}
END_TEST

START_TEST(long_text_is_not_cut)
{
	auto_text struct text t = { 0 };
	char piece[3000];

	memset(piece, 'x', sizeof(piece) - 1);
	piece[sizeof(piece) - 1] = '\0';
	for (size_t i = 0; i < 100; i++)
		text_addf(&t, "%s", piece);
	ck_assert_uint_eq(t.len, 100 * (sizeof(piece) - 1));
	ck_assert_uint_eq(strspn(t.s, "x"), t.len);
}
END_TEST

START_TEST(nothing_added_is_taken_as_the_empty_string)
{
	struct text t = { 0 };
	auto_free char *s = text_take(&t);

	ck_assert_str_eq(s, "");
	ck_assert_ptr_null(t.s);
}
END_TEST

START_TEST(what_was_taken_is_not_freed_again)
{
	auto_text struct text t = { 0 };

	text_add(&t, "first");
	auto_free char *first = text_take(&t);
	text_add(&t, "second");
	ck_assert_str_eq(first, "first");
	ck_assert_str_eq(t.s, "second");
}
END_TEST

START_TEST(a_failure_is_kept)
{
	auto_text struct text t = { 0 };

	text_add(&t, "a");
	text_add(&t, NULL);
	text_add(&t, "b");
	ck_assert(t.failed);
	ck_assert_str_eq(t.s, "a");
	ck_assert_ptr_null(text_take(&t));
}
END_TEST

START_TEST(more_than_the_maximum_fails)
{
	auto_text struct text t = { 0 };

	text_add(&t, "a");
	text_add_len(&t, "b", TEXT_MAX - 1);
	ck_assert(t.failed);
	ck_assert_str_eq(t.s, "a");
	text_clear(&t);
	text_add_len(&t, "b", SIZE_MAX);
	ck_assert(t.failed);
}
END_TEST

static int write_some(void *arg, struct err *e)
{
	struct text t = { 0 };

	(void)arg;
	(void)e;
	for (int i = 0; i < 20; i++) {
		text_add(&t, "line ");
		text_addf(&t, "%d\n", i);
	}
	auto_free char *s = text_take(&t);
	text_clear(&t);
	return s ? 0 : -1;
}

START_TEST(each_allocation_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(write_some, NULL), "ok");
}
END_TEST

TEST_PROGRAM("text", pieces_become_one_string, bytes_may_be_nul, long_text_is_not_cut,
	     nothing_added_is_taken_as_the_empty_string, what_was_taken_is_not_freed_again,
	     a_failure_is_kept, more_than_the_maximum_fails, each_allocation_may_fail)
