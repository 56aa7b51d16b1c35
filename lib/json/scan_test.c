/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan_test.c: shows through json_parse() which texts are JSON and which are not; the scan and
 * cJSON must agree.
 */
#include "lib/json/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"

#define ROUNDS 100000

static const char *refusal(const char *text, size_t len)
{
	static struct err e;
	struct json *j = NULL;

	memset(&e, 0, sizeof(e));
	if (!json_parse(text, len, "config", &j, &e)) {
		json_free(j);
		return "accepted";
	}
	ck_assert_ptr_null(j);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_int_eq(e.errnum, 0);
	ck_assert_str_eq(e.detail, "");
	return e.msg;
}

#define REFUSED(text, why) ck_assert_str_eq(refusal(text, sizeof(text) - 1), why)
#define ACCEPTED(text)     REFUSED(text, "accepted")

START_TEST(good_texts)
{
	ACCEPTED("{}");
	ACCEPTED("[]");
	ACCEPTED(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } } \n\n");
	ACCEPTED("true");
	ACCEPTED("false");
	ACCEPTED("null");
	ACCEPTED("\"\"");
	ACCEPTED("0");
	ACCEPTED("-0");
	ACCEPTED("-1.5e+3");
	ACCEPTED("[0, 10, 0.5, 1E5, 1e-5, 0e0, 1.7976931348623157e308, 1e-400]");
	ACCEPTED("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uABCD\\ud83d\\ude82\\uDBFF\\uDFFF\"");
	ACCEPTED("\"\xc3\xa9 \xf0\x9f\x9a\x82 \x7f\"");
	ACCEPTED("{\"\":1}");
	ACCEPTED("{\"a\":1,\"a\":2}");
	ACCEPTED("123456789012345678901234567890123456789012345678901234567890123");
}
END_TEST

START_TEST(whole_text_is_judged)
{
	static char big[JSON_MAX_SIZE + 2];

	ck_assert_str_eq(refusal(NULL, 0), "config is empty");
	REFUSED("", "config is empty");
	REFUSED(" \n\t\r ", "config is empty");
	REFUSED("\xef\xbb\xbf{}",
		"config: begins with a byte order mark: save it as UTF-8 without one");
	REFUSED("\xef\xbb", "config: byte 0: 0xef is not UTF-8");
	REFUSED("{\"a\":\"\xff\"}", "config: byte 6: 0xff is not UTF-8");
	REFUSED("\"\xed\xa0\x80\"", "config: byte 1: 0xed is not UTF-8");
	REFUSED("\"\xc0\xaf\"", "config: byte 1: 0xc0 is not UTF-8");
	memset(big, ' ', sizeof(big));
	big[0] = '1';
	ck_assert_str_eq(refusal(big, JSON_MAX_SIZE), "accepted");
	ck_assert_str_eq(refusal(big, JSON_MAX_SIZE + 1),
			 "config: 1048577 bytes, more than the limit of 1048576");
}
END_TEST

START_TEST(bad_structure_is_refused)
{
	REFUSED("{", "config: byte 1: expected a key in double quotes, found the end of the text");
	REFUSED("[", "config: byte 1: expected a value, found the end of the text");
	REFUSED("}", "config: byte 0: expected a value, found '}'");
	REFUSED("[1", "config: byte 2: expected ',' or ']', found the end of the text");
	REFUSED("[1 2]", "config: byte 3: expected ',' or ']', found '2'");
	REFUSED("[1,]", "config: byte 3: expected a value, found ']'");
	REFUSED("[,1]", "config: byte 1: expected a value, found ','");
	REFUSED("[1}", "config: byte 2: expected ',' or ']', found '}'");
	REFUSED("{\"a\"}", "config: byte 4: expected ':' after a key, found '}'");
	REFUSED("{\"a\" 1}", "config: byte 5: expected ':' after a key, found '1'");
	REFUSED("{\"a\":}", "config: byte 5: expected a value, found '}'");
	REFUSED("{\"a\":1,}", "config: byte 7: expected a key in double quotes, found '}'");
	REFUSED("{\"a\":1 \"b\":2}", "config: byte 7: expected ',' or '}', found '\"'");
	REFUSED("{a:1}", "config: byte 1: expected a key in double quotes, found 'a'");
	REFUSED("{'a':1}", "config: byte 1: expected a key in double quotes, found '''");
	REFUSED("{\"a", "config: byte 3: expected the '\"' that ends the string, "
			"found the end of the text");
	REFUSED("{} {}", "config: byte 3: expected nothing after the value, found '{'");
	REFUSED("{}x", "config: byte 2: expected nothing after the value, found 'x'");
	REFUSED("{\n  \"a\": 1,\n  b: 2\n}\n",
		"config: line 3, column 3: expected a key in double quotes, found 'b'");
	REFUSED("// c\n{}", "config: line 1, column 1: expected a value, found '/'");
	REFUSED("{}\0", "config: byte 2: expected nothing after the value, found byte 0x00");
	REFUSED("\0{}", "config: byte 0: expected a value, found byte 0x00");
	REFUSED("{\0}", "config: byte 1: expected a key in double quotes, found byte 0x00");
	REFUSED("[\v1]", "config: byte 1: expected a value, found byte 0x0b");
	REFUSED("[1\f]", "config: byte 2: expected ',' or ']', found byte 0x0c");
	REFUSED("[\xc2\xa0]", "config: byte 1: expected a value, found byte 0xc2");
}
END_TEST

START_TEST(bad_literals_are_refused)
{
	REFUSED("tru", "config: byte 3: expected true, false or null, found the end of the text");
	REFUSED("trux", "config: byte 3: expected true, false or null, found 'x'");
	REFUSED("fals\n",
		"config: line 1, column 5: expected true, false or null, found byte 0x0a");
	REFUSED("nul", "config: byte 3: expected true, false or null, found the end of the text");
	REFUSED("True", "config: byte 0: expected a value, found 'T'");
	REFUSED("nulll", "config: byte 4: expected nothing after the value, found 'l'");
	REFUSED("NaN", "config: byte 0: expected a value, found 'N'");
	REFUSED("Infinity", "config: byte 0: expected a value, found 'I'");
}
END_TEST

START_TEST(bad_numbers_are_refused)
{
	REFUSED("-", "config: byte 1: expected a digit, found the end of the text");
	REFUSED("-x", "config: byte 1: expected a digit, found 'x'");
	REFUSED("-Infinity", "config: byte 1: expected a digit, found 'I'");
	REFUSED("+1", "config: byte 0: expected a value, found '+'");
	REFUSED(".5", "config: byte 0: expected a value, found '.'");
	REFUSED("1.", "config: byte 2: expected a digit, found the end of the text");
	REFUSED("[1.]", "config: byte 3: expected a digit, found ']'");
	REFUSED("01", "config: byte 1: expected nothing after the value, found '1'");
	REFUSED("-01", "config: byte 2: expected nothing after the value, found '1'");
	REFUSED("0x10", "config: byte 1: expected nothing after the value, found 'x'");
	REFUSED("1e", "config: byte 2: expected a digit, found the end of the text");
	REFUSED("1e+", "config: byte 3: expected a digit, found the end of the text");
	REFUSED("1e-]", "config: byte 3: expected a digit, found ']'");
	REFUSED("1e+-1", "config: byte 3: expected a digit, found '-'");
	REFUSED("1.5.5", "config: byte 3: expected nothing after the value, found '.'");
	REFUSED("[1-2]", "config: byte 2: expected ',' or ']', found '-'");
	REFUSED("[1e999]", "config: byte 1: the number 1e999 is too large");
	REFUSED("[-1e309]", "config: byte 1: the number -1e309 is too large");
	REFUSED(" 1234567890123456789012345678901234567890123456789012345678901234",
		"config: byte 1: a number of 64 characters, more than 63");
}
END_TEST

START_TEST(bad_strings_are_refused)
{
	REFUSED("\"abc", "config: byte 4: expected the '\"' that ends the string, found the end of "
			 "the text");
	REFUSED("\"a\nb\"", "config: line 1, column 3: expected a control character to be escaped, "
			    "found byte 0x0a");
	REFUSED("\"a\tb\"",
		"config: byte 2: expected a control character to be escaped, found byte 0x09");
	REFUSED("\"a\0b\"",
		"config: byte 2: expected a control character to be escaped, found byte 0x00");
	REFUSED("\"\\",
		"config: byte 2: expected one of \"\\/bfnrtu after a backslash, found the end of "
		"the text");
	REFUSED("\"\\x41\"",
		"config: byte 2: expected one of \"\\/bfnrtu after a backslash, found 'x'");
	REFUSED("\"\\\0\"",
		"config: byte 2: expected one of \"\\/bfnrtu after a backslash, found byte 0x00");
	REFUSED("\"\\u12g4\"",
		"config: byte 5: expected four hexadecimal digits after \\u, found 'g'");
	REFUSED("\"\\u12G4\"",
		"config: byte 5: expected four hexadecimal digits after \\u, found 'G'");
	REFUSED("\"\\u12@4\"",
		"config: byte 5: expected four hexadecimal digits after \\u, found '@'");
	REFUSED("\"\\u12/4\"",
		"config: byte 5: expected four hexadecimal digits after \\u, found '/'");
	REFUSED("\"\\u123",
		"config: byte 6: expected four hexadecimal digits after \\u, found the end of the "
		"text");
	REFUSED("\"x\\u0000\"", "config: byte 2: the character \\u0000 is not supported");
	REFUSED("{\"a\\u0000\":1}", "config: byte 3: the character \\u0000 is not supported");
	REFUSED("\"\\ud83d\"", "config: byte 7: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83dx\"", "config: byte 7: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83d\\n\"", "config: byte 8: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83d\\ud83d\"", "config: byte 13: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83d\\u0041\"", "config: byte 13: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83d\\ue000\"", "config: byte 13: half a surrogate pair, \\ud83d");
	REFUSED("\"\\ud83d\\u00\"",
		"config: byte 11: expected four hexadecimal digits after \\u, found '\"'");
	REFUSED("\"\\ude82\"", "config: byte 7: half a surrogate pair, \\ude82");
}
END_TEST

START_TEST(too_much_depth_is_refused)
{
	char text[2 * JSON_MAX_DEPTH + 3];
	const size_t n = JSON_MAX_DEPTH;

	memset(text, '[', n);
	memset(text + n, ']', n);
	ck_assert_str_eq(refusal(text, 2 * n), "accepted");
	memset(text, '[', n + 1);
	memset(text + n + 1, ']', n + 1);
	ck_assert_str_eq(refusal(text, 2 * n + 2), "config: byte 32: nested deeper than 32 levels");
	REFUSED("{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
		"\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{"
		"\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{",
		"config: byte 160: nested deeper than 32 levels");
}
END_TEST

/* Every beginning of a text is refused, and read without looking behind its end. */
START_TEST(truncated_texts_are_refused)
{
	static const char text[] =
		"{\"a\": [1.5e+3, true, null, \"\\ud83d\\ude82\\n\"], \"b\": {}}";

	ACCEPTED("{\"a\": [1.5e+3, true, null, \"\\ud83d\\ude82\\n\"], \"b\": {}}");
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		char *copy = malloc(len + 1); /* of exactly that size, for the address sanitizer */

		ck_assert_ptr_nonnull(copy);
		memcpy(copy, text, len);
		char *exact = realloc(copy, len ? len : 1);
		ck_assert_ptr_nonnull(exact);
		ck_assert_str_ne(refusal(exact, len), "accepted");
		free(exact);
	}
}
END_TEST

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15; /* splitmix64 */

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* What was accepted prints as text that is accepted and prints the same again. */
static void check_print(const char *text, size_t len)
{
	auto_json struct json *first = NULL, *second = NULL;
	struct err e = { 0 };

	if (json_parse(text, len, "first", &first, &e)) {
		if (e.code != ERR_DECODE) /* the scan let pass what cJSON refuses */
			ck_abort_msg("cJSON refuses %.*s", (int)len, text);
		return;
	}
	auto_free char *a = json_print(first, false);
	ck_assert_ptr_nonnull(a);
	if (json_parse(a, strlen(a), "second", &second, &e))
		ck_abort_msg("%s: %s", a, e.msg);
	auto_free char *b = json_print(second, true), *c = json_print(second, false);
	ck_assert_ptr_nonnull(b);
	ck_assert_str_eq(a, c);
}

START_TEST(random_damage_never_crashes)
{
	static const char seed_text[] =
		"{\"name\":\"n\\u00e91\",\"mtu\":1500,\"x\":[-0.5e-3,true,"
		"false,null,\"\\ud83d\\ude82\\\\\",{\"\":[]},123456789012]}";
	static const char bytes[] = "{}[]\",:\\u0019.eE+-tfn \n\x01\x7f\xc3\xa9\xff";
	const char *s = getenv("RAILHEAD_SEED");
	uint64_t state = s ? strtoull(s, NULL, 10) : 20261121;

	printf("seed %" PRIu64 "\n", state);
	(void)fflush(stdout);
	for (int i = 0; i < ROUNDS; i++) {
		char text[sizeof(seed_text)];
		size_t len = sizeof(seed_text) - 1;

		memcpy(text, seed_text, sizeof(text));
		for (uint64_t n = next_random(&state) % 3 + 1; n > 0; n--)
			text[next_random(&state) % len] =
				bytes[next_random(&state) % (sizeof(bytes) - 1)];
		check_print(text, next_random(&state) % 8 ? len : next_random(&state) % len);
	}
}
END_TEST

START_TEST(yaml_is_called_so)
{
	static const struct {
		const char *text;
		bool yaml;
	} cases[] = {
		{ "kind: Pod\n", true }, { "# a comment\na: 1\n", true }, { "---\na: 1\n", true },
		{ "- name: a\n", true }, { "rails.io/x: 1", true },       { "garbage", false },
		{ "{a: 1}", false },     { "-Infinity", false },          { "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text = cases[i].text;
		struct json *j = NULL;
		struct err e = { 0 };

		ck_assert_int_eq(json_parse(text, strlen(text), "t", &j, &e), -1);
		ck_assert_msg(!!strstr(e.detail, "looks like YAML") == cases[i].yaml, "%s: %s",
			      cases[i].text, e.detail);
	}
}
END_TEST

TEST_PROGRAM("json_scan", good_texts, whole_text_is_judged, bad_structure_is_refused,
	     bad_literals_are_refused, bad_numbers_are_refused, bad_strings_are_refused,
	     too_much_depth_is_refused, truncated_texts_are_refused, random_damage_never_crashes,
	     yaml_is_called_so)
