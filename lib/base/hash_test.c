/* SPDX-License-Identifier: Apache-2.0 */
/* hash_test.c: the published values: ids that older programs wrote to disk must stay the same. */
#include "lib/base/hash.h"

#include "lib/testing/testing.h"

START_TEST(hashes_have_the_published_values)
{
	ck_assert_uint_eq(hash_add_text(HASH_START, ""), UINT64_C(0xcbf29ce484222325));
	ck_assert_uint_eq(hash_add_text(HASH_START, "a"), UINT64_C(0xaf63dc4c8601ec8c));
	ck_assert_uint_eq(hash_add_text(HASH_START, "foobar"), UINT64_C(0x85944171f73967e8));
	ck_assert_uint_eq(hash_add(HASH_START, "\xff\0", 2),
			  hash_add(hash_add(HASH_START, "\xff", 1), "", 1));
}
END_TEST

START_TEST(parts_make_the_hash_of_the_whole)
{
	ck_assert_uint_eq(hash_add_text(hash_add_text(HASH_START, "foo"), "bar"),
			  UINT64_C(0x85944171f73967e8));
	ck_assert_uint_ne(hash_add(HASH_START, "a", 2), hash_add(HASH_START, "a", 1));
}
END_TEST

TEST_PROGRAM("hash", hashes_have_the_published_values, parts_make_the_hash_of_the_whole)
