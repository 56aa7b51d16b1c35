/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_json_test.c: the members of each device, port and GID, and their absence. */
#include "rdma/inventory/json.h"

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "rdma/testing/pod.h"

static struct rdma_inventory machine(void)
{
	struct rdma_inventory v = pod_new(RDMA_SHARED);
	struct inv_port *p;

	pod_rail(&v, 1, "10.1.0.5/16", 3);
	v.device[0].vf = true;
	v.device[0].numa_node = 1;
	v.device[0].link.node_guid = UINT64_C(0x506b4b0300c1a2b3);
	(void)strcpy(v.device[0].link.protocol, "roce");
	(void)strcpy(v.device[0].link.fw_version, "20.31.1014");
	(void)strcpy(v.device[0].driver, "mlx5_core");
	p = pod_port(&v, "rxe0", "", 0);
	p->state = RDMA_PORT_DOWN;
	p->layer = IB_LAYER_UNKNOWN;
	p->rate_mbps = 0;
	p->has_gids = false;
	v.device[1].uverbs.name[0] = '\0';
	p = pod_port(&v, "mlx5_9", "", 0);
	pod_gid(p, 1, GID_ROCE_V2, "10.1.0.9", "");
	(void)strcpy(p->gid[0].netns, "cni-1");
	return v;
}

START_TEST(all_members_are_printed)
{
	static const char want[] =
		"[{\"name\":\"mlx5_1\",\"index\":1,\"protocol\":\"roce\",\"driver\":\"mlx5_core\","
		"\"pciAddress\":\"0000:01:00.2\",\"vf\":true,\"numaNode\":1,"
		"\"nodeGuid\":\"50:6b:4b:03:00:c1:a2:b3\",\"firmware\":\"20.31.1014\","
		"\"uverbs\":{\"name\":\"uverbs0\",\"major\":231,\"minor\":192},"
		"\"ports\":[{\"port\":1,\"state\":\"ACTIVE\",\"linkLayer\":\"Ethernet\","
		"\"rateMbps\":100000,\"ifName\":\"net1\",\"mtu\":4200,\"rdmaMtu\":4096,\"gids\":["
		"{\"index\":0,\"gid\":\"fe80:0000:0000:0000:0000:0000:0000:0001\","
		"\"address\":\"fe80::1\",\"type\":\"RoCE v1\",\"ifName\":\"net1\",\"here\":false},"
		"{\"index\":1,\"gid\":\"fe80:0000:0000:0000:0000:0000:0000:0001\","
		"\"address\":\"fe80::1\",\"type\":\"RoCE v2\",\"ifName\":\"net1\",\"here\":false},"
		"{\"index\":2,\"gid\":\"0000:0000:0000:0000:0000:ffff:0a01:0005\","
		"\"address\":\"10.1.0.5\",\"type\":\"RoCE v1\",\"ifName\":\"net1\",\"here\":true},"
		"{\"index\":3,\"gid\":\"0000:0000:0000:0000:0000:ffff:0a01:0005\","
		"\"address\":\"10.1.0.5\",\"type\":\"RoCE "
		"v2\",\"ifName\":\"net1\",\"here\":true}]}]},"
		"{\"name\":\"rxe0\",\"index\":2,\"vf\":false,"
		"\"ports\":[{\"port\":1,\"state\":\"DOWN\",\"linkLayer\":\"unknown\"}]},"
		"{\"name\":\"mlx5_9\",\"index\":3,\"vf\":false,"
		"\"uverbs\":{\"name\":\"uverbs2\",\"major\":231,\"minor\":194},"
		"\"ports\":[{\"port\":1,\"state\":\"ACTIVE\",\"linkLayer\":\"Ethernet\","
		"\"rateMbps\":100000,\"gids\":["
		"{\"index\":1,\"gid\":\"0000:0000:0000:0000:0000:ffff:0a01:0009\","
		"\"address\":\"10.1.0.9\",\"type\":\"RoCE "
		"v2\",\"here\":false,\"netns\":\"cni-1\"}]}]}"
		"]";
	auto_rdma_inventory struct rdma_inventory v = machine();
	auto_json struct json *list = inventory_json(&v);
	auto_free char *text = json_print(list, false);

	ck_assert_str_eq(text, want);
}
END_TEST

START_TEST(an_InfiniBand_port_has_LIDs_GUIDs_and_pkeys)
{
	static const char want[] =
		"[{\"name\":\"mlx5_0\",\"index\":1,\"protocol\":\"ib\",\"pciAddress\":\"0000:18:00."
		"2\","
		"\"vf\":true,\"nodeGuid\":\"02:00:00:00:00:00:00:07\","
		"\"uverbs\":{\"name\":\"uverbs0\",\"major\":231,\"minor\":192},"
		"\"ports\":[{\"port\":1,\"state\":\"INIT\",\"physicalState\":\"LinkUp\","
		"\"linkLayer\":\"InfiniBand\",\"rateMbps\":100000,"
		"\"portGuid\":\"02:00:00:00:00:00:00:08\",\"lid\":7,\"smLid\":1,\"lmc\":0,"
		"\"subnetPrefix\":\"fe:80:00:00:00:00:00:00\","
		"\"pkeys\":[{\"index\":0,\"pkey\":\"0xffff\"},{\"index\":3,\"pkey\":\"0x8001\"}],"
		"\"gids\":[{\"index\":0,\"gid\":\"fe80:0000:0000:0000:0200:0000:0000:0008\","
		"\"address\":\"fe80::200:0:0:8\",\"type\":\"IB\",\"here\":false}]}]}]";
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_EXCLUSIVE);
	struct inv_port *p = pod_port(&v, "mlx5_0", "0000:18:00.2", 0);

	pod_ib(p, 7, "02:00:00:00:00:00:00:08");
	pod_pkey(p, 3, 0x8001);
	p->state = RDMA_PORT_INIT;
	v.device[0].vf = true;
	v.device[0].link.node_guid = UINT64_C(0x0200000000000007);
	(void)strcpy(v.device[0].link.protocol, "ib");
	auto_json struct json *list = inventory_json(&v);
	auto_free char *text = json_print(list, false);

	ck_assert_str_eq(text, want);
}
END_TEST

START_TEST(an_empty_inventory_is_an_empty_list)
{
	auto_rdma_inventory struct rdma_inventory v = pod_new(RDMA_SHARED);
	auto_json struct json *list = inventory_json(&v);
	auto_free char *text = json_print(list, false);

	ck_assert_str_eq(text, "[]");
}
END_TEST

static int make(void *arg, struct err *e)
{
	auto_json struct json *list = inventory_json(arg);

	return list ? 0 : err_nomem(e);
}

START_TEST(allocations_may_fail)
{
	auto_rdma_inventory struct rdma_inventory v = machine();

	ck_assert_str_eq(alloc_fail_each(make, &v), "ok");
}
END_TEST

TEST_PROGRAM("inventory_json", all_members_are_printed, an_InfiniBand_port_has_LIDs_GUIDs_and_pkeys,
	     an_empty_inventory_is_an_empty_list, allocations_may_fail)
