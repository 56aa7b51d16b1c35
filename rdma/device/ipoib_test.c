/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipoib_test.c: shows which RDMA device a child of IPoIB in a pod has: that of its parent,
 * although the kernel does not say in which namespace the parent is.
 */
#include <errno.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "rdma/device/device.h"
#include "rdma/testing/node.h"

#define INFINIBAND 32 /* ARPHRD_INFINIBAND */

/* The GID is in bytes 4 to 19; the bytes before are those of the queue pair. */
#define ADDRESS(qp, port)                                                                          \
	{                                                                                          \
		20,                                                                                \
		{                                                                                  \
			0x80, 0, 0, (qp), 0xfe, 0x80, [19] = (port)                                \
		}                                                                                  \
	}

static const struct hw_addr none;
static const struct link_info child = { .ifindex = 9,
					.name = "net1",
					.kind = "ipoib",
					.type = INFINIBAND,
					.addr = ADDRESS(9, 1),
					.lower_ifindex = 5 };
static const struct link_info parent = { .ifindex = 5,
					 .name = "ib0",
					 .kind = "ipoib",
					 .type = INFINIBAND,
					 .addr = ADDRESS(1, 1),
					 .parent = "0000:3b:00.0" };

struct sides {
	struct testnode w;
	struct testpod p;
	struct net_fake in_pod, on_host;
	struct nl *rdma;
	struct netns host;
	struct rdma_view v;
};

static void open_sides(struct sides *s)
{
	s->w = testnode(RDMA_SHARED, 1);
	s->p = testpod("c1");
	s->host = net_self();
	s->rdma = net_socket();
	s->in_pod = net_fake();
	s->on_host = net_fake();
	s->v = (struct rdma_view){ .ctx = &s->w.ctx,
				   .host = &s->host,
				   .pod = &s->p.ns,
				   .host_nl = s->on_host.nl,
				   .pod_nl = s->in_pod.nl,
				   .host_rdma = s->rdma };
	net_say_link(&s->in_pod, 1, &child, &none);
}

static void close_sides(struct sides *s)
{
	nl_release(s->on_host.nl);
	nl_release(s->in_pod.nl);
	nl_release(s->rdma);
	netns_close(&s->host);
	ck_assert_int_eq(close(s->on_host.peer) + close(s->in_pod.peer), 0);
}

static void serves(const struct sides *s)
{
	struct rdma_serving out;
	struct err e = { 0 };

	ck_assert_msg(rdma_of_netdev(&s->v, "net1", &out, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(out.link.name, "mlx5_pf");
	ck_assert_str_eq(out.pci, "0000:3b:00.0");
	ck_assert_uint_eq(out.port, 1);
	ck_assert(!out.own);
}

START_TEST(the_parent_is_on_the_host)
{
	struct sides s;

	open_sides(&s);
	net_ack(&s.in_pod, 2, ENODEV);
	for (uint32_t seq = 1; seq <= 2; seq++)
		net_say_link(&s.on_host, seq, &parent, &none);
	serves(&s);
	close_sides(&s);
}
END_TEST

/* An interface of the pod has the parent's number by chance. */
START_TEST(another_interface_has_the_number)
{
	struct link_info veth = parent, other = parent;

	(void)stpcpy(veth.kind, "veth");
	other.addr.byte[19] = 2;
	for (int i = 0; i < 2; i++) {
		struct sides s;

		open_sides(&s);
		net_say_link(&s.in_pod, 2, i ? &other : &veth, &none);
		for (uint32_t seq = 1; seq <= 2; seq++)
			net_say_link(&s.on_host, seq, &parent, &none);
		serves(&s);
		close_sides(&s);
	}
}
END_TEST

START_TEST(the_parent_is_in_the_pod)
{
	struct sides s;

	open_sides(&s);
	for (uint32_t seq = 2; seq <= 3; seq++)
		net_say_link(&s.in_pod, seq, &parent, &none);
	serves(&s);
	close_sides(&s);
}
END_TEST

START_TEST(the_parent_is_nowhere)
{
	struct rdma_serving out;
	struct err e = { 0 };
	struct sides s;

	open_sides(&s);
	net_ack(&s.in_pod, 2, ENODEV);
	net_ack(&s.on_host, 1, ENODEV);
	ck_assert_int_eq(rdma_of_netdev(&s.v, "net1", &out, &e), -1);
	ck_assert_msg(e.code == ERR_NOTFOUND && strstr(e.msg, "net1") != NULL, "%s", e.msg);
	close_sides(&s);
}
END_TEST

TEST_PROGRAM("rdma/device/ipoib", the_parent_is_on_the_host, another_interface_has_the_number,
	     the_parent_is_in_the_pod, the_parent_is_nowhere)
