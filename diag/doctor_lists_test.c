/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_lists_test.c: lists of HCAs, as UCX, NVSHMEM and Mooncake read them. */
#include <string.h>

#include "diag/testing/checked.h"
#include "lib/testing/testing.h"
#include "rdma/testing/pod.h"

/* Rails mlx5_1 and mlx5_2; mlx5_10 is a port of no rail. */
static void two_rails(struct checked *p)
{
	checked_vf(p);
	(void)pod_port(&p->v, "mlx5_10", "0000:28:00.0", 0);
	pod_rail(&p->v, 2, "10.2.0.5/16", 3);
	checked_find_rails(p);
}

static void says(struct checked *p, const char *line, const char *what, const char *part)
{
	checked_set_var(&p->data, line);
	checked_run(p);
	checked_finds(p, what, part);
}

START_TEST(lists_of_UCX)
{
	static const char *const right[] = {
		"mlx5_1:1,mlx5_2:1", "mlx5_1:1",         "mlx5_2",        "eth0,mlx5_1:1",
		"mlx5_[1-2]:1",      "mlx5_[1-9]:[1-1]", "^mlx5_10,eth0",
	};
	static const char *const wrong[] = { "eth0",           "mlx5_1:2",   "mlx5_",
					     "^mlx5_[1-10]:1", "mlx5_[3-9]", "mlx5_[1-2" };
	static const char also[] = "UCX_NET_DEVICES=eth0\0UCX_TLS=tcp";
	auto_checked struct checked p;
	char line[96];

	two_rails(&p);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		(void)snprintf(line, sizeof(line), "UCX_NET_DEVICES=%s", right[i]);
		says(&p, line, "ucx-devices UCX_NET_DEVICES ok", right[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(line, sizeof(line), "UCX_NET_DEVICES=%s", wrong[i]);
		says(&p, line, "ucx-devices UCX_NET_DEVICES fail", "it selects no rail");
	}
	says(&p, "UCX_NET_DEVICES=all", "ucx-devices UCX_NET_DEVICES warn",
	     "it also selects mlx5_10:1");
	says(&p, "UCX_NET_DEVICES=mlx5_[1-10]:1", "ucx-devices UCX_NET_DEVICES warn",
	     "ports that are not rails");
	p.data.job.var[JOB_UCX_NET_DEVICES].cut = true;
	checked_run(&p);
	checked_finds(&p, "ucx-devices UCX_NET_DEVICES unknown", "longer than 1023 characters");
	checked_set_var(&p.data, "");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "ucx-devices", "UCX_NET_DEVICES"));
	/* as recipes with MPI have it */
	checked_set_var(&p.data, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1");
	job_vars_environ(&p.data.job, also, sizeof(also));
	checked_run(&p);
	checked_finds(&p, "ucx-devices UCX_NET_DEVICES warn", "right if MPI starts the job by UCX");
	checked_finds(&p, "ucx-transports UCX_TLS warn", "right if MPI starts the job by UCX");
	checked_finds(&p, "nccl-hca ok", "mlx5_1:1");
}
END_TEST

START_TEST(lists_of_NVSHMEM)
{
	auto_checked struct checked p;

	two_rails(&p);
	says(&p, "NVSHMEM_HCA_LIST=mlx5_1:1,mlx5_2", "nvshmem-hca NVSHMEM_HCA_LIST ok", "mlx5_2");
	says(&p, "NVSHMEM_HCA_LIST=^mlx5_10", "nvshmem-hca NVSHMEM_HCA_LIST ok", "^mlx5_10");
	says(&p, "NVSHMEM_HCA_LIST=^mlx5_1", "nvshmem-hca NVSHMEM_HCA_LIST warn", "mlx5_10:1");
	/* it has no ranges, and a star is a name as any other */
	says(&p, "NVSHMEM_HCA_LIST=mlx5_[1-2]", "nvshmem-hca NVSHMEM_HCA_LIST fail",
	     "ends the job");
	says(&p, "NVSHMEM_HCA_LIST=mlx5_*", "nvshmem-hca NVSHMEM_HCA_LIST fail", "--for nvshmem");
}
END_TEST

START_TEST(the_prefix_of_NVSHMEM)
{
	auto_checked struct checked p;

	two_rails(&p);
	says(&p, "NVSHMEM_HCA_PREFIX=mlx5", "nvshmem-hca NVSHMEM_HCA_PREFIX ok", "mlx5");
	says(&p, "NVSHMEM_HCA_PREFIX=^smi", "nvshmem-hca NVSHMEM_HCA_PREFIX ok", "^smi");
	says(&p, "NVSHMEM_HCA_PREFIX=ibp", "nvshmem-hca NVSHMEM_HCA_PREFIX fail",
	     "no HCA of another");
	(void)strcpy(p.v.device[0].link.name, "rocep1s0");
	says(&p, "NVSHMEM_HCA_LIST=rocep1s0", "nvshmem-hca NVSHMEM_HCA_PREFIX warn",
	     "up to 3.5 does not take rocep1s0");
	says(&p, "NVSHMEM_HCA_PREFIX=", "nvshmem-hca NVSHMEM_HCA_PREFIX ok",
	     "NVSHMEM_HCA_PREFIX is ");
	checked_set_var(&p.data, "NVSHMEM_IB_TRAFFIC_CLASS=106");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nvshmem-hca", "NVSHMEM_HCA_PREFIX"));
}
END_TEST

START_TEST(lists_of_Mooncake)
{
	auto_checked struct checked p;

	two_rails(&p);
	says(&p, "MC_TE_FILTERS= mlx5_1 , mlx5_2 ", "mooncake-devices MC_TE_FILTERS ok", "mlx5_1");
	says(&p, "MC_MS_FILTERS=mlx5_1:1", "mooncake-devices MC_MS_FILTERS fail", "no RDMA device");
	says(&p, "MOONCAKE_DEVICE=mlx5_10,mlx5_1", "mooncake-devices MOONCAKE_DEVICE warn",
	     "it also selects mlx5_10:1");
	checked_set_var(&p.data, "MOONCAKE_DEVICE={\"0\": \"mlx5_1\", \"1\": \"mlx5_2\"}");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "mooncake-devices", "MOONCAKE_DEVICE"));
	says(&p, "MC_GID_INDEX=3", "mooncake-gid ok", "MC_GID_INDEX is 3");
	says(&p, "MC_GID_INDEX=1", "mooncake-gid fail", "has index 3");
}
END_TEST

START_TEST(settings_that_leave_TCP)
{
	static const char *const right[] = { "rc,sm,cuda", "all",      "^tcp",          "ib",
					     "^rc_mlx5",   "dc_x,tcp", "\\rc_mlx5,cuda" };
	static const char *const wrong[] = { "tcp", "tcp,cuda_copy,sm", "self", "^ib", "^ ib " };
	auto_checked struct checked p;
	char line[64];

	two_rails(&p);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		(void)snprintf(line, sizeof(line), "UCX_TLS=%s", right[i]);
		checked_set_var(&p.data, line);
		checked_run(&p);
		ck_assert_msg(!checked_look(&p, "ucx-transports", "UCX_TLS"), "%s", line);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		(void)snprintf(line, sizeof(line), "UCX_TLS=%s", wrong[i]);
		says(&p, line, "ucx-transports UCX_TLS fail", "UCX does not use RDMA");
	}
	says(&p, "MC_FORCE_TCP=", "mooncake-tcp MC_FORCE_TCP fail", "Mooncake does not use RDMA");
	says(&p, "MC_FORCE_TCP=1", "mooncake-tcp MC_FORCE_TCP fail", "Mooncake does not use RDMA");
}
END_TEST

TEST_PROGRAM("doctor_lists", lists_of_UCX, lists_of_NVSHMEM, the_prefix_of_NVSHMEM,
	     lists_of_Mooncake, settings_that_leave_TCP)
