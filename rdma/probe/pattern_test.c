/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_test.c: each kind of change to a message is found. */
#include "rdma/probe/pattern.h"

#include "lib/testing/testing.h"

START_TEST(what_is_filled_is_right)
{
	static const size_t sizes[] = { 0, 1, 7, 8, 9, 63, 64, 4096, 4099 };
	static uint64_t buf[520];
	struct pattern_fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		memset(buf, 0xa5, sizeof(buf));
		pattern_fill(buf, sizes[i], 42);
		ck_assert(pattern_check(buf, sizes[i], 42, &fault));
		/* Not a byte more than was asked for. */
		ck_assert_uint_eq(((uint8_t *)buf)[sizes[i]], 0xa5);
	}
}
END_TEST

START_TEST(every_single_byte_counts)
{
	uint64_t buf[13];
	uint8_t *p = (uint8_t *)buf;
	const size_t len = 101;

	pattern_fill(buf, len, 7);
	for (size_t i = 0; i < len; i++) {
		struct pattern_fault fault = { 0 };
		p[i] ^= 0x10;
		ck_assert(!pattern_check(buf, len, 7, &fault));
		ck_assert_uint_eq(fault.offset, i);
		ck_assert_uint_eq(fault.wrong, 1);
		ck_assert_uint_eq(fault.got, p[i]);
		ck_assert_uint_eq(fault.want, p[i] ^ 0x10);
		p[i] ^= 0x10;
	}
}
END_TEST

START_TEST(tells_how_many_and_which_is_first)
{
	uint64_t buf[8];
	uint8_t *p = (uint8_t *)buf;
	struct pattern_fault fault = { 0 };

	pattern_fill(buf, sizeof(buf), 7);
	p[9] ^= 1;
	p[10] ^= 1;
	p[63] ^= 1;
	ck_assert(!pattern_check(buf, sizeof(buf), 7, &fault));
	ck_assert_uint_eq(fault.offset, 9);
	ck_assert_uint_eq(fault.wrong, 3);
}
END_TEST

START_TEST(messages_differ)
{
	uint64_t a[64], b[64];
	struct pattern_fault fault = { 0 };
	const uint64_t keys[] = { pattern_key(1, 0, 0), pattern_key(1, 0, 1), pattern_key(1, 1, 0),
				  pattern_key(2, 0, 0) };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		for (size_t j = 0; j < i; j++) {
			pattern_fill(a, sizeof(a), keys[i]);
			pattern_fill(b, sizeof(b), keys[j]);
			ck_assert(!pattern_check(a, sizeof(a), keys[j], &fault));
			/* Nearly all bytes, wherever they are. */
			ck_assert_uint_gt(fault.wrong, sizeof(a) * 9 / 10);
			/* Nor is one a shifted other. */
			ck_assert_int_ne(memcmp(a, b + 1, sizeof(a) - 8), 0);
			ck_assert_int_ne(memcmp(a + 1, b, sizeof(a) - 8), 0);
		}
	}
	memset(a, 0, sizeof(a));
	ck_assert(!pattern_check(a, sizeof(a), keys[0], &fault));
}
END_TEST

TEST_PROGRAM("rdma/probe/pattern", what_is_filled_is_right, every_single_byte_counts,
	     tells_how_many_and_which_is_first, messages_differ)
