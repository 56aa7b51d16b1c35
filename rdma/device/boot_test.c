/* SPDX-License-Identifier: Apache-2.0 */
/* boot_test.c: which line and which file sets the mode, and when our file would have no effect. */
#include "rdma/device/boot.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

START_TEST(modprobe_lines_are_parsed)
{
	static const struct {
		const char *text;
		int found;
		enum rdma_mode mode;
	} c[] = {
		{ "options ib_core netns_mode=0", 1, RDMA_EXCLUSIVE },
		{ "options ib_core netns_mode=1", 1, RDMA_SHARED },
		{ "\toptions  ib-core\tfoo=1 netns_mode=N ", 1, RDMA_EXCLUSIVE },
		{ "options ib_core netns_mode=y netns_mode=n", 1, RDMA_EXCLUSIVE },
		{ "options ib_core netns_mode=", 0, 0 },
		{ "options ib_core netns_mode=2", 0, 0 },
		{ "options ib_core xnetns_mode=0", 0, 0 },
		{ "options ib_core netns_mode", 0, 0 },
		{ "options ib_core_x netns_mode=0", 0, 0 },
		{ "options mlx5_core netns_mode=0", 0, 0 },
		{ "#options ib_core netns_mode=0", 0, 0 },
		{ "option ib_core netns_mode=0", 0, 0 },
		{ "options", 0, 0 },
		{ "", 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		enum rdma_mode mode = (enum rdma_mode)7;

		ck_assert_int_eq(rdma_boot_line(c[i].text, strlen(c[i].text), &mode), c[i].found);
		ck_assert_int_eq((int)mode, c[i].found ? (int)c[i].mode : 7);
	}
}
END_TEST

START_TEST(the_last_file_counts)
{
	const char *dir = testing_dir();
	struct rdma_boot b;
	struct err e = { 0 };

	ck_assert_int_eq(rdma_boot_read("/mnt/none", &b, &e), 0);
	ck_assert(!b.given && b.mode == RDMA_SHARED);
	testing_file("/mnt/a.conf", 0644, "options ib_core netns_mode=0\n# x");
	testing_file("/mnt/z.conf.bak", 0644, "options ib_core netns_mode=1\n");
	testing_file("/mnt/.z.conf", 0644, "options ib_core netns_mode=1\n");
	ck_assert_int_eq(rdma_boot_read(dir, &b, &e), 0);
	ck_assert(b.given && b.mode == RDMA_EXCLUSIVE);
	ck_assert_str_eq(b.file, "a.conf");
	testing_file("/mnt/b.conf", 0644, "\noptions ib_core netns_mode=1");
	ck_assert_int_eq(rdma_boot_read(dir, &b, &e), 0);
	ck_assert_int_eq(b.mode, RDMA_SHARED);
	ck_assert_str_eq(b.file, "b.conf");
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(the_boot_file_is_written)
{
	struct rdma_boot b;
	struct stat st;
	struct err e = { 0 };

	(void)testing_dir();
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rdma_boot_write("/mnt/d", (enum rdma_mode)i, &e), 0);
		ck_assert_int_eq(rdma_boot_read("/mnt/d", &b, &e), 0);
		ck_assert_int_eq((int)b.mode, i);
		ck_assert_str_eq(b.file, RDMA_BOOT_FILE);
	}
	testing_file("/mnt/d/z.conf", 0644, "options ib_core netns_mode=1");
	ck_assert_int_eq(rdma_boot_write("/mnt/d", RDMA_SHARED, &e), 0);
	ck_assert_int_eq(rdma_boot_write("/mnt/d", RDMA_EXCLUSIVE, &e), -1);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "/mnt/d/z.conf"));
	ck_assert_int_eq(rdma_boot_read("/mnt/d", &b, &e), 0);
	ck_assert_int_eq(b.mode, RDMA_SHARED);
	ck_assert_int_eq(stat("/mnt/d/" RDMA_BOOT_FILE, &st), 0);
}
END_TEST

static int write_and_read(void *arg, struct err *e)
{
	struct rdma_boot b;

	(void)arg;
	return rdma_boot_write("/mnt/d", RDMA_EXCLUSIVE, e) || rdma_boot_read("/mnt/d", &b, e) ? -1
											       : 0;
}

START_TEST(out_of_memory)
{
	(void)testing_dir();
	ck_assert_str_eq(alloc_fail_each(write_and_read, NULL), "ok");
}
END_TEST

TEST_PROGRAM("rdma/device/boot", modprobe_lines_are_parsed, the_last_file_counts,
	     the_boot_file_is_written, out_of_memory)
