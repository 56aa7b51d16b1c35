/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool_stats_test.c: the statistics of a veth, which the kernel makes without hardware. */
#include "lib/device/ethtool_stats.h"

#include <errno.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"

struct seen {
	unsigned n, most;
	uint64_t peer;
};

static int note(const char *name, uint64_t value, void *arg)
{
	struct seen *s = arg;

	ck_assert_uint_gt(strlen(name), 0);
	if (strcmp(name, "peer_ifindex") == 0)
		s->peer = value;
	return ++s->n == s->most;
}

START_TEST(names_and_values_of_a_veth)
{
	struct seen s = { .n = 0 };
	struct err e;

	net_enter_new();
	net_veth("a", "b", NULL);
	auto_nl struct nl *nl = net_socket();
	ck_assert_msg(ethtool_stats("a", note, &s, &e) == 0, "%s", e.msg);
	ck_assert_uint_gt(s.n, 1);
	ck_assert_uint_eq(s.peer, (unsigned)net_ifindex(nl, "b"));
	s = (struct seen){ .most = 1 };
	ck_assert_int_eq(ethtool_stats("a", note, &s, &e), 0);
	ck_assert_uint_eq(s.n, 1);
}
END_TEST

START_TEST(interfaces_without_statistics)
{
	struct seen s = { .n = 0 };
	struct err e;

	net_enter_new();
	ck_assert_int_eq(ethtool_stats("lo", note, &s, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_int_eq(ethtool_stats("none", note, &s, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_uint_eq(s.n, 0);
}
END_TEST

TEST_PROGRAM("ethtool_stats", names_and_values_of_a_veth, interfaces_without_statistics)
