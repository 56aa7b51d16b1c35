/* SPDX-License-Identifier: Apache-2.0 */
/* file_stamp_test.c: files that are written, replaced, gone, and back. */
#include "lib/sys/file_stamp.h"

#include <stdio.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

START_TEST(each_change_of_a_file_shows_once)
{
	struct file_stamp s;

	(void)testing_dir();
	s = file_stamp("/mnt/a");
	ck_assert(!file_stamp_renew(&s, "/mnt/a"));
	testing_file("/mnt/a", 0600, "1");
	ck_assert(file_stamp_renew(&s, "/mnt/a"));
	ck_assert(!file_stamp_renew(&s, "/mnt/a"));
	testing_file("/mnt/b", 0600, "1");
	ck_assert_int_eq(rename("/mnt/b", "/mnt/a"), 0);
	ck_assert(file_stamp_renew(&s, "/mnt/a"));
	testing_file("/mnt/a", 0600, "22");
	ck_assert(file_stamp_renew(&s, "/mnt/a"));
	ck_assert_int_eq(unlink("/mnt/a"), 0);
	ck_assert(file_stamp_renew(&s, "/mnt/a"));
	ck_assert(!file_stamp_renew(&s, "/mnt/a"));
}
END_TEST

TEST_PROGRAM("file_stamp", each_change_of_a_file_shows_once)
