/* SPDX-License-Identifier: Apache-2.0 */
/* hostlocal_test.c: files of host-local are read, found by address, and removed by DEL. */
#include "ipam/peers/hostlocal.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

START_TEST(lease_files_are_parsed)
{
	static const struct {
		const char *text, *container, *ifname;
	} cases[] = {
		{ "c1\r\nnet1", "c1", "net1" },
		{ "c1\nnet1\n", "c1", "net1" },
		{ "c1", "c1", "" },
		{ "c1\r\n", "c1", "" },
		{ "", "", "" },
		{ "\r\nnet1", "", "" },
		{ "a/b\r\nnet1", "", "" },
		{ "c1\r\nsixteen_bytes_12", "c1", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hostlocal_lease l;
		int rc = hostlocal_parse(cases[i].text, strlen(cases[i].text), &l);

		ck_assert_int_eq(rc, *cases[i].container ? 0 : -1);
		ck_assert_str_eq(l.container, cases[i].container);
		ck_assert_str_eq(l.ifname, cases[i].ifname);
	}
}
END_TEST

static struct ctx fixture(void)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/networks", 0700) | mkdir("/mnt/networks/net", 0700), 0);
	return (struct ctx){ .cni_dir = "/mnt" };
}

static bool there(const char *name)
{
	char path[128];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/mnt/networks/net/%s", name);
	return lstat(path, &st) == 0;
}

/* As host-local's DEL: the interface's own file, else that of an early version. */
START_TEST(a_release_removes_the_owners_files)
{
	const struct ctx ctx = fixture();
	auto_hostlocal struct hostlocal h;
	struct err e;

	testing_file("/mnt/networks/net/10.0.0.2", 0600, "c1\r\nnet1");
	testing_file("/mnt/networks/net/fd00::2", 0600, "c1\r\nnet1");
	testing_file("/mnt/networks/net/10.0.0.3", 0600, "c1\r\nnet2");
	testing_file("/mnt/networks/net/10.0.0.4", 0600, "c1");
	testing_file("/mnt/networks/net/10.0.0.5", 0600, "c2\r\nnet1");
	testing_file("/mnt/networks/net/lock", 0600, "c1\r\nnet1");
	ck_assert_int_eq(hostlocal_open(&ctx, NULL, "net", &h, &e), 0);
	ck_assert_int_eq(hostlocal_release(&h, "c1", "net1", &e), 0);
	ck_assert(!there("10.0.0.2") && !there("fd00::2"));
	ck_assert(there("10.0.0.3") && there("10.0.0.4") && there("10.0.0.5") && there("lock"));
	ck_assert_int_eq(hostlocal_release(&h, "c1", "net1", &e), 0);
	ck_assert(there("10.0.0.3") && !there("10.0.0.4") && there("10.0.0.5"));
	ck_assert_int_eq(hostlocal_release(&h, "c1", "net1", &e), 0);
	ck_assert(there("10.0.0.3") && there("10.0.0.5"));
}
END_TEST

START_TEST(nothing_is_removed_behind_a_link)
{
	const struct ctx ctx = fixture();
	auto_hostlocal struct hostlocal h;
	struct ip ip;
	struct err e;

	testing_file("/mnt/networks/net/10.0.0.2", 0600, "c1\r\nnet1");
	ck_assert_int_eq(symlink("net", "/mnt/networks/linked"), 0);
	ck_assert_int_eq(hostlocal_open(&ctx, NULL, "linked", &h, &e), 0);
	ck_assert_int_eq(ip_parse("10.0.0.2", &ip), 0);
	ck_assert_int_eq(hostlocal_holds(&h, ip, &e), 1);
	ck_assert_int_eq(hostlocal_release(&h, "c1", "net1", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert(there("10.0.0.2"));
	ck_assert_int_eq(hostlocal_release(&h, "c2", "net1", &e), 0);
}
END_TEST

static int count(const struct hostlocal_lease *lease, void *arg, struct err *e)
{
	(void)e;
	*(int *)arg += *lease->container ? 1 : 100;
	return 0;
}

START_TEST(all_leases_are_visited)
{
	const struct ctx ctx = fixture();
	auto_hostlocal struct hostlocal h, none, own;
	struct err e;
	struct ip ip;
	int n = 0;

	testing_file("/mnt/networks/net/10.0.0.2", 0600, "c1\r\nnet1");
	ck_assert_int_eq(symlink("/etc/hostname", "/mnt/networks/net/10.0.0.3"), 0);
	ck_assert_int_eq(mkdir("/mnt/networks/net/10.0.0.4", 0700), 0);
	ck_assert_int_eq(hostlocal_open(&ctx, NULL, "net", &h, &e), 0);
	ck_assert_int_eq(hostlocal_each(&h, count, &n, &e), 0);
	ck_assert_int_eq(
		n, 201); /* what is not a file of host-local's is still a name in its folder */
	ck_assert_int_eq(ip_parse("10.0.0.3", &ip), 0);
	ck_assert_int_eq(hostlocal_holds(&h, ip, &e), 1);
	ck_assert_int_eq(ip_parse("10.0.0.5", &ip), 0);
	ck_assert_int_eq(hostlocal_holds(&h, ip, &e), 0);
	ck_assert_int_eq(hostlocal_open(&ctx, NULL, "none", &none, &e), 0);
	ck_assert_int_eq(hostlocal_each(&none, count, &n, &e), 0);
	ck_assert_int_eq(hostlocal_holds(&none, ip, &e), 0);
	ck_assert_int_eq(hostlocal_open(&ctx, "/mnt/networks", "net", &own, &e), 0);
	ck_assert_int_ge(own.dir, 0);
	ck_assert_int_eq(n, 201);
}
END_TEST

TEST_PROGRAM("ipam/peers/hostlocal", lease_files_are_parsed, a_release_removes_the_owners_files,
	     nothing_is_removed_behind_a_link, all_leases_are_visited)
