/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_ib_test.c: the findings about InfiniBand ports, and those of RoCE that they do not have.
 */
#include "diag/doctor.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "rdma/testing/pod.h"

#define GUID "02:00:00:00:00:00:00:07"

/* A pod with one VF of InfiniBand in mode exclusive. All is right until a test changes it. */
struct fixture {
	struct rdma_inventory v;
	struct inv_port *port;
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

static void add_vf(struct fixture *p)
{
	char name[16], bus[PCI_STR_LEN], guid[GUID_STR_LEN];
	unsigned n = (unsigned)p->v.n_devices;

	(void)snprintf(name, sizeof(name), "mlx5_%u", n);
	(void)snprintf(bus, sizeof(bus), "0000:18:00.%u", n + 1);
	(void)snprintf(guid, sizeof(guid), "02:00:00:00:00:00:00:%02x", n + 7);
	pod_ib(pod_port(&p->v, name, bus, 0), 17 + n, guid);
	p->v.device[n].vf = true;
	p->v.device[n].link.node_guid = UINT64_C(0x0200000000000107) + n;
	p->port = &p->v.device[0].port[0];
}

/* After the inventory was changed: find the rails and forget the data. */
static void look_again(struct fixture *p)
{
	struct err e;

	rails_clear(&p->rails);
	probe_data_clear(&p->data);
	findings_clear(&p->found);
	ck_assert_int_eq(rails_find(&p->v, &p->rails, &e), 0);
	p->data = (struct probe_data){ .inventory = &p->v, .rails = &p->rails, .watched_ms = 1000 };
	p->data.device = calloc(p->v.n_devices + 1, sizeof(*p->data.device));
	ck_assert_ptr_nonnull(p->data.device);
}

/* The texts of the findings with this check and subject, joined: "warn value; reason; remedy". */
static const char *texts(struct fixture *p, const char *check, const char *subject)
{
	static char out[4096];
	struct err e;

	*out = '\0';
	findings_clear(&p->found);
	ck_assert_int_eq(doctor_check(&p->data, &p->found, &e), 0);
	for (size_t i = 0; i < p->found.n; i++) {
		const struct finding *f = &p->found.item[i];
		bool bad = f->state == FINDING_WARN || f->state == FINDING_FAIL;

		ck_assert_msg(!bad || (f->reason && f->remedy), "%s: %s", f->id, f->value);
		if (strcmp(f->id, check) != 0 || !f->subject || strcmp(f->subject, subject) != 0)
			continue;
		testing_append(out, sizeof(out), finding_state_name(f->state));
		testing_append(out, sizeof(out), " ");
		testing_append(out, sizeof(out), f->value);
		testing_append(out, sizeof(out), "; ");
		testing_append(out, sizeof(out), f->reason ? f->reason : "");
		testing_append(out, sizeof(out), "; ");
		testing_append(out, sizeof(out), f->remedy ? f->remedy : "");
		testing_append(out, sizeof(out), "\n");
	}
	return out;
}

#define SAYS(p, check, subject, part)                                                              \
	do {                                                                                       \
		const char *all = texts(p, check, subject);                                        \
		ck_assert_msg(strstr(all, part), "%s %s: no \"%s\" in: %s", check, subject, part,  \
			      all);                                                                \
	} while (0)
#define SILENT(p, check, subject) ck_assert_str_eq(texts(p, check, subject), "")

static void one_vf(struct fixture *p)
{
	*p = (struct fixture){ .v = pod_new(RDMA_EXCLUSIVE) };
	add_vf(p);
	look_again(p);
}

START_TEST(a_good_port_has_only_ok_findings_and_none_of_RoCE)
{
	static const char *const roce[] = { "gid",   "neighbour",  "mtu",     "pfc",
					    "trust", "congestion", "sequence" };
	auto_fixture struct fixture p;

	one_vf(&p);
	p.data.device[0].port[0].last.known = (1u << COUNT_N) - 1;
	SAYS(&p, "port", "mlx5_0:1", "ok the port is ACTIVE;");
	SAYS(&p, "sm", "mlx5_0:1", "ok the subnet manager has LID 1;");
	SAYS(&p, "lid", "mlx5_0:1", "ok LID 17;");
	SAYS(&p, "guid", "mlx5_0:1", "ok the GUID of the port is " GUID ";");
	SAYS(&p, "guid", "mlx5_0:1", "ok the GUID of the device is 02:00:00:00:00:00:01:07;");
	SAYS(&p, "retries", "mlx5_0:1", "ok ");
	SAYS(&p, "link-errors", "mlx5_0:1", "ok ");
	SAYS(&p, "link-down", "mlx5_0:1", "ok ");
	for (size_t i = 0; i < ARRAY_SIZE(roce); i++)
		SILENT(&p, roce[i], "mlx5_0:1");
	for (size_t i = 0; i < p.found.n; i++)
		ck_assert_str_ne(p.found.item[i].id, "traffic-class");
}
END_TEST

START_TEST(a_port_without_a_subnet_manager_fails)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.port->state = RDMA_PORT_INIT;
	p.port->subnet.lid = p.port->subnet.sm_lid = 0;
	SAYS(&p, "port", "mlx5_0:1", "fail the port is INIT (physical state LinkUp);");
	SAYS(&p, "port", "mlx5_0:1", "no subnet manager has configured the port: start one");
	SAYS(&p, "sm", "mlx5_0:1", "fail no subnet manager: its LID is 0;");
	SAYS(&p, "lid", "mlx5_0:1", "fail the port has no LID;");
	SAYS(&p, "lid", "mlx5_0:1", "virtual ports");
	p.v.device[0].vf = false;
	SAYS(&p, "lid", "mlx5_0:1", "; look at the subnet manager's log\n");
	p.port->state = RDMA_PORT_ARMED;
	p.port->subnet.sm_lid = 3;
	SAYS(&p, "port", "mlx5_0:1", "has not activated it");
	SAYS(&p, "sm", "mlx5_0:1", "ok the subnet manager has LID 3");
	p.port->subnet.known = false;
	SAYS(&p, "sm", "mlx5_0:1", "unknown the kernel does not report the LIDs");
	SILENT(&p, "lid", "mlx5_0:1");
}
END_TEST

START_TEST(a_port_that_is_down_says_why)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	p.port->state = RDMA_PORT_DOWN;
	p.port->phys_state = 2;
	p.port->subnet.lid = p.port->subnet.sm_lid = 0;
	SAYS(&p, "port", "mlx5_0:1", "fail the port is DOWN (physical state Polling);");
	SAYS(&p, "port", "mlx5_0:1", "link_state");
	/* The cable is the reason, not the subnet manager. */
	SILENT(&p, "sm", "mlx5_0:1");
	SILENT(&p, "lid", "mlx5_0:1");
	p.v.device[0].vf = false;
	SAYS(&p, "port", "mlx5_0:1", "check cable");
	p.port->phys_state = 3;
	SAYS(&p, "port", "mlx5_0:1", "ibportstate");
}
END_TEST

START_TEST(GUIDs_that_are_none_or_not_unique_fail)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	add_vf(&p);
	look_again(&p);
	memset(p.port->gid[0].entry.gid.raw + 8, 0, 8);
	SAYS(&p, "guid", "mlx5_0:1", "fail the GUID of the port is 00:00:00:00:00:00:00:00, which");
	SAYS(&p, "guid", "mlx5_0:1", "ok the GUID of the device");
	SAYS(&p, "guid", "mlx5_0:1", "node_guid GUID port_guid GUID");
	memset(p.port->gid[0].entry.gid.raw + 8, 0xff, 8);
	SAYS(&p, "guid", "mlx5_0:1", "fail the GUID of the port is ff:");
	p.port->gid[0] = p.v.device[1].port[0].gid[0];
	SAYS(&p, "guid", "mlx5_0:1", "and that of mlx5_1:1 is the same; a subnet manager knows");
	SAYS(&p, "guid", "mlx5_1:1", "and that of mlx5_0:1 is the same");
	p.v.device[0].link.node_guid = p.v.device[1].link.node_guid;
	SAYS(&p, "guid", "mlx5_0:1",
	     "fail the GUID of the device is 02:00:00:00:00:00:01:08, and "
	     "that of mlx5_1 is the same");
	/* Port and device may have one GUID. */
	p.v.device[0].link.node_guid = p.v.device[1].link.node_guid = 0;
	SAYS(&p, "guid", "mlx5_1:1", "fail the GUID of the device is 00:");
	p.port->n_gids = 0;
	SAYS(&p, "guid", "mlx5_0:1", "unknown sysfs does not show");
}
END_TEST

static void ask(struct fixture *p, const struct inv_port *port, uint16_t pkey)
{
	free(p->data.pkey);
	p->data.pkey = calloc(1, sizeof(*p->data.pkey));
	ck_assert_ptr_nonnull(p->data.pkey);
	p->data.pkey[0] = (struct pkey_request){ port, pkey, "interface net1" };
	p->data.n_pkeys = 1;
}

START_TEST(partitions_that_are_asked_for_must_be_in_the_table)
{
	auto_fixture struct fixture p;

	one_vf(&p);
	SILENT(&p, "pkey", "mlx5_0:1");
	pod_pkey(p.port, 3, 0x8001);
	pod_pkey(p.port, 4, 0x0002);
	ask(&p, NULL, 0x8001);
	SAYS(&p, "pkey", "mlx5_0:1",
	     "ok interface net1 asks for partition 0x0001: 0x8001 at index "
	     "3;");
	ask(&p, p.port, 0x0001);
	SAYS(&p, "pkey", "mlx5_0:1", "ok interface net1 asks for partition 0x0001: 0x8001");
	ask(&p, p.port, 0x8002);
	SAYS(&p, "pkey", "mlx5_0:1",
	     "warn interface net1 asks for 0x8002, and the port has 0x0002: "
	     "limited membership;");
	ask(&p, NULL, 0x8003);
	SAYS(&p, "pkey", "mlx5_0:1",
	     "fail interface net1 asks for 0x8003, which is not in the "
	     "port's table;");
	SAYS(&p, "pkey", "mlx5_0:1", "sm.d");
	p.port->has_pkeys = false;
	SAYS(&p, "pkey", "mlx5_0:1", "unknown sysfs does not show");
	ask(&p, p.port + 1, 0x8003);
	SILENT(&p, "pkey", "mlx5_0:1");
}
END_TEST

START_TEST(in_mode_shared_a_port_without_an_interface_is_only_a_warning)
{
	auto_fixture struct fixture p = { .v = pod_new(RDMA_SHARED) };

	add_vf(&p);
	add_vf(&p);
	(void)pod_ipoib(&p.v, "net1", &p.v.device[1].port[0], 5);
	look_again(&p);
	p.v.device[0].port[0].state = p.v.device[1].port[0].state = RDMA_PORT_INIT;
	ask(&p, NULL, 0x8003);
	SAYS(&p, "port", "mlx5_0:1", "warn the port is INIT");
	SAYS(&p, "port", "mlx5_0:1", "if it is the pod's");
	SAYS(&p, "port", "mlx5_1:1", "fail the port is INIT");
	SAYS(&p, "pkey", "mlx5_1:1", "fail ");
	SILENT(&p, "pkey", "mlx5_0:1");
	SAYS(&p, "uverbs", "mlx5_1", "unknown ");
	SILENT(&p, "uverbs", "mlx5_0");
}
END_TEST

START_TEST(an_IPoIB_interface_without_a_port_is_reported)
{
	auto_fixture struct fixture p = { .v = pod_new(RDMA_SHARED) };

	add_vf(&p);
	add_vf(&p);
	(void)pod_ipoib(&p.v, "net1", &p.v.device[1].port[0], 5);
	p.v.n_devices = 1;
	look_again(&p);
	SAYS(&p, "rail", "net1", "warn no visible port of InfiniBand has the GUID of net1;");
	p.v.mode = RDMA_EXCLUSIVE;
	SAYS(&p, "rail", "net1", "rdmaIsolation");
	p.v.n_devices = 2;
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

	one_vf(&p);
	ask(&p, NULL, 0x8003);
	ck_assert_str_eq(alloc_fail_each(check_all, &p), "ok");
}
END_TEST

TEST_PROGRAM("doctor_ib", a_good_port_has_only_ok_findings_and_none_of_RoCE,
	     a_port_without_a_subnet_manager_fails, a_port_that_is_down_says_why,
	     GUIDs_that_are_none_or_not_unique_fail,
	     partitions_that_are_asked_for_must_be_in_the_table,
	     in_mode_shared_a_port_without_an_interface_is_only_a_warning,
	     an_IPoIB_interface_without_a_port_is_reported, allocations_may_fail)
