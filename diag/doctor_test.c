/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_test.c: the findings for pods without errors, and for each error. */
#include "diag/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "diag/testing/checked.h"
#include "rdma/testing/pod.h"

START_TEST(a_good_pod_has_only_ok_findings)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	checked_run(&p);
	ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
	checked_finds(&p, "devices ok", "1 RDMA device visible");
	checked_finds(&p, "port mlx5_1:1 ok", "ACTIVE");
	checked_finds(&p, "gid mlx5_1:1 ok", "10.1.0.5 at index 3");
	checked_finds(&p, "mtu mlx5_1:1 ok", "4096 bytes");
	checked_finds(&p, "mode ok", "exclusive");
	checked_finds(&p, "uverbs mlx5_1 ok", "can be opened");
	checked_finds(&p, "rdma-cm ok", "rdma_cm can be opened");
	checked_finds(&p, "memlock ok", "without limit");
	checked_finds(&p, "transport ok", "has a connected queue pair: no job runs");
	checked_finds(&p, "pfc mlx5_1:1 ok", "pauses priority 3, 4");
	checked_finds(&p, "trust mlx5_1:1 ok", "2 values");
	checked_finds(&p, "lossless mlx5_1:1 ok",
		      "class 106 (NCCL_IB_TC), DSCP 26, priority 3; PFC is on for 3, 4");
	checked_finds(&p, "traffic-class ok", "NCCL_IB_TC");
	ck_assert_ptr_null(checked_look(&p, "neighbour", "mlx5_1:1"));
}
END_TEST

START_TEST(missing_devices_are_reported)
{
	auto_checked struct checked p = { .v = pod_new(RDMA_EXCLUSIVE) };

	checked_find_rails(&p);
	checked_run(&p);
	ck_assert_uint_eq(p.found.n, 1);
	checked_finds(&p, "devices fail", "chain the plugin");
	checked_finds(&p, "devices fail",
		      "give the plugin \"sriov\" the key \"rdma\": \"exclusive\"");
	p.v.mode = RDMA_SHARED;
	checked_run(&p);
	checked_finds(&p, "devices fail", "railctl rdma list");
	p.v.has_rdma = false;
	checked_run(&p);
	checked_finds(&p, "devices fail", "this kernel has no RDMA");
}
END_TEST

START_TEST(ports_that_are_down_fail)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.device[0].port[0].state = RDMA_PORT_DOWN;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "port mlx5_1:1 fail", "the port is DOWN");
	checked_finds(&p, "port mlx5_1:1 fail", "ip link set");
}
END_TEST

START_TEST(a_missing_RoCE_v2_GID_fails)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.device[0].port[0].gid[3].entry.type = GID_ROCE_V1;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 fail", "only as RoCE v1 GIDs");
	p.v.device[0].port[0].n_gids = 2;
	rails_clear(&p.rails);
	probe_data_clear(&p.data);
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 fail", "none of the 1 RoCE v2 GIDs");
	p.v.device[0].vf = false;
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 fail", "none of the 1 RoCE v2 GIDs");
	p.v.netdev[1].n_addrs = 0;
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 warn", "macvlan and ipvlan above it");
	p.v.device[0].vf = true;
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 fail", "net1 has no address");
	p.v.device[0].port[0].has_gids = false;
	checked_run(&p);
	checked_finds(&p, "gid mlx5_1:1 unknown", "--netns");
}
END_TEST

START_TEST(the_GID_of_another_pod_is_reported)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	(void)strcpy(p.v.device[0].port[0].gid[1].netns, "cni-1234");
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "neighbour mlx5_0:1 warn", "index 1: 10.1.0.4 of net1 in cni-1234");
	checked_finds(&p, "neighbour mlx5_0:1 warn", "own GID has index 2");
	checked_finds(&p, "gid mlx5_0:1 ok", "at index 2");
	checked_finds(&p, "mode ok", "as macvlan, ipvlan and ipoib need it");
	/* From here only the macvlan's MTU is known. */
	checked_finds(&p, "mtu mlx5_0:1 ok", "the MTU of net1 is 4200");
	p.v.netdev[1].link.mtu = 1500;
	checked_run(&p);
	checked_finds(&p, "mtu mlx5_0:1 unknown", "the MTU of net1 is 1500");
	checked_finds(&p, "mtu mlx5_0:1 unknown", "run it on the host, with --netns");
	/* From the host the card's own is seen. */
	(void)strcpy(p.v.netdev[1].below, "ens1f0");
	p.v.netdev[1].below_mtu = 9000;
	checked_run(&p);
	checked_finds(&p, "mtu mlx5_0:1 ok",
		      "the MTU of ens1f0 is 9000: RDMA packets carry 4096 bytes");
	p.v.netdev[1].below_mtu = 1500;
	checked_run(&p);
	checked_finds(&p, "mtu mlx5_0:1 warn",
		      "the MTU of ens1f0 is 1500: RDMA packets carry 1024");
}
END_TEST

START_TEST(rails_without_a_device_fail)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_EXCLUSIVE);
	p.v.device[0].port[0].n_gids = 0;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "rail net1 warn", "macvlan needs mode shared");
	p.v.mode = RDMA_SHARED;
	checked_run(&p);
	checked_finds(&p, "rail net1 warn", "no visible RDMA port");
	checked_finds(&p, "rail net1 warn", "if its NIC has RDMA");
	p.v.netdev[1].n_addrs = 0;
	checked_run(&p);
	checked_finds(&p, "rail net1 warn", "ipam");
	ck_assert_ptr_null(checked_look(&p, "rail", "eth0"));
	ck_assert_ptr_null(checked_look(&p, "uverbs", "mlx5_0"));
}
END_TEST

START_TEST(an_address_on_two_ports_is_reported)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	pod_gid(pod_port(&p.v, "mlx5_1", "0000:19:00.0", 0), 1, GID_ROCE_V2, "10.1.0.5", "net1");
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "rail mlx5_0:1 unknown", "--netns");
	checked_finds(&p, "rail mlx5_1:1 unknown", "not visible which port");
}
END_TEST

START_TEST(an_mtu_that_is_too_small_is_reported)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.v.device[0].port[0].netdev_mtu = 1500;
	checked_run(&p);
	checked_finds(&p, "mtu mlx5_1:1 warn",
		      "the MTU of net1 is 1500: RDMA packets carry 1024 bytes");
	p.v.device[0].port[0].netdev_mtu = 300;
	checked_run(&p);
	checked_finds(&p, "mtu mlx5_1:1 fail", "not even the smallest");
}
END_TEST

START_TEST(VFs_in_mode_shared_are_reported)
{
	auto_checked struct checked p;

	checked_vf(&p);
	p.v.mode = RDMA_SHARED;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "mode warn", "railctl rdma mode exclusive");
	checked_clear(&p);

	checked_macvlan(&p, RDMA_SHARED);
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	p.v.device[1].vf = true;
	checked_find_rails(&p);
	checked_run(&p);
	checked_finds(&p, "mode warn", "one node cannot serve both");
}
END_TEST

static void with_uverbs(struct checked *p, struct device_file file)
{
	(void)snprintf(file.path, sizeof(file.path), "/dev/infiniband/uverbs0");
	p->data.device[0].uverbs = file;
	checked_run(p);
}

START_TEST(character_devices_are_judged)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	with_uverbs(&p, (struct device_file){ .access = ACCESS_MISSING });
	checked_finds(&p, "uverbs mlx5_1 fail", "there is no /dev/infiniband/uverbs0");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_DENIED, .errnum = EPERM });
	checked_finds(&p, "uverbs mlx5_1 fail", "Operation not permitted");
	checked_finds(&p, "uverbs mlx5_1 fail", "must also be in this network namespace");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_WRONG, .major = 231, .minor = 200 });
	checked_finds(&p, "uverbs mlx5_1 fail",
		      "is device 231:200, and the kernel's uverbs0 is 231:192");
	checked_finds(&p, "uverbs mlx5_1 fail", "the device of another pod");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_THERE });
	checked_finds(&p, "uverbs mlx5_1 unknown", "from outside");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_UNKNOWN });
	checked_finds(&p, "uverbs mlx5_1 unknown", "run it in the pod");
	p.data.device[0].uverbs = (struct device_file){ .access = ACCESS_UNKNOWN };
	checked_run(&p);
	checked_finds(&p, "uverbs mlx5_1 unknown", "did not report");
	p.v.mode = RDMA_SHARED;
	with_uverbs(&p, (struct device_file){ .access = ACCESS_DENIED, .errnum = EPERM });
	checked_finds(&p, "uverbs mlx5_1 fail", "a plain mount");
	p.data.rdma_cm.access = ACCESS_MISSING;
	checked_run(&p);
	checked_finds(&p, "rdma-cm warn", "programs that use RDMA CM fail");
}
END_TEST

START_TEST(the_memlock_limit_is_judged)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.memlock = 8u << 20;
	checked_run(&p);
	checked_finds(&p, "memlock fail", "8192 KiB");
	p.data.memlock = UINT64_C(1) << 30;
	checked_run(&p);
	checked_finds(&p, "memlock warn", "IPC_LOCK");
	p.data.ipc_lock = true;
	checked_run(&p);
	checked_finds(&p, "memlock ok", "CAP_IPC_LOCK");
	p.data.has_memlock = false;
	checked_run(&p);
	checked_finds(&p, "memlock unknown", "run it in the pod");
}
END_TEST

START_TEST(a_queue_pair_in_use_is_named)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.qp_pid = 712;
	checked_run(&p);
	checked_finds(&p, "transport ok", "process 712 has");
	p.data.has_qps = false;
	checked_run(&p);
	checked_finds(&p, "transport unknown", "does not list");
}
END_TEST

START_TEST(pfc_and_trust_are_judged)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.device[0].port[0].dcb = (struct dcb_info){ .has_pfc = true, .has_app = true };
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 warn", "railctl rdma qos set --pf net1 --pfc 3");
	checked_finds(&p, "trust mlx5_1:1 warn", "--trust dscp");
	p.data.device[0].port[0].has_dcb = false;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 unknown", "run it on the host");
	p.v.device[0].vf = false;
	checked_run(&p);
	checked_finds(&p, "pfc mlx5_1:1 unknown", "does not report");
	ck_assert_ptr_null(checked_look(&p, "trust", "mlx5_1:1"));
	/* Software. */
	p.v.device[0].bus[0] = '\0';
	checked_run(&p);
	ck_assert_ptr_null(checked_look(&p, "pfc", "mlx5_1:1"));
}
END_TEST

/* Both readings of a counter of the only port. */
static void counted(struct checked *p, enum port_counter c, uint64_t first, uint64_t last)
{
	struct port_data *port = &p->data.device[0].port[0];

	port->first.known = port->last.known = (1u << COUNT_N) - 1;
	port->first.value[c] = first;
	port->last.value[c] = last;
}

START_TEST(growth_of_counters_is_judged_and_not_their_sum)
{
	static const struct {
		enum port_counter counter;
		const char *quiet, *moving, *evidence, *remedy;
	} all[] = {
		{ COUNT_RETRY, "retries mlx5_1:1 ok", "retries mlx5_1:1 warn",
		  "packets sent again: 3 in 5 s, 20 in all", "pfc, trust and mtu" },
		{ COUNT_SEQUENCE, "sequence mlx5_1:1 ok", "sequence mlx5_1:1 warn",
		  "packets out of order: 3 in 5 s, 20 in all", "switches drop" },
		{ COUNT_LINK_ERROR, "link-errors mlx5_1:1 ok", "link-errors mlx5_1:1 warn",
		  "broken bits and packets: 3 in 5 s, 20 in all", "transceiver" },
		{ COUNT_LINK_DOWN, "link-down mlx5_1:1 ok", "link-down mlx5_1:1 fail",
		  "went down: 3 in 5 s, 20 in all", "cable" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_checked struct checked p;

		checked_vf(&p);
		checked_find_rails(&p);
		counted(&p, all[i].counter, 20, 20);
		checked_run(&p);
		checked_finds(&p, all[i].quiet, "0 in 5 s, 20 in all");
		ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
		counted(&p, all[i].counter, 17, 20);
		checked_run(&p);
		checked_finds(&p, all[i].moving, all[i].evidence);
		checked_finds(&p, all[i].moving, all[i].remedy);
	}
}
END_TEST

START_TEST(after_one_reading_growth_is_unknown)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.watched_ms = 0;
	counted(&p, COUNT_RETRY, 20, 20);
	counted(&p, COUNT_PAUSE_HEARD, 9, 9);
	checked_run(&p);
	checked_finds(&p, "retries mlx5_1:1 unknown",
		      "20 in all; one reading does not show whether they grow");
	checked_finds(&p, "retries mlx5_1:1 unknown", "--interval");
	checked_finds(&p, "sequence mlx5_1:1 ok", "0 in all");
	checked_finds(&p, "congestion mlx5_1:1 ok", "pauses received: 9 in all");
}
END_TEST

START_TEST(congestion_is_reported)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	counted(&p, COUNT_CNP_HEARD, 0, 7);
	counted(&p, COUNT_PAUSE_SENT, 1, 4);
	checked_run(&p);
	checked_finds(&p, "congestion mlx5_1:1 ok", "CNPs received: 7 in 5 s, 7 in all");
	checked_finds(&p, "congestion mlx5_1:1 ok", "pauses sent: 3 in 5 s, 4 in all");
	counted(&p, COUNT_CNP_HEARD, 7, 7);
	checked_run(&p);
	checked_finds(&p, "congestion mlx5_1:1 warn", "railctl rdma qos set --pf net1 --ecn 3");
	/* Whether ECN works cannot be told. */
	p.data.device[0].port[0].last.known &= ~(1u << COUNT_CNP_SENT | 1u << COUNT_CNP_HEARD);
	checked_run(&p);
	checked_finds(&p, "congestion mlx5_1:1 ok", "pauses sent: 3 in 5 s");
}
END_TEST

START_TEST(missing_counters_are_unknown)
{
	auto_checked struct checked p;

	checked_vf(&p);
	checked_find_rails(&p);
	p.data.device[0].port[0].last.known = 1u << COUNT_SEQUENCE;
	checked_run(&p);
	checked_finds(&p, "sequence mlx5_1:1 ok", "0 in all");
	ck_assert_ptr_null(checked_look(&p, "retries", "mlx5_1:1"));
	ck_assert_ptr_null(checked_look(&p, "congestion", "mlx5_1:1"));
	p.data.device[0].port[0].last.known = 0;
	checked_run(&p);
	checked_finds(&p, "counters mlx5_1:1 unknown", "only the pod sees them");
	ck_assert_ptr_null(checked_look(&p, "sequence", "mlx5_1:1"));
	p.v.mode = RDMA_SHARED;
	checked_run(&p);
	checked_finds(&p, "counters mlx5_1:1 unknown", "with --netns");
}
END_TEST

static int check_all(void *arg, struct err *e)
{
	const struct checked *p = arg;
	auto_findings struct findings f = { 0 };

	return doctor_check(&p->data, &f, e);
}

START_TEST(allocations_may_fail)
{
	auto_checked struct checked p;

	checked_macvlan(&p, RDMA_SHARED);
	checked_find_rails(&p);
	checked_set_var(&p.data, "NCCL_IB_HCA=mlx5_9");
	ck_assert_str_eq(alloc_fail_each(check_all, &p), "ok");
}
END_TEST

TEST_PROGRAM("doctor", a_good_pod_has_only_ok_findings, missing_devices_are_reported,
	     ports_that_are_down_fail, a_missing_RoCE_v2_GID_fails,
	     the_GID_of_another_pod_is_reported, rails_without_a_device_fail,
	     an_address_on_two_ports_is_reported, an_mtu_that_is_too_small_is_reported,
	     growth_of_counters_is_judged_and_not_their_sum, after_one_reading_growth_is_unknown,
	     congestion_is_reported, missing_counters_are_unknown, VFs_in_mode_shared_are_reported,
	     character_devices_are_judged, the_memlock_limit_is_judged,
	     a_queue_pair_in_use_is_named, pfc_and_trust_are_judged, allocations_may_fail)
