/* SPDX-License-Identifier: Apache-2.0 */
/* ucx_test.c: the GID that UCX takes in tables of real machines. */
#include "rdma/env/ucx.h"

#include "lib/testing/testing.h"
#include "rdma/testing/pod.h"

/* The index that UCX takes; -1: none. */
static int taken(const struct rdma_inventory *v, const char *subnet, bool local_last)
{
	struct ip_prefix p;
	struct ucx_rule r = { .local_last = local_last };

	if (subnet) {
		ck_assert_int_eq(ip_parse_prefix(subnet, &p), 0);
		r.subnet = &p;
		r.n_subnets = 1;
	}

	const struct inv_gid *g = ucx_gid(&v->device[0].port[0], &r);

	return g ? (int)g->entry.index : -1;
}

START_TEST(IPv4_of_RoCE_v2_comes_first)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p = pod_port(&v, "mlx5_0", "", 0);

	ck_assert_int_eq(taken(&v, NULL, true), -1);
	pod_gid(p, 0, GID_ROCE_V1, "fe80::1", "net1");
	ck_assert_int_eq(taken(&v, NULL, true), 0);
	pod_gid(p, 1, GID_ROCE_V1, "10.1.0.5", "net1");
	ck_assert_int_eq(taken(&v, NULL, true), 1);
	pod_gid(p, 2, GID_ROCE_V2, "fe80::1", "net1");
	ck_assert_int_eq(taken(&v, NULL, true), 2);
	pod_gid(p, 3, GID_ROCE_V2, "fd00::5", "net1");
	ck_assert_int_eq(taken(&v, NULL, true), 3);
	ck_assert_int_eq(taken(&v, NULL, false), 2);
	pod_gid(p, 4, GID_UNKNOWN, "10.1.0.9", "net2");
	ck_assert_int_eq(taken(&v, NULL, true), 3);
	pod_gid(p, 5, GID_ROCE_V2, "10.1.0.5", "net1");
	ck_assert_int_eq(taken(&v, NULL, true), 5);
}
END_TEST

START_TEST(subnets_leave_only_their_entries)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p = pod_port(&v, "mlx5_0", "", 0);

	pod_gid(p, 0, GID_ROCE_V2, "10.1.0.9", "net2");
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.5", "net1");
	pod_gid(p, 2, GID_ROCE_V1, "10.2.0.5", "net1");
	ck_assert_int_eq(taken(&v, "10.1.0.0/16", true), 0);
	ck_assert_int_eq(taken(&v, "10.1.0.5/32", true), 1);
	ck_assert_int_eq(taken(&v, "10.2.0.0/16", true), 2);
	ck_assert_int_eq(taken(&v, "10.3.0.0/16", true), -1);
}
END_TEST

TEST_PROGRAM("ucx", IPv4_of_RoCE_v2_comes_first, subnets_leave_only_their_entries)
