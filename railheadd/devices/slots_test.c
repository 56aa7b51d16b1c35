/* SPDX-License-Identifier: Apache-2.0 */
/* slots_test.c: whether there may be claims of slots. */
#include "railheadd/devices/slots.h"

#include <sys/stat.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

/* A folder that cannot be read is not an empty one. */
START_TEST(slots_that_are_not_known)
{
	const struct ctx ctx = { .run_dir = "/mnt" };

	(void)testing_dir();
	ck_assert(!slots_are_there(&ctx));
	ck_assert_int_eq(mkdir("/mnt/claims", 0700), 0);
	ck_assert(!slots_are_there(&ctx));
	ck_assert_int_eq(rmdir("/mnt/claims"), 0);
	ck_assert_int_eq(symlink("claims", "/mnt/claims"), 0);
	ck_assert(slots_are_there(&ctx));
}
END_TEST

TEST_PROGRAM("slots", slots_that_are_not_known)
