/* SPDX-License-Identifier: Apache-2.0 */
/* out_test.c: shows how values and tables look, and what is cut on a narrow terminal. */
#include "lib/cli/out.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static void cleaned(const char *in, const char *want)
{
	auto_free char *got = out_clean(in);

	ck_assert_pstr_eq(got, want);
}

START_TEST(cleans_what_could_steer_a_terminal)
{
	cleaned("plain text", "plain text");
	cleaned("", "");
	cleaned("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	cleaned("\033[31mred\n", "\\x1b[31mred\\x0a");
	cleaned("a\tb\x7f", "a\\x09b\\x7f");
	cleaned("\xc2\x9b"
		"31m",
		"\\xc2\\x9b31m");
	cleaned("\xff\xfe", "\\xff\\xfe");
	cleaned("\xe2\x82", "\\xe2\\x82");
	cleaned("x\xc3", "x\\xc3");
}
END_TEST

START_TEST(counts_characters)
{
	ck_assert_uint_eq(out_columns(""), 0);
	ck_assert_uint_eq(out_columns("abc"), 3);
	ck_assert_uint_eq(out_columns("\xc3\xa9\xe2\x82\xac"), 2);
}
END_TEST

START_TEST(says_ages_in_their_largest_unit)
{
	static const struct {
		int64_t seconds;
		const char *want;
	} cases[] = {
		{ -5, "0s" },     { 0, "0s" },    { 119, "119s" },   { 120, "2m" },
		{ 7199, "119m" }, { 7200, "2h" }, { 172799, "47h" }, { 172800, "2d" },
	};
	char buf[OUT_TIME_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(out_age(cases[i].seconds * 1000000000, buf), cases[i].want);
}
END_TEST

START_TEST(writes_times_as_rfc_3339)
{
	char buf[OUT_TIME_LEN];

	ck_assert_str_eq(out_time(INT64_C(1769860800999999999), buf), "2026-01-31T12:00:00Z");
	ck_assert_str_eq(out_time(0, buf), "1970-01-01T00:00:00Z");
}
END_TEST

START_TEST(draws_bars)
{
	static const struct {
		double share;
		unsigned width;
		const char *want;
	} cases[] = {
		{ 0, 12, "[..........]" },
		{ 1, 12, "[##########]" },
		{ 0.5, 12, "[#####.....]" },
		{ 0.000001, 12, "[#.........]" },
		{ 0.999999, 12, "[#########.]" },
		{ 0.24, 12, "[##........]" },
		{ 1, 3, "[#]" },
		{ 0, 0, "[.]" },
		{ 2, 4, "[##]" },
		{ 0.5, 4, "[#.]" },
	};
	char buf[OUT_BAR_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(out_bar(cases[i].share, cases[i].width, buf), cases[i].want);
	ck_assert_uint_eq(strlen(out_bar(0.5, 1000, buf)), OUT_BAR_MAX - 1);
}
END_TEST

/* ---- tables ---- */

static const struct out_column columns[] = {
	{ "NAME", OUT_SHRINK },
	{ "N", OUT_RIGHT },
	{ "STATE", 0 },
};

struct wanted {
	const char *cells[3];
};

/* The table as it is printed at a width. */
static char *printed(const struct wanted *rows, size_t n, unsigned width, bool color)
{
	struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };
	struct err e;
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	const struct out o = { .to = to, .width = width, .color = color };

	ck_assert_ptr_nonnull(to);
	for (size_t i = 0; i < n; i++) {
		const struct out_cell cells[] = { { rows[i].cells[0], OUT_PLAIN },
						  { rows[i].cells[1], OUT_PLAIN },
						  { rows[i].cells[2], OUT_BAD } };
		ck_assert_int_eq(out_row(&t, cells, &e), 0);
	}
	out_table(&o, &t);
	out_table_clear(&t);
	(void)fclose(to);
	return text;
}

START_TEST(aligns_columns)
{
	const struct wanted rows[] = { { { "a", "1", "ok" } }, { { "longer", "100", NULL } } };
	auto_free char *got = printed(rows, 2, 0, false);

	ck_assert_str_eq(got, "NAME      N  STATE\n"
			      "a         1  ok\n"
			      "longer  100  -\n");
}
END_TEST

START_TEST(aligns_characters_not_bytes)
{
	const struct wanted rows[] = { { { "\xc3\xa9\xc3\xa9", "1", "ok" } },
				       { { "abcdef", "2", "ok" } } };
	auto_free char *got = printed(rows, 2, 0, false);

	ck_assert_str_eq(got, "NAME    N  STATE\n"
			      "\xc3\xa9\xc3\xa9      1  ok\n"
			      "abcdef  2  ok\n");
}
END_TEST

START_TEST(cuts_to_the_terminal)
{
	const struct wanted rows[] = { { { "0123456789abcdef", "1", "ok" } } };
	auto_free char *fits = printed(rows, 1, 26, false), *cut = printed(rows, 1, 20, false),
		       *least = printed(rows, 1, 5, false);

	ck_assert_str_eq(fits, "NAME              N  STATE\n0123456789abcdef  1  ok\n");
	ck_assert_str_eq(cut, "NAME        N  STATE\n01234567..  1  ok\n");
	ck_assert_str_eq(least, "NAME    N  STATE\n0123..  1  ok\n");
}
END_TEST

START_TEST(leaves_out_what_can_be_spared)
{
	static const struct out_column spare[] = {
		{ "A", 0 }, { "SECOND", OUT_SPARE | OUT_SHRINK }, { "THIRD", OUT_SPARE }, { "D", 0 }
	};
	static const struct {
		unsigned width;
		const char *want;
	} cases[] = {
		{ 80, "A  SECOND    THIRD  D\na  01234567  c      d\n" },
		{ 20, "A  SECOND   THIRD  D\na  01234..  c      d\n" },
		{ 18, "A  THIRD  D\na  c      d\n" },
		{ 10, "A  D\na  d\n" },
		{ 1, "A  D\na  d\n" },
	};
	const struct out_cell cells[] = { { "a", OUT_PLAIN },
					  { "01234567", OUT_PLAIN },
					  { "c", OUT_PLAIN },
					  { "d", OUT_PLAIN } };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_table struct out_table t = { .columns = spare,
						  .n_columns = ARRAY_SIZE(spare) };
		auto_free char *text = NULL;
		size_t len = 0;
		FILE *to = open_memstream(&text, &len);
		const struct out o = { .to = to, .width = cases[i].width };

		ck_assert_ptr_nonnull(to);
		ck_assert_int_eq(out_row(&t, cells, &e), 0);
		out_table(&o, &t);
		(void)fclose(to);
		ck_assert_str_eq(text, cases[i].want);
	}
}
END_TEST

START_TEST(cuts_ids_before_others)
{
	static const struct out_column columns_with_id[] = { { "A", OUT_SHRINK },
							     { "ID", OUT_SHRINK | OUT_ID } };
	auto_table struct out_table t = { .columns = columns_with_id, .n_columns = 2 };
	const struct out_cell cells[] = { { "a name that is long", OUT_PLAIN },
					  { "0123456789abcdef0123", OUT_PLAIN } };
	struct err e;
	auto_free char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	const struct out o = { .to = to, .width = 35 };

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(out_row(&t, cells, &e), 0);
	out_table(&o, &t);
	(void)fclose(to);
	ck_assert_str_eq(text, "A                    ID\n"
			       "a name that is long  0123456789ab..\n");
}
END_TEST

START_TEST(shortens_ids_on_terminals)
{
	const struct out terminal = { .terminal = true }, file = { .terminal = false };
	char buf[OUT_ID_LEN];

	ck_assert_str_eq(out_id(&terminal, "0123456789abcdef", buf), "0123456789ab..");
	ck_assert_str_eq(out_id(&terminal, "0123456789abcd", buf), "0123456789abcd");
	ck_assert_str_eq(out_id(&file, "0123456789abcdef", buf), "0123456789abcdef");
}
END_TEST

START_TEST(says_amounts)
{
	static const struct {
		double n;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 65533, "65533" },
		{ 0x1p53, "9007199254740992" },
		{ 0x1p64 - 4096, "~2^64" },
		{ 0x1p64, "~2^64" },
		{ 3e19, "~2^64.7" },
		{ 0x1p128, "~2^128" },
	};
	char buf[24];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(out_amount(cases[i].n, buf, sizeof(buf)), cases[i].want);
}
END_TEST

START_TEST(says_shares)
{
	static const struct {
		double share;
		const char *want;
	} cases[] = {
		{ 0, "0%" },    { 0.0001, "<1%" }, { 0.01, "1%" }, { 0.374, "37%" },
		{ 0.5, "50%" }, { 0.995, ">99%" }, { 1, "100%" },
	};
	char buf[8];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(out_percent(cases[i].share, buf, sizeof(buf)), cases[i].want);
}
END_TEST

START_TEST(cuts_between_characters)
{
	const struct wanted rows[] = {
		{ { "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		    "\xc3\xa9\xc3\xa9",
		    "1", "ok" } }
	};
	auto_free char *got = printed(rows, 1, 18, false);

	ck_assert_str_eq(got, "NAME      N  STATE\n"
			      "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9..  1  ok\n");
}
END_TEST

START_TEST(colours_do_not_count)
{
	const struct wanted rows[] = { { { "a", "1", "bad" } } };
	auto_free char *got = printed(rows, 1, 80, true);

	ck_assert_str_eq(got, "\033[1mNAME\033[0m  \033[1mN\033[0m  \033[1mSTATE\033[0m\n"
			      "a     1  \033[31mbad\033[0m\n");
}
END_TEST

START_TEST(cells_are_cleaned)
{
	const struct wanted rows[] = { { { "\033[2J", "1", "ok" } } };
	auto_free char *got = printed(rows, 1, 0, false);

	ck_assert_ptr_null(strchr(got, '\033'));
}
END_TEST

START_TEST(a_full_disk_is_an_error)
{
	FILE *to = fopen("/dev/full", "w");
	struct out o;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(to);
	out_init(&o, to, false, false);
	ck_assert(!o.terminal && !o.color && o.width == 0);
	out_line(&o, OUT_PLAIN, "%s", "text");
	ck_assert_int_eq(out_finish(&o, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	(void)fclose(to);
}
END_TEST

START_TEST(a_line_without_memory_is_an_error)
{
	bool lost = false;
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	const struct out o = { .to = to, .lost = &lost };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(to);
	alloc_fail_begin(1);
	out_line(&o, OUT_PLAIN, "%s", "text");
	(void)alloc_fail_end();
	ck_assert_int_eq(out_finish(&o, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOMEM);
	ck_assert_str_eq(text, "(out of memory)\n");
	(void)fclose(to);
	free(text);
}
END_TEST

static int fill_table(void *arg, struct err *e)
{
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };
	const struct out_cell cells[] = { { "a", OUT_PLAIN },
					  { "b", OUT_PLAIN },
					  { "c", OUT_BAD } };

	(void)arg;
	for (int i = 0; i < 20; i++) {
		if (out_row(&t, cells, e))
			return -1;
	}
	return 0;
}

START_TEST(survives_failing_allocations)
{
	ck_assert_str_eq(alloc_fail_each(fill_table, NULL), "ok");
}
END_TEST

START_TEST(an_error_is_one_line)
{
	struct err e = { 0 };
	char line[OUT_ERROR_LEN];

	err_set(&e, ERR_BUSY, 0, "it is busy");
	ck_assert_str_eq(out_error(&e, line), "it is busy");
	err_hint(&e, "wait");
	err_hint(&e, "ask");
	ck_assert_str_eq(out_error(&e, line), "it is busy; wait; ask");
	memset(e.msg, 'm', sizeof(e.msg) - 1);
	memset(e.detail, '\n', sizeof(e.detail) - 1); /* each becomes two characters */
	ck_assert_uint_lt(strlen(out_error(&e, line)), OUT_ERROR_LEN);
}
END_TEST

TEST_PROGRAM("lib/cli/out", an_error_is_one_line, cleans_what_could_steer_a_terminal,
	     counts_characters, says_ages_in_their_largest_unit, writes_times_as_rfc_3339,
	     draws_bars, aligns_columns, aligns_characters_not_bytes, cuts_to_the_terminal,
	     leaves_out_what_can_be_spared, cuts_ids_before_others, shortens_ids_on_terminals,
	     says_amounts, says_shares, cuts_between_characters, colours_do_not_count,
	     cells_are_cleaned, a_full_disk_is_an_error, a_line_without_memory_is_an_error,
	     survives_failing_allocations)
