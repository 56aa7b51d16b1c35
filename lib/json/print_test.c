/* SPDX-License-Identifier: Apache-2.0 */
/* print_test.c: shows the exact text of values, and that it reads back as the same value. */
#include "lib/json/json.h"

#include <string.h>

#include "lib/base/parse.h"
#include "lib/testing/testing.h"

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse(text, strlen(text), "test", &j, &e))
		ck_abort_msg("%s", e.msg);
	return j;
}

static void assert_prints(const char *text, bool pretty, const char *want)
{
	auto_json struct json *j = parse(text);
	auto_free char *got = json_print(j, pretty);

	ck_assert_pstr_eq(got, want);
}

START_TEST(compact_form)
{
	assert_prints(" { \"a\" : [ 1 , [ ] , { } , null ] , \"b\" : true } ", false,
		      "{\"a\":[1,[],{},null],\"b\":true}");
	assert_prints("null", false, "null");
	auto_free char *nothing = json_print(NULL, false);
	ck_assert_str_eq(nothing, "null");
}
END_TEST

START_TEST(pretty_form)
{
	assert_prints("{\"a\":[1,[],{},{\"x\":[2]}],\"b\":false}", true,
		      "{\n"
		      "\t\"a\": [\n"
		      "\t\t1,\n"
		      "\t\t[],\n"
		      "\t\t{},\n"
		      "\t\t{\n"
		      "\t\t\t\"x\": [\n"
		      "\t\t\t\t2\n"
		      "\t\t\t]\n"
		      "\t\t}\n"
		      "\t],\n"
		      "\t\"b\": false\n"
		      "}");
	assert_prints("{}", true, "{}");
	assert_prints("\"s\"", true, "\"s\"");
}
END_TEST

START_TEST(strings_are_escaped)
{
	assert_prints("\"\\b\\f\\n\\r\\t\\\"\\\\\\/\"", false, "\"\\b\\f\\n\\r\\t\\\"\\\\/\"");
	assert_prints("\"\\u0001\\u001f\\u007f\\u00e9\"", false,
		      "\"\\u0001\\u001f\\u007f\xc3\xa9\"");
	assert_prints("\"\\ud83d\\ude82\"", false, "\"\xf0\x9f\x9a\x82\"");
	assert_prints("{\"k\\n\\\"\":\"\"}", false, "{\"k\\n\\\"\":\"\"}");
}
END_TEST

START_TEST(bad_utf8_becomes_a_sign)
{
	auto_json struct json *j = json_new_object();

	ck_assert_int_eq(json_add_str(j, "a\xff", "\xe2\x82 x\xc3\xa9\xf0\x9f"), 0);
	auto_free char *text = json_print(j, false);
	ck_assert_pstr_eq(text, "{\"a\\ufffd\":\"\\ufffd\\ufffd x\xc3\xa9\\ufffd\\ufffd\"}");
}
END_TEST

START_TEST(integers_are_exact)
{
	static const struct {
		int64_t v;
		const char *text;
	} all[] = {
		{ 0, "{\"v\":0}" },
		{ -1, "{\"v\":-1}" },
		{ 2147483648, "{\"v\":2147483648}" },
		{ 1795219200123456, "{\"v\":1795219200123456}" },
		{ 9007199254740991, "{\"v\":9007199254740991}" },
		{ -9007199254740991, "{\"v\":-9007199254740991}" },
		{ 9007199254740992, "{\"v\":9007199254740992}" },
		{ INT64_MIN + 1, "{\"v\":-9.223372036854776e+18}" },
		{ INT64_MAX, "{\"v\":9.223372036854776e+18}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *j = json_new_object();

		ck_assert_int_eq(json_add_int(j, "v", all[i].v), 0);
		auto_free char *text = json_print(j, false);
		ck_assert_pstr_eq(text, all[i].text);
	}
	assert_prints("[9007199254740991,-0,1e3,1000000000000000000,1.0]", false,
		      "[9007199254740991,0,1000,1000000000000000000,1]");
}
END_TEST

/* The shortest text that reads back as the same number. */
START_TEST(fractions_round_trip)
{
	assert_prints("[0.1,0.5,1.5e-7,-2.25,1e300,1e-320]", false,
		      "[0.1,0.5,1.5e-07,-2.25,1e+300,9.99988867182683e-321]");
	assert_prints("[0.30000000000000004,0.1234567890123456,3.141592653589793]", false,
		      "[0.30000000000000004,0.1234567890123456,3.141592653589793]");
	assert_prints("[18446744073709551616]", false, "[1.8446744073709552e+19]");
}
END_TEST

START_TEST(shown_values)
{
	static const char *const all[][2] = {
		{ "null", "null" },         { "true", "true" },
		{ "1.5", "1.5" },           { "1e99", "1e+99" },
		{ "\"1500\"", "\"1500\"" }, { "\"a\\nb\\u0001\\\"\"", "\"a\\nb\\u0001\\\"\"" },
		{ "[1,2]", "an array" },    { "{}", "an object" },
	};
	char out[JSON_SHOW_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_json struct json *j = parse(all[i][0]);

		ck_assert_ptr_eq(json_show(j, out), out);
		ck_assert_str_eq(out, all[i][1]);
	}
	ck_assert_str_eq(json_show(NULL, out), "null");
}
END_TEST

START_TEST(shown_values_are_bounded)
{
	static const char *const chars[] = { "a", "\xc3\xa9", "\xf0\x9f\x9a\x82", "\\n",
					     "\\u0001" };

	for (size_t c = 0; c < ARRAY_SIZE(chars); c++) {
		for (size_t shift = 0; shift < 6; shift++) {
			char text[1000] = "\"", out[JSON_SHOW_LEN];

			for (size_t i = 0; i < shift; i++)
				testing_append(text, sizeof(text), "x");
			for (size_t i = 0; i < 100; i++)
				testing_append(text, sizeof(text), chars[c]);
			testing_append(text, sizeof(text), "\"");
			auto_json struct json *j = parse(text);
			size_t len = strlen(json_show(j, out));
			ck_assert_uint_lt(len, sizeof(out));
			ck_assert_uint_ge(len, sizeof(out) - 1 - 6);
			ck_assert_str_eq(out + len - 3, "...");
			ck_assert(utf8_valid(out, len));
			/* no escape is cut in two */
			ck_assert_int_eq(strncmp(out, text, len - 3), 0);
			ck_assert_uint_eq((len - 4 - shift) % strlen(chars[c]), 0);
		}
	}
}
END_TEST

TEST_PROGRAM("json_print", compact_form, pretty_form, strings_are_escaped, bad_utf8_becomes_a_sign,
	     integers_are_exact, fractions_round_trip, shown_values, shown_values_are_bounded)
