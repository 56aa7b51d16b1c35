/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nccl_test.c: the findings about NCCL: its version, its traffic class and its settings. */
#include "diag/doctor.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "diag/testing/checked.h"
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
	checked_finds(&p, "lossless mlx5_1:1 warn", "--trust dscp --pfc 3,5");
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
	checked_finds(&p, "lossless mlx5_1:1 warn", "railctl rdma qos set --pf net1 --tc 194");
	p.v.device[0].port[0].traffic_class = 0;
	checked_set_var(&p.data, "NCCL_IB_TC=40");
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 unknown", "lists no priority for that value");
	dcb->dscp_rules = 0;
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 warn", "priority 0, because DSCP is not trusted");
	checked_finds(&p, "lossless mlx5_1:1 warn", "--trust dscp --pfc 1,6 --save");
	(void)strcpy(p.v.netdev[1].link.kind, "vlan");
	checked_run(&p);
	checked_finds(&p, "lossless mlx5_1:1 unknown", "the VLAN tag has the priority");
	*p.v.netdev[1].link.kind = '\0';
	dcb->pfc = 0;
	checked_set_var(&p.data, "");
	checked_run(&p);
	/* The program may give its communicator a class. */
	checked_finds(&p, "lossless mlx5_1:1 unknown",
		      "class 0 (without NCCL_IB_TC, unless the program gives another one), DSCP 0");
	checked_finds(&p, "lossless mlx5_1:1 unknown", "PFC is on for none");
	checked_finds(&p, "lossless mlx5_1:1 unknown",
		      "--pfc 3 --save, and the same priorities on the switches");
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

START_TEST(the_class_of_the_driver_replaces_that_of_NCCL)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "NCCL_IB_TC is 106");
	/* NVIDIA's own recipe: the driver alone. */
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class ok",
		      "the driver sets class 106 (DSCP 26) for all queue pairs but those made "
		      "through DevX");
	checked_set_var(&p.data, "NCCL_IB_TC=0");
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "the driver sets class 106");
	p.data.has_environ = false;
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "the driver sets class 106");
	p.data.has_environ = true;
	checked_set_var(&p.data, "NCCL_IB_TC=96");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "packets have the driver's class, DSCP 26");
	checked_finds(&p, "traffic-class warn", "(NCCL's GIN) have DSCP 24");
	/* Other bits of ECN, which a card sets itself. */
	checked_set_var(&p.data, "NCCL_IB_TC=104");
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "NCCL_IB_TC is 104 (the environment): DSCP 26");
	/* A second rail without a class: nothing rules all packets. */
	checked_clear(&p);
	checked_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	checked_find_rails(&p);
	checked_set_var(&p.data, "");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "the driver sets no traffic class on mlx5_2:1");
	/* A class on each rail. */
	p.v.device[1].port[0].traffic_class = 96;
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "the driver sets class 106 (DSCP 26) on mlx5_1:1");
	checked_finds(&p, "traffic-class ok", "class 96 (DSCP 24) on mlx5_2:1");
	checked_set_var(&p.data, "NCCL_IB_TC=106");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "the driver sets class 96 on mlx5_2:1");
}
END_TEST

START_TEST(a_class_of_0_is_judged)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_TC=-1");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "unless the program gives");
	checked_set_var(&p.data, "NCCL_IB_TC=0");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL's packets have DSCP 0: they share");
	/* No priority of a lossy fabric is better than another. */
	p.data.lossy = true;
	checked_run(&p);
	checked_finds(&p, "traffic-class ok", "NCCL_IB_TC is 0");
	p.data.has_environ = false;
	checked_run(&p);
	checked_finds(&p, "traffic-class unknown", "run it in the pod");
}
END_TEST

START_TEST(a_class_of_GIN_that_differs_is_reported)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	checked_find_rails(&p);
	for (int i = 0; i < 2; i++) {
		checked_set_var(&p.data, i ? "NCCL_GIN_IB_TC=106" : "NCCL_GIN_IB_TC=104");
		checked_run(&p);
		ck_assert_ptr_null(checked_look(&p, "traffic-class", "GIN"));
	}
	checked_set_var(&p.data, "NCCL_GIN_IB_TC=40");
	checked_run(&p);
	checked_finds(&p, "traffic-class GIN warn",
		      "NCCL_GIN_IB_TC is 40 (the environment): DSCP 10");
	checked_finds(&p, "traffic-class GIN warn", "other packets have DSCP 26");
	/* Older versions do not read it. */
	p.data.nccl = (struct lib_version){ 2, 29, 7 };
	p.data.nccl_from = JOB_NCCL_LIBRARY;
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", "GIN"));
	/* Neither the driver nor NCCL_IB_TC sets one: what the rest has is not known. */
	p.data.nccl_from = JOB_NCCL_UNKNOWN;
	p.v.device[0].port[0].traffic_class = 0;
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", "GIN"));
}
END_TEST

START_TEST(NVSHMEM_has_a_class_of_its_own)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", "NVSHMEM"));
	checked_set_var(&p.data, "NVSHMEM_IB_TRAFFIC_CLASS=106");
	checked_run(&p);
	checked_finds(&p, "traffic-class NVSHMEM ok", "NVSHMEM_IB_TRAFFIC_CLASS is 106");
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is not set");
	checked_set_var(&p.data, "NVSHMEM_IB_TRAFFIC_CLASS=0");
	checked_run(&p);
	checked_finds(&p, "traffic-class NVSHMEM warn", "NVSHMEM's packets have DSCP 0");
}
END_TEST

START_TEST(a_class_has_eight_bits)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_TC=300");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL's packets have class 44: DSCP 11");
	checked_finds(&p, "lossless mlx5_1:1 unknown", "class 44 (NCCL_IB_TC), DSCP 11");
	checked_set_var(&p.data, "NCCL_IB_TC=-2");
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL's packets have class 254: DSCP 63");
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
	p.data.job.library.is = JOB_LIBRARY_UNNAMED;
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is not set");
	checked_finds(&p, "traffic-class UCX ok", "DSCP 26");
	p.data.job.library.is = JOB_LIBRARY_NONE;
	p.data.job.var[JOB_NCCL_VERSION].set = true;
	checked_run(&p);
	checked_finds(&p, "traffic-class warn", "NCCL_IB_TC is not set");
	/* A job of UCX alone, as far as is seen. */
	checked_set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=106");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "traffic-class", ""));
	ck_assert_ptr_null(checked_look(&p, "lossless", "mlx5_1:1"));
	checked_finds(&p, "traffic-class UCX ok", "DSCP 26");
	ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
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
	/* Nothing of that family, and a text that is not a range. */
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.5");
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn", "index 1");
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=10.1.0.5/33");
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn", "index 1");
	checked_set_var(&p.data, "NCCL_IB_ADDR_RANGE=fd00::/64");
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
	const struct finding *whole = checked_look(&p, "nccl-gid", "mlx5_0:1");
	ck_assert_ptr_null(strstr(whole->value, "incomplete"));
	/* A driver that hides a neighbour's type may hide a whole entry, too. */
	enum gid_type type = p.v.device[0].port[0].gid[1].entry.type;
	/* As DOCA-OFED shows the GID of a neighbour: without its type. */
	p.v.device[0].port[0].gid[1].entry.type = GID_UNKNOWN;
	checked_run(&p);
	checked_finds(&p, "nccl-gid mlx5_0:1 warn",
		      "has index 2; the driver hides what belongs to other pods");
	p.v.device[0].port[0].gid[1].entry.type = type;
	checked_set_var(&p.data, "NCCL_IB_GID_INDEX=auto");
	checked_run(&p);
	checked_finds(&p, "nccl-gid mlx5_0:1 warn", "NCCL uses GID index 0");
	/* Before 2.21 index 0 is the default. */
	checked_set_var(&p.data, "");
	p.data.nccl = (struct lib_version){ 2, 20, 5 };
	p.data.nccl_from = JOB_NCCL_IMAGE;
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn", "without settings, NCCL uses GID index 1");
	p.data.nccl_from = JOB_NCCL_LIBRARY;
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
	checked_set_var(&p.data, "NCCL_IB_HCA=^");
	checked_run(&p);
	checked_finds(&p, "nccl-hca fail", "does not select the rails mlx5_1:1, mlx5_2:1");
	p.data.job.var[JOB_NCCL_IB_HCA].cut = true;
	checked_run(&p);
	checked_finds(&p, "nccl-hca unknown", "longer than 1023 characters");
	checked_set_var(&p.data, "NCCL_IB_HCA=");
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "nccl-hca", ""));
}
END_TEST

/* The interface of the default route and a port that is down are not among them. */
START_TEST(what_rdma_env_prints_is_right)
{
	auto_checked struct checked p = { .v = pod_new(RDMA_SHARED) };

	pod_rail(&p.v, 1, "10.1.0.5/16", 3);
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	pod_rail(&p.v, 3, "10.3.0.5/16", 3);
	pod_rail(&p.v, 4, "fd00:4::5/64", 3);
	p.v.default_ifindex = p.v.netdev[2].link.ifindex;
	p.v.device[2].port[0].state = RDMA_PORT_DOWN;
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_HCA==mlx5_1:1");
	checked_run(&p);
	checked_finds(&p, "nccl-hca ok", "=mlx5_1:1");
	checked_set_var(&p.data, "NCCL_IB_HCA==mlx5_2:1");
	checked_run(&p);
	checked_finds(&p, "nccl-hca warn", "does not select the rails mlx5_1:1");
	/* It would print nothing, and so all rails count. */
	for (size_t i = 0; i < p.v.n_devices; i++)
		p.v.device[i].port[0].state = RDMA_PORT_DOWN;
	checked_set_var(&p.data, "NCCL_IB_HCA=ibp24s0");
	checked_run(&p);
	checked_finds(&p, "nccl-hca fail", "does not select the rails mlx5_1:1, mlx5_2:1");
}
END_TEST

/* As many machines are: InfiniBand without IPoIB for NCCL, and Ethernet for storage. */
START_TEST(ports_of_InfiniBand_without_an_interface_may_be_right)
{
	auto_checked struct checked p = { .v = pod_new(RDMA_SHARED) };

	pod_rail(&p.v, 1, "10.1.0.5/16", 3);
	pod_port(&p.v, "mlx5_7", "0000:29:00.0", 0)->layer = IB_LAYER_INFINIBAND;
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_HCA=mlx5_7");
	checked_run(&p);
	checked_finds(&p, "nccl-hca warn", "which is right if the others are for storage");
	checked_set_var(&p.data, "NCCL_IB_HCA==mlx5_1:1,mlx5_7:1");
	checked_run(&p);
	checked_finds(&p, "nccl-hca ok", "=mlx5_1:1,mlx5_7:1");
	p.v.device[1].port[0].state = RDMA_PORT_DOWN;
	checked_set_var(&p.data, "NCCL_IB_HCA=mlx5_7");
	checked_run(&p);
	checked_finds(&p, "nccl-hca fail", "falls back to TCP");
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

/* One card of two, as a file about it says. */
START_TEST(a_card_of_a_lossy_fabric_needs_no_PFC)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.device[0].lossy = true;
	p.data.device[0].port[0].dcb.pfc = 0;
	p.v.device[0].port[0].traffic_class = 0;
	checked_set_var(&p.data, "NCCL_IB_TC=");
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 ok", "as the fabric has none");
	ck_assert_ptr_null(checked_look(&p, "lossless", "mlx5_1:1"));
	checked_finds(&p, "traffic-class ok", "sets no traffic class on mlx5_1:1");
	p.data.device[0].lossy = false;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 warn", "off");
	checked_finds(&p, "traffic-class warn", "sets no traffic class on mlx5_1:1");
}
END_TEST

TEST_PROGRAM("doctor_nccl", a_class_of_0_is_judged, what_rdma_env_prints_is_right,
	     ports_of_InfiniBand_without_an_interface_may_be_right, a_lossy_fabric_needs_no_PFC,
	     a_card_of_a_lossy_fabric_needs_no_PFC, settings_that_keep_NCCL_from_the_rails,
	     NCCL_IB_HCA_is_held_against_the_rails, a_rail_of_IPv6_alone_stays_at_index_0,
	     the_settings_of_the_job_choose_the_GID, the_traffic_class_is_judged,
	     a_class_is_followed_to_the_PFC_of_its_priority,
	     the_class_of_the_driver_replaces_that_of_NCCL, a_class_has_eight_bits,
	     a_class_of_GIN_that_differs_is_reported, NVSHMEM_has_a_class_of_its_own,
	     NCCL_and_UCX_have_a_traffic_class_each)
