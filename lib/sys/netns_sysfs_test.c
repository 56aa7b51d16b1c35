/* SPDX-License-Identifier: Apache-2.0 */
/* netns_sysfs_test.c: what a sysfs shows belongs to the namespace that it was made for. */
#include "lib/sys/netns_sysfs.h"

#include <fcntl.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static bool shows(int root, const char *path)
{
	return faccessat(root, path, F_OK, 0) == 0;
}

START_TEST(a_sysfs_shows_the_interfaces_of_its_namespace)
{
	struct err e;

	net_enter_new();
	auto_netns struct netns self = net_self(), other = net_another();
	net_veth("here0", "there0", &other);
	auto_fd int there = netns_sysfs(&other, &self, &e), here = -1;
	ck_assert_msg(there >= 0, "%s", e.msg);
	here = netns_sysfs(&self, &self, &e);
	ck_assert_msg(here >= 0, "%s", e.msg);
	ck_assert(shows(there, "class/net/there0") && !shows(there, "class/net/here0"));
	ck_assert(shows(here, "class/net/here0") && !shows(here, "class/net/there0"));
	auto_netns struct netns now = net_self();
	ck_assert(netns_same(now.id, self.id));
}
END_TEST

START_TEST(what_is_no_namespace)
{
	struct err e;

	net_enter_new();
	auto_netns struct netns self = net_self();
	auto_fd int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const struct netns none = { .fd = file };

	ck_assert_int_eq(netns_sysfs(&none, &self, &e), -1);
	ck_assert_int_eq(e.code, ERR_NETNS);
}
END_TEST

TEST_PROGRAM("netns_sysfs", a_sysfs_shows_the_interfaces_of_its_namespace, what_is_no_namespace)
