/* SPDX-License-Identifier: Apache-2.0 */
/* param_test.c: numbers as people write them. */
#include "lib/rdma/param.h"

#include "lib/testing/testing.h"

START_TEST(numbers_are_read_as_NCCL_does)
{
	ck_assert_int_eq(nccl_number("106", -7), 106);
	ck_assert_int_eq(nccl_number("0x6a", -7), 106);
	ck_assert_int_eq(nccl_number("010", -7), 8);
	ck_assert_int_eq(nccl_number("-1", -7), -1);
	ck_assert_int_eq(nccl_number("auto", -7), 0);
	ck_assert_int_eq(nccl_number(" ", -7), 0);
	ck_assert_int_eq(nccl_number("", -7), -7);
	ck_assert_int_eq(nccl_number(NULL, -7), -7);
	ck_assert_int_eq(nccl_number("99999999999999999999", -7), -7);
}
END_TEST

TEST_PROGRAM("param", numbers_are_read_as_NCCL_does)
