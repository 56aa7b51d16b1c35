/* SPDX-License-Identifier: Apache-2.0 */
/* env_test.c: which rails are used, and the variables and warnings for many kinds of pods. */
#include "rdma/env/env.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/testing/testing.h"
#include "rdma/env/nccl.h"
#include "rdma/testing/envs.h"
#include "rdma/testing/pod.h"

static const struct env_options defaults = ENV_OPTIONS_INIT;

static void misses(const struct env *x, size_t n, const char *part)
{
	ck_assert_uint_eq(x->n_missing, n);
	for (size_t i = 0; i < n; i++)
		if (strstr(x->missing[i], part))
			return;
	ck_assert_msg(!part, "\"%s\" is not missing; first: %s", part, n ? x->missing[0] : "");
}

/* ---- pods with VFs ---- */

START_TEST(one_rail_sets_one_hca)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1\n"
		       "NCCL_IB_GID_INDEX=3\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1\n"
		       "UCX_IB_GID_INDEX=3\n");
	envs_warns(&x, 0, NULL);
	ck_assert_ptr_null(env_value(&x, "NCCL_IB_TC"));
}
END_TEST

START_TEST(eight_rails_of_one_index)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 8, 3, 0);
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x,
		   "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,"
		   "mlx5_8:1\n"
		   "NCCL_IB_GID_INDEX=3\n"
		   "NCCL_SOCKET_IFNAME==eth0\n"
		   "GLOO_SOCKET_IFNAME=eth0\n"
		   "NCCL_CROSS_NIC=0\n"
		   "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1,"
		   "mlx5_8:1\n"
		   "UCX_IB_GID_INDEX=3\n");
}
END_TEST

START_TEST(indices_that_differ_set_a_range)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 4, 3, 2);
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1\n"
		       "NCCL_IB_ROCE_VERSION_NUM=2\n"
		       "NCCL_IB_ADDR_FAMILY=AF_INET\n"
		       "NCCL_IB_ADDR_RANGE=10.0.0.0/13\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "NCCL_CROSS_NIC=0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1\n"
		       "UCX_IB_ROCE_SUBNETS=10.1.0.0/16,10.2.0.0/16,10.3.0.0/16,10.4.0.0/16\n");
	envs_warns(&x, 0, NULL);
}
END_TEST

START_TEST(networks_with_nothing_in_common_have_no_range)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	pod_rail(&v, 2, "192.168.2.5/24", 5);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&x, "NCCL_IB_ADDR_RANGE"));
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_FAMILY"), "AF_INET");
	envs_warns(&x, 0, NULL);
}
END_TEST

START_TEST(rails_in_one_network_may_cross)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	pod_rail(&v, 2, "10.1.0.6/16", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&x, "NCCL_CROSS_NIC"));
	o.cross_nic = 1;
	auto_env struct env y = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&y, "NCCL_CROSS_NIC"), "1");
}
END_TEST

START_TEST(IPv6_only)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "fd00:1::5/64", 3);
	pod_rail(&v, 2, "fd00:2::5/64", 5);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_FAMILY"), "AF_INET6");
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "fd00::/30");
	envs_warns(&x, 0, NULL);
}
END_TEST

START_TEST(one_family_for_all)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	pod_rail(&v, 2, "fd00:2::5/64", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_1:1");
	envs_warns(&x, 1, "net2 on mlx5_2:1 is not used: it has no RoCE v2 GID of IPv4");
	o.family = IP_V6;
	auto_env struct env y = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&y, "NCCL_IB_HCA"), "=mlx5_2:1");
}
END_TEST

START_TEST(options_choose_the_rails)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	const char *const two[] = { "net3", "net2", NULL };
	struct env_options o = defaults;

	o.tc = 106;
	o.sl = 3;
	o.interfaces = two;
	o.socket = "net1";

	pod_rails(&v, 3, 3, 0);
	auto_env struct env x = envs_made(&v, &o);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_2:1,mlx5_3:1\n"
		       "NCCL_IB_GID_INDEX=3\n"
		       "NCCL_SOCKET_IFNAME==net1\n"
		       "GLOO_SOCKET_IFNAME=net1\n"
		       "NCCL_IB_TC=106\n"
		       "NVSHMEM_IB_TRAFFIC_CLASS=106\n"
		       "NCCL_IB_SL=3\n"
		       "NCCL_CROSS_NIC=0\n"
		       "UCX_NET_DEVICES=mlx5_2:1,mlx5_3:1\n"
		       "UCX_IB_GID_INDEX=3\n"
		       "UCX_IB_TRAFFIC_CLASS=106\n"
		       "UCX_IB_SL=3\n");
	ck_assert_ptr_nonnull(strstr(x.var[4].why, "DSCP 26"));
	ck_assert_uint_eq(x.n_left_out, 1);
	ck_assert_str_eq(x.left_out[0], "net1 on mlx5_1:1: not named by --interface");
}
END_TEST

/* ---- mode shared ---- */

START_TEST(neighbours_GIDs_come_first_but_the_index_is_one)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(7, 7);
	auto_env struct env x = envs_made(&v, &defaults);

	ck_assert_str_eq(env_value(&x, "NCCL_IB_GID_INDEX"), "7");
	ck_assert_str_eq(env_value(&x, "UCX_IB_GID_INDEX"), "7");
	ck_assert_ptr_null(env_value(&x, "UCX_IB_ROCE_SUBNETS"));
	envs_warns(&x, 0, NULL);

	struct env_options o = defaults;

	o.ucx_from = "--ucx-version";
	auto_env struct env newest = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&newest, "UCX_IB_ROCE_SUBNETS"), "10.1.0.50/32,10.2.0.50/32");
	ck_assert_ptr_null(env_value(&newest, "UCX_IB_GID_INDEX"));
	o.ucx = (struct lib_version){ 1, 17, 0 };
	auto_env struct env y = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&y, "UCX_IB_GID_INDEX"), "7");
	ck_assert_ptr_null(env_value(&y, "UCX_IB_ROCE_SUBNETS"));
}
END_TEST

START_TEST(neighbours_GIDs_come_first_and_nothing_tells_ours_apart)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 5);
	struct env_options o = defaults;
	auto_env struct env x = envs_made(&v, &defaults);

	ck_assert_ptr_null(env_value(&x, "NCCL_IB_GID_INDEX"));
	envs_warns(&x, 4,
		   "on mlx5_0:1 NCCL will take GID index 1 (10.1.0.1) and not 3 (10.1.0.50)");
	/* An older UCX has no networks. */
	envs_warns(&x, 4, "on mlx5_1:1 it may take index 1 (10.2.0.1), which is not ours");
	envs_warns(&x, 4, "helps since UCX 1.18");
	ck_assert_str_eq(env_value(&x, "UCX_IB_ROCE_SUBNETS"), "10.1.0.50/32,10.2.0.50/32");
	o.ucx_from = "--ucx-version";
	auto_env struct env y = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&y, "UCX_IB_ROCE_SUBNETS"), "10.1.0.50/32,10.2.0.50/32");
	envs_warns(&y, 2, "NCCL will take");
	o.ucx = (struct lib_version){ 1, 17, 0 };
	auto_env struct env old = envs_made(&v, &o);
	ck_assert_ptr_null(env_value(&old, "UCX_IB_ROCE_SUBNETS"));
	envs_warns(&old, 4, "it may take index 1 (10.2.0.1), which is not ours");
}
END_TEST

START_TEST(another_address_of_our_own_is_no_neighbour)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(1, 2);

	struct err e;

	/* The one before net2's first address is its second. */
	(void)strcpy(v.device[1].port[0].gid[1].entry.netdev, "net2");
	ck_assert_int_eq(ARRAY_GROW(v.netdev[2].addr, 1, 2, "addresses", &e), 0);
	ck_assert_int_eq(ip_parse_prefix("10.2.0.1/16", &v.netdev[2].addr[1]), 0);
	v.netdev[2].n_addrs = 2;
	inv_mark_gids(&v);
	auto_env struct env x = envs_made(&v, &defaults);
	envs_warns(&x, 1, "on mlx5_1:1 NCCL will take GID index 1 (10.2.0.1)");
}
END_TEST

START_TEST(a_narrow_range_selects_the_own_gid)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.4/16");
	(void)pod_netdev(&v, "net2", "macvlan", "10.1.0.5/16");
	p = pod_port(&v, "mlx5_0", "", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens1");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.9", "net1");
	pod_gid(p, 2, GID_ROCE_V2, "10.1.0.4", "net1");
	p = pod_port(&v, "mlx5_1", "", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens2");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.5", "net2");
	inv_mark_gids(&v);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "10.1.0.4/31");
	ck_assert_str_eq(env_value(&x, "UCX_IB_ROCE_SUBNETS"), "10.1.0.4/32,10.1.0.5/32");
	envs_warns(&x, 1, "UCX has one GID index");
	/* No text for all pods of a job. */
	for (size_t i = 0; i < x.n_vars; i++)
		if (strstr(x.var[i].name, "RANGE") || strstr(x.var[i].name, "SUBNETS"))
			ck_assert_msg(strstr(x.var[i].why, "for this pod only"), "%s: %s",
				      x.var[i].name, x.var[i].why);
}
END_TEST

START_TEST(NCCL_takes_the_own_gid_with_the_printed_settings)
{
	for (uint32_t i = 1; i < 6; i++) {
		for (uint32_t k = 1; k < 6; k++) {
			auto_rdma_inventory struct rdma_inventory v = pod_crowded(i, k);
			auto_env struct env x = envs_made(&v, &defaults);
			struct nccl_rule r = { .family = IP_V4, .version = GID_ROCE_V2 };
			const char *range = env_value(&x, "NCCL_IB_ADDR_RANGE");

			if (env_value(&x, "NCCL_IB_GID_INDEX") || x.n_warnings)
				continue;
			r.has_range = range && ip_parse_prefix(range, &r.range) == 0;
			ck_assert_uint_eq(nccl_gid_index(&v.device[0].port[0], &r), i);
			ck_assert_uint_eq(nccl_gid_index(&v.device[1].port[0], &r), k);
		}
	}
}
END_TEST

/* ---- other pods ---- */

START_TEST(infiniband_needs_no_gid_index)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_port(&v, "mlx5_0", "", pod_netdev(&v, "ib0", "", "10.9.0.5/16"))->layer =
		IB_LAYER_INFINIBAND;
	pod_port(&v, "mlx5_1", "", 0)->layer = IB_LAYER_INFINIBAND;
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_0:1,mlx5_1:1\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_0:1,mlx5_1:1\n");
}
END_TEST

START_TEST(a_vlan_on_a_bond_is_a_rail)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	int bond = pod_netdev(&v, "bond0", "bond", "10.1.0.5/16");
	struct inv_port *p = pod_port(&v, "mlx5_bond_0", "0000:18:00.0", bond);

	(void)pod_netdev(&v, "bond0.7", "vlan", "10.7.0.5/16");
	pod_gid(p, 0, GID_ROCE_V2, "10.7.0.5", "bond0.7");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.5", "bond0");
	inv_mark_gids(&v);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_bond_0:1");
	/* NCCL holds an IPv4 entry at index 0 whatever the range. */
	ck_assert_str_eq(env_value(&x, "NCCL_IB_GID_INDEX"), "1");
	ck_assert_uint_eq(x.n_left_out, 1);
	ck_assert_str_eq(x.left_out[0], "bond0.7 on mlx5_bond_0:1: bond0 uses that port already");
}
END_TEST

START_TEST(the_default_route_is_no_rail_beside_others)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	v.default_ifindex = v.netdev[1].link.ifindex;
	auto_env struct env alone = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&alone, "NCCL_IB_HCA"), "=mlx5_1:1");
	ck_assert_str_eq(env_value(&alone, "NCCL_SOCKET_IFNAME"), "=net1");
	pod_rail(&v, 2, "10.2.0.5/16", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_2:1");
	ck_assert_uint_eq(x.n_left_out, 1);
}
END_TEST

START_TEST(without_a_default_route_a_rail_bootstraps)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	v.default_ifindex = 0;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_SOCKET_IFNAME"), "=net1");
}
END_TEST

START_TEST(an_interface_for_bootstrap)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_port(&v, "mlx5_0", "", 0)->layer = IB_LAYER_INFINIBAND;
	/* That of the default route has no address, and the rail no interface. */
	v.netdev[0].n_addrs = 0;
	auto_env struct env none = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&none, "NCCL_SOCKET_IFNAME"));
	envs_warns(&none, 1, "no interface has an address");
	/* A rail whose interface has none, then one that has. */
	pod_port(&v, "mlx5_1", "", pod_netdev(&v, "ib1", "", ""))->layer = IB_LAYER_INFINIBAND;
	pod_port(&v, "mlx5_2", "", pod_netdev(&v, "ib2", "", "10.9.0.2/16"))->layer =
		IB_LAYER_INFINIBAND;
	auto_env struct env rail = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&rail, "NCCL_SOCKET_IFNAME"), "=ib2");
	o.socket = "a,b";
	auto_env struct env wrong = envs_made(&v, &o);
	ck_assert_ptr_null(env_value(&wrong, "NCCL_SOCKET_IFNAME"));
	envs_warns(&wrong, 1, "cannot be written in NCCL_SOCKET_IFNAME");
}
END_TEST

START_TEST(InfiniBand_beside_RoCE_of_several_indices)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 5);
	auto_rdma_inventory struct rdma_inventory w = pod_new(RDMA_EXCLUSIVE);

	(void)pod_port(&v, "mlx5_8", "", pod_netdev(&v, "ib0", "", "10.9.0.5/16"));
	v.device[2].port[0].layer = IB_LAYER_INFINIBAND;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_0:1,mlx5_1:1,mlx5_8:1");
	ck_assert_str_eq(env_value(&x, "NCCL_CROSS_NIC"), "0");
	envs_warns(&x, 5, "on mlx5_0:1 NCCL will take GID index 1");

	pod_port(&w, "mlx5_8", "", pod_netdev(&w, "ib0", "", "10.9.0.5/16"))->layer =
		IB_LAYER_INFINIBAND;
	pod_rail(&w, 1, "10.1.0.5/16", 3);
	pod_rail(&w, 2, "10.2.0.5/16", 3);
	auto_env struct env y = envs_made(&w, &defaults);
	ck_assert_str_eq(env_value(&y, "NCCL_IB_ADDR_RANGE"), "10.0.0.0/14");
	ck_assert_ptr_nonnull(strstr(y.var[1].why, "have other GIDs at that index"));
	ck_assert_str_eq(env_value(&y, "NCCL_CROSS_NIC"), "0");
}
END_TEST

/* Nothing but the index tells our GIDs apart, although one rail has none. */
START_TEST(InfiniBand_beside_RoCE_of_one_index_among_neighbours)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(7, 7);

	pod_port(&v, "ibp1", "", pod_netdev(&v, "ib0", "", "10.9.0.5/16"))->layer =
		IB_LAYER_INFINIBAND;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_0:1,mlx5_1:1,ibp1:1");
	ck_assert_str_eq(env_value(&x, "NCCL_IB_GID_INDEX"), "7");
}
END_TEST

START_TEST(one_network_within_another)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/24", 3);
	pod_rail(&v, 2, "10.1.7.5/16", 5);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&x, "NCCL_CROSS_NIC"));
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "10.1.0.0/16");
}
END_TEST

START_TEST(UCX_tries_IPv4_first)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;

	(void)pod_netdev(&v, "net1", "macvlan", "fd00:1::5/64");
	(void)pod_netdev(&v, "net2", "macvlan", "fd00:2::5/64");
	p = pod_port(&v, "mlx5_0", "", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fe80::9", "ens1");
	pod_gid(p, 1, GID_ROCE_V1, "fd00:1::9", "ens1");
	pod_gid(p, 2, GID_ROCE_V2, "10.1.0.9", "ens1");
	pod_gid(p, 3, GID_ROCE_V2, "fd00:1::5", "net1");
	p = pod_port(&v, "mlx5_1", "", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fd00:2::5", "net2");
	inv_mark_gids(&v);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&x, "UCX_IB_ROCE_SUBNETS"));
	envs_warns(&x, 1, "on mlx5_0:1 it may take index 2 (10.1.0.9), which is not ours");
	/* One index for all, and UCX would take another GID. */
	pod_gid(p, 3, GID_ROCE_V2, "fd00:2::5", "net2");
	v.device[1].port[0].gid[0].here = false;
	(void)strcpy(v.device[1].port[0].gid[0].entry.netdev, "ens2");
	inv_mark_gids(&v);
	auto_env struct env y = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&y, "UCX_IB_GID_INDEX"), "3");
}
END_TEST

START_TEST(more_rails_than_NCCL_uses_are_warned_about)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 33, 3, 0);
	auto_env struct env x = envs_made(&v, &defaults);
	envs_warns(&x, 1, "33 rails, of which NCCL uses 32");
}
END_TEST

/* ---- pods without ---- */

static void refused(const struct rdma_inventory *v, const struct env_options *o, enum err_code code,
		    const char *part)
{
	struct env x;
	struct err e = { 0 };

	ck_assert_int_eq(env_make(v, o, &x, &e), -1);
	ck_assert_int_eq(e.code, code);
	ck_assert_msg(strstr(e.msg, part) || strstr(e.detail, part), "%s: %s", e.msg, e.detail);
}

START_TEST(without_a_rail_it_says_why)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	const char *const wrong[] = { "net9", NULL };
	struct env_options o = defaults;

	o.interfaces = wrong;

	refused(&v, &defaults, ERR_NOTFOUND, "no RDMA device is visible");
	refused(&v, &o, ERR_CONFIG, "net9");
	v.has_rdma = false;
	refused(&v, &defaults, ERR_NOTFOUND, "this kernel has no RDMA");
}
END_TEST

START_TEST(no_rail_is_no_error_if_the_caller_says_so)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = ENV_OPTIONS_INIT;

	o.none_is_fine = true;
	o.warning = "two tiers differ";
	auto_env struct env x = envs_made(&v, &o);
	ck_assert_uint_eq(x.n_vars + x.n_rails + x.n_missing, 0);
	ck_assert_uint_eq(x.n_left_out, 1);
	ck_assert_ptr_nonnull(strstr(x.left_out[0], "there is no rail: no RDMA device is visible"));
	envs_warns(&x, 1, "two tiers differ");
}
END_TEST

START_TEST(rails_that_cannot_be_used_say_why)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	v.device[0].port[0].state = RDMA_PORT_DOWN;
	refused(&v, &defaults, ERR_NOTFOUND, "net1 on mlx5_1:1: its port is not ACTIVE");
	v.device[0].port[0].state = RDMA_PORT_ACTIVE;
	v.device[0].port[0].gid[3].entry.type = GID_ROCE_V1;
	refused(&v, &defaults, ERR_NOTFOUND, "has no RoCE v2 entry");
	v.device[0].port[0].layer = IB_LAYER_UNKNOWN;
	refused(&v, &defaults, ERR_NOTFOUND, "is /sys that of");
	(void)strcpy(v.device[0].link.name, "a,b");
	refused(&v, &defaults, ERR_NOTFOUND, "name cannot be written");
}
END_TEST

START_TEST(a_rail_that_is_left_out_is_missing)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_rails(&v, 8, 3, 0);
	auto_env struct env all = envs_made(&v, &defaults);
	ck_assert_uint_eq(all.n_rails, 8);
	misses(&all, 0, NULL);
	v.device[2].port[0].state = RDMA_PORT_DOWN;
	v.device[4].vf = true;
	v.netdev[5].n_addrs = 0;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_uint_eq(x.n_rails, 6);
	misses(&x, 2, "net3 on mlx5_3:1: its port is not ACTIVE");
	misses(&x, 2, "net5 on mlx5_5:1: its GID table has no RoCE v2 entry");
	ck_assert_uint_eq(x.n_left_out, 2);
	/* A card of the host that nobody gave an address, whether it is up or not. */
	v.device[4].vf = false;
	auto_env struct env bare = envs_made(&v, &defaults);
	misses(&bare, 1, "net3");
	v.device[4].port[0].state = RDMA_PORT_DOWN;
	auto_env struct env unused = envs_made(&v, &defaults);
	misses(&unused, 1, "net3");
	ck_assert_uint_eq(unused.n_left_out, 2);
}
END_TEST

/* No GID can be its own, so that no port is seen to serve it. */
START_TEST(an_interface_that_no_port_serves_is_missing_when_it_is_down_or_has_no_address)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 3);
	const char *const both[] = { "net1", "net3", NULL };
	struct env_options o = ENV_OPTIONS_INIT;

	(void)pod_netdev(&v, "net3", "macvlan", "10.3.0.5/16");
	struct inv_netdev *net3 = &v.netdev[v.n_netdevs - 1];

	auto_env struct env other = envs_made(&v, &defaults);
	misses(&other, 0, NULL);
	ck_assert_uint_eq(other.n_left_out, 1);
	ck_assert_str_eq(other.left_out[0], "net3: no RDMA port has a GID of its addresses");
	o.interfaces = both;
	auto_env struct env named = envs_made(&v, &o);
	misses(&named, 1, "net3: no RDMA port has a GID of its addresses");
	net3->lower_port = 1;
	auto_env struct env served = envs_made(&v, &defaults);
	misses(&served, 1, "net3: no RDMA port has a GID of its addresses");
	net3->lower_port = 0;
	net3->n_addrs = 0;
	auto_env struct env bare = envs_made(&v, &defaults);
	misses(&bare, 1, "net3: it has no address");
	net3->link.flags = 0;
	auto_env struct env down = envs_made(&v, &defaults);
	misses(&down, 1, "net3: its link is down");
	/* Hardware without a port is a NIC without RDMA. */
	(void)strcpy(net3->link.parent, "0000:01:00.0");
	auto_env struct env nic = envs_made(&v, &defaults);
	misses(&nic, 0, NULL);
}
END_TEST

START_TEST(two_ports_of_one_address_are_reported)
{
	auto_rdma_inventory struct rdma_inventory v = pod_crowded(3, 3);

	pod_gid(&v.device[1].port[0], 4, GID_ROCE_V2, "10.1.0.50", "net1");
	inv_mark_gids(&v);
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_HCA"), "=mlx5_1:1");
	ck_assert_uint_eq(x.n_left_out, 2);
	ck_assert_ptr_nonnull(strstr(x.left_out[0], "does not see which"));
}
END_TEST

TEST_PROGRAM("env", a_rail_that_is_left_out_is_missing,
	     an_interface_that_no_port_serves_is_missing_when_it_is_down_or_has_no_address,
	     an_interface_for_bootstrap, InfiniBand_beside_RoCE_of_several_indices,
	     InfiniBand_beside_RoCE_of_one_index_among_neighbours, one_network_within_another,
	     UCX_tries_IPv4_first, one_rail_sets_one_hca, eight_rails_of_one_index,
	     indices_that_differ_set_a_range, networks_with_nothing_in_common_have_no_range,
	     rails_in_one_network_may_cross, IPv6_only, one_family_for_all,
	     options_choose_the_rails, neighbours_GIDs_come_first_but_the_index_is_one,
	     neighbours_GIDs_come_first_and_nothing_tells_ours_apart,
	     another_address_of_our_own_is_no_neighbour, a_narrow_range_selects_the_own_gid,
	     NCCL_takes_the_own_gid_with_the_printed_settings, infiniband_needs_no_gid_index,
	     a_vlan_on_a_bond_is_a_rail, the_default_route_is_no_rail_beside_others,
	     without_a_default_route_a_rail_bootstraps, more_rails_than_NCCL_uses_are_warned_about,
	     without_a_rail_it_says_why, no_rail_is_no_error_if_the_caller_says_so,
	     rails_that_cannot_be_used_say_why, two_ports_of_one_address_are_reported)
