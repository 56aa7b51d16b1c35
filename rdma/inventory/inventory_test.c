/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_test.c: the RoCE MTU, which GIDs are here, and files of sysfs. */
#include "rdma/inventory/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/net/addr.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/net.h"
#include "rdma/testing/pod.h"
#include "rdma/testing/rdma.h"

/* ---- pure ---- */

START_TEST(the_RoCE_MTU_follows_the_interface)
{
	ck_assert_uint_eq(inv_rdma_mtu(9000), 4096);
	ck_assert_uint_eq(inv_rdma_mtu(4200), 4096);
	ck_assert_uint_eq(inv_rdma_mtu(4192), 4096);
	ck_assert_uint_eq(inv_rdma_mtu(4191), 2048);
	ck_assert_uint_eq(inv_rdma_mtu(2144), 2048);
	ck_assert_uint_eq(inv_rdma_mtu(1500), 1024);
	ck_assert_uint_eq(inv_rdma_mtu(1119), 512);
	ck_assert_uint_eq(inv_rdma_mtu(352), 256);
	ck_assert_uint_eq(inv_rdma_mtu(351), 0);
	ck_assert_uint_eq(inv_rdma_mtu(0), 0);
}
END_TEST

static struct ip ip(const char *s)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(s, &a), 0);
	return a;
}

START_TEST(interfaces_are_found)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	int net1 = pod_netdev(&v, "net1", "macvlan", "10.1.0.5/16 fe80::5/64");

	ck_assert_str_eq(inv_netdev_by_index(&v, net1)->link.name, "net1");
	ck_assert_ptr_null(inv_netdev_by_index(&v, 0));
	ck_assert_ptr_null(inv_netdev_by_index(&v, 99));
	ck_assert(inv_has_addr(&v.netdev[1], ip("10.1.0.5")));
	ck_assert(!inv_has_addr(&v.netdev[1], ip("10.1.0.6")));
}
END_TEST

/* ---- sysfs ---- */

static void put(const char *root, const char *path, const char *text)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	testing_file(full, 0644, text);
}

static void to(const char *root, const char *path, const char *target)
{
	char full[256];

	(void)snprintf(full, sizeof(full), "%s/%s", root, path);
	ck_assert_int_eq(symlink(target, full), 0);
}

/* A VF of mlx5 on node 1, and rxe0, which has no hardware. */
static const char *machine(void)
{
	const char *root = testing_dir();

	put(root, "devices/0000:18:00.2/numa_node", "1\n");
	put(root, "devices/0000:18:00.2/infiniband/here", "");
	put(root, "drivers/mlx5_core/bind", "");
	to(root, "devices/0000:18:00.2/driver", "../../drivers/mlx5_core");
	to(root, "devices/0000:18:00.2/physfn", "../0000:18:00.0");
	put(root, "devices/0000:18:00.0/numa_node", "1\n");
	put(root, "class/infiniband/mlx5_2/node_type", "1: CA\n");
	to(root, "class/infiniband/mlx5_2/device", "../../../devices/0000:18:00.2");
	put(root, "class/infiniband/rxe0/parent", "eth0\n");
	return root;
}

static struct inv_device device(const char *root, const char *name)
{
	struct inv_device d = { 0 };
	struct err e;

	(void)snprintf(d.link.name, sizeof(d.link.name), "%s", name);
	ck_assert_msg(inv_read_device(root, &d, &e) == 0, "%s", e.msg);
	return d;
}

START_TEST(a_hardware_device_is_read)
{
	struct inv_device d = device(machine(), "mlx5_2");

	ck_assert_str_eq(d.bus, "0000:18:00.2");
	ck_assert_str_eq(d.driver, "mlx5_core");
	ck_assert_int_eq(d.numa_node, 1);
	ck_assert(d.vf);
}
END_TEST

START_TEST(a_device_of_software_and_one_that_is_gone)
{
	const char *root = machine();
	struct inv_device d = device(root, "rxe0"), gone = device(root, "mlx5_9");

	ck_assert_str_eq(d.bus, "");
	ck_assert_str_eq(d.driver, "");
	ck_assert_int_eq(d.numa_node, -1);
	ck_assert(!d.vf);
	ck_assert_str_eq(gone.bus, "");
	/* Of older kernels: it leads to the interface below. */
	put(root, "class/net/eth0/mtu", "1500\n");
	to(root, "class/infiniband/rxe0/device", "../../net/eth0");
	ck_assert_str_eq(device(root, "rxe0").bus, "");
	ck_assert_int_eq(gone.numa_node, -1);
}
END_TEST

START_TEST(a_subfunction_has_its_parents_node)
{
	const char *root = machine();

	put(root, "devices/0000:18:00.0/mlx5_core.sf.2/sfnum", "7\n");
	put(root, "class/infiniband/mlx5_5/node_type", "1: CA\n");
	to(root, "class/infiniband/mlx5_5/device", "../../../devices/0000:18:00.0/mlx5_core.sf.2");

	struct inv_device d = device(root, "mlx5_5");

	ck_assert_str_eq(d.bus, "mlx5_core.sf.2");
	ck_assert_int_eq(d.numa_node, 1);
	ck_assert(!d.vf);
}
END_TEST

START_TEST(firmware_that_does_not_tell_the_node)
{
	const char *root = machine();

	put(root, "devices/0000:18:00.2/numa_node", "-1\n");
	ck_assert_int_eq(device(root, "mlx5_2").numa_node, -1);
}
END_TEST

START_TEST(no_name_leads_out_of_the_folder)
{
	static const char *const names[] = { "..", ".", "a/b" };
	const char *root = machine();
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct inv_device d = { 0 };

		(void)snprintf(d.link.name, sizeof(d.link.name), "%s", names[i]);
		ck_assert_int_eq(inv_read_device(root, &d, &e), -1);
		ck_assert_int_eq(e.code, ERR_KERNEL);
	}

	struct inv_device d = { .link.name = "mlx5_2" };

	ck_assert_int_eq(inv_read_device("/nonexistent", &d, &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

static void fill(const char *root)
{
	const struct gid_port where = { root, "mlx5_2", 1 };
	struct fakerdma_gid v1 = { "10.1.0.5", "IB/RoCE v1", "net1" },
			    v2 = { "10.1.0.5", "RoCE v2", "net1" };

	fakerdma_port(&where, "Ethernet", 16);
	fakerdma_gid(&where, 2, &v1);
	fakerdma_gid(&where, 3, &v2);
	put(root, "class/infiniband/mlx5_2/ports/1/rate", "100 Gb/sec (4X EDR)\n");
	put(root, "class/infiniband/mlx5_2/tc/1/traffic_class", "Global tclass=106\n");
}

START_TEST(a_port_is_read)
{
	const char *root = machine();
	struct inv_port p = { .port = 1 };
	struct err e = { 0 };

	fill(root);
	ck_assert_msg(inv_read_port(root, "mlx5_2", &p, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(p.layer, IB_LAYER_ETHERNET);
	ck_assert_uint_eq(p.rate_mbps, 100000);
	ck_assert_uint_eq(p.traffic_class, 106);
	ck_assert(p.has_gids);
	ck_assert_uint_eq(p.n_gids, 2);
	ck_assert_uint_eq(p.gid[1].entry.index, 3);
	ck_assert_int_eq(p.gid[1].entry.type, GID_ROCE_V2);
	ck_assert_str_eq(p.gid[1].entry.netdev, "net1");
	free(p.gid);
}
END_TEST

START_TEST(a_port_that_sysfs_does_not_show)
{
	struct inv_port p = { .port = 2 };
	struct err e = { 0 };

	ck_assert_msg(inv_read_port(machine(), "mlx5_2", &p, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(p.layer, IB_LAYER_UNKNOWN);
	ck_assert(!p.has_gids);
	ck_assert_uint_eq(p.rate_mbps, 0);
}
END_TEST

static void fill_ib(const char *root)
{
	const struct gid_port where = { root, "mlx5_2", 1 };
	const struct fakerdma_gid gid = { "fe80::200:0:0:7", "IB/RoCE v1", "" };

	fakerdma_port(&where, "InfiniBand", 4);
	fakerdma_gid(&where, 0, &gid);
	fakerdma_pkey(&where, 0, "0x7fff");
	fakerdma_pkey(&where, 1, "0x0000");
	fakerdma_pkey(&where, 2, "0x8001");
	fakerdma_pkey(&where, 3, "0x0001");
}

START_TEST(an_InfiniBand_port_has_a_GUID_and_a_partition_table)
{
	const char *root = machine();
	struct inv_port p = { .port = 1 };
	struct err e = { 0 };
	struct guid guid;
	char text[GUID_STR_LEN];

	fill_ib(root);
	ck_assert_msg(inv_read_port(root, "mlx5_2", &p, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(p.layer, IB_LAYER_INFINIBAND);
	ck_assert(inv_port_guid(&p, &guid));
	ck_assert_str_eq(guid_format(guid, text), "02:00:00:00:00:00:00:07");
	ck_assert(p.has_pkeys);
	ck_assert_uint_eq(p.n_pkeys, 3);
	ck_assert_uint_eq(p.pkey[1].index, 2);
	ck_assert_uint_eq(p.pkey[1].pkey, 0x8001);
	/* The same membership comes first, then the first of the partition. */
	ck_assert_uint_eq(inv_pkey_find(&p, 0x0001)->index, 3);
	ck_assert_uint_eq(inv_pkey_find(&p, 0x8001)->index, 2);
	ck_assert_uint_eq(inv_pkey_find(&p, 0xffff)->index, 0);
	ck_assert_ptr_null(inv_pkey_find(&p, 0x8002));
	free(p.gid);
	free(p.pkey);
}
END_TEST

START_TEST(a_partition_table_that_cannot_be_read_is_not_known)
{
	const char *root = machine();
	struct inv_port p = { .port = 1 };
	struct err e = { 0 };

	fill_ib(root);
	put(root, "class/infiniband/mlx5_2/ports/1/pkeys/4/a-folder", "");
	ck_assert_msg(inv_read_port(root, "mlx5_2", &p, &e) == 0, "%s", e.msg);
	ck_assert(!p.has_pkeys);
	free(p.gid);
	free(p.pkey);
}
END_TEST

START_TEST(the_partition_of_an_IPoIB_interface_is_that_of_netlink)
{
	struct link_info link = { .kind = "ipoib", .data.ipoib.pkey = 0x8001 };

	ck_assert_uint_eq(inv_pkey_of(&link), 0x8001);
	link.data.ipoib.pkey = LINK_DATA_UNKNOWN;
	ck_assert_uint_eq(inv_pkey_of(&link), 0);
	link.data.ipoib.pkey = 0x8000;
	ck_assert_uint_eq(inv_pkey_of(&link), 0);
	link.data.ipoib.pkey = 0x8001;
	(void)strcpy(link.kind, "macvlan");
	ck_assert_uint_eq(inv_pkey_of(&link), 0);
}
END_TEST

static int read_the_port(void *root, struct err *e)
{
	struct inv_port p = { .port = 1 };
	int rc = inv_read_port(root, "mlx5_2", &p, e);

	free(p.gid);
	free(p.pkey);
	return rc;
}

START_TEST(allocations_may_fail)
{
	const char *root = machine();

	fill(root);
	ck_assert_str_eq(alloc_fail_each(read_the_port, (void *)root), "ok");
	fill_ib(root);
	ck_assert_str_eq(alloc_fail_each(read_the_port, (void *)root), "ok");
}
END_TEST

/* ---- the real thing, as far as a kernel without RDMA devices goes ---- */

START_TEST(a_namespace_without_devices)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	struct ctx ctx;
	struct err e = { 0 };
	struct ip_prefix addr;

	net_enter_new();
	net_veth("net1", "peer1", NULL);
	auto_nl struct nl *nl = net_socket();
	ck_assert_int_eq(ip_parse_prefix("10.1.0.5/16", &addr), 0);
	ck_assert_int_eq(nl_addr_add(nl, net_ifindex(nl, "net1"), addr, true, &e), 0);
	ctx_init(&ctx, "test");
	ck_assert_msg(rdma_inventory_read(&ctx, &v, &e) == 0, "%s", e.msg);

	const struct inv_netdev *d = inv_netdev_by_index(&v, net_ifindex(nl, "net1"));

	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(d->link.kind, "veth");
	ck_assert(inv_has_addr(d, ip("10.1.0.5")));
	ck_assert_int_eq(v.default_ifindex, 0);
	/* One without an address, too. */
	d = inv_netdev_by_index(&v, net_ifindex(nl, "peer1"));
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(d->link.name, "peer1");
}
END_TEST

TEST_PROGRAM("inventory", the_RoCE_MTU_follows_the_interface, interfaces_are_found,
	     a_hardware_device_is_read, a_device_of_software_and_one_that_is_gone,
	     a_subfunction_has_its_parents_node, firmware_that_does_not_tell_the_node,
	     no_name_leads_out_of_the_folder, a_port_is_read, a_port_that_sysfs_does_not_show,
	     an_InfiniBand_port_has_a_GUID_and_a_partition_table,
	     a_partition_table_that_cannot_be_read_is_not_known,
	     the_partition_of_an_IPoIB_interface_is_that_of_netlink, allocations_may_fail,
	     a_namespace_without_devices)
