/* SPDX-License-Identifier: Apache-2.0 */
/* lines_test.c: lines in pieces, the limit, and no memory. */
#include "cluster/http/lines.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void add_is(struct http_lines *l, const char *piece, int want)
{
	ck_assert_int_eq(http_lines_add(l, piece, strlen(piece)), want);
}

static void next_is(struct http_lines *l, const char *want)
{
	struct slice line = { NULL, 0 };

	ck_assert_int_eq(http_lines_next(l, &line), want != NULL);
	ck_assert_uint_eq(line.len, want ? strlen(want) : 0);
	if (want)
		ck_assert_mem_eq(line.p, want, line.len);
}

START_TEST(lines_come_in_pieces)
{
	struct http_lines l = { .max = 100 };

	next_is(&l, NULL);
	add_is(&l, "on", 0);
	next_is(&l, NULL);
	add_is(&l, "e\ntwo\n\nthr", 0);
	next_is(&l, "one");
	next_is(&l, "two");
	ck_assert_uint_eq(http_lines_waiting(&l), 4);
	next_is(&l, NULL);
	ck_assert_uint_eq(http_lines_waiting(&l), 3);
	add_is(&l, "ee\n", 0);
	next_is(&l, "three");
	next_is(&l, NULL);
	ck_assert_uint_eq(http_lines_waiting(&l), 0);
	http_lines_clear(&l);
}
END_TEST

START_TEST(an_endless_line_is_refused)
{
	struct http_lines l = { .max = 4 };

	add_is(&l, "1234", 0);
	add_is(&l, "5", -1);
	add_is(&l, "\nabcd", 0);
	add_is(&l, "e", -1);
	add_is(&l, "\nabcde", -1);
	next_is(&l, "1234");
	next_is(&l, NULL);
	http_lines_clear(&l);
	l = (struct http_lines){ .max = 4 };
	add_is(&l, "12345", -1);
	http_lines_clear(&l);
}
END_TEST

static int add_one(void *arg, struct err *e)
{
	struct http_lines l = { .max = 100 };
	int rc = http_lines_add(&l, arg, 3);

	http_lines_clear(&l);
	return rc ? err_nomem(e) : 0;
}

START_TEST(no_memory)
{
	ck_assert_str_eq(alloc_fail_each(add_one, "a\nb"), "ok");
}
END_TEST

/* If each piece searched or moved all before it, this would exceed the limit of a test. */
START_TEST(a_long_line_in_small_pieces)
{
	struct http_lines l = { .max = (size_t)8 << 20 };
	struct slice line;
	char piece[64];

	memset(piece, 'x', sizeof(piece));
	for (size_t i = 0; i < l.max / sizeof(piece); i++)
		if (http_lines_add(&l, piece, sizeof(piece)) || http_lines_next(&l, &line))
			ck_abort_msg("piece %zu", i);
	ck_assert_int_eq(http_lines_add(&l, "\nrest", 5), 0);
	ck_assert(http_lines_next(&l, &line));
	ck_assert_uint_eq(line.len, (size_t)8 << 20);
	ck_assert(!http_lines_next(&l, &line));
	ck_assert_uint_eq(http_lines_waiting(&l), 4);
	http_lines_clear(&l);
}
END_TEST

TEST_PROGRAM("http_lines", lines_come_in_pieces, an_endless_line_is_refused, no_memory,
	     a_long_line_in_small_pieces)
