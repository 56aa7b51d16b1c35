/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_port_test.c: which port is found below interfaces of a pod, on fake hardware. */
#include "rdma/inventory/netdev_port.h"

#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "rdma/testing/node.h"

static void address(const struct testpod *p, const char *ifname)
{
	auto_nl struct nl *nl = net_socket_in(&p->ns);
	struct ip_prefix a;
	struct err e;

	ck_assert_int_eq(ip_parse_prefix("10.1.0.5/16", &a), 0);
	ck_assert_int_eq(nl_addr_add(nl, net_ifindex(nl, ifname), a, true, &e), 0);
}

static struct netdev_ports of(const struct testnode *w, const struct testpod *p)
{
	struct netdev_ports s;
	struct err e;

	ck_assert_msg(netdev_ports_read(&w->ctx, &p->ns, &s, &e) == 0, "%s", e.msg);
	return s;
}

START_TEST(a_macvlan_has_the_port_of_its_master)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");
	auto_nl struct nl *nl = net_socket_in(&p.ns);

	testnode_macvlan(&p);
	address(&p, "net1");
	auto_netdev_ports struct netdev_ports s = of(&w, &p);
	ck_assert_uint_eq(s.n, 1);
	ck_assert_int_eq(s.one[0].ifindex, net_ifindex(nl, "net1"));
	ck_assert_uint_eq(s.one[0].device, w.hca->dev[0].link.index);
	ck_assert_uint_eq(s.one[0].port, 1);

	struct inv_netdev d[2] = { { .link = { .ifindex = 1 } },
				   { .link = { .ifindex = s.one[0].ifindex } } };
	struct rdma_inventory v = { .netdev = d, .n_netdevs = 2 };
	netdev_ports_apply(&s, &v);
	ck_assert_uint_eq(d[0].lower_port, 0);
	ck_assert(d[1].lower_port == 1 && d[1].lower_device == s.one[0].device);
	/* The MTU that counts is the card's. */
	ck_assert_str_eq(d[1].below, "pf0");
	ck_assert_uint_gt(d[1].below_mtu, 0);
	ck_assert_str_eq(d[0].below, "");
}
END_TEST

START_TEST(nothing_to_tell)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");

	net_veth("va", "net1", &p.ns);
	address(&p, "net1");
	auto_netdev_ports struct netdev_ports s = of(&w, &p);
	ck_assert_uint_eq(s.n, 0);
	/* The host's own namespace, and a kernel without RDMA. */
	struct testpod self = { .ns = net_self() };
	auto_netdev_ports struct netdev_ports t = of(&w, &self);
	ck_assert_uint_eq(t.n, 0);
	w.hca->absent = true;
	auto_netdev_ports struct netdev_ports u = of(&w, &p);
	ck_assert_uint_eq(u.n, 0);
}
END_TEST

struct both {
	const struct testnode *w;
	const struct testpod *p;
};

static int read_all(void *arg, struct err *e)
{
	const struct both *b = arg;
	auto_netdev_ports struct netdev_ports s = { 0 };

	return netdev_ports_read(&b->w->ctx, &b->p->ns, &s, e);
}

START_TEST(allocations_may_fail)
{
	struct testnode w = testnode(RDMA_SHARED, 1);
	struct testpod p = testpod("c1");

	testnode_macvlan(&p);
	address(&p, "net1");
	ck_assert_str_eq(alloc_fail_each(read_all, &(struct both){ &w, &p }), "ok");
}
END_TEST

TEST_PROGRAM("rdma/inventory/netdev_port", a_macvlan_has_the_port_of_its_master, nothing_to_tell,
	     allocations_may_fail)
