/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_monitor_test.c: shows which events end the wait, and that a lost event ends it, too. */
#include "lib/device/rdma_monitor.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "lib/base/ctx.h"
#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

/* A uevent for all who listen in this network namespace, which the kernel lets its owner send. */
static void announce(const char *text)
{
	auto_fd int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	struct {
		struct nlmsghdr h;
		char text[512];
	} m = { .h = { .nlmsg_type = NLMSG_MIN_TYPE, .nlmsg_flags = NLM_F_REQUEST } };
	int len = snprintf(m.text, sizeof(m.text), "%s%cSUBSYSTEM=infiniband", text, 0);

	ck_assert_int_gt(len, 0);
	m.h.nlmsg_len = NLMSG_LENGTH((uint32_t)len + 1);
	ck_assert_int_eq(send(fd, &m, m.h.nlmsg_len, 0), m.h.nlmsg_len);
}

START_TEST(hears_of_rdma_devices_alone)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;
	struct err e = { 0 };

	net_enter_new();
	ck_assert_int_eq(nl_rdma_monitor_open(&m, &e), 0);
	ck_assert_int_eq(nl_rdma_monitor_wait(m, 0, &e), 0);
	announce("add@/devices/virtual/net/infinibandit");
	net_link("bridge", "br0");
	ck_assert_int_eq(nl_rdma_monitor_wait(m, ctx_mono_ms() + 20, &e), 0);
	announce("add@/devices/pci0000:00/0000:00:02.0/infiniband/mlx5_0");
	/* It is there already: no deadline is needed to see it. */
	ck_assert_int_eq(nl_rdma_monitor_wait(m, 0, &e), 1);
	ck_assert_int_eq(nl_rdma_monitor_wait(m, 0, &e), 0);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

START_TEST(what_was_lost_may_have_been_any)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;
	struct err e = { 0 };

	net_enter_new();
	ck_assert_int_eq(nl_rdma_monitor_open(&m, &e), 0);
	for (int i = 0; i < 3000; i++)
		announce("change@/devices/virtual/net/lo");
	ck_assert_int_eq(nl_rdma_monitor_wait(m, 0, &e), 1);
	ck_assert_int_eq(nl_rdma_monitor_wait(m, 0, &e), 0);
}
END_TEST

START_TEST(waits_no_longer_than_told)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;
	int64_t start = ctx_mono_ms();
	struct err e = { 0 };

	net_enter_new();
	ck_assert_int_eq(nl_rdma_monitor_open(&m, &e), 0);
	ck_assert_int_eq(nl_rdma_monitor_wait(m, start + 30, &e), 0);
	ck_assert_int_ge(ctx_mono_ms(), start + 30);
}
END_TEST

static int listen_once(void *arg, struct err *e)
{
	auto_rdma_monitor struct rdma_monitor *m = NULL;

	(void)arg;
	return nl_rdma_monitor_open(&m, e);
}

START_TEST(survives_each_failing_allocation)
{
	ck_assert_str_eq(alloc_fail_each(listen_once, NULL), "ok");
}
END_TEST

TEST_PROGRAM("nl_rdma_monitor", hears_of_rdma_devices_alone, what_was_lost_may_have_been_any,
	     waits_no_longer_than_told, survives_each_failing_allocation)
