/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_test.c: the findings for pods without errors, and for each error. */
#include "rdma/doctor/doctor.h"

#include <errno.h>
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "rdma/testing/pod.h"

/* A pod and the probe data about it. All is right until a test changes it. */
struct fixture {
	struct rdma_inventory v;
	struct rails rails;
	struct probe_data data;
	struct findings found;
};

static void fixture_clear(struct fixture *p)
{
	findings_clear(&p->found);
	probe_data_clear(&p->data);
	rails_clear(&p->rails);
	rdma_inventory_clear(&p->v);
}
#define auto_fixture auto_clean(fixture_clear)

/* The process has this variable and no other. "": none. */
static void set_var(struct probe_data *f, const char *line)
{
	f->job = (struct job_vars){ 0 };
	job_vars_environ(&f->job, line, strlen(line));
}

static void set_good_data(struct probe_data *f)
{
	const struct rdma_inventory *v = f->inventory;

	f->device = calloc(v->n_devices + 1, sizeof(*f->device));
	ck_assert_ptr_nonnull(f->device);
	for (size_t i = 0; i < v->n_devices; i++) {
		f->device[i].uverbs = (struct device_file){ .access = ACCESS_OK };
		(void)snprintf(f->device[i].uverbs.path, sizeof(f->device[i].uverbs.path),
			       "/dev/infiniband/uverbs%zu", i);
		f->device[i].port[0].has_dcb = true;
		f->device[i].port[0].dcb =
			(struct dcb_info){ .has_pfc = true,
					   .pfc = 0x18,
					   .has_app = true,
					   .dscp_rules = 2,
					   .dscp = { [26] = 1 << 3, [48] = 1 << 6 } };
		f->device[i].port[0].last.known = (1u << COUNT_N) - 1;
	}
	f->rdma_cm = (struct device_file){ .access = ACCESS_OK, .path = "/dev/infiniband/rdma_cm" };
	f->has_memlock = f->has_environ = true;
	set_var(f, "NCCL_IB_TC=106");
	f->memlock = MEMLOCK_UNLIMITED;
	f->watched_ms = 5000;
}

/* After the inventory was changed, before the data are. */
static void fixture_find_rails(struct fixture *p)
{
	struct err e;

	inv_mark_gids(&p->v);
	ck_assert_int_eq(rails_find(&p->v, &p->rails, &e), 0);
	p->data = (struct probe_data){ .inventory = &p->v, .rails = &p->rails };
	set_good_data(&p->data);
}

static void run_checks(struct fixture *p)
{
	struct err e;

	findings_clear(&p->found);
	ck_assert_int_eq(doctor_check(&p->data, &p->found, &e), 0);
	for (size_t i = 0; i < p->found.n; i++) {
		const struct finding *f = &p->found.item[i];

		ck_assert_uint_gt(strlen(f->value), 3);
		if (f->state == FINDING_WARN || f->state == FINDING_FAIL)
			ck_assert_msg(f->reason && f->remedy, "%s: %s", f->id, f->value);
		else if (f->state == FINDING_OK)
			ck_assert_msg(!f->reason && !f->remedy, "%s", f->id);
	}
}

/* With one VF in mode exclusive. */
static void one_vf(struct fixture *p)
{
	*p = (struct fixture){ .v = pod_new(RDMA_EXCLUSIVE) };
	pod_rail(&p->v, 1, "10.1.0.5/16", 3);
	p->v.device[0].vf = true;
}

static const struct finding *look(const struct fixture *p, const char *check, const char *subject)
{
	for (size_t i = 0; i < p->found.n; i++)
		if (strcmp(p->found.item[i].id, check) == 0 &&
		    strcmp(p->found.item[i].subject ? p->found.item[i].subject : "", subject) == 0)
			return &p->found.item[i];
	return NULL;
}

static bool says(const char *text, const char *part)
{
	return text && strstr(text, part);
}

/* "check subject state": and somewhere in its texts is part. */
static void finds(const struct fixture *p, const char *what, const char *part)
{
	char check[32], subject[32] = "", state[16];
	int n = sscanf(what, "%31s %31s %15s", check, subject, state);

	ck_assert_int_ge(n, 2);
	if (n == 2) {
		memcpy(state, subject, sizeof(state));
		*subject = '\0';
	}

	const struct finding *f = look(p, check, subject);

	ck_assert_msg(f, "nothing found for %s", what);
	ck_assert_msg(strcmp(finding_state_name(f->state), state) == 0, "%s is %s: %s", what,
		      finding_state_name(f->state), f->value);
	ck_assert_msg(says(f->value, part) || says(f->reason, part) || says(f->remedy, part),
		      "%s: no \"%s\" in: %s; %s; %s", what, part, f->value, f->reason, f->remedy);
}

START_TEST(a_good_pod_has_only_ok_findings)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	run_checks(&p);
	ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
	finds(&p, "devices ok", "1 RDMA device visible");
	finds(&p, "port mlx5_1:1 ok", "ACTIVE");
	finds(&p, "gid mlx5_1:1 ok", "10.1.0.5 at index 3");
	finds(&p, "mtu mlx5_1:1 ok", "4096 bytes");
	finds(&p, "mode ok", "exclusive");
	finds(&p, "uverbs mlx5_1 ok", "can be opened");
	finds(&p, "rdma-cm ok", "rdma_cm can be opened");
	finds(&p, "memlock ok", "without limit");
	finds(&p, "pfc mlx5_1:1 ok", "pauses priority 3, 4");
	finds(&p, "trust mlx5_1:1 ok", "2 values");
	finds(&p, "lossless mlx5_1:1 ok",
	      "class 106 (NCCL_IB_TC), DSCP 26, priority 3; PFC is on for 3, 4");
	finds(&p, "traffic-class ok", "NCCL_IB_TC");
	ck_assert_ptr_null(look(&p, "neighbour", "mlx5_1:1"));
}
END_TEST

START_TEST(missing_devices_are_reported)
{
	auto_fixture struct fixture p = { .v = pod_new(RDMA_EXCLUSIVE) };

	fixture_find_rails(&p);
	run_checks(&p);
	ck_assert_uint_eq(p.found.n, 1);
	finds(&p, "devices fail", "chain the plugin");
	finds(&p, "devices fail", "give the plugin \"sriov\" the key \"rdma\": \"exclusive\"");
	p.v.mode = RDMA_SHARED;
	run_checks(&p);
	finds(&p, "devices fail", "railctl rdma list");
	p.v.has_rdma = false;
	run_checks(&p);
	finds(&p, "devices fail", "this kernel has no RDMA");
}
END_TEST

START_TEST(ports_that_are_down_fail)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.v.device[0].port[0].state = RDMA_PORT_DOWN;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "port mlx5_1:1 fail", "the port is DOWN");
	finds(&p, "port mlx5_1:1 fail", "ip link set");
}
END_TEST

START_TEST(a_missing_RoCE_v2_GID_fails)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.v.device[0].port[0].gid[3].entry.type = GID_ROCE_V1;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 fail", "only as RoCE v1 GIDs");
	p.v.device[0].port[0].n_gids = 2;
	rails_clear(&p.rails);
	probe_data_clear(&p.data);
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 fail", "none of the 1 RoCE v2 GIDs");
	p.v.device[0].vf = false;
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 fail", "none of the 1 RoCE v2 GIDs");
	p.v.netdev[1].n_addrs = 0;
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 warn", "macvlan and ipvlan above it");
	p.v.device[0].vf = true;
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 fail", "net1 has no address");
	p.v.device[0].port[0].has_gids = false;
	run_checks(&p);
	finds(&p, "gid mlx5_1:1 unknown", "--netns");
}
END_TEST

/* net1 is macvlan on mlx5_0, whose table a neighbour was in first. */
static void one_macvlan(struct fixture *p, enum rdma_mode mode)
{
	struct inv_port *port;

	*p = (struct fixture){ .v = pod_new(mode) };
	(void)pod_netdev(&p->v, "net1", "macvlan", "10.1.0.5/16");
	port = pod_port(&p->v, "mlx5_0", "0000:18:00.0", 0);
	pod_gid(port, 0, GID_ROCE_V2, "fe80::1", "ens1f0");
	pod_gid(port, 1, GID_ROCE_V2, "10.1.0.4", "net1");
	pod_gid(port, 2, GID_ROCE_V2, "10.1.0.5", "net1");
}

START_TEST(the_GID_of_another_pod_is_reported)
{
	auto_fixture struct fixture p;

	one_macvlan(&p, RDMA_SHARED);
	(void)strcpy(p.v.device[0].port[0].gid[1].netns, "cni-1234");
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "neighbour mlx5_0:1 warn", "index 1: 10.1.0.4 of net1 in cni-1234");
	finds(&p, "neighbour mlx5_0:1 warn", "own GID has index 2");
	finds(&p, "gid mlx5_0:1 ok", "at index 2");
	finds(&p, "mode ok", "as macvlan, ipvlan and ipoib need it");
	/* From here only the macvlan's MTU is known. */
	finds(&p, "mtu mlx5_0:1 ok", "the MTU of net1 is 4200");
	p.v.netdev[1].link.mtu = 1500;
	run_checks(&p);
	finds(&p, "mtu mlx5_0:1 unknown", "the MTU of net1 is 1500");
	finds(&p, "mtu mlx5_0:1 unknown", "run it on the host, with --netns");
	/* From the host the card's own is seen. */
	(void)strcpy(p.v.netdev[1].below, "ens1f0");
	p.v.netdev[1].below_mtu = 9000;
	run_checks(&p);
	finds(&p, "mtu mlx5_0:1 ok", "the MTU of ens1f0 is 9000: RDMA packets carry 4096 bytes");
	p.v.netdev[1].below_mtu = 1500;
	run_checks(&p);
	finds(&p, "mtu mlx5_0:1 warn", "the MTU of ens1f0 is 1500: RDMA packets carry 1024");
}
END_TEST

START_TEST(rails_without_a_device_fail)
{
	auto_fixture struct fixture p;

	one_macvlan(&p, RDMA_EXCLUSIVE);
	p.v.device[0].port[0].n_gids = 0;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "rail net1 warn", "macvlan needs mode shared");
	p.v.mode = RDMA_SHARED;
	run_checks(&p);
	finds(&p, "rail net1 warn", "no visible RDMA port");
	finds(&p, "rail net1 warn", "if its NIC has RDMA");
	p.v.netdev[1].n_addrs = 0;
	run_checks(&p);
	finds(&p, "rail net1 warn", "ipam");
	ck_assert_ptr_null(look(&p, "rail", "eth0"));
	ck_assert_ptr_null(look(&p, "uverbs", "mlx5_0"));
}
END_TEST

START_TEST(an_address_on_two_ports_is_reported)
{
	auto_fixture struct fixture p;

	one_macvlan(&p, RDMA_SHARED);
	pod_gid(pod_port(&p.v, "mlx5_1", "0000:19:00.0", 0), 1, GID_ROCE_V2, "10.1.0.5", "net1");
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "rail mlx5_0:1 unknown", "--netns");
	finds(&p, "rail mlx5_1:1 unknown", "not visible which port");
}
END_TEST

START_TEST(an_mtu_that_is_too_small_is_reported)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	p.v.device[0].port[0].netdev_mtu = 1500;
	run_checks(&p);
	finds(&p, "mtu mlx5_1:1 warn", "the MTU of net1 is 1500: RDMA packets carry 1024 bytes");
	p.v.device[0].port[0].netdev_mtu = 300;
	run_checks(&p);
	finds(&p, "mtu mlx5_1:1 fail", "not even the smallest");
}
END_TEST

START_TEST(VFs_in_mode_shared_are_reported)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.v.mode = RDMA_SHARED;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "mode warn", "railctl rdma mode exclusive");
	fixture_clear(&p);

	one_macvlan(&p, RDMA_SHARED);
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	p.v.device[1].vf = true;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "mode warn", "one node cannot serve both");
}
END_TEST

static void with_uverbs(struct fixture *p, struct device_file file)
{
	(void)snprintf(file.path, sizeof(file.path), "/dev/infiniband/uverbs0");
	p->data.device[0].uverbs = file;
	run_checks(p);
}

START_TEST(character_devices_are_judged)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	with_uverbs(&p, (struct device_file){ .access = ACCESS_MISSING });
	finds(&p, "uverbs mlx5_1 fail", "there is no /dev/infiniband/uverbs0");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_DENIED, .errnum = EPERM });
	finds(&p, "uverbs mlx5_1 fail", "Operation not permitted");
	finds(&p, "uverbs mlx5_1 fail", "must also be in this network namespace");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_WRONG, .major = 231, .minor = 200 });
	finds(&p, "uverbs mlx5_1 fail", "is device 231:200, and the kernel's uverbs0 is 231:192");
	finds(&p, "uverbs mlx5_1 fail", "the device of another pod");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_THERE });
	finds(&p, "uverbs mlx5_1 unknown", "from outside");
	with_uverbs(&p, (struct device_file){ .access = ACCESS_UNKNOWN });
	finds(&p, "uverbs mlx5_1 unknown", "run it in the pod");
	p.data.device[0].uverbs = (struct device_file){ .access = ACCESS_UNKNOWN };
	run_checks(&p);
	finds(&p, "uverbs mlx5_1 unknown", "did not report");
	p.v.mode = RDMA_SHARED;
	with_uverbs(&p, (struct device_file){ .access = ACCESS_DENIED, .errnum = EPERM });
	finds(&p, "uverbs mlx5_1 fail", "a plain mount");
	p.data.rdma_cm.access = ACCESS_MISSING;
	run_checks(&p);
	finds(&p, "rdma-cm warn", "programs that use RDMA CM fail");
}
END_TEST

START_TEST(the_memlock_limit_is_judged)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	p.data.memlock = 8u << 20;
	run_checks(&p);
	finds(&p, "memlock fail", "8192 KiB");
	p.data.memlock = UINT64_C(1) << 30;
	run_checks(&p);
	finds(&p, "memlock warn", "IPC_LOCK");
	p.data.ipc_lock = true;
	run_checks(&p);
	finds(&p, "memlock ok", "CAP_IPC_LOCK");
	p.data.has_memlock = false;
	run_checks(&p);
	finds(&p, "memlock unknown", "run it in the pod");
}
END_TEST

START_TEST(pfc_and_trust_are_judged)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	p.data.device[0].port[0].dcb = (struct dcb_info){ .has_pfc = true, .has_app = true };
	run_checks(&p);
	finds(&p, "pfc mlx5_1:1 warn", "railctl rdma qos set --pf net1 --pfc 3");
	finds(&p, "trust mlx5_1:1 warn", "--trust dscp");
	p.data.device[0].port[0].has_dcb = false;
	run_checks(&p);
	finds(&p, "pfc mlx5_1:1 unknown", "run it on the host");
	p.v.device[0].vf = false;
	run_checks(&p);
	finds(&p, "pfc mlx5_1:1 unknown", "does not report");
	ck_assert_ptr_null(look(&p, "trust", "mlx5_1:1"));
	/* Software. */
	p.v.device[0].bus[0] = '\0';
	run_checks(&p);
	ck_assert_ptr_null(look(&p, "pfc", "mlx5_1:1"));
}
END_TEST

/* Both readings of a counter of the only port. */
static void counted(struct fixture *p, enum port_counter c, uint64_t first, uint64_t last)
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
		{ COUNT_LINK_DOWN, "link-down mlx5_1:1 ok", "link-down mlx5_1:1 fail",
		  "went down: 3 in 5 s, 20 in all", "cable" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		auto_fixture struct fixture p;

		one_vf(&p);
		fixture_find_rails(&p);
		counted(&p, all[i].counter, 20, 20);
		run_checks(&p);
		finds(&p, all[i].quiet, "0 in 5 s, 20 in all");
		ck_assert_int_eq(findings_worst(&p.found), FINDING_OK);
		counted(&p, all[i].counter, 17, 20);
		run_checks(&p);
		finds(&p, all[i].moving, all[i].evidence);
		finds(&p, all[i].moving, all[i].remedy);
	}
}
END_TEST

START_TEST(after_one_reading_growth_is_unknown)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	p.data.watched_ms = 0;
	counted(&p, COUNT_RETRY, 20, 20);
	counted(&p, COUNT_PAUSE_HEARD, 9, 9);
	run_checks(&p);
	finds(&p, "retries mlx5_1:1 unknown",
	      "20 in all; one reading does not show whether they grow");
	finds(&p, "retries mlx5_1:1 unknown", "--interval");
	finds(&p, "sequence mlx5_1:1 ok", "0 in all");
	finds(&p, "congestion mlx5_1:1 ok", "pauses received: 9 in all");
}
END_TEST

START_TEST(congestion_is_reported)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	counted(&p, COUNT_CNP_HEARD, 0, 7);
	counted(&p, COUNT_PAUSE_SENT, 1, 4);
	run_checks(&p);
	finds(&p, "congestion mlx5_1:1 ok", "CNPs received: 7 in 5 s, 7 in all");
	finds(&p, "congestion mlx5_1:1 ok", "pauses sent: 3 in 5 s, 4 in all");
	counted(&p, COUNT_CNP_HEARD, 7, 7);
	run_checks(&p);
	finds(&p, "congestion mlx5_1:1 warn", "railctl rdma qos set --pf net1 --ecn 3");
	/* Whether ECN works cannot be told. */
	p.data.device[0].port[0].last.known &= ~(1u << COUNT_CNP_SENT | 1u << COUNT_CNP_HEARD);
	run_checks(&p);
	finds(&p, "congestion mlx5_1:1 ok", "pauses sent: 3 in 5 s");
}
END_TEST

START_TEST(missing_counters_are_unknown)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	p.data.device[0].port[0].last.known = 1u << COUNT_SEQUENCE;
	run_checks(&p);
	finds(&p, "sequence mlx5_1:1 ok", "0 in all");
	ck_assert_ptr_null(look(&p, "retries", "mlx5_1:1"));
	ck_assert_ptr_null(look(&p, "congestion", "mlx5_1:1"));
	p.data.device[0].port[0].last.known = 0;
	run_checks(&p);
	finds(&p, "counters mlx5_1:1 unknown", "only the pod sees them");
	ck_assert_ptr_null(look(&p, "sequence", "mlx5_1:1"));
	p.v.mode = RDMA_SHARED;
	run_checks(&p);
	finds(&p, "counters mlx5_1:1 unknown", "with --netns");
}
END_TEST

START_TEST(the_traffic_class_is_judged)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	set_var(&p.data, "");
	run_checks(&p);
	finds(&p, "traffic-class warn", "--tc 106");
	p.data.has_environ = false;
	run_checks(&p);
	finds(&p, "traffic-class unknown", "run it in the pod");
}
END_TEST

START_TEST(a_class_is_followed_to_the_PFC_of_its_priority)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);

	struct dcb_info *dcb = &p.data.device[0].port[0].dcb;

	dcb->pfc = 1 << 5;
	run_checks(&p);
	finds(&p, "pfc mlx5_1:1 ok", "priority 5");
	finds(&p, "lossless mlx5_1:1 warn",
	      "class 106 (NCCL_IB_TC), DSCP 26, priority 3; PFC is on for 5");
	finds(&p, "lossless mlx5_1:1 warn", "--trust dscp --pfc 3");
	dcb->pfc = 1 << 6;
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 warn", "railctl rdma env --tc 194");
	set_var(&p.data, "NCCL_IB_TC=194");
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 ok", "DSCP 48, priority 6");
	/* The class of the driver replaces it. */
	p.v.device[0].port[0].traffic_class = 106;
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 warn", "class 106 (set by the driver)");
	p.v.device[0].port[0].traffic_class = 0;
	set_var(&p.data, "NCCL_IB_TC=40");
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 warn", "priority 0, because that value has no rule");
	dcb->dscp_rules = 0;
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 warn", "priority 0, because DSCP is not trusted");
	dcb->pfc = 0;
	set_var(&p.data, "");
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 warn", "class 0 (without NCCL_IB_TC), DSCP 0, priority 0");
	finds(&p, "lossless mlx5_1:1 warn", "PFC is on for none");
	finds(&p, "lossless mlx5_1:1 warn",
	      "--pfc 3 --save, the same priority on the switches, and");
	/* From outside, and without the PF. */
	p.data.has_environ = false;
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 unknown", "run it in the pod");
	p.data.has_environ = true;
	set_var(&p.data, "NCCL_IB_TC=106");
	p.data.device[0].port[0].has_dcb = false;
	run_checks(&p);
	finds(&p, "lossless mlx5_1:1 unknown", "class 106 (NCCL_IB_TC), DSCP 26; which priority");
	p.v.device[0].bus[0] = '\0';
	run_checks(&p);
	ck_assert_ptr_null(look(&p, "lossless", "mlx5_1:1"));
}
END_TEST

START_TEST(queue_pairs_of_DevX_bypass_the_class_of_the_driver)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	fixture_find_rails(&p);
	run_checks(&p);
	finds(&p, "traffic-class ok", "NCCL_IB_TC is 106");
	set_var(&p.data, "");
	run_checks(&p);
	finds(&p, "traffic-class warn", "made through DevX (NCCL's GIN");
	finds(&p, "traffic-class warn", "set NCCL_IB_TC=106");
	set_var(&p.data, "NCCL_GIN_IB_TC=106");
	run_checks(&p);
	finds(&p, "traffic-class ok", "NCCL_GIN_IB_TC is 106");
	set_var(&p.data, "NCCL_IB_TC=96");
	run_checks(&p);
	finds(&p, "traffic-class warn", "one job has DSCP 26 and DSCP 24");
	p.data.has_environ = false;
	set_var(&p.data, "");
	run_checks(&p);
	finds(&p, "traffic-class unknown", "the driver sets class 106");
	/* A second rail without a class: nothing rules all packets. */
	fixture_clear(&p);
	one_vf(&p);
	p.v.device[0].port[0].traffic_class = 106;
	pod_rail(&p.v, 2, "10.2.0.5/16", 3);
	fixture_find_rails(&p);
	set_var(&p.data, "");
	run_checks(&p);
	finds(&p, "traffic-class warn", "the driver sets no traffic class");
}
END_TEST

START_TEST(NCCL_and_UCX_have_a_traffic_class_each)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	fixture_find_rails(&p);
	run_checks(&p);
	ck_assert_ptr_null(look(&p, "traffic-class", "UCX"));
	set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=106");
	run_checks(&p);
	finds(&p, "traffic-class warn", "NCCL_IB_TC is not set");
	finds(&p, "traffic-class UCX ok", "DSCP 26");
	set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=0");
	run_checks(&p);
	finds(&p, "traffic-class UCX warn", "106 by itself");
	set_var(&p.data, "UCX_IB_TRAFFIC_CLASS=auto");
	run_checks(&p);
	ck_assert_ptr_null(look(&p, "traffic-class", "UCX"));
	/* 0 is the class without a setting, and -1 is none. */
	set_var(&p.data, "NCCL_IB_TC=0");
	run_checks(&p);
	finds(&p, "traffic-class warn", "NCCL_IB_TC is 0 (the environment)");
	set_var(&p.data, "NCCL_IB_TC=-1");
	run_checks(&p);
	finds(&p, "traffic-class warn", "NCCL_IB_TC is -1");
}
END_TEST

static int check_all(void *arg, struct err *e)
{
	const struct fixture *p = arg;
	auto_findings struct findings f = { 0 };

	return doctor_check(&p->data, &f, e);
}

START_TEST(allocations_may_fail)
{
	auto_fixture struct fixture p;

	one_macvlan(&p, RDMA_SHARED);
	fixture_find_rails(&p);
	ck_assert_str_eq(alloc_fail_each(check_all, &p), "ok");
}
END_TEST

TEST_PROGRAM("doctor", a_class_is_followed_to_the_PFC_of_its_priority,
	     a_good_pod_has_only_ok_findings, missing_devices_are_reported,
	     ports_that_are_down_fail, a_missing_RoCE_v2_GID_fails,
	     the_GID_of_another_pod_is_reported, rails_without_a_device_fail,
	     an_address_on_two_ports_is_reported, an_mtu_that_is_too_small_is_reported,
	     growth_of_counters_is_judged_and_not_their_sum, after_one_reading_growth_is_unknown,
	     congestion_is_reported, missing_counters_are_unknown, VFs_in_mode_shared_are_reported,
	     character_devices_are_judged, the_memlock_limit_is_judged, pfc_and_trust_are_judged,
	     the_traffic_class_is_judged, queue_pairs_of_DevX_bypass_the_class_of_the_driver,
	     NCCL_and_UCX_have_a_traffic_class_each, allocations_may_fail)
