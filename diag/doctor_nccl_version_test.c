/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nccl_version_test.c: the findings about the version of NCCL. */
#include "diag/doctor.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "diag/testing/checked.h"
#include "rdma/testing/pod.h"

START_TEST(versions_of_NCCL_that_abort_in_a_pod_are_reported)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	pod_gid(&p.v.device[0].port[0], 3, GID_ROCE_V2, "10.1.0.6", "net1");
	/* As DOCA-OFED shows the GID of a neighbour: without its type. */
	p.v.device[0].port[0].gid[1].entry.type = GID_UNKNOWN;
	checked_find_rails(&p);
	p.data.nccl = (struct lib_version){ 2, 24, 3 };
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-version", ""));
	p.data.nccl_from = JOB_NCCL_LIBRARY;
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "NCCL 2.24.3 (the library that the process has");
	checked_finds(&p, "nccl-version fail",
		      "NCCL since 2.21.0 and before 2.26.2 ends the job: to choose a GID on "
		      "mlx5_0:1");
	checked_finds(&p, "nccl-version fail", "railctl rdma env --nccl-version 2.24.3");
	/* The version of the image is not that of the job, and settings may be others. */
	p.data.nccl_from = JOB_NCCL_IMAGE;
	checked_run(&p);
	checked_finds(&p, "nccl-version warn", "NCCL_VERSION of the image");
	p.data.nccl_from = JOB_NCCL_ASKED;
	p.data.has_environ = false;
	checked_run(&p);
	checked_finds(&p, "nccl-version warn", "--nccl-version");
	p.data.has_environ = true;
	/* The environment need not be that of the job, unless the process has NCCL. */
	checked_run(&p);
	checked_finds(&p, "nccl-version warn", "--nccl-version");
	p.data.job.library.is = JOB_LIBRARY_UNNAMED;
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "--nccl-version");
	p.data.nccl_from = JOB_NCCL_LIBRARY;
	/* NCCL may never come to that rail. */
	static const char *const elsewhere[] = { "NCCL_IB_HCA==mlx5_7:1", "NCCL_IB_DISABLE=1",
						 "NCCL_NET=Socket", "NCCL_NET_PLUGIN=aws-ofi" };

	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++) {
		checked_set_var(&p.data, elsewhere[i]);
		checked_run(&p);
		checked_finds(&p, i ? "nccl-version warn" : "nccl-version ok", "2.24.3");
	}
	checked_set_var(&p.data, "NCCL_IB_HCA=mlx5");
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "ends the job");
	checked_set_var(&p.data, "NCCL_NET=ib");
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "ends the job");
	checked_set_var(&p.data, "NCCL_NET_PLUGIN=none");
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "ends the job");
	/* What does not fit is not known: it may leave the rail out. */
	p.data.job.var[JOB_NCCL_IB_HCA].set = p.data.job.var[JOB_NCCL_IB_HCA].cut = true;
	checked_run(&p);
	checked_finds(&p, "nccl-version warn", "ends the job");
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=2");
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
	/* Out of the range no type is read. */
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.5/32");
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
	checked_set_var(&p.data, "");
	p.data.nccl = (struct lib_version){ 2, 26, 2 };
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.26.2");
}
END_TEST

START_TEST(types_that_can_be_read_abort_no_version)
{
	auto_checked struct checked p;

	/* Linux's own driver shows the types of neighbours. */
	checked_macvlan(&p, RDMA_SHARED);
	checked_find_rails(&p);
	p.data.nccl = (struct lib_version){ 2, 24, 3 };
	p.data.nccl_from = JOB_NCCL_LIBRARY;
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
	checked_clear(&p);
	/* A host with a VLAN on its card has no other namespace. */
	p = (struct checked){ .v = pod_new(RDMA_SHARED) };
	pod_rail(&p.v, 1, "10.1.0.5/16", 3);
	(void)pod_netdev(&p.v, "net1.7", "vlan", "10.7.0.5/16");
	pod_gid(&p.v.device[0].port[0], 5, GID_ROCE_V2, "10.7.0.5", "net1.7");
	checked_find_rails(&p);
	p.data.nccl = (struct lib_version){ 2, 24, 3 };
	p.data.nccl_from = JOB_NCCL_LIBRARY;
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
}
END_TEST

TEST_PROGRAM("doctor_nccl_version", versions_of_NCCL_that_abort_in_a_pod_are_reported,
	     types_that_can_be_read_abort_no_version)
