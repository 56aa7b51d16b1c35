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

TEST_PROGRAM("lib/grpc/status", codes_have_names, a_code_is_a_number, escapes_of_a_text_are_decoded,
	     a_long_text_is_cut_at_a_character, a_status_becomes_an_error)
