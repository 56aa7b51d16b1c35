/* SPDX-License-Identifier: Apache-2.0 */
/* node_number_test.c: numbers and patterns of node.json, and each that is refused. */
#include "ipam/conf/node_number.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/typos.h"

/* The number, or the message of the error. */
static const char *number_of(const char *file, const char *hostname)
{
	static char text[1024];
	auto_json struct json *j = NULL;
	struct node_number n;
	struct err e;

	ck_assert_msg(json_parse(file, strlen(file), "t", &j, &e) == 0, "%s", file);
	if (node_number_decode(j, hostname, &n, &e))
		(void)snprintf(text, sizeof(text), "%s", e.msg);
	else
		(void)snprintf(text, sizeof(text), "%u", n.number);
	return text;
}

static const char *match(const char *pattern, const char *hostname)
{
	char file[600];

	(void)snprintf(file, sizeof(file), "{\"hostnamePattern\":\"%s\"}", pattern);
	return number_of(file, hostname);
}

START_TEST(a_number_is_a_number)
{
	ck_assert_str_eq(number_of("{\"number\":0}", "x"), "0");
	ck_assert_str_eq(number_of("{\"number\":4294967295}", "x"), "4294967295");
	ck_assert_ptr_nonnull(strstr(number_of("{\"number\":4294967296}", "x"), "number"));
	ck_assert_ptr_nonnull(strstr(number_of("{\"number\":-1}", "x"), "number"));
	ck_assert_ptr_nonnull(strstr(number_of("{\"number\":1.5}", "x"), "number"));
	ck_assert_ptr_nonnull(strstr(number_of("{\"number\":\"1\"}", "x"), "number"));
	ck_assert_ptr_nonnull(strstr(number_of("{\"nummer\":1}", "x"), "nummer"));
	ck_assert_ptr_nonnull(strstr(number_of("{}", "x"), "needs one of"));
	ck_assert_ptr_nonnull(strstr(number_of("[]", "x"), "must be an object"));
	ck_assert_ptr_nonnull(strstr(
		number_of("{\"number\":1,\"hostnamePattern\":\"(\\\\d+)\"}", "1"), "needs one of"));
}
END_TEST

START_TEST(a_pattern_finds_the_number_in_the_host_name)
{
	ck_assert_str_eq(match("gpu-(\\\\d+)", "gpu-17"), "17");
	ck_assert_str_eq(match("gpu-(\\\\d+)", "gpu-017"), "17");
	ck_assert_str_eq(match("gpu-(\\\\d+)", "gpu-17.example.org"), "17");
	ck_assert_str_eq(match("gpu-(\\\\d+)", "gpu-0"), "0");
	ck_assert_str_eq(match("rack\\\\d+-gpu(\\\\d+)", "rack12-gpu3"), "3");
	ck_assert_str_eq(match("(\\\\d+)-gpu", "9-gpu"), "9");
	ck_assert_str_eq(match("n(\\\\d+).dc1", "n5.dc1.example.org"), "5");
	ck_assert_str_eq(match("gpu-(\\\\d+)", "gpu-4294967295"), "4294967295");
}
END_TEST

START_TEST(a_host_name_that_does_not_match_is_an_error)
{
	static const char *const names[] = { "",        "gpu-",  "gpu-x",  "old-gpu-17",
					     "gpu-17b", "gpu17", "GPU-17", "gpu-1-7" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *have = match("gpu-(\\\\d+)", names[i]);

		ck_assert_msg(strstr(have, "does not match the host name"), "%s: %s", names[i],
			      have);
	}
	ck_assert_ptr_nonnull(strstr(match("gpu-(\\\\d+)", "gpu-4294967296"), "is above"));
	ck_assert_ptr_nonnull(
		strstr(match("gpu-(\\\\d+)", "gpu-99999999999999999999999999999999"), "is above"));
	/* 2^64 */
	ck_assert_ptr_nonnull(
		strstr(match("gpu-(\\\\d+)", "gpu-18446744073709551616"), "is above"));
}
END_TEST

START_TEST(bad_patterns_are_refused)
{
	static const struct {
		const char *pattern, *want;
	} bad[] = {
		{ "", "has no (" },
		{ "gpu-17", "has no (" },
		{ "gpu-\\\\d+", "has no (" },
		{ "(\\\\d+)-(\\\\d+)", "more than one" },
		{ "gpu-(\\\\d+)7", "digit behind" },
		{ "gpu-(\\\\d+)\\\\d+", "digit behind" },
		{ "\\\\d+(\\\\d+)", "digit behind" },
		{ "gpu-(\\\\d*)", "not supported" },
		{ "gpu.*(\\\\d+)", "not supported" },
		{ "gpu-(\\\\d+)$", "not supported" },
		{ "gpu (\\\\d+)", "not supported" },
		{ "gpu-(\\\\d", "not supported" },
		{ "gpu-\\\\", "not supported" },
	};
	char longest[NODE_PATTERN_MAX + 2];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *have = match(bad[i].pattern, "gpu-17");

		ck_assert_msg(strstr(have, bad[i].want), "%s: %s", bad[i].pattern, have);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_ptr_nonnull(strstr(match(longest, "x"), "longer than a host name"));
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	(void)arg;
	return strspn(number_of(text, "gpu-17"), "0123456789") == 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(typos_all_told("{\"number\":17,\"labels\":{}}", NULL, refuses, NULL), 9);
	ck_assert_uint_gt(
		typos_all_told("{\"hostnamePattern\":\"gpu-(\\\\d+)\"}", NULL, refuses, NULL), 9);
}
END_TEST

TEST_PROGRAM("node_number", a_number_is_a_number, a_pattern_finds_the_number_in_the_host_name,
	     a_host_name_that_does_not_match_is_an_error, bad_patterns_are_refused,
	     no_key_is_mistyped_in_silence)
