/* SPDX-License-Identifier: Apache-2.0 */
/* ib_test.c: the variables of pods with InfiniBand: partitions, and what has no effect there.
 */
#include "rdma/env/env.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "rdma/testing/envs.h"
#include "rdma/testing/pod.h"

static const struct env_options defaults = ENV_OPTIONS_INIT;

/* Two VFs of InfiniBand with an IPoIB interface each, in the default partition. */
static struct rdma_inventory two_rails(void)
{
	struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_ib(pod_port(&v, "mlx5_1", "0000:18:00.1", 0), 7, "02:00:00:00:00:00:00:07");
	pod_ib(pod_port(&v, "mlx5_2", "0000:18:00.2", 0), 8, "02:00:00:00:00:00:00:08");
	(void)pod_ipoib(&v, "net1", &v.device[0].port[0], 0);
	(void)pod_ipoib(&v, "net2", &v.device[1].port[0], 0);
	v.netdev[1].pkey = v.netdev[2].pkey = 0xffff;
	return v;
}

START_TEST(InfiniBand_in_the_default_partition_needs_only_its_ports)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();
	auto_env struct env x = envs_made(&v, &defaults);

	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n");
	envs_warns(&x, 0, NULL);
}
END_TEST

START_TEST(NCCL_gets_the_index_of_a_partition_and_UCX_its_number)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();
	struct env_options o = defaults;

	for (size_t i = 0; i < 2; i++)
		pod_pkey(&v.device[i].port[0], 3, 0x8012);
	v.netdev[1].pkey = v.netdev[2].pkey = 0x8012;
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "NCCL_IB_PKEY=3\n"
		       "UCX_IB_PKEY=0x12\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n");
	/* An option precedes the interface, and is written out even for the default. */
	o.pkey = 0x7fff;
	o.sl = 2;
	o.adaptive_routing = 1;
	auto_env struct env y = envs_made(&v, &o);
	envs_shows(&y, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "NCCL_IB_PKEY=0\n"
		       "UCX_IB_PKEY=0x7fff\n"
		       "NCCL_IB_ADAPTIVE_ROUTING=1\n"
		       "UCX_IB_AR_ENABLE=try\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "NCCL_IB_SL=2\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n"
		       "UCX_IB_SL=2\n");
	/* A port without an interface follows the others. */
	v.n_netdevs = 2;
	auto_env struct env z = envs_made(&v, &defaults);
	ck_assert_str_eq(z.var[1].value, "3");
	v.n_netdevs = 3;
}
END_TEST

START_TEST(a_limited_member_is_named_to_UCX)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();

	/* UCX would take 0x8012, the first with full membership. */
	for (size_t i = 0; i < 2; i++) {
		v.device[i].port[0].pkey[0].pkey = 0x7fff;
		pod_pkey(&v.device[i].port[0], 3, 0x8012);
		v.netdev[i + 1].pkey = 0x7fff;
	}
	auto_env struct env x = envs_made(&v, &defaults);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "UCX_IB_PKEY=0x7fff\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n");
}
END_TEST

START_TEST(partitions_that_one_variable_cannot_say_are_warnings)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();
	struct env_options o = defaults;

	pod_pkey(&v.device[0].port[0], 3, 0x8012);
	pod_pkey(&v.device[1].port[0], 4, 0x8012);
	o.pkey = 0x8012;
	auto_env struct env x = envs_made(&v, &o);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "UCX_IB_PKEY=0x12\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n");
	envs_warns(&x, 1, "It is 3 on mlx5_1:1 and 4 on mlx5_2:1");
	/* One index, and two partitions. */
	v.device[1].port[0].pkey[1] = (struct inv_pkey){ 3, 0x8013 };
	v.netdev[1].pkey = 0x8012;
	v.netdev[2].pkey = 0x8013;
	auto_env struct env y = envs_made(&v, &defaults);
	ck_assert_str_eq(y.var[1].name, "NCCL_IB_PKEY");
	ck_assert_str_eq(y.var[1].value, "3");
	envs_warns(&y, 1, "UCX has one partition");
	/* No member. */
	o.pkey = 0x8014;
	auto_env struct env z = envs_made(&v, &o);
	envs_warns(&z, 2, "mlx5_2:1 is not a member of partition 0x8014");
	ck_assert_str_eq(z.var[1].name, "NCCL_SOCKET_IFNAME");
	v.device[0].port[0].n_pkeys = v.device[1].port[0].n_pkeys = 0;
	v.device[0].port[0].has_pkeys = v.device[1].port[0].has_pkeys = false;
	auto_env struct env w = envs_made(&v, &o);
	envs_warns(&w, 2, "the partition table of mlx5_1:1 is not visible");
}
END_TEST

START_TEST(a_traffic_class_has_no_effect)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();
	struct env_options o = defaults;

	o.tc = 106;
	auto_env struct env x = envs_made(&v, &o);
	envs_shows(&x, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1\n"
		       "NCCL_SOCKET_IFNAME==eth0\n"
		       "GLOO_SOCKET_IFNAME=eth0\n"
		       "UCX_NET_DEVICES=mlx5_1:1,mlx5_2:1\n");
	envs_warns(&x, 1, "--sl");
	o.tc_why = "tier gold";
	auto_env struct env y = envs_made(&v, &o);
	envs_warns(&y, 0, NULL);
}
END_TEST

START_TEST(a_port_of_the_host_is_not_used_in_mode_shared)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	auto_env struct env x = { 0 };
	struct err e = { 0 };

	pod_ib(pod_port(&v, "mlx5_1", "0000:18:00.1", 0), 7, "02:00:00:00:00:00:00:07");
	ck_assert_int_eq(env_make(&v, &defaults, &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_ptr_nonnull(strstr(e.detail, "plugin ipoib"));
	/* A child of it, without an address, is enough. */
	(void)pod_ipoib(&v, "net1", &v.device[0].port[0], 5);
	auto_env struct env y = envs_made(&v, &defaults);
	ck_assert_str_eq(y.var[0].value, "=mlx5_1:1");
	ck_assert_uint_eq(y.n_missing, 0);
}
END_TEST

START_TEST(an_IPoIB_interface_whose_port_is_not_visible_is_missing)
{
	auto_rdma_inventory struct rdma_inventory v = two_rails();

	v.n_devices = 1;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(x.var[0].value, "=mlx5_1:1");
	ck_assert_uint_eq(x.n_missing, 1);
	ck_assert_str_eq(x.missing[0], "net2: no visible port of InfiniBand has its GUID");
	v.n_devices = 2;
}
END_TEST

START_TEST(InfiniBand_beside_RoCE_has_no_GID_index)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);

	pod_port(&v, "mlx5_0", "", 0)->layer = IB_LAYER_INFINIBAND;
	pod_rail(&v, 1, "10.1.0.5/16", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	/* With an index, NCCL would look for a GID there on InfiniBand, too. */
	ck_assert_ptr_null(env_value(&x, "NCCL_IB_GID_INDEX"));
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "10.1.0.0/16");
	ck_assert_ptr_null(env_value(&x, "UCX_IB_GID_INDEX"));
	envs_warns(&x, 1, "choose one with --link-layer");
	struct env_options o = defaults;
	o.layer = IB_LAYER_ETHERNET;
	auto_env struct env roce = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&roce, "NCCL_IB_HCA"), "=mlx5_1:1");
	ck_assert_str_eq(env_value(&roce, "NCCL_IB_GID_INDEX"), "3");
	envs_warns(&roce, 0, NULL);
	ck_assert_uint_eq(roce.n_missing, 0);
	ck_assert_str_eq(roce.left_out[0],
			 "no interface on mlx5_0:1: its link layer is InfiniBand");
	o.layer = IB_LAYER_INFINIBAND;
	auto_env struct env ib = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&ib, "NCCL_IB_HCA"), "=mlx5_0:1");
	ck_assert_ptr_null(env_value(&ib, "NCCL_IB_GID_INDEX"));
	envs_warns(&ib, 0, NULL);
}
END_TEST

struct wanted {
	struct rdma_inventory v;
	struct env_options o;
};

static int make(void *arg, struct err *e)
{
	const struct wanted *w = arg;
	auto_env struct env x = { 0 };

	return env_make(&w->v, &w->o, &x, e);
}

START_TEST(allocations_may_fail)
{
	struct wanted w = { two_rails(), defaults };

	w.o.adaptive_routing = 0;
	w.o.pkey = 0x8012;
	ck_assert_str_eq(alloc_fail_each(make, &w), "ok");
	pod_pkey(&w.v.device[0].port[0], 3, 0x8012);
	pod_pkey(&w.v.device[1].port[0], 3, 0x8012);
	ck_assert_str_eq(alloc_fail_each(make, &w), "ok");
	w.v.device[1].port[0].pkey[1].index = 4;
	ck_assert_str_eq(alloc_fail_each(make, &w), "ok");
	rdma_inventory_clear(&w.v);
}
END_TEST

TEST_PROGRAM("env_ib", InfiniBand_in_the_default_partition_needs_only_its_ports,
	     NCCL_gets_the_index_of_a_partition_and_UCX_its_number,
	     a_limited_member_is_named_to_UCX, partitions_that_one_variable_cannot_say_are_warnings,
	     a_traffic_class_has_no_effect, a_port_of_the_host_is_not_used_in_mode_shared,
	     an_IPoIB_interface_whose_port_is_not_visible_is_missing,
	     InfiniBand_beside_RoCE_has_no_GID_index, allocations_may_fail)
