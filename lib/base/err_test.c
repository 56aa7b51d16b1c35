/* SPDX-License-Identifier: Apache-2.0 */
/* err_test.c: shows the exact text of errors, and that it is cut and cleaned where it must be. */
#include "lib/base/err.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "lib/base/parse.h"
#include "lib/testing/testing.h"

/* An error full of old content, which must not shine through. */
static struct err used(void)
{
	struct err e;

	memset(&e, 'x', sizeof(e));
	e.code = ERR_IO;
	e.errnum = EIO;
	e.msg[sizeof(e.msg) - 1] = '\0';
	e.detail[sizeof(e.detail) - 1] = '\0';
	return e;
}

static void fill(char *buf, size_t size, char c)
{
	memset(buf, c, size - 1);
	buf[size - 1] = '\0';
}

static void assert_cut(const char *s, size_t size)
{
	size_t len = strlen(s);

	ck_assert_uint_lt(len, size);
	ck_assert_uint_ge(len, size - 1 - 3); /* no more is lost than one character */
	ck_assert_str_eq(s + len - 3, "...");
	ck_assert(utf8_valid(s, len));
}

START_TEST(set_fills_everything)
{
	struct err e = used();

	ck_assert_int_eq(err_set(&e, ERR_CONFIG, 0, "mtu: %d is %s", 12, "small"), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_int_eq(e.errnum, 0);
	ck_assert_str_eq(e.msg, "mtu: 12 is small");
	ck_assert_str_eq(e.detail, "");
}
END_TEST

START_TEST(set_appends_errno)
{
	struct err e = used();

	ck_assert_int_eq(err_set(&e, ERR_IO, ENOENT, "open /run/x"), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_str_eq(e.msg, "open /run/x: No such file or directory");
	err_set(&e, ERR_IO, 99999, "open");
	ck_assert_str_eq(e.msg, "open: Unknown error 99999");
}
END_TEST

START_TEST(set_cuts_long_text)
{
	struct err e = used();
	char text[2000];

	fill(text, sizeof(text), 'a');
	err_set(&e, ERR_IO, 0, "%s", text);
	ck_assert_uint_eq(strlen(e.msg), sizeof(e.msg) - 1);
	assert_cut(e.msg, sizeof(e.msg));
	/* one byte less than full, full, one too many */
	err_set(&e, ERR_IO, 0, "%.*s", (int)sizeof(e.msg) - 2, text);
	ck_assert_uint_eq(strlen(e.msg), sizeof(e.msg) - 2);
	ck_assert_ptr_null(strchr(e.msg, '.'));
	err_set(&e, ERR_IO, 0, "%.*s", (int)sizeof(e.msg) - 1, text);
	ck_assert_uint_eq(strlen(e.msg), sizeof(e.msg) - 1);
	ck_assert_ptr_null(strchr(e.msg, '.'));
	err_set(&e, ERR_IO, 0, "%.*s", (int)sizeof(e.msg), text);
	assert_cut(e.msg, sizeof(e.msg));
	err_set(&e, ERR_IO, ENOENT, "%.*s", (int)sizeof(e.msg) - 10, text);
	assert_cut(e.msg, sizeof(e.msg));
}
END_TEST

START_TEST(cut_respects_characters)
{
	static const char *const chars[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x9a\x82" };

	for (size_t c = 0; c < ARRAY_SIZE(chars); c++) {
		for (size_t shift = 0; shift < 4; shift++) {
			struct err e = used();
			char text[2000] = "";

			fill(text, shift + 1, 'a');
			while (strlen(text) < sizeof(text) - 8)
				testing_append(text, sizeof(text), chars[c]);
			err_set(&e, ERR_IO, 0, "%s", text);
			assert_cut(e.msg, sizeof(e.msg));
			ck_assert_ptr_null(strchr(e.msg, '?'));
		}
	}
}
END_TEST

START_TEST(garbage_bytes_are_replaced)
{
	struct err e = used();
	char text[2000];

	err_set(&e, ERR_IO, 0,
		"a\nb\tc\x7f"
		"d\xff"
		"e\xc3(\xe2\x82"
		"f\xc3\xa9");
	ck_assert_str_eq(e.msg, "a?b?c?d?e?(??f\xc3\xa9");
	/* nothing but continuation bytes: the search for a boundary ends */
	fill(text, sizeof(text), '\x80');
	err_set(&e, ERR_IO, 0, "%s", text);
	assert_cut(e.msg, sizeof(e.msg));
}
END_TEST

START_TEST(unprintable_format_is_survived)
{
	struct err e = used();

	/* no such character in the C locale: vsnprintf fails */
	err_set(&e, ERR_IO, 0, "%lc", (wint_t)0x20ac);
	ck_assert_str_eq(e.msg, "...");
	err_set(&e, ERR_IO, ENOENT, "%lc", (wint_t)0x20ac);
	ck_assert_int_eq(strncmp(e.msg, ": No such file", 5), 0);
}
END_TEST

START_TEST(pass_takes_all_of_it)
{
	struct err e = { .msg = "before" }, why;

	err_set(&why, ERR_IO, ENOENT, "open x");
	err_hint(&why, "look");
	ck_assert_int_eq(err_pass(&e, &why), -1);
	ck_assert_mem_eq(&e, &why, sizeof(e));
}
END_TEST

START_TEST(wrap_puts_before)
{
	struct err e = used();

	err_set(&e, ERR_KERNEL, EBUSY, "set");
	err_hint(&e, "ext-ack");
	ck_assert_int_eq(err_wrap(&e, "link %s", "net1"), -1);
	ck_assert_str_eq(e.msg, "link net1: set: Device or resource busy");
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EBUSY);
	ck_assert_str_eq(e.detail, "ext-ack");
	err_wrap(&e, "again: %s", e.msg); /* an argument out of the error itself */
	ck_assert_str_eq(e.msg, "again: link net1: set: Device or resource busy: "
				"link net1: set: Device or resource busy");
}
END_TEST

START_TEST(wrap_of_nothing)
{
	struct err e = { 0 };

	err_wrap(&e, "noun");
	ck_assert_str_eq(e.msg, "noun");
}
END_TEST

START_TEST(wrap_shows_that_it_cut)
{
	struct err e = used();
	char text[900];

	err_set(&e, ERR_IO, 0, "the cause");
	fill(text, sizeof(e.msg) - 5, 'a');
	err_wrap(&e, "%s", text);
	assert_cut(e.msg, sizeof(e.msg));
	fill(text, sizeof(text), 'b');
	err_wrap(&e, "%s", text);
	assert_cut(e.msg, sizeof(e.msg));
}
END_TEST

START_TEST(hints_are_lines)
{
	struct err e = used();
	char text[2000];

	err_set(&e, ERR_IO, 0, "x");
	ck_assert_int_eq(err_hint(&e, "first %d", 1), -1);
	ck_assert_str_eq(e.detail, "first 1");
	err_hint(&e, "second\rline");
	ck_assert_str_eq(e.detail, "first 1\nsecond?line");
	ck_assert_str_eq(e.msg, "x");
	fill(text, sizeof(text), 'h');
	err_hint(&e, "%s", text);
	assert_cut(e.detail, sizeof(e.detail));
	err_hint(&e, "no room left");
	assert_cut(e.detail, sizeof(e.detail));
}
END_TEST

START_TEST(nomem_sets_code_and_errno)
{
	struct err e = used();

	ck_assert_int_eq(err_nomem(&e), -1);
	ck_assert_int_eq(e.code, ERR_NOMEM);
	ck_assert_int_eq(e.errnum, ENOMEM);
	ck_assert_str_eq(e.msg, "out of memory");
	ck_assert_str_eq(e.detail, "");
}
END_TEST

TEST_PROGRAM("err", set_fills_everything, set_appends_errno, set_cuts_long_text,
	     cut_respects_characters, garbage_bytes_are_replaced, unprintable_format_is_survived,
	     pass_takes_all_of_it, wrap_puts_before, wrap_of_nothing, wrap_shows_that_it_cut,
	     hints_are_lines, nomem_sets_code_and_errno)
