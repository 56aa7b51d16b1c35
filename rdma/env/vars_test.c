/* SPDX-License-Identifier: Apache-2.0 */
/* vars_test.c: variables that depend on the driver, and on the versions of NCCL and UCX. */
#include "rdma/env/env.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "rdma/testing/envs.h"
#include "rdma/testing/pod.h"

static const struct env_options defaults = ENV_OPTIONS_INIT;

START_TEST(the_class_of_the_driver_is_that_of_NCCL)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rails(&v, 2, 3, 0);
	v.device[0].port[0].traffic_class = v.device[1].port[0].traffic_class = 106;
	auto_env struct env x = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_TC"), "106");
	ck_assert_str_eq(env_value(&x, "UCX_IB_TRAFFIC_CLASS"), "106");
	/* NVSHMEM does not read NCCL_IB_TC. */
	ck_assert_str_eq(env_value(&x, "NVSHMEM_IB_TRAFFIC_CLASS"), "106");
	envs_warns(&x, 0, NULL);
	/* Another one that is asked for counts only where the driver's does not. */
	o.tc = 96;
	auto_env struct env y = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&y, "NCCL_IB_TC"), "96");
	envs_warns(&y, 1, "the driver of mlx5_1:1 sets traffic class 106, which replaces 96");
	o.tc = 106;
	auto_env struct env same = envs_made(&v, &o);
	envs_warns(&same, 0, NULL);
	/* The same DSCP; a card sets the bits of ECN itself. */
	o.tc = 104;
	auto_env struct env dscp = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&dscp, "NCCL_IB_TC"), "104");
	envs_warns(&dscp, 0, NULL);
	/* One class for all rails, or none. */
	v.device[1].port[0].traffic_class = 96;
	auto_env struct env z = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&z, "NCCL_IB_TC"));
	v.device[1].port[0].traffic_class = 0;
	auto_env struct env w = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&w, "NCCL_IB_TC"));
}
END_TEST

static struct env_options of_nccl(uint16_t major, uint16_t minor, uint16_t patch)
{
	struct env_options o = defaults;

	o.nccl = (struct lib_version){ major, minor, patch };
	o.nccl_from = "--nccl-version";
	return o;
}

/* net1 and net2 (10.1.0.50, 10.2.0.50) on two cards, at these indices; others have index 1. */
static struct rdma_inventory with_others(uint32_t first, uint32_t second, enum gid_type type)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.50/16");
	(void)pod_netdev(&v, "net2", "macvlan", "10.2.0.50/16");
	p = pod_port(&v, "mlx5_0", "0000:18:00.0", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens1");
	pod_gid(p, 1, type, "10.1.0.9", "net1");
	pod_gid(p, first, GID_ROCE_V2, "10.1.0.50", "net1");
	p = pod_port(&v, "mlx5_1", "0000:19:00.0", 0);
	pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens2");
	pod_gid(p, second, GID_ROCE_V2, "10.2.0.50", "net2");
	inv_mark_gids(&v);
	return v;
}

START_TEST(versions_of_NCCL_that_must_not_choose_a_GID)
{
	/* The type of the other GID cannot be read, and each range with both rails contains it. */
	auto_rdma_inventory struct rdma_inventory v = with_others(3, 5, GID_UNKNOWN);
	struct env_options o = of_nccl(2, 26, 2);
	auto_env struct env fixed = envs_made(&v, &o);

	ck_assert_ptr_nonnull(env_value(&fixed, "NCCL_IB_ADDR_FAMILY"));
	o = of_nccl(2, 25, 1);
	auto_env struct env aborts = envs_made(&v, &o);
	ck_assert_ptr_null(env_value(&aborts, "NCCL_IB_ADDR_RANGE"));
	envs_warns(&aborts, 1, "NCCL 2.25.1 has one for all: it ends the job");
	o = of_nccl(2, 20, 5);
	auto_env struct env old = envs_made(&v, &o);
	envs_warns(&old, 1, "NCCL 2.20.5 has one for all: it has no NCCL_IB_ADDR_RANGE");
	/* A version that is not known takes no variable away. */
	auto_env struct env unknown = envs_made(&v, &defaults);
	ck_assert_ptr_nonnull(env_value(&unknown, "NCCL_IB_ADDR_FAMILY"));
	/* One index for all is right in each version. */
	auto_rdma_inventory struct rdma_inventory same = with_others(3, 3, GID_UNKNOWN);
	o = of_nccl(2, 25, 1);
	auto_env struct env one = envs_made(&same, &o);
	ck_assert_str_eq(env_value(&one, "NCCL_IB_GID_INDEX"), "3");
	ck_assert_ptr_nonnull(strstr(one.var[1].why, "for NCCL 2.25.1 (--nccl-version)"));
	ck_assert_ptr_nonnull(strstr(one.var[1].why, "it ends the job"));
	envs_warns(&one, 0, NULL);
}
END_TEST

START_TEST(an_exact_range_needs_no_type_of_others)
{
	const char *const net1[] = { "net1", NULL };
	auto_rdma_inventory struct rdma_inventory v = with_others(3, 5, GID_UNKNOWN);
	struct env_options o = of_nccl(2, 25, 1);

	o.interfaces = net1;
	auto_env struct env x = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "10.1.0.50/32");
	envs_warns(&x, 0, NULL);
	/* macvlan whose neighbours have types, as Linux's own driver shows them. */
	auto_rdma_inventory struct rdma_inventory w = with_others(3, 5, GID_ROCE_V1);
	o = of_nccl(2, 25, 1);
	auto_env struct env y = envs_made(&w, &o);
	ck_assert_ptr_nonnull(env_value(&y, "NCCL_IB_ADDR_FAMILY"));
}
END_TEST

START_TEST(rails_that_reach_each_other_may_cross)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rails(&v, 2, 3, 0);
	auto_env struct env apart = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&apart, "NCCL_CROSS_NIC"), "0");
	ck_assert_str_eq(apart.var[4].name, "NCCL_CROSS_NIC");
	ck_assert_ptr_nonnull(strstr(apart.var[4].why, "NCCL_IB_SUBNET_AWARE_ROUTING"));
	o.nccl = (struct lib_version){ 2, 27, 0 };
	auto_env struct env older = envs_made(&v, &o);
	ck_assert_ptr_null(strstr(older.var[4].why, "SUBNET_AWARE"));
	/* To another network only, then to all rails, as leaf switches that route have it. */
	pod_route(&v.netdev[2], "10.9.0.0/16");
	auto_env struct env other = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&other, "NCCL_CROSS_NIC"), "0");
	pod_route(&v.netdev[2], "10.0.0.0/8");
	auto_env struct env routed = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&routed, "NCCL_CROSS_NIC"));
	v.netdev[2].n_routes = 0;
	v.netdev[1].has_routes = false;
	auto_env struct env unknown = envs_made(&v, &defaults);
	ck_assert_ptr_null(env_value(&unknown, "NCCL_CROSS_NIC"));
}
END_TEST

/* Without a version: what is right in each. */
START_TEST(a_network_is_for_exclusive_mode_and_versions_that_know_it)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	auto_rdma_inventory struct rdma_inventory w = pod_crowded(7, 7);
	struct env_options o = of_nccl(2, 30, 7);

	pod_rails(&v, 2, 3, 0);
	auto_env struct env unknown = envs_made(&v, &defaults);
	ck_assert_str_eq(env_value(&unknown, "NCCL_IB_GID_INDEX"), "3");
	auto_env struct env x = envs_made(&v, &o);
	ck_assert_ptr_null(env_value(&x, "NCCL_IB_GID_INDEX"));
	ck_assert_str_eq(env_value(&x, "NCCL_IB_ADDR_RANGE"), "10.0.0.0/14");
	ck_assert_ptr_nonnull(strstr(x.var[1].why, "for NCCL 2.30.7 (--nccl-version)"));
	o.pin_index = true;
	auto_env struct env pinned = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&pinned, "NCCL_IB_GID_INDEX"), "3");
	ck_assert_ptr_null(env_value(&pinned, "NCCL_IB_ADDR_RANGE"));
	/* GIDs of other pods come first in each range. */
	o.pin_index = false;
	auto_env struct env crowded = envs_made(&w, &o);
	ck_assert_str_eq(env_value(&crowded, "NCCL_IB_GID_INDEX"), "7");
	/* An old NCCL has no range. */
	o = of_nccl(2, 20, 5);
	auto_env struct env old = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&old, "NCCL_IB_GID_INDEX"), "3");
}
END_TEST

/* The next pod of the network gets the free index 1, which comes first in 10.1.0.0/16. */
START_TEST(in_mode_shared_other_pods_may_come)
{
	const char *const net1[] = { "net1", NULL };
	struct env_options o = of_nccl(2, 30, 7);
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;

	(void)pod_netdev(&v, "net1", "macvlan", "10.1.0.5/16");
	(void)pod_netdev(&v, "net2", "macvlan", "10.2.0.5/16");
	for (int i = 0; i < 2; i++) {
		p = pod_port(&v, i ? "mlx5_1" : "mlx5_0", "0000:18:00.0", 0);
		pod_gid(p, 0, GID_ROCE_V2, "fe80::1", "ens1");
		pod_gid(p, 2, GID_ROCE_V2, i ? "10.2.0.5" : "10.1.0.5", i ? "net2" : "net1");
	}
	inv_mark_gids(&v);
	auto_env struct env two = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&two, "NCCL_IB_GID_INDEX"), "2");
	ck_assert_ptr_nonnull(strstr(two.var[1].why, "other pods may get GIDs in the same range"));
	o.interfaces = net1;
	auto_env struct env one = envs_made(&v, &o);
	ck_assert_ptr_null(env_value(&one, "NCCL_IB_GID_INDEX"));
	ck_assert_str_eq(env_value(&one, "NCCL_IB_ADDR_RANGE"), "10.1.0.5/32");
	o = defaults;
	o.interfaces = net1;
	auto_env struct env unknown = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&unknown, "NCCL_IB_GID_INDEX"), "2");
}
END_TEST

/* The networks of UCX are one list for all ports. */
START_TEST(a_GID_of_another_interface_is_not_that_of_the_rail)
{
	const char *const both[] = { "net1", "net2", NULL };
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rails(&v, 2, 3, 2);
	/* net1.2, a VLAN above net1 with an address of rail 2's network, has the first GID. */
	(void)pod_netdev(&v, "net1.2", "vlan", "10.2.0.77/16");
	v.device[0].port[0].gid[2].entry.type = GID_ROCE_V2;
	v.device[0].port[0].gid[2].entry.gid = gid_of_ip(v.netdev[v.n_netdevs - 1].addr[0].addr);
	(void)strcpy(v.device[0].port[0].gid[2].entry.netdev, "net1.2");
	inv_mark_gids(&v);
	o.interfaces = both;
	o.ucx_from = "--ucx-version";
	auto_env struct env x = envs_made(&v, &o);
	ck_assert_str_eq(env_value(&x, "UCX_IB_ROCE_SUBNETS"), "10.1.0.5/32,10.2.0.5/32");
}
END_TEST

START_TEST(variables_that_the_node_does_not_decide_are_explained)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct env_options o = defaults;

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	auto_env struct env x = envs_made(&v, &defaults);
	auto_free char *all = env_shell(&x, true), *plain = env_shell(&x, false),
		       *yaml = env_kubernetes(&x, true);
	ck_assert_ptr_nonnull(strstr(all, "\n# not set: NCCL_IB_FIFO_TC: "));
	ck_assert_ptr_nonnull(strstr(all, "\n# not set: NCCL_GIN_IB_TC: "));
	ck_assert_ptr_nonnull(
		strstr(yaml, "\n# not set: NCCL_IB_TIMEOUT: 20 in 2.30, less in older"));
	ck_assert_ptr_null(strstr(plain, "not set"));
	/* Those that are set, and those of newer versions, are not among them. */
	o.nccl = (struct lib_version){ 2, 27, 0 };
	o.adaptive_routing = 1;
	auto_env struct env y = envs_made(&v, &o);
	auto_free char *older = env_shell(&y, true);
	ck_assert_ptr_null(strstr(older, "not set: NCCL_GIN_IB_TC"));
	ck_assert_ptr_null(strstr(older, "not set: NCCL_IB_ADAPTIVE_ROUTING"));
	ck_assert_ptr_nonnull(strstr(older, "not set: NCCL_IB_RETRY_CNT"));
	ck_assert_ptr_nonnull(strstr(older, "not set: UCX_IB_ROCE_REACHABILITY_MODE"));
	o.ucx = (struct lib_version){ 1, 18, 0 };
	auto_env struct env z = envs_made(&v, &o);
	auto_free char *old_ucx = env_shell(&z, true);
	ck_assert_ptr_null(strstr(old_ucx, "REACHABILITY_MODE"));
}
END_TEST

TEST_PROGRAM("env_vars", variables_that_the_node_does_not_decide_are_explained,
	     a_network_is_for_exclusive_mode_and_versions_that_know_it,
	     in_mode_shared_other_pods_may_come, an_exact_range_needs_no_type_of_others,
	     a_GID_of_another_interface_is_not_that_of_the_rail,
	     rails_that_reach_each_other_may_cross, the_class_of_the_driver_is_that_of_NCCL,
	     versions_of_NCCL_that_must_not_choose_a_GID)
