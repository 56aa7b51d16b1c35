// SPDX-License-Identifier: Apache-2.0
/* Predictions for machines from /sys whose GPUs have links beside PCIe: C2C, Data Direct, NVLink.
 */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"
#include "topo/testing/tree.h"
#include "topo/testing/fixture.h"
#include "topo/nccl/write.h"

/* ---- C2C ---- */

/* A made tree: each GPU takes the HCA `hca` over `type`, and its bandwidth is that of the HCA. */
struct c2c_case {
	const char *tree;
	uint32_t links;
	enum nccl_path_type type;
	bool gdr;
	double bw;
};

static void check_c2c_tree(const struct c2c_case *c)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	const struct nccl_opts o = { .gdr_level = -1 };
	struct err e;

	tree_machine(tree_made(c->tree), &m);
	ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
	ck_assert_uint_gt(m.n_gpus, 0);
	for (uint32_t g = 0; g < m.n_gpus; g++) {
		struct topo_distance d;
		ck_assert_msg(m.gpu[g].c2c_count == c->links, "%s", c->tree);
		ck_assert_msg(a.gpu[g].type == c->type, "%s: %s", c->tree,
			      nccl_path_name(a.gpu[g].type));
		ck_assert_msg(a.gpu[g].gdr == c->gdr && a.gpu[g].bw == c->bw, "%s", c->tree);
		topo_distance_to_hca(&m, g, a.net[a.gpu[g].channel[0]].hca, &d);
		ck_assert_msg(d.max_bw >= 960, "%s: %u", c->tree, d.max_bw);
	}
}

START_TEST(c2c_is_found_in_sys)
{
	static const struct c2c_case cases[] = {
		{ "gh200", 10, NCCL_P2C, true, 48 },
		{ "gb200-ib", 5, NCCL_P2C, true, 48 },
		{ "gb200-eth", 5, NCCL_P2C, true, 48 },
		{ "gb10", 8, NCCL_P2C, false, 12 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_c2c_tree(&cases[i]);
}
END_TEST

/* The file for NCCL says the same as the tree that it was made from. */
START_TEST(c2c_is_in_the_file_for_nccl)
{
	auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
	const struct topo_xml_opts o = { 0 };
	auto_free char *text = NULL;
	struct err e;

	tree_machine(tree_made("gb200-ib"), &m);
	ck_assert_msg(topo_xml_write(&m, &o, &text, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(topo_read_xml(text, strlen(text), &again, &e), 0);
	ck_assert_uint_eq(again.n_gpus, 4);
	ck_assert(again.gpu[3].c2c_count == 5 && again.gpu[3].c2c_mbps == 44712);
}
END_TEST

/* A GPU uses the ConnectX-8 whose Data Direct function is below its switch; NCCL does so by
 * default. */
START_TEST(data_direct_is_nearer)
{
	static const struct {
		enum nccl_direct mode;
		size_t nets;
		enum nccl_path_type type;
		const char *name;
	} cases[] = { { NCCL_DIRECT_ONLY, 4, NCCL_PIX, "mlx5_1_dma" },
		      { NCCL_DIRECT_OFF, 4, NCCL_P2C, "mlx5_1" },
		      { NCCL_DIRECT_BOTH, 8, NCCL_PIX, "mlx5_1_dma" } };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	char name[NCCL_NET_NAME_LEN];
	struct err e;

	tree_machine(tree_made("gb300"), &m);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		const struct nccl_opts o = { .gdr_level = -1, .direct = cases[i].mode };
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		ck_assert_uint_eq(a.n_nets, cases[i].nets);
		ck_assert_int_eq(a.gpu[1].type, cases[i].type);
		ck_assert(a.gpu[1].gdr);
		ck_assert_str_eq(nccl_net_name(&m, &a.net[a.gpu[1].channel[0]], name),
				 cases[i].name);
	}
	ck_assert_int_eq(topo_choose(&m, NULL, &c, &e), 0);
	ck_assert_uint_eq(c.gpu[1].n_nearest, 1);
	ck_assert_str_eq(m.hca[c.gpu[1].assigned].name, "mlx5_1");
}
END_TEST

/* Two functions and one card, or the other way round: the pairs are not known. */
START_TEST(data_direct_needs_as_many_functions_as_cards)
{
	auto_topo_machine struct topo_machine m = { 0 };
	const char *dir = tree_made("gb300");

	tree_put(dir, "sys/devices/pci0002:00/0002:00:00.0/0002:03:00.0/device", "0x1021");
	tree_machine(dir, &m);
	ck_assert_uint_eq(m.hca[0].direct, TOPO_NONE);
	ck_assert_uint_eq(m.hca[1].direct, TOPO_NONE);
	ck_assert_uint_ne(m.hca[2].direct, TOPO_NONE);
}
END_TEST

/* DMA engines of other vendors have the class of Data Direct. */
START_TEST(other_dma_engines_are_left_out)
{
	auto_topo_machine struct topo_machine m = { 0 }, other = { 0 };
	const char *dir = tree_made("gb300");
	struct pci_addr at;

	ck_assert_int_eq(pci_parse("0008:03:00.0", &at), 0);
	tree_machine(dir, &m);
	uint32_t pci = topo_find_pci(&m, at);
	ck_assert(m.pci[pci].has_ids);
	tree_put(
		dir,
		"sys/devices/pci0008:00/0008:00:00.0/0008:01:00.0/0008:02:00.0/0008:03:00.0/vendor",
		"0x8086");
	tree_machine(dir, &other);
	ck_assert(!other.pci[topo_find_pci(&other, at)].has_ids);
}
END_TEST

/* What shows no C2C: a GPU of another id without a node, and one on a host that is not Arm. */
START_TEST(c2c_needs_evidence)
{
	const char *gpu = "pci0009:00/0009:00:00.0/0009:01:00.0";
	static const struct {
		const char *node, *device, *cpu, *from;
	} cases[] = {
		{ "Node: 1", "0x2342", "CPU implementer\t: 0x41", "numa_status" },
		{ "Node: 1", "0x2fff", "CPU implementer\t: 0x41", "numa_status" },
		{ "Node: -1", "0x2342", "CPU implementer\t: 0x41", "device" },
		{ "Node: -1", "0x2fff", "CPU implementer\t: 0x41", NULL },
		{ "Node: x", "0x2fff", "CPU implementer\t: 0x41", NULL },
		{ "Node: 1", "0x2342", "vendor_id\t: GenuineIntel", NULL },
	};
	const char *dir = tree_made("gh200");
	char file[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		char cpu[64];
		tree_put(dir, "proc/driver/nvidia/gpus/0009:01:00.0/numa_status", cases[i].node);
		(void)snprintf(cpu, sizeof(cpu), "%s\n", cases[i].cpu);
		tree_put(dir, "proc/cpuinfo", cpu);
		(void)snprintf(file, sizeof(file), "sys/devices/%s/device", gpu);
		tree_put(dir, file, cases[i].device);
		tree_machine(dir, &m);
		const char *from = m.gpu[0].c2c_from;
		ck_assert_msg(!from == !cases[i].from && (!from || !strcmp(from, cases[i].from)),
			      "%zu: %s", i, from ? from : "none");
		ck_assert(!from == !m.gpu[0].c2c_count);
	}
}
END_TEST

/* ---- NVLink, which /sys does not show ---- */

/* A machine of eight GPUs, where the HCA beside GPU 0 is down: NCCL asks NVML for the links, goes
 * through them to the GPUs beside the others, and uses GPUDirect RDMA. */
START_TEST(modules_have_nvlink)
{
	static const struct {
		const char *device;
		enum nccl_path_type type;
		uint32_t channels;
	} cases[] = { { "0x2330", NCCL_PXN, 7 }, /* H100 SXM5 */
		      { "0x2331", NCCL_PHB, 3 }, /* H100 PCIe */
		      { "0x2fff", NCCL_PHB, 3 } };
	const struct nccl_opts o = { .gdr_level = -1 };
	const char *dir = tree_made("dgx-h100");
	struct err e;
	char file[256];

	tree_put(dir, "sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_topo_machine struct topo_machine m = { 0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		for (unsigned int bus = 0x19; bus <= 0x90; bus += 0x11) {
			(void)snprintf(file, sizeof(file),
				       "sys/bus/pci/devices/0000:%02x:00.0/device", bus);
			tree_put(dir, file, cases[i].device);
		}
		tree_machine(dir, &m);
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		ck_assert_int_eq(a.gpu[0].type, cases[i].type);
		ck_assert_uint_eq(a.gpu[0].n_channels, cases[i].channels);
		ck_assert(a.gpu[0].gdr == (cases[i].type == NCCL_PXN));
		ck_assert_int_eq(a.gpu[1].type, NCCL_PIX);
	}
}
END_TEST

TEST_PROGRAM("nccl_tree_links", c2c_is_found_in_sys, c2c_is_in_the_file_for_nccl,
	     c2c_needs_evidence, data_direct_is_nearer,
	     data_direct_needs_as_many_functions_as_cards, other_dma_engines_are_left_out,
	     modules_have_nvlink)
