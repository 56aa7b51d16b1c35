/* SPDX-License-Identifier: Apache-2.0 */
/* markup_test.c: no text becomes markup, and what comes out is always UTF-8. */
#include "lib/cli/markup.h"

#include "lib/testing/testing.h"

/* The escaped text, valid until the next call; n 0: all of it. */
static const char *escaped(const char *text, size_t n)
{
	static char buf[2048];

	memset(buf, 0, sizeof(buf));
	FILE *to = fmemopen(buf, sizeof(buf), "w");

	ck_assert_ptr_nonnull(to);
	if (n)
		markup_put_short(text, n, to);
	else
		markup_put(text, to);
	ck_assert_int_eq(fclose(to), 0);
	ck_assert(utf8_valid(buf, strlen(buf)));
	return buf;
}

START_TEST(text_does_not_become_markup)
{
	ck_assert_str_eq(escaped("<b a=\"1\" c='2'>&</b>", 0),
			 "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;&lt;/b&gt;");
	ck_assert_str_eq(escaped("swp1", 0), "swp1");
	ck_assert_str_eq(escaped("", 0), "");
}
END_TEST

START_TEST(other_bytes_become_question_marks)
{
	static const char directions[][2] = { { '\x80', '\x8e' }, { '\x80', '\x8f' },
					      { '\x80', '\xaa' }, { '\x80', '\xae' },
					      { '\x81', '\xa6' }, { '\x81', '\xa9' } };
	char text[] = { 'a', '\xe2', 0, 0, 'b', '\0' };

	ck_assert_str_eq(escaped("a\x01\n\x7f", 0), "a???");
	ck_assert_str_eq(escaped("gr\xc3\xbc\xc3\x9f", 0), "gr\xc3\xbc\xc3\x9f");
	ck_assert_str_eq(escaped("gr\xc3", 0), "gr?");
	for (size_t i = 0; i < ARRAY_SIZE(directions); i++) {
		text[2] = directions[i][0];
		text[3] = directions[i][1];
		ck_assert_str_eq(escaped(text, 0), "a?b");
	}
	text[2] = '\x80';
	text[3] = '\xa6';
	ck_assert_str_eq(escaped(text, 0), text);
}
END_TEST

START_TEST(a_long_text_ends_with_an_ellipsis)
{
	char long_text[401];

	ck_assert_str_eq(escaped("abcdef", 6), "abcdef");
	ck_assert_str_eq(escaped("abcdefg", 6), "abcde\xe2\x80\xa6");
	ck_assert_str_eq(escaped("\xc3\xbc\xc3\xbc\xc3\xbc", 2), "\xc3\xbc\xe2\x80\xa6");
	ck_assert_str_eq(escaped("a<b", 2), "a\xe2\x80\xa6");
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = '\0';
	ck_assert_uint_eq(strlen(escaped(long_text, 1000)), MARKUP_SHORT_MAX - 1 + 3);
}
END_TEST

TEST_PROGRAM("markup", text_does_not_become_markup, other_bytes_become_question_marks,
	     a_long_text_ends_with_an_ellipsis)
