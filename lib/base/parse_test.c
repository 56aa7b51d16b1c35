/* SPDX-License-Identifier: Apache-2.0 */
/* parse_test.c: shows which texts are numbers, UTF-8, interface names and ids. */
#include "lib/base/parse.h"

#include <inttypes.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/testing/testing.h"

START_TEST(good_numbers_are_parsed)
{
	static const struct {
		const char *s;
		uint64_t v;
	} good[] = {
		{ "0", 0 },
		{ "7", 7 },
		{ "007", 7 },
		{ "65535", 65535 },
		{ "18446744073709551615", UINT64_MAX },
		{ "0000000000000000000000000000042", 42 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		uint64_t v = 99;

		ck_assert_int_eq(parse_u64(good[i].s, 0, UINT64_MAX, &v), 0);
		ck_assert_uint_eq(v, good[i].v);
	}
}
END_TEST

START_TEST(bad_numbers_are_refused)
{
	static const char *const bad[] = {
		"",
		" 1",
		"1 ",
		"+1",
		"-1",
		"0x10",
		"1.0",
		"1e3",
		"a",
		"1a",
		"/",
		":",
		"18446744073709551616",
		"99999999999999999999",
		"184467440737095516150",
	};
	uint64_t v = 99;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(parse_u64(bad[i], 0, UINT64_MAX, &v), -1);
	ck_assert_int_eq(parse_u64("67", 68, 9000, &v), -1);
	ck_assert_int_eq(parse_u64("9001", 68, 9000, &v), -1);
	ck_assert_uint_eq(v, 99);
	ck_assert_int_eq(parse_u64("68", 68, 9000, &v), 0);
	ck_assert_int_eq(parse_u64("9000", 68, 9000, &v), 0);
	ck_assert_uint_eq(v, 9000);
}
END_TEST

/* Every byte there is, against isxdigit() and strtol(). */
START_TEST(hex_values)
{
	for (int c = 0; c < 256; c++) {
		const char text[] = { (char)c, '\0' };
		int want = isxdigit(c) ? (int)strtol(text, NULL, 16) : -1;

		ck_assert_int_eq(hex_digit((char)c), want);
		ck_assert_int_eq(hex_digit_lower((char)c), isupper(c) ? -1 : want);
	}
}
END_TEST

START_TEST(hex_octets)
{
	static const char *const bad[] = { "", "0", "g0", "0g", " 1", "-1", "+1", "0x" };
	char text[3];

	for (int i = 0; i < 256; i++) {
		ck_assert_ptr_eq(hex_octet_put(text, (uint8_t)i), text + 2);
		ck_assert_int_eq(strtol(text, NULL, 16), i);
		ck_assert_int_eq(hex_octet(text), i);
	}
	ck_assert_str_eq(text, "ff");
	ck_assert_int_eq(hex_octet("FFf"), 255);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(hex_octet(bad[i]), -1);
}
END_TEST

START_TEST(hex_numbers)
{
	uint32_t v = 7;

	ck_assert_uint_eq(hex_take("", 8, &v), 0);
	ck_assert_uint_eq(v, 0);
	ck_assert_uint_eq(hex_take("1aF:", 8, &v), 3);
	ck_assert_uint_eq(v, 0x1af);
	ck_assert_uint_eq(hex_take("1aF", 2, &v), 2);
	ck_assert_uint_eq(v, 0x1a);
	ck_assert_uint_eq(hex_take("ffffffff1", 8, &v), 8);
	ck_assert_uint_eq(v, UINT32_MAX);
}
END_TEST

/* RFC 3629 by the book: decode the bits, then judge the number. */
static size_t model_char(const uint8_t *s, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = s[0] < 0x80             ? 1
		   : (s[0] & 0xe0) == 0xc0 ? 2
		   : (s[0] & 0xf0) == 0xe0 ? 3
		   : (s[0] & 0xf8) == 0xf0 ? 4
					   : 0;
	uint32_t c = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : n;
}

static size_t model_prefix(const uint8_t *s, size_t len)
{
	size_t i = 0, n;

	while (i < len && (n = model_char(s + i, len - i)) > 0)
		i += n;
	return i;
}

static void compare(const uint8_t *s, size_t len)
{
	size_t want = model_prefix(s, len), got = utf8_prefix((const char *)s, len);

	if (got != want)
		ck_abort_msg("%02x %02x %02x %02x (%zu): %zu, not %zu", s[0], s[1], s[2], s[3], len,
			     got, want);
	if (utf8_valid((const char *)s, len) != (want == len))
		ck_abort_msg("%02x %02x %02x %02x (%zu): valid", s[0], s[1], s[2], s[3], len);
}

START_TEST(utf8_as_the_model)
{
	/* the ends of every range that RFC 3629 names, and their neighbours */
	static const uint8_t edges[] = {
		0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0,
		0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff,
	};
	const size_t n = ARRAY_SIZE(edges);
	uint8_t s[4] = { 0 };

	for (unsigned v = 0; v < 0x10000; v++) {
		s[0] = (uint8_t)(v >> 8);
		s[1] = (uint8_t)v;
		compare(s, 1);
		compare(s, 2);
	}
	for (size_t v = 0; v < n * n * n * n; v++) {
		s[0] = edges[v % n];
		s[1] = edges[v / n % n];
		s[2] = edges[v / n / n % n];
		s[3] = edges[v / n / n / n];
		compare(s, 3);
		compare(s, 4);
	}
}
END_TEST

START_TEST(utf8_at_every_offset)
{
	ck_assert(utf8_valid("", 0));
	for (size_t at = 0; at < 24; at++) {
		char s[] = "abcdefghijklmnopqrstuvwxyz";

		s[at] = '\xff';
		ck_assert_uint_eq(utf8_prefix(s, 26), at);
		s[at] = '\xc3';
		s[at + 1] = '\xa9';
		ck_assert(utf8_valid(s, 26));
		ck_assert(!utf8_valid(s, at + 1));
	}
}
END_TEST

START_TEST(bad_interface_names_are_explained)
{
	static const char *const good[] = { "e",           "eth0",         "net1.100",
					    "...",         "a-b_c@d",      "123456789012345",
					    "\xc3\xa9th0", "\xe8\xbb\x8c", "\xf0\x9f\x9a\x82" };
	static const struct {
		const char *name, *why;
	} bad[] = {
		{ "", "interface name is empty" },
		{ "1234567890123456", "interface name is too long" },
		{ "12345678901234567890", "interface name is too long" },
		{ ".", "interface name is . or .." },
		{ "..", "interface name is . or .." },
		{ "a/b", "interface name contains / or : or whitespace characters" },
		{ "a:b", "interface name contains / or : or whitespace characters" },
		{ "a b", "interface name contains / or : or whitespace characters" },
		{ "a\tb", "interface name contains / or : or whitespace characters" },
		{ "a\r", "interface name contains / or : or whitespace characters" },
		{ "\xc2\x85", "interface name contains / or : or whitespace characters" },
		{ "\xc2\xa0", "interface name contains / or : or whitespace characters" },
		{ "\xe1\x9a\x80", "interface name contains / or : or whitespace characters" },
		{ "\xe2\x80\x80", "interface name contains / or : or whitespace characters" },
		{ "\xe2\x80\xa8", "interface name contains / or : or whitespace characters" },
		{ "\xe2\x80\xa9", "interface name contains / or : or whitespace characters" },
		{ "\xe2\x80\xaf", "interface name contains / or : or whitespace characters" },
		{ "\xe2\x81\x9f", "interface name contains / or : or whitespace characters" },
		{ "\xe3\x80\x80", "interface name contains / or : or whitespace characters" },
		{ "a\x01", "interface name contains control characters" },
		{ "a\x7f", "interface name contains control characters" },
		{ "net%d", "interface name contains %, where the kernel would put a number" },
		{ "a\xff", "interface name is not UTF-8 text" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(!ifname_problem(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_pstr_eq(ifname_problem(bad[i].name), bad[i].why);
}
END_TEST

START_TEST(identifiers_are_checked)
{
	static const char *const good[] = { "a", "Z", "0", "c1", "a_b.c-d", "9f86d081884c" };
	static const char *const bad[] = { "",    "_a",  ".a",       "-a",  "a/b",
					   "a b", "a\n", "a:b",      "a@b", "a[b",
					   "a`b", "a{b", "\xc3\xa9", "..",  "/" };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(id_valid(good[i]), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!id_valid(bad[i]), "%s", bad[i]);
}
END_TEST

/* The pieces of s joined by '|'. */
static const char *pieces(const char *s, size_t len)
{
	static char out[100];
	struct slice rest = { s, len }, piece;

	out[0] = '\0';
	while (slice_next(&rest, ';', &piece)) {
		char one[20];

		ck_assert_int_eq(slice_copy(piece, one, sizeof(one)), 0);
		testing_append(out, sizeof(out), one);
		testing_append(out, sizeof(out), "|");
	}
	ck_assert_ptr_null(rest.p);
	return out;
}

START_TEST(lists_are_split)
{
	ck_assert_str_eq(pieces("a;;b", 4), "a||b|");
	ck_assert_str_eq(pieces("abc", 3), "abc|");
	ck_assert_str_eq(pieces("", 0), "|");
	ck_assert_str_eq(pieces(";", 1), "||");
	ck_assert_str_eq(pieces("a;", 2), "a||");
	ck_assert_str_eq(pieces("a;bc;d", 4), "a|bc|");
	ck_assert_str_eq(pieces(NULL, 0), "");
}
END_TEST

START_TEST(slices_are_compared_by_their_bytes)
{
	const struct slice ab = { "abc", 2 }, none = { NULL, 0 };

	ck_assert(slice_same(ab, (struct slice){ "abd", 2 }));
	ck_assert(!slice_same(ab, (struct slice){ "abc", 3 }));
	ck_assert(!slice_same(ab, (struct slice){ "ac", 2 }));
	ck_assert(slice_same(none, (struct slice){ "x", 0 }));
	ck_assert(slice_is(ab, "ab") && !slice_is(ab, "abc") && !slice_is(ab, "a"));
	ck_assert(slice_is(none, "") && !slice_is(none, "a"));
	ck_assert(slice_begins(ab, "a") && slice_begins(ab, "ab") && slice_begins(ab, ""));
	ck_assert(!slice_begins(ab, "abc") && !slice_begins(ab, "b"));
	ck_assert(slice_begins(none, "") && !slice_begins(none, "a"));
}
END_TEST

START_TEST(slice_copy_bounds)
{
	char buf[4] = "xyz";

	ck_assert_int_eq(slice_copy((struct slice){ "abcd", 4 }, buf, sizeof(buf)), -1);
	ck_assert_int_eq(slice_copy((struct slice){ "abc", 3 }, buf, 0), -1);
	ck_assert_int_eq(slice_copy((struct slice){ "a\0b", 3 }, buf, sizeof(buf)), -1);
	ck_assert_str_eq(buf, "xyz");
	ck_assert_int_eq(slice_copy((struct slice){ "abcd", 3 }, buf, sizeof(buf)), 0);
	ck_assert_str_eq(buf, "abc");
	ck_assert_int_eq(slice_copy((struct slice){ NULL, 0 }, buf, 1), 0);
	ck_assert_str_eq(buf, "");
}
END_TEST

TEST_PROGRAM("parse", good_numbers_are_parsed, bad_numbers_are_refused, hex_values, hex_octets,
	     hex_numbers, utf8_as_the_model, utf8_at_every_offset,
	     bad_interface_names_are_explained, identifiers_are_checked, lists_are_split,
	     slice_copy_bounds, slices_are_compared_by_their_bytes)
