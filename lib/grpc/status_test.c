// SPDX-License-Identifier: Apache-2.0
/* Codes and texts with which a call ends. */
#include "lib/grpc/status.h"

#include "lib/testing/testing.h"

static const char *text(const char *value)
{
	static char out[GRPC_TEXT_LEN];

	grpc_status_text(value, strlen(value), out);
	return out;
}

START_TEST(codes_have_names)
{
	ck_assert_str_eq(grpc_status_name(GRPC_OK), "OK");
	ck_assert_str_eq(grpc_status_name(GRPC_DEADLINE_EXCEEDED), "DEADLINE_EXCEEDED");
	ck_assert_str_eq(grpc_status_name(GRPC_RESOURCE_EXHAUSTED), "RESOURCE_EXHAUSTED");
	ck_assert_str_eq(grpc_status_name(GRPC_UNIMPLEMENTED), "UNIMPLEMENTED");
	ck_assert_str_eq(grpc_status_name(GRPC_UNAVAILABLE), "UNAVAILABLE");
	ck_assert_str_eq(grpc_status_name(16), "UNAUTHENTICATED");
	ck_assert_str_eq(grpc_status_name(17), "unknown");
}
END_TEST

START_TEST(a_code_is_a_number)
{
	uint32_t code = 77;

	ck_assert_int_eq(grpc_status_parse("14xyz", 2, &code), 0);
	ck_assert_uint_eq(code, 14);
	ck_assert_int_eq(grpc_status_parse("4294967295", 10, &code), 0);
	ck_assert_uint_eq(code, UINT32_MAX);
	ck_assert_int_eq(grpc_status_parse("", 0, &code), -1);
	ck_assert_int_eq(grpc_status_parse("-1", 2, &code), -1);
	ck_assert_int_eq(grpc_status_parse("4294967296", 10, &code), -1);
	ck_assert_int_eq(grpc_status_parse("00000000000014", 14, &code), -1);
	ck_assert_uint_eq(code, UINT32_MAX);
}
END_TEST

START_TEST(escapes_of_a_text_are_decoded)
{
	ck_assert_str_eq(text("rejected by rate limit"), "rejected by rate limit");
	ck_assert_str_eq(text("100%25 of %c3%BC"), "100% of \xc3\xbc");
	ck_assert_str_eq(text("%"), "%");
	ck_assert_str_eq(text("a%4"), "a%4");
	ck_assert_str_eq(text("%zz%2"), "%zz%2");
	ck_assert_str_eq(text("a%0ab%00c%7f"), "a?b?c?");
	ck_assert_str_eq(text("a\xff%fe"), "a??");
	ck_assert_str_eq(text(""), "");
}
END_TEST

START_TEST(a_long_text_is_cut_at_a_character)
{
	char value[400];

	memset(value, 'x', sizeof(value));
	value[sizeof(value) - 1] = '\0';
	ck_assert_uint_eq(strlen(text(value)), GRPC_TEXT_LEN - 1);
	memcpy(value + GRPC_TEXT_LEN - 3, "\xe2\x82\xac", 3);
	ck_assert_uint_eq(strlen(text(value)), GRPC_TEXT_LEN - 3);
	memcpy(value + GRPC_TEXT_LEN - 3, "xxxxx", 5);
	memcpy(value + GRPC_TEXT_LEN - 4, "\xe2\x82\xac", 3);
	ck_assert_uint_eq(strlen(text(value)), GRPC_TEXT_LEN - 1);
}
END_TEST

START_TEST(a_status_becomes_an_error)
{
	const struct grpc_status later = { GRPC_UNAVAILABLE, "try" }, bare = { 12, "" },
				 odd = { 99, "x" };
	struct err e = { 0 };

	ck_assert_int_eq(grpc_status_error(&later, &e), -1);
	ck_assert_str_eq(e.msg, "status 14 (UNAVAILABLE): try");
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_eq(grpc_status_error(&bare, &e), -1);
	ck_assert_str_eq(e.msg, "status 12 (UNIMPLEMENTED)");
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_int_eq(grpc_status_error(&odd, &e), -1);
	ck_assert_str_eq(e.msg, "status 99 (unknown): x");
	for (uint32_t code = 0; code < 20; code++) {
		const struct grpc_status s = { code, "" };
		bool again = code == GRPC_DEADLINE_EXCEEDED || code == GRPC_RESOURCE_EXHAUSTED ||
			     code == GRPC_UNAVAILABLE;
		ck_assert_int_eq(grpc_status_error(&s, &e), -1);
		ck_assert_int_eq(e.code, again ? ERR_AGAIN : ERR_IO);
	}
}
END_TEST

START_TEST(a_text_is_encoded_as_it_is_decoded)
{
	static const char *const texts[] = { "", "plain words", "100% \xc3\xbc \x7f", "%41",
					     "a\xe2\x82\xac" };
	char value[GRPC_ENCODED_LEN], longest[GRPC_TEXT_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		grpc_status_encode(texts[i], value);
		for (const char *p = value; *p; p++)
			ck_assert(*p >= ' ' && *p < 0x7f);
		ck_assert_str_eq(text(value), i == 2 ? "100% \xc3\xbc ?" : texts[i]);
	}
	grpc_status_encode("a\n%\xff", value);
	ck_assert_str_eq(value, "a%0A%25%FF");
	memset(longest, '%', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	grpc_status_encode(longest, value);
	ck_assert_uint_eq(strlen(value), GRPC_ENCODED_LEN - 3);
}
END_TEST

START_TEST(an_error_becomes_a_status)
{
	static const struct {
		enum err_code from;
		uint32_t to;
	} all[] = {
		{ ERR_AGAIN, GRPC_UNAVAILABLE },        { ERR_NOTFOUND, GRPC_NOT_FOUND },
		{ ERR_FIELD, GRPC_INVALID_ARGUMENT },   { ERR_DECODE, GRPC_INVALID_ARGUMENT },
		{ ERR_NOMEM, GRPC_RESOURCE_EXHAUSTED }, { ERR_STATE, GRPC_FAILED_PRECONDITION },
		{ ERR_KERNEL, GRPC_INTERNAL },
	};
	struct grpc_status s;
	struct err e = { .msg = "what" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		e.code = all[i].from;
		grpc_status_of(&e, &s);
		ck_assert_uint_eq(s.code, all[i].to);
		ck_assert_str_eq(s.text, "what");
	}
	memset(e.msg, 'x', 500);
	memcpy(e.msg + GRPC_TEXT_LEN - 2, "\xc3\xbc", 2);
	grpc_status_of(&e, &s);
	ck_assert_uint_eq(strlen(s.text), GRPC_TEXT_LEN - 2);
}
END_TEST

TEST_PROGRAM("lib/grpc/status", codes_have_names, a_code_is_a_number, escapes_of_a_text_are_decoded,
	     a_long_text_is_cut_at_a_character, a_status_becomes_an_error,
	     a_text_is_encoded_as_it_is_decoded, an_error_becomes_a_status)
