/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_list_test.c: the tables of `railctl rdma list`. */
#include "railctl/device/rdma_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"
#include "rdma/inventory/json.h"
#include "rdma/testing/pod.h"

/* A port that works, one that waits for a subnet manager, one without a cable, one of RoCE. */
static struct rdma_inventory machine(void)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p = pod_port(&v, "mlx5_0", "0000:18:00.0", 0);

	pod_ib(p, 17, "50:6b:4b:03:00:c1:a2:b3");
	pod_pkey(p, 1, 0x8001);
	p->subnet.lmc = 2;
	v.device[0].link.node_guid = UINT64_C(0x506b4b0300c1a2b2);
	p = pod_port(&v, "mlx5_1", "0000:18:00.1", 0);
	pod_ib(p, 0, "00:00:00:00:00:00:00:00");
	p->state = RDMA_PORT_INIT;
	p->subnet.sm_lid = 0;
	p->rate_mbps = 2500;
	v.device[1].link.node_guid = UINT64_C(0x506b4b0300c1a2b4);
	p = pod_port(&v, "mlx5_2", "0000:19:00.0", 0);
	p->layer = IB_LAYER_INFINIBAND;
	p->state = RDMA_PORT_DOWN;
	p->phys_state = 2;
	p->rate_mbps = 0;
	pod_rail(&v, 9, "10.1.0.5/16", 3);
	return v;
}

static int print_to(FILE *to, const struct rdma_inventory *v, enum rdma_list_view view,
		    struct err *e)
{
	const struct cmd_run r = { .out.to = to };
	auto_json struct json *devices = inventory_json(v);

	return devices ? rdma_list_print(&r, devices, view, e) : err_nomem(e);
}

static int print_it(void *arg, struct err *e)
{
	FILE *to = fopen("/dev/null", "w");
	int rc = to ? print_to(to, arg, RDMA_VIEW_IB, e) : err_nomem(e);

	if (to)
		(void)fclose(to);
	return rc;
}

static char *printed(const struct rdma_inventory *v, enum rdma_list_view view)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	struct err e;

	ck_assert_ptr_nonnull(to);
	ck_assert_int_eq(print_to(to, v, view, &e), 0);
	(void)fclose(to);
	return text;
}

START_TEST(each_port_of_InfiniBand_is_a_line)
{
	static const char want[] =
		"DEVICE  PORT  STATE   PHYSICAL  RATE  LID  LMC  SM-LID  NODE-GUID               "
		" PORT-GUID                PKEYS\n"
		"mlx5_0     1  ACTIVE  LinkUp    100G   17    2       1  50:6b:4b:03:00:c1:a2:b2 "
		" 50:6b:4b:03:00:c1:a2:b3  0:0xffff 1:0x8001\n"
		"mlx5_1     1  INIT    LinkUp    2.5G    0    0       0  50:6b:4b:03:00:c1:a2:b4 "
		" 00:00:00:00:00:00:00:00  0:0xffff\n"
		"mlx5_2     1  DOWN    Polling      -    -    -       -  -                       "
		" -                        -\n";
	auto_rdma_inventory struct rdma_inventory v = machine();
	auto_free char *text = printed(&v, RDMA_VIEW_IB);

	ck_assert_str_eq(text, want);
}
END_TEST

START_TEST(ports_and_GIDs_have_the_values_of_their_device)
{
	auto_rdma_inventory struct rdma_inventory v = machine();
	auto_free char *ports = printed(&v, RDMA_VIEW_PORTS), *gids = printed(&v, RDMA_VIEW_GIDS);

	ck_assert_ptr_nonnull(strstr(ports, "mlx5_0     1  ACTIVE  InfiniBand  100G     -  -       "
					    "0000:18:00.0     -  -          1\n"));
	ck_assert_ptr_nonnull(strstr(ports, "mlx5_9     1  ACTIVE  Ethernet    100G  4200  net9    "
					    "0000:09:00.2     -  -        2/4\n"));
	ck_assert_ptr_nonnull(strstr(gids, "mlx5_9     1      3  RoCE v2  10.1.0.5                 "
					   "net9    here\n"));
}
END_TEST

START_TEST(a_long_partition_table_is_cut_between_two_keys)
{
	auto_rdma_inventory struct rdma_inventory v = machine();

	for (uint32_t i = 2; i < 128; i++)
		pod_pkey(&v.device[0].port[0], i, (uint16_t)(0x8000 + i));
	auto_free char *text = printed(&v, RDMA_VIEW_IB);
	ck_assert_ptr_nonnull(strstr(text, " 2:0x8002 3:0x8003 "));
	ck_assert_ptr_nonnull(strstr(text, " ...\n"));
}
END_TEST

START_TEST(allocations_may_fail)
{
	auto_rdma_inventory struct rdma_inventory v = machine();

	ck_assert_str_eq(alloc_fail_each(print_it, &v), "ok");
}
END_TEST

TEST_PROGRAM("rdma_list", each_port_of_InfiniBand_is_a_line,
	     ports_and_GIDs_have_the_values_of_their_device,
	     a_long_partition_table_is_cut_between_two_keys, allocations_may_fail)
