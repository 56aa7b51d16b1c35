/* SPDX-License-Identifier: Apache-2.0 */
/* read_test.c: an inventory read from a fake sysfs and fake netlink. */
#include "rdma/inventory/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/hca.h"
#include "lib/testing/net.h"
#include "rdma/inventory/rail.h"
#include "rdma/testing/rdma.h"

/* Here net1 (10.1.0.5), the own interface of mlx5_0; mlx5_1 is without one; both have GIDs. */
struct fixture {
	struct fakehca *hca;
	struct ctx ctx;
	int net1;
};

static void gid(const char *sysfs, const char *device, uint32_t index, const char *ip)
{
	const struct gid_port where = { sysfs, device, 1 };
	const struct fakerdma_gid g = { ip, "RoCE v2", "net1" };

	fakerdma_gid(&where, index, &g);
}

static void set_up(struct fixture *w)
{
	struct ip_prefix addr;
	struct err e = { 0 };

	*w = (struct fixture){ 0 };
	ctx_init(&w->ctx, "test");
	w->ctx.sysfs = testing_dir();
	net_enter_new();
	net_veth("net1", "peer1", NULL);
	auto_nl struct nl *nl = net_socket();
	w->net1 = net_ifindex(nl, "net1");
	ck_assert_int_eq(ip_parse_prefix("10.1.0.5/16", &addr), 0);
	ck_assert_int_eq(nl_addr_add(nl, w->net1, addr, true, &e), 0);

	auto_netns struct netns self = net_self();
	const struct gid_port first = { w->ctx.sysfs, "mlx5_0", 1 },
			      second = { w->ctx.sysfs, "mlx5_1", 1 };

	w->hca = fakehca(RDMA_SHARED);
	struct fakehca_dev *d = fakehca_add("mlx5_0");
	d->ifindex = w->net1;
	d->ifin = self.id;
	d = fakehca_add("mlx5_1");
	(void)strcpy(d->link.protocol, "ib");
	d->ib = (struct rdma_port){ .state = RDMA_PORT_INIT,
				    .phys_state = 5,
				    .subnet = { .known = true, .sm_lid = 3 } };
	fakerdma_port(&first, "Ethernet", 8);
	fakerdma_port(&second, "InfiniBand", 8);
	gid(w->ctx.sysfs, "mlx5_0", 1, "10.1.0.4");
	gid(w->ctx.sysfs, "mlx5_0", 2, "10.1.0.5");
}

static struct rdma_inventory look(const struct fixture *w)
{
	struct rdma_inventory v;
	struct err e = { 0 };

	ck_assert_msg(rdma_inventory_read(&w->ctx, &v, &e) == 0, "%s", e.msg);
	return v;
}

START_TEST(devices_ports_and_GIDs_are_read)
{
	struct fixture w;

	set_up(&w);
	auto_rdma_inventory struct rdma_inventory v = look(&w);
	ck_assert(v.has_rdma);
	ck_assert_int_eq(v.mode, RDMA_SHARED);
	ck_assert_uint_eq(v.n_devices, 2);

	const struct inv_port *p = &v.device[0].port[0];

	ck_assert_str_eq(v.device[0].link.name, "mlx5_0");
	ck_assert_str_eq(v.device[0].uverbs.name, "uverbs0");
	ck_assert_uint_eq(v.device[0].n_ports, 1);
	ck_assert_int_eq(p->layer, IB_LAYER_ETHERNET);
	ck_assert_str_eq(p->netdev, "net1");
	ck_assert_uint_eq(p->netdev_mtu, 1500);
	ck_assert_uint_eq(p->n_gids, 2);
	ck_assert(!p->gid[0].here && p->gid[1].here);
	ck_assert_int_eq(v.device[1].port[0].layer, IB_LAYER_INFINIBAND);
	ck_assert_str_eq(v.device[1].port[0].netdev, "");
	ck_assert_str_eq(v.device[1].uverbs.name, "uverbs1");
	p = &v.device[1].port[0];
	ck_assert_int_eq(p->state, RDMA_PORT_INIT);
	ck_assert_uint_eq(p->phys_state, 5);
	ck_assert(p->subnet.known);
	ck_assert_uint_eq(p->subnet.sm_lid, 3);
}
END_TEST

START_TEST(in_mode_exclusive_only_own_devices_are_read)
{
	struct fixture w;

	set_up(&w);
	w.hca->mode = RDMA_EXCLUSIVE;
	w.hca->dev[1].in = (struct netns_id){ .ino = 1 };
	auto_rdma_inventory struct rdma_inventory v = look(&w);
	ck_assert_int_eq(v.mode, RDMA_EXCLUSIVE);
	ck_assert_uint_eq(v.n_devices, 1);
}
END_TEST

START_TEST(a_kernel_without_rdma_has_no_devices)
{
	struct fixture w;

	set_up(&w);
	w.hca->absent = true;
	auto_rdma_inventory struct rdma_inventory v = look(&w);
	ck_assert(!v.has_rdma);
	ck_assert_uint_eq(v.n_devices, 0);
	ck_assert_ptr_nonnull(inv_netdev_by_index(&v, w.net1));
}
END_TEST

/* It is an error, or the question was one that a kernel may not know; never half an answer. */
START_TEST(each_request_may_fail)
{
	struct fixture w;
	unsigned failed = 0;

	set_up(&w);
	for (unsigned i = 1; i < 100; i++) {
		auto_rdma_inventory struct rdma_inventory v = { 0 };
		struct err e = { 0 };

		w.hca->requests = 0;
		w.hca->fail_at = i;
		w.hca->fail_errnum = EIO;
		if (rdma_inventory_read(&w.ctx, &v, &e) == 0)
			ck_assert_uint_eq(v.n_devices, 2);
		else
			failed++;
		if (w.hca->requests < i)
			break;
	}
	ck_assert_uint_ge(failed, 4);
}
END_TEST

static int read_it(void *arg, struct err *e)
{
	const struct fixture *w = arg;
	auto_rdma_inventory struct rdma_inventory v = { 0 };

	return rdma_inventory_read(&w->ctx, &v, e);
}

START_TEST(allocations_may_fail)
{
	struct fixture w;

	set_up(&w);
	ck_assert_str_eq(alloc_fail_each(read_it, &w), "ok");
}
END_TEST

static int read_routes(void *arg, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };

	return rdma_inventory_read(arg, &v, e) || rdma_routes_read(&v, e) ? -1 : 0;
}

static bool has_route(const struct inv_netdev *d, const char *want)
{
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < d->n_routes; i++)
		if (strcmp(ip_format_prefix(d->route[i], text), want) == 0)
			return true;
	return false;
}

/* A leaf switch may answer for other networks, so that a route needs no gateway. */
START_TEST(routes_with_and_without_a_gateway_are_read)
{
	struct fixture w;
	struct err e = { 0 };
	struct route_spec route = { .scope = -1 };

	set_up(&w);
	auto_nl struct nl *nl = net_socket();
	net_up(nl, "net1");
	route.ifindex = w.net1;
	ck_assert_int_eq(ip_parse_prefix("10.2.0.0/16", &route.dst), 0);
	ck_assert_int_eq(nl_route_add(nl, &route, &e), 0);
	ck_assert_int_eq(ip_parse_prefix("10.3.0.0/16", &route.dst), 0);
	ck_assert_int_eq(ip_parse("10.1.0.9", &route.gw), 0);
	route.table = 77;
	ck_assert_msg(nl_route_add(nl, &route, &e) == 0, "%s", e.msg);
	auto_rdma_inventory struct rdma_inventory v = look(&w);
	const struct inv_netdev *d = inv_netdev_by_index(&v, w.net1);
	/* As a card on a kernel before 5.14, which names no parent; so is a VLAN or a bond. */
	ck_assert_str_eq(d->link.parent, "");
	ck_assert_int_eq(rdma_routes_read(&v, &e), 0);
	ck_assert(d->has_routes);
	ck_assert(has_route(d, "10.2.0.0/16") && has_route(d, "10.3.0.0/16"));
	ck_assert(!has_route(d, "10.4.0.0/16"));
	ck_assert_str_eq(alloc_fail_each(read_routes, &w.ctx), "ok");
}
END_TEST

/* As a router has them. The kernel accepts a route a time. */
START_TEST(more_routes_than_are_kept_are_not_known)
{
	struct fixture w;
	struct err e = { 0 };
	struct route_spec route = { .scope = -1 };
	char text[PREFIX_STR_LEN];

	set_up(&w);
	auto_nl struct nl *nl = net_socket();
	net_up(nl, "net1");
	route.ifindex = w.net1;
	for (int i = 0; i <= RDMA_ROUTES_MAX; i++) {
		(void)snprintf(text, sizeof(text), "11.%d.%d.0/24", i / 256, i % 256);
		ck_assert_int_eq(ip_parse_prefix(text, &route.dst), 0);
		ck_assert_int_eq(nl_route_add(nl, &route, &e), 0);
	}
	auto_rdma_inventory struct rdma_inventory v = look(&w);
	ck_assert_msg(rdma_routes_read(&v, &e) == 0, "%s", e.msg);
	ck_assert(!inv_netdev_by_index(&v, w.net1)->has_routes);
}
END_TEST

TEST_PROGRAM("inventory_read", more_routes_than_are_kept_are_not_known,
	     routes_with_and_without_a_gateway_are_read, devices_ports_and_GIDs_are_read,
	     in_mode_exclusive_only_own_devices_are_read, a_kernel_without_rdma_has_no_devices,
	     each_request_may_fail, allocations_may_fail)
