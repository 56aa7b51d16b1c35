/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testing.h: the frame of every X_test.c: one Check suite, one program.
 *
 *	START_TEST(one_and_one_are_two) { ck_assert_int_eq(1 + 1, 2); } END_TEST
 *	TEST_PROGRAM("sum", one_and_one_are_two)
 */
#ifndef RAILHEAD_LIB_TESTING_TESTING_H
#define RAILHEAD_LIB_TESTING_TESTING_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/base.h"
#include "lib/base/parse.h"

/* testing_append - add text to the string in buf; fails the test where it does not fit. */
static inline void testing_append(char *buf, size_t size, const char *text)
{
	size_t len = strlen(buf), more = strlen(text);

	ck_assert_uint_lt(len + more, size);
	memcpy(buf + len, text, more + 1);
}

/* testing_number - a positive number in the environment, such as MODEL_SEED, or another one. */
static inline unsigned testing_number(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);
	uint64_t n;

	return text && parse_u64(text, 1, UINT32_MAX, &n) == 0 ? (unsigned)n : otherwise;
}

#define TEST_PROGRAM(name, ...)                                                                    \
	int main(void)                                                                             \
	{                                                                                          \
		const TTest *const tests[] = { __VA_ARGS__ };                                      \
		Suite *suite = suite_create(name);                                                 \
		TCase *cases = tcase_create(name);                                                 \
		for (size_t i = 0; i < ARRAY_SIZE(tests); i++)                                     \
			tcase_add_test(cases, tests[i]);                                           \
		suite_add_tcase(suite, cases);                                                     \
		SRunner *runner = srunner_create(suite);                                           \
		srunner_run_all(runner, CK_ENV);                                                   \
		int failed = srunner_ntests_failed(runner);                                        \
		srunner_free(runner);                                                              \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;                                       \
	}

#endif
