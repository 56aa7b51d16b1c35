/* SPDX-License-Identifier: Apache-2.0 */
/* rail_test.c: which port serves an interface, when it is ambiguous, and which GIDs it has. */
#include "rdma/inventory/rail.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "rdma/testing/pod.h"

static struct rails find(const struct rdma_inventory *v)
{
	struct rails r;
	struct err e;

	ck_assert_int_eq(rails_find(v, &r, &e), 0);
	return r;
}

/* "net1=mlx5_0:1 3/-": interface, port, index of the IPv4 and the IPv6 GID. */
static void is(const struct rdma_rail *r, const char *want)
{
	char text[160], port[RAIL_PORT_LEN], v4[12] = "-", v6[12] = "-";

	if (r->v4)
		(void)snprintf(v4, sizeof(v4), "%u", r->v4->entry.index);
	if (r->v6)
		(void)snprintf(v6, sizeof(v6), "%u", r->v6->entry.index);
	(void)snprintf(text, sizeof(text), "%s=%s %s/%s", r->netdev ? r->netdev->link.name : "",
		       rail_port(r, port), v4, v6);
	ck_assert_str_eq(text, want);
}

START_TEST(eight_VFs_are_eight_rails)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	auto_rails struct rails r = { 0 };
	char addr[32], want[32];

	for (unsigned i = 1; i <= 8; i++) {
		(void)snprintf(addr, sizeof(addr), "10.%u.0.5/16", i);
		pod_rail(&v, i, addr, 3);
	}
	r = find(&v);
	ck_assert_uint_eq(r.n, 8);
	for (unsigned i = 0; i < 8; i++) {
		(void)snprintf(want, sizeof(want), "net%u=mlx5_%u:1 3/-", i + 1, i + 1);
		is(&r.rail[i], want);
		ck_assert(r.rail[i].own && !r.rail[i].ambiguous);
	}
}
END_TEST

/* A pod's macvlan interface on a PF that two pods share: both call it net1. */
static struct rdma_inventory shared_pod(void)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.5/16 fd00:1::5/64");

	struct inv_port *p = pod_port(&v, "mlx5_0", "0000:18:00.0", 0);

	pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens1f0");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.4", "net1");
	pod_gid(p, 2, GID_ROCE_V1, "10.1.0.5", "net1");
	pod_gid(p, 3, GID_ROCE_V2, "10.1.0.5", "net1");
	pod_gid(p, 4, GID_ROCE_V2, "fd00:1::5", "net1");
	(void)pod_port(&v, "mlx5_1", "0000:19:00.0", 0);
	inv_mark_gids(&v);
	return v;
}

START_TEST(macvlan_is_found_by_its_GID)
{
	auto_rdma_inventory struct rdma_inventory v = shared_pod();
	auto_rails struct rails r = find(&v);

	ck_assert_uint_eq(r.n, 1);
	is(&r.rail[0], "net1=mlx5_0:1 3/4");
	ck_assert(!r.rail[0].own && !r.rail[0].ambiguous);
	ck_assert(!v.device[0].port[0].gid[1].here && v.device[0].port[0].gid[3].here);
}
END_TEST

START_TEST(the_same_address_under_another_name_is_not_ours)
{
	auto_rdma_inventory struct rdma_inventory v = shared_pod();

	for (size_t i = 2; i < 5; i++)
		(void)strcpy(v.device[0].port[0].gid[i].entry.netdev, "net7");
	inv_mark_gids(&v);
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 0);
	ck_assert(!v.device[0].port[0].gid[3].here);
}
END_TEST

START_TEST(a_GID_without_a_name_is_told_by_its_address)
{
	auto_rdma_inventory struct rdma_inventory v = shared_pod();

	for (size_t i = 2; i < 5; i++)
		v.device[0].port[0].gid[i].entry.netdev[0] = '\0';
	inv_mark_gids(&v);
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 1);
	is(&r.rail[0], "net1=mlx5_0:1 3/4");
	ck_assert(v.device[0].port[0].gid[3].here && !v.device[0].port[0].gid[1].here);
}
END_TEST

START_TEST(two_ports_with_one_address_are_ambiguous)
{
	auto_rdma_inventory struct rdma_inventory v = shared_pod();

	pod_gid(&v.device[1].port[0], 3, GID_ROCE_V2, "10.1.0.5", "net1");
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 2);
	ck_assert(r.rail[0].ambiguous && r.rail[1].ambiguous);

	/* The interface's own hardware decides. */
	(void)strcpy(v.netdev[1].link.parent, "0000:19:00.0");
	auto_rails struct rails s = find(&v);
	ck_assert_uint_eq(s.n, 1);
	is(&s.rail[0], "net1=mlx5_1:1 3/-");
	ck_assert(!s.rail[0].ambiguous);

	/* So does what it lies on, before that. */
	v.device[0].link.index = 7;
	v.netdev[1].lower_device = 7;
	v.netdev[1].lower_port = 1;
	auto_rails struct rails u = find(&v);
	ck_assert_uint_eq(u.n, 1);
	is(&u.rail[0], "net1=mlx5_0:1 3/4");
	ck_assert(!u.rail[0].ambiguous);
}
END_TEST

START_TEST(link_local_addresses_are_no_GIDs_to_use)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "fe80::1/64", 3);
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 1);
	is(&r.rail[0], "net1=mlx5_1:1 -/-");
}
END_TEST

START_TEST(InfiniBand_without_an_interface)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_port(&v, "mlx5_0", "0000:18:00.1", 0)->layer = IB_LAYER_INFINIBAND;
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 1);
	is(&r.rail[0], "=mlx5_0:1 -/-");
	/* In mode shared it may be anybody's. */
	v.mode = RDMA_SHARED;
	auto_rails struct rails s = find(&v);
	ck_assert_uint_eq(s.n, 0);
}
END_TEST

/* An IPoIB parent, and a child of it in the namespace: both have the GUID of the port. */
START_TEST(IPoIB_is_found_by_the_GUID_of_its_port)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	int ib0;

	pod_ib(pod_port(&v, "mlx5_0", "0000:18:00.0", 0), 7, "02:00:00:00:00:00:00:07");
	pod_ib(pod_port(&v, "mlx5_1", "0000:19:00.0", 0), 8, "02:00:00:00:00:00:00:08");
	ib0 = pod_ipoib(&v, "ib0", &v.device[1].port[0], 0);
	(void)pod_ipoib(&v, "net1", &v.device[1].port[0], ib0);
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 2);
	is(&r.rail[0], "ib0=mlx5_1:1 -/-");
	is(&r.rail[1], "net1=mlx5_1:1 -/-");
	ck_assert(r.rail[0].own && !r.rail[1].own && !r.rail[0].ambiguous);
	/* In mode exclusive the port without an interface is one as well. */
	v.mode = RDMA_EXCLUSIVE;
	auto_rails struct rails s = find(&v);
	ck_assert_uint_eq(s.n, 3);
	is(&s.rail[2], "=mlx5_0:1 -/-");
}
END_TEST

START_TEST(two_ports_with_one_GUID_are_ambiguous)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);

	pod_ib(pod_port(&v, "mlx5_0", "0000:18:00.0", 0), 7, "02:00:00:00:00:00:00:07");
	pod_ib(pod_port(&v, "mlx5_1", "0000:19:00.0", 0), 8, "02:00:00:00:00:00:00:07");
	(void)pod_ipoib(&v, "ib0", &v.device[1].port[0], 0);
	auto_rails struct rails r = find(&v);
	ck_assert_uint_eq(r.n, 2);
	ck_assert(r.rail[0].ambiguous && r.rail[1].ambiguous);
	(void)strcpy(v.netdev[1].link.parent, "0000:19:00.0");
	auto_rails struct rails s = find(&v);
	ck_assert_uint_eq(s.n, 1);
	is(&s.rail[0], "ib0=mlx5_1:1 -/-");
}
END_TEST

START_TEST(only_secondary_interfaces_should_be_rails)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.5/16");
	(void)pod_netdev(&v, "net2", "0000:18:00.2", "10.2.0.5/16");
	(void)pod_netdev(&v, "net3", "ipvlan", "10.3.0.5/16");
	(void)pod_netdev(&v, "lo", "", "127.0.0.1/8");
	ck_assert(!rail_expected(&v, &v.netdev[0]));
	ck_assert(rail_expected(&v, &v.netdev[1]));
	ck_assert(rail_expected(&v, &v.netdev[2]));
	ck_assert(rail_expected(&v, &v.netdev[3]));
	ck_assert(!rail_expected(&v, &v.netdev[4]));
	v.default_ifindex = v.netdev[1].link.ifindex;
	ck_assert(!rail_expected(&v, &v.netdev[1]));
}
END_TEST

static int find_all(void *arg, struct err *e)
{
	auto_rails struct rails r = { 0 };

	return rails_find(arg, &r, e);
}

START_TEST(allocations_may_fail)
{
	auto_rdma_inventory struct rdma_inventory v = shared_pod();

	pod_rail(&v, 2, "10.2.0.5/16", 3);
	ck_assert_str_eq(alloc_fail_each(find_all, &v), "ok");
}
END_TEST

TEST_PROGRAM("rail", eight_VFs_are_eight_rails, macvlan_is_found_by_its_GID,
	     the_same_address_under_another_name_is_not_ours,
	     a_GID_without_a_name_is_told_by_its_address, two_ports_with_one_address_are_ambiguous,
	     link_local_addresses_are_no_GIDs_to_use, InfiniBand_without_an_interface,
	     IPoIB_is_found_by_the_GUID_of_its_port, two_ports_with_one_GUID_are_ambiguous,
	     only_secondary_interfaces_should_be_rails, allocations_may_fail)
