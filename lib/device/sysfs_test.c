/* SPDX-License-Identifier: Apache-2.0 */
/* sysfs_test.c: shows which values are read and written, and which names are refused. */
#include "lib/device/sysfs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"

START_TEST(reads_one_short_value)
{
	static const struct {
		const char *text, *value;
	} c[] = { { "up\n", "up" },
		  { "up", "up" },
		  { "", "" },
		  { "\n", "" },
		  { "two\nlines\n", "two\nlines" } };
	char buf[10];
	struct err e = { 0 };

	ck_assert_ptr_nonnull(testing_dir());
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		testing_file("/mnt/attr", 0600, c[i].text);
		ck_assert_int_eq(sysfs_read("/mnt", "attr", buf, sizeof(buf), &e), 0);
		ck_assert_str_eq(buf, c[i].value);
	}
}
END_TEST

START_TEST(what_does_not_fit_or_is_not_there)
{
	char buf[10] = "before";
	struct err e = { 0 };
	char path[5000];

	ck_assert_ptr_nonnull(testing_dir());
	testing_file("/mnt/nine", 0600, "123456789\n");
	testing_file("/mnt/ten", 0600, "1234567890\n");
	testing_file("/mnt/lines", 0600, "123456789\nmore\n");
	ck_assert_int_eq(sysfs_read("/mnt", "lines", buf, sizeof(buf), &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);
	ck_assert_int_eq(sysfs_read("/mnt", "ten", buf, sizeof(buf), &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);
	ck_assert_str_eq(buf, "before");
	ck_assert_int_eq(sysfs_read("/mnt", "none", buf, sizeof(buf), &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(sysfs_read("/", "mnt", buf, sizeof(buf), &e), -1);
	ck_assert_int_eq(e.errnum, EISDIR);
	ck_assert_int_eq(sysfs_read("/dev", "zero", buf, sizeof(buf), &e), -1);
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	ck_assert_int_eq(sysfs_read("/mnt", path, buf, sizeof(buf), &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(sysfs_write("/mnt", path, "1", &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
	ck_assert_int_eq(sysfs_read("/mnt", "nine", buf, sizeof(buf), &e), 0);
	ck_assert_str_eq(buf, "123456789");
}
END_TEST

START_TEST(a_NUL_in_a_value)
{
	char buf[10];
	struct err e = { 0 };

	ck_assert_int_eq(sysfs_read("/proc/self", "cmdline", buf, 2, &e), -1);
	ck_assert_int_eq(e.errnum, EFBIG);

	char cmdline[4096];

	ck_assert_int_eq(sysfs_read("/proc/self", "cmdline", cmdline, sizeof(cmdline), &e), -1);
	ck_assert_int_eq(e.errnum, EILSEQ);
}
END_TEST

START_TEST(reads_numbers)
{
	static const char *const bad[] = { "", "x", "-1", "1 2", "18446744073709551616", "0x10" };
	uint64_t v = 7;
	struct err e = { 0 };

	ck_assert_ptr_nonnull(testing_dir());
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		testing_file("/mnt/n", 0600, bad[i]);
		ck_assert_int_eq(sysfs_read_u64("/mnt", "n", &v, &e), -1);
		ck_assert_int_eq(e.code, ERR_IO);
		ck_assert_uint_eq(v, 7);
	}
	ck_assert_int_eq(sysfs_read_u64("/mnt", "none", &v, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	testing_file("/mnt/n", 0600, "18446744073709551615\n");
	ck_assert_int_eq(sysfs_read_u64("/mnt", "n", &v, &e), 0);
	ck_assert_uint_eq(v, UINT64_MAX);
}
END_TEST

START_TEST(a_value_is_written)
{
	char buf[16];
	struct err e = { 0 };

	ck_assert_ptr_nonnull(testing_dir());
	testing_file("/mnt/attr", 0600, "0\n");
	ck_assert_int_eq(sysfs_write("/mnt", "attr", "250", &e), 0);
	ck_assert_int_eq(sysfs_write("/mnt", "attr", "7", &e), 0);
	ck_assert_int_eq(sysfs_read("/mnt", "attr", buf, sizeof(buf), &e), 0);
	ck_assert_str_eq(buf, "7");
	ck_assert_int_eq(sysfs_write("/mnt", "none", "7", &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(access("/mnt/none", F_OK), -1);
	ck_assert_int_eq(sysfs_write("/dev", "full", "7", &e), -1);
	ck_assert_int_eq(e.errnum, ENOSPC);
}
END_TEST

START_TEST(sets_a_variable_of_an_interface)
{
	char buf[16];
	struct err e = { 0 };

	net_enter_new();
	net_veth("a.b", "c", NULL); /* a dot is not a separator here */
	ck_assert_msg(sysctl_net_path("/proc", "a.b", "ipv6/disable_ipv6", "1", &e) == 0, "%s",
		      e.msg);
	ck_assert_msg(sysctl_net_path("/proc", "a.b", "ipv4/arp_notify", "1", &e) == 0, "%s",
		      e.msg);
	ck_assert_int_eq(sysfs_read("/proc/sys/net/ipv6/conf", "a.b/disable_ipv6", buf, 16, &e), 0);
	ck_assert_str_eq(buf, "1");
	ck_assert_int_eq(sysfs_read("/proc/sys/net/ipv4/conf", "a.b/arp_notify", buf, 16, &e), 0);
	ck_assert_str_eq(buf, "1");
	ck_assert_int_eq(sysctl_net_path("/proc", "none", "ipv4/arp_notify", "1", &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	ck_assert_int_eq(sysctl_net_path("/proc", "c", "ipv4/arp_notify", "no number", &e), -1);
	ck_assert_int_eq(e.errnum, EINVAL);
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

/* In a container /proc/sys is often read-only; what stands already needs no writing. */
START_TEST(what_stands_is_not_written)
{
	struct err e = { 0 };

	ck_assert_ptr_nonnull(testing_dir());
	ck_assert_int_eq(mkdir("/mnt/sys", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/net", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/net/ipv4", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/net/ipv4/conf", 0700), 0);
	ck_assert_int_eq(mkdir("/mnt/sys/net/ipv4/conf/net1", 0700), 0);
	testing_file("/mnt/sys/net/ipv4/conf/net1/v", 0600, "1\n");

	struct timespec epoch[2] = { { 0, 0 }, { 0, 0 } };
	struct stat st;
	static const char path[] = "/mnt/sys/net/ipv4/conf/net1/v";

	ck_assert_int_eq(utimensat(-1, path, epoch, 0), 0);
	ck_assert_int_eq(sysctl_net_path("/mnt", "net1", "ipv4/v", "1", &e), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mtime, 0);
	ck_assert_int_eq(sysctl_net_path("/mnt", "net1", "ipv4/v", "2", &e), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_ne(st.st_mtime, 0);
}
END_TEST

START_TEST(names_do_not_lead_elsewhere)
{
	static const struct {
		const char *ifname, *key;
	} c[] = { { "..", "ipv4/x" },  { ".", "ipv4/x" },     { "", "ipv4/x" },
		  { "a/b", "ipv4/x" }, { "../..", "ipv4/x" }, { "lo", "ipv4" },
		  { "lo", "ipv4/" },   { "lo", "/x" },        { "lo", "" },
		  { "lo", "../x" },    { "lo", "ipv4/.." },   { "lo", "ipv4/a/b" } };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		ck_assert_int_eq(sysctl_net_path("/proc", c[i].ifname, c[i].key, "1", &e), -1);
		ck_assert_msg(e.code == ERR_FIELD && e.errnum == EINVAL, "%s", e.msg);
	}
	char longest[5000];

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(sysctl_net_path("/proc", longest, "ipv4/x", "1", &e), -1);
	ck_assert_int_eq(e.errnum, ENAMETOOLONG);
}
END_TEST

static int read_version(void *arg, struct err *e)
{
	char buf[64];

	return sysfs_read("/proc", arg, buf, sizeof(buf), e);
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(read_version, "sys/kernel/osrelease"), "ok");
}
END_TEST

TEST_PROGRAM("sysfs", reads_one_short_value, what_does_not_fit_or_is_not_there, a_NUL_in_a_value,
	     reads_numbers, a_value_is_written, sets_a_variable_of_an_interface,
	     what_stands_is_not_written, names_do_not_lead_elsewhere, allocations_may_fail)
