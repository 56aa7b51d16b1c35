/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nccl_test.c: the findings about NCCL: its version, its traffic class and its settings. */
#include "rdma/doctor/doctor.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "rdma/testing/checked.h"
#include "rdma/testing/pod.h"

START_TEST(the_traffic_class_is_judged)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "--tc 106");
	p.data.has_environ = false;
	checked_run(&p);
	checked_finds(&p, "traffic-class unknown", "run it in the pod");
}
END_TEST

START_TEST(a_class_is_followed_to_the_PFC_of_its_priority)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);

	struct dcb_info *dcb = &p.data.device[0].port[0].dcb;

	dcb->pfc = 1 << 5;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 ok", "priority 5");
	checked_finds(&p, "lossless mlx5_1:1 warn",
		      "class 106 (NCCL_IB_TC), DSCP 26, priority 3; PFC is on for 5");
	checked_finds(&p, "lossless mlx5_1:1 warn", "--trust dscp --pfc 3");
	dcb->pfc = 1 << 6;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn", "railctl rdma env --tc 194");
	checked_set_var(&p.data, "NCCL_IB_TC=194");
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 ok", "DSCP 48, priority 6");
	/* The class of the driver replaces it. */
	p.v.device[0].port[0].traffic_class = 106;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn", "class 106 (set by the driver)");
	p.v.device[0].port[0].traffic_class = 0;
	checked_set_var(&p.data, "NCCL_IB_TC=40");
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn", "priority 0, because that value has no rule");
	dcb->dscp_rules = 0;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn", "priority 0, because DSCP is not trusted");
	dcb->pfc = 0;
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn",
		      "class 0 (without NCCL_IB_TC), DSCP 0, priority 0");
	checked_finds(&p, "lossless mlx5_1:1 warn", "PFC is on for none");
	checked_finds(&p, "lossless mlx5_1:1 warn",
		      "--pfc 3 --save, the same priority on the switches, and");
	/* From outside, and without the PF. */
	p.data.has_environ = false;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 unknown", "run it in the pod");
	p.data.has_environ = true;
	checked_set_var(&p.data, "NCCL_IB_TC=106");
	p.data.device[0].port[0].has_dcb = false;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 unknown",
		      "class 106 (NCCL_IB_TC), DSCP 26; which priority");
	p.v.device[0].bus[0] = '\0';
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "lossless", "mlx5_1:1"));
}
END_TEST

START_TEST(versions_of_NCCL_that_abort_in_a_pod_are_reported)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	checked_find_rails(&p);
	p.data.nccl = (struct lib_version){ 2, 24, 3 };
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-version", ""));
	p.data.nccl_from = "NCCL_VERSION";
	checked_run(&p);
	checked_finds(&p, "nccl-version fail", "NCCL 2.24.3 (NCCL_VERSION)");
	checked_finds(&p, "nccl-version fail",
		      "NCCL 2.21 to 2.26.1 abort in a pod with macvlan or ipvlan (net1)");
	checked_finds(&p, "nccl-version fail", "railctl rdma env --nccl-version 2.24.3");
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=2");
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
	checked_set_var(&p.data, "");
	p.data.nccl = (struct lib_version){ 2, 26, 2 };
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.26.2");
	checked_clear(&p);
	/* A VF has no GIDs of other pods. */
	checked_vf(&p);
	checked_find_rails(&p);
	p.data.nccl = (struct lib_version){ 2, 24, 3 };
	p.data.nccl_from = "NCCL_VERSION";
	checked_run(&p);
	checked_finds(&p, "nccl-version ok", "2.24.3");
}
END_TEST

START_TEST(queue_pairs_of_DevX_bypass_the_class_of_the_driver)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "NCCL_IB_TC is 106");
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "made through DevX (NCCL's GIN");
	checked_finds(&p, "traffic-class warn", "set NCCL_IB_TC=106");
	checked_set_var(&p.data, "NCCL_GIN_IB_TC=106");
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "NCCL_GIN_IB_TC is 106");
	checked_set_var(&p.data, "NCCL_IB_TC=96");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "one job has DSCP 26 and DSCP 24");
	p.data.has_environ = false;
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class unknown", "the driver sets class 106");
	/* A second rail without a class: nothing rules all packets. */
	checked_clear(&p);
	checked_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	checked_find_rails(&p);
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "the driver sets no traffic class");
}
END_TEST

START_TEST(NCCL_and_UCX_have_a_traffic_class_each)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", "UCX"));
	checked_set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=106");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is not set");
	checked_finds(&p, "traffic-class UCX ok", "DSCP 26");
	checked_set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=0");
	checked_run(&p);
	checked_finds(&p, "traffic-class UCX warn", "106 by itself");
	checked_set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=auto");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", "UCX"));
	/* 0 is the class without a setting, and -1 is none. */
	checked_set_var(&p.data, "NCCL_IB_TC=0");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is 0 (the environment)");
	checked_set_var(&p.data, "NCCL_IB_TC=-1");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is -1");
}
END_TEST

START_TEST(a_rail_of_IPv6_alone_stays_at_index_0)
{
	auto_checked struct checked p = { .v = pod_new(RDMA_EXCLUSIVE) };

	pod_rail(&p.v, 1, "fd00:1::5/64", 3);
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 ok", "fd00:1::5 at index 3");
	checked_finds(&p, "nccl-gid mlx5_1:1 warn",
		      "without settings, NCCL uses GID index 0 (fe80::1, RoCE v1)");
	checked_finds(&p, "nccl-gid mlx5_1:1 warn", "unless NCCL_IB_ADDR_FAMILY is AF_INET6");
	checked_set_var(&p.data, "NCCL_IB_ADDR_FAMILY=AF_INET6");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-gid", "mlx5_1:1"));
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=3");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-gid", "mlx5_1:1"));
}
END_TEST

START_TEST(the_settings_of_the_job_choose_the_GID)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.5/32");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "neighbour", "mlx5_0:1"));
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.0/24");
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn",
		      "with the settings of the job, NCCL uses GID index 1");
	/* Nothing of that family, and a text that is no range. */
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.5");
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn", "index 1");
	/* The index of another pod, one that is free, and text without a number, which is 0. */
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=1");
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn",
		      "with the settings of the job, NCCL uses GID index 1");
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=5");
	checked_run(&p);
	checked_finds(&p, "nccl-gid mlx5_0:1 warn",
		      "NCCL uses GID index 5 (free); the pod's own GID 10.1.0.5 has index 2");
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=auto");
	checked_run(&p);
	checked_finds(&p, "nccl-gid mlx5_0:1 warn", "NCCL uses GID index 0");
	/* Before 2.21 index 0 is the default. */
	checked_set_var(&p.data, "");
	p.data.nccl = (struct lib_version){ 2, 20, 5 };
	checked_run(&p);
	checked_finds(&p, "nccl-gid mlx5_0:1 warn", "without settings, NCCL uses GID index 0");
}
END_TEST

START_TEST(settings_that_keep_NCCL_from_the_rails)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_DISABLE=1");
	checked_run(&p);
	checked_finds(&p, "nccl-net NCCL_IB_DISABLE warn", "falls back to TCP");
	checked_set_var(&p.data, "NCCL_IB_DISABLE=0");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-net", "NCCL_IB_DISABLE"));
	checked_set_var(&p.data, "NCCL_NET=socket");
	checked_run(&p);
	checked_finds(&p, "nccl-net NCCL_NET warn", "sends by TCP");
	checked_set_var(&p.data, "NCCL_NET=ib");
	checked_run(&p);
	checked_finds(&p, "nccl-net NCCL_NET ok", "ib");
	checked_set_var(&p.data, "NCCL_NET=AWS Libfabric");
	checked_run(&p);
	checked_finds(&p, "nccl-net NCCL_NET unknown", "a plugin");
	checked_set_var(&p.data, "NCCL_NET_PLUGIN=none");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-net", "NCCL_NET_PLUGIN"));
	checked_set_var(&p.data, "NCCL_NET_PLUGIN=rccl-anp");
	checked_run(&p);
	checked_finds(&p, "nccl-net NCCL_NET_PLUGIN unknown", "rules of its own");
}
END_TEST

START_TEST(NCCL_IB_HCA_is_held_against_the_rails)
{
	auto_checked struct checked p;

	checked_vf(&p);
	(void)pod_port(&p.v, "mlx5_10", "0000:28:00.0", 0);
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_HCA==mlx5_1:1,mlx5_2:1");
	checked_run(&p);
	checked_finds(&p, "nccl-hca ok", "=mlx5_1:1,mlx5_2:1");
	checked_set_var(&p.data, "NCCL_IB_HCA=mlx5_1,mlx5_2");
	checked_run(&p);
	checked_finds(&p, "nccl-hca warn", "it also selects mlx5_10:1");
	p.v.device[1].port[0].state = RDMA_PORT_DOWN;
	checked_run(&p);
	checked_finds(&p, "nccl-hca ok", "mlx5_1,mlx5_2");
	checked_set_var(&p.data, "NCCL_IB_HCA=^mlx5_2");
	checked_run(&p);
	checked_finds(&p, "nccl-hca warn", "does not select the rails mlx5_2:1");
	checked_set_var(&p.data, "NCCL_IB_HCA=ibp24s0");
	checked_run(&p);
	checked_finds(&p, "nccl-hca fail", "does not select the rails mlx5_1:1, mlx5_2:1");
	checked_set_var(&p.data, "NCCL_IB_HCA=");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-hca", ""));
}
END_TEST

START_TEST(a_lossy_fabric_needs_no_PFC)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.lossy = true;
	p.data.device[0].port[0].dcb.pfc = 0;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 ok", "as the fabric has none");
	ck_assert_ptr_null(checked_look(&p, "lossless", "mlx5_1:1"));
	ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
	p.data.lossy = false;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 warn", "off");
	checked_finds(&p, "lossless mlx5_1:1 warn", "PFC is on for none");
}
END_TEST

TEST_PROGRAM("doctor_nccl", a_lossy_fabric_needs_no_PFC, settings_that_keep_NCCL_from_the_rails,
	     NCCL_IB_HCA_is_held_against_the_rails, a_rail_of_IPv6_alone_stays_at_index_0,
	     the_settings_of_the_job_choose_the_GID, the_traffic_class_is_judged,
	     a_class_is_followed_to_the_PFC_of_its_priority,
	     versions_of_NCCL_that_abort_in_a_pod_are_reported,
	     queue_pairs_of_DevX_bypass_the_class_of_the_driver,
	     NCCL_and_UCX_have_a_traffic_class_each)
