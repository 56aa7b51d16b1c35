// SPDX-License-Identifier: Apache-2.0
/*
 * Classes, counted chips and narrowest links between functions of captured, published and built
 * machines.
 */
#include "topo/core/pci_switch.h"
#include "topo/core/distance.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "topo/read/read.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

static struct topo_distance distance_to(const struct topo_machine *m, uint32_t gpu, const char *hca)
{
	struct topo_distance r;
	uint32_t h = topo_find_hca(m, hca);

	ck_assert_uint_ne(h, TOPO_NONE);
	topo_distance_to_hca(m, gpu, h, &r);
	return r;
}

#define CHECK_DISTANCE(r, c, levels, chips, bw)                                                    \
	do {                                                                                       \
		struct topo_distance r_ = (r);                                                     \
		ck_assert_str_eq(topo_class_name(r_.class), topo_class_name(c));                   \
		ck_assert_uint_eq(r_.bridges, levels);                                             \
		ck_assert_uint_eq(r_.switches, chips);                                             \
		ck_assert_uint_eq(r_.max_bw, bw);                                                  \
	} while (0)

/* ---- topology files ---- */

START_TEST(distances_of_a_dgx_a100)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("dgx-a100", &m);
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_0"), TOPO_PXB, 4, 2, 1920);
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_1"), TOPO_PXB, 4, 2, 1920);
	/* GPU1 hangs on the level that mlx5_0 hangs on; one chip all the same */
	CHECK_DISTANCE(distance_to(&m, 1, "mlx5_0"), TOPO_PXB, 2, 2, 1920);
	CHECK_DISTANCE(distance_to(&m, 1, "mlx5_1"), TOPO_PXB, 4, 2, 1920);
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_2"), TOPO_SYS, 5, 3, 1920);
	ck_assert(distance_to(&m, 0, "mlx5_0").collapsed &&
		  !distance_to(&m, 1, "mlx5_0").collapsed);
	ck_assert(!distance_to(&m, 0, "mlx5_0").probable &&
		  !distance_to(&m, 0, "mlx5_0").own_bridge);
	ck_assert(distance_to(&m, 0, "mlx5_0").same_numa == TOPO_YES &&
		  distance_to(&m, 0, "mlx5_0").same_root);
	ck_assert(distance_to(&m, 0, "mlx5_2").same_numa == TOPO_NO &&
		  !distance_to(&m, 0, "mlx5_2").same_root);
	ck_assert_uint_eq(m.pci[distance_to(&m, 0, "mlx5_0").ancestor].addr.bus, 0x01);
	ck_assert_uint_eq(distance_to(&m, 0, "mlx5_2").ancestor, TOPO_NONE);
}
END_TEST

START_TEST(one_chip_of_gen5)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("oci-bm-gpu-h100", &m);
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_0"), TOPO_PXB, 3, 1, 3840);
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_1"), TOPO_PXB, 3, 1, 3840);
	ck_assert(distance_to(&m, 0, "mlx5_0").collapsed);
	/* the link that the chip says it has to the processor: 5 GT/s */
	CHECK_DISTANCE(distance_to(&m, 0, "mlx5_3"), TOPO_PHB, 4, 2, 480);
}
END_TEST

START_TEST(a_bridge_of_the_gpu_is_the_gpu)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("rccl-topo_8p_950", &m);
	CHECK_DISTANCE(distance_to(&m, 0, "bnxt_re0"), TOPO_PXB, 2, 1, 3840);
	ck_assert(distance_to(&m, 0, "bnxt_re0").own_bridge &&
		  !distance_to(&m, 0, "bnxt_re0").collapsed);
	CHECK_DISTANCE(distance_to(&m, 0, "bnxt_re1"), TOPO_PHB, 3, 2, 3840);
	/* above another maker's GPU it is a switch like any */
	m.pci[m.gpu[0].pci].vendor = 0x10de;
	CHECK_DISTANCE(distance_to(&m, 0, "bnxt_re0"), TOPO_PXB, 2, 2, 3840);
	m.pci[m.gpu[0].pci].vendor = 0x1002;
	m.pci[m.gpu[0].pci].has_ids = false;
	CHECK_DISTANCE(distance_to(&m, 0, "bnxt_re0"), TOPO_PXB, 2, 2, 3840);
}
END_TEST

START_TEST(an_unknown_numa_node)
{
	auto_topo_machine struct topo_machine m = { 0 };

	topo_xml("synthetic-h_gpu_numa0_nic_numa-1", &m);
	struct topo_distance r;
	topo_distance_to_hca(&m, 0, 0, &r);
	ck_assert_str_eq(topo_class_name(r.class), "SYS");
	ck_assert_int_eq(r.same_numa, TOPO_UNKNOWN);
}
END_TEST

static void read_xml(const char *text, struct topo_machine *m)
{
	struct err e = { 0 };

	if (topo_read_xml(text, strlen(text), m, &e))
		ck_abort_msg("%s", e.msg);
}

#define FN(id, inside)                                                                             \
	"<pci busid=\"" id "\" class=\"0x030200\" link_speed=\"16.0 GT/s PCIe\" "                  \
	"link_width=\"8\">" inside "</pci>"
#define GPU_     "<gpu dev=\"0\" sm=\"80\" rank=\"0\" gdr=\"1\"/>"
#define NIC(dev) "<nic><net name=\"v" dev "\" dev=\"" dev "\" speed=\"1\" port=\"1\"/></nic>"

START_TEST(an_hca_of_a_processor)
{
	auto_topo_machine struct topo_machine m = { 0 };

	read_xml("<system version=\"1\"><cpu numaid=\"0\" arch=\"x86_64\">" FN("0000:01:00.0", GPU_)
			 NIC("0") "</cpu><cpu numaid=\"1\" arch=\"x86_64\">" NIC(
				 "1") "</cpu></system>",
		 &m);
	CHECK_DISTANCE(distance_to(&m, 0, "v0"), TOPO_PHB, 0, 0, 960);
	CHECK_DISTANCE(distance_to(&m, 0, "v1"), TOPO_SYS, 0, 0, 960);
	ck_assert_int_eq(distance_to(&m, 0, "v1").same_numa, TOPO_NO);
	m.hca[1].cpu = TOPO_NONE;
	CHECK_DISTANCE(distance_to(&m, 0, "v1"), TOPO_CLASS_UNKNOWN, 0, 0, 0);
}
END_TEST

/* ---- trees of /sys ---- */

struct pair {
	struct topo_machine m;
	struct fixture fx;
	uint32_t gpu, hca;
};

static struct topo_distance pair_way(const struct pair *p)
{
	struct topo_distance r;

	topo_distance_to_hca(&p->m, p->gpu, p->hca, &r);
	return r;
}

static void pair_begin(struct pair *p)
{
	*p = (struct pair){ 0 };
	p->fx.m = &p->m;
	fixture_root(&p->fx, 0);
}

static void pair_end(struct pair *p, uint32_t gpu_below, uint32_t hca_below)
{
	p->gpu = fixture_gpu(&p->fx, gpu_below);
	p->hca = fixture_hca(&p->fx, hca_below, "mlx5_0");
	fixture_done(&p->fx);
}

START_TEST(ports_of_one_switch)
{
	struct pair p;

	pair_begin(&p);
	uint32_t sw = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_plain);
	pair_end(&p, fixture_down(&p.fx, sw), fixture_down(&p.fx, sw));
	CHECK_DISTANCE(pair_way(&p), TOPO_PIX, 1, 1, 3840);
	ck_assert_uint_eq(pair_way(&p).ancestor, sw);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(switch_below_switch)
{
	struct pair p;

	pair_begin(&p);
	uint32_t sw = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_plain);
	uint32_t slot = fixture_slot(&p.fx, fixture_down(&p.fx, sw), &fixture_plain);
	pair_end(&p, slot, fixture_down(&p.fx, sw));
	CHECK_DISTANCE(pair_way(&p), TOPO_PXB, 2, 2, 3840);
	/* the same from the other end */
	struct topo_distance r;
	topo_distance(&p.m, p.m.hca[0].pci, p.m.gpu[0].pci, &r);
	CHECK_DISTANCE(r, TOPO_PXB, 2, 2, 3840);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(root_ports)
{
	struct pair p;

	pair_begin(&p);
	uint32_t a = fixture_port(&p.fx), b = fixture_port(&p.fx);
	pair_end(&p, a, b);
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 0, 0, 3840);
	ck_assert(pair_way(&p).same_root);
	topo_machine_clear(&p.m);

	pair_begin(&p);
	a = fixture_slot(&p.fx, fixture_port(&p.fx), &fixture_plain);
	pair_end(&p, a, fixture_port(&p.fx));
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 1, 1, 3840);
	topo_machine_clear(&p.m);

	/* integrated endpoints, as a small virtual machine shows them */
	pair_begin(&p);
	pair_end(&p, TOPO_NONE, TOPO_NONE);
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 0, 0, 3840);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(functions_of_one_device)
{
	struct pair p;

	/* on one root port, and on one port of a switch: nothing lies between */
	for (int sw = 0; sw < 2; sw++) {
		pair_begin(&p);
		uint32_t port = fixture_port(&p.fx);
		port = sw ? fixture_slot(&p.fx, port, &fixture_plain) : port;
		pair_end(&p, port, port);
		CHECK_DISTANCE(pair_way(&p), TOPO_PIX, 0, 0, 3840);
		topo_machine_clear(&p.m);
	}
	pair_begin(&p);
	pair_end(&p, fixture_port(&p.fx), fixture_port(&p.fx));
	struct topo_distance r;
	topo_distance(&p.m, p.m.gpu[0].pci, p.m.gpu[0].pci, &r);
	CHECK_DISTANCE(r, TOPO_X, 0, 0, 0);
	ck_assert(r.same_root && r.same_numa == TOPO_YES);
	topo_machine_clear(&p.m);
}
END_TEST

/* A bridge of the old kind, and a port whose switch has no upstream port that shows. */
START_TEST(odd_bridges)
{
	struct pair p;

	pair_begin(&p);
	uint32_t up = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_plain);
	p.m.pci[up].kind = TOPO_BRIDGE;
	pair_end(&p, up, up);
	CHECK_DISTANCE(pair_way(&p), TOPO_PIX, 1, 1, 3840);
	topo_machine_clear(&p.m);

	pair_begin(&p);
	uint32_t down = fixture_down(&p.fx, fixture_port(&p.fx));
	pair_end(&p, fixture_slot(&p.fx, down, &fixture_plain), fixture_port(&p.fx));
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 2, 2, 3840);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(root_complexes)
{
	static const struct {
		int here, there, third;
		enum topo_class class;
		enum topo_tristate same;
	} cases[] = {
		{ 0, 0, 1, TOPO_NODE, TOPO_YES },        { 0, 1, 1, TOPO_SYS, TOPO_NO },
		{ 0, -1, 1, TOPO_SYS, TOPO_UNKNOWN },    { 0, -1, 0, TOPO_NODE, TOPO_UNKNOWN },
		{ -1, -1, -1, TOPO_NODE, TOPO_UNKNOWN }, { -1, -1, 2, TOPO_NODE, TOPO_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pair p = { 0 };
		p.fx.m = &p.m;
		fixture_root(&p.fx, cases[i].third);
		fixture_root(&p.fx, cases[i].here);
		uint32_t port = fixture_port(&p.fx);
		fixture_root(&p.fx, cases[i].there);
		pair_end(&p, port, fixture_port(&p.fx));
		/* the GPU's own file says nothing: the port above it does */
		p.m.pci[p.m.gpu[0].pci].numa = -1;
		CHECK_DISTANCE(pair_way(&p), cases[i].class, 0, 0, 3840);
		ck_assert_int_eq(pair_way(&p).same_numa, cases[i].same);
		ck_assert(!pair_way(&p).same_root);
		/* nor any function: the root complex does */
		for (size_t k = 0; k < p.m.n_pci; k++)
			p.m.pci[k].numa = -1;
		ck_assert_int_eq(pair_way(&p).same_numa, cases[i].same);
		/* nor anything */
		p.m.root[1].cpu = TOPO_NONE;
		ck_assert_int_eq(pair_way(&p).same_numa, TOPO_UNKNOWN);
		p.m.pci[port].root = TOPO_NONE;
		p.m.pci[p.m.gpu[0].pci].root = TOPO_NONE;
		ck_assert_int_eq(pair_way(&p).same_numa, TOPO_UNKNOWN);
		topo_machine_clear(&p.m);
	}
}
END_TEST

/* ---- chips ---- */

/* An upper switch with two lower ones, a GPU below one, an HCA below the other. */
static struct topo_distance tower(const struct fixture_ids *upper, const struct fixture_ids *lower)
{
	struct pair p;

	pair_begin(&p);
	uint32_t up = fixture_switch(&p.fx, fixture_port(&p.fx), upper);
	uint32_t a = fixture_slot(&p.fx, fixture_down(&p.fx, up), lower);
	uint32_t b = fixture_slot(&p.fx, fixture_down(&p.fx, up), lower);
	pair_end(&p, a, b);
	struct topo_distance r = pair_way(&p);
	topo_machine_clear(&p.m);
	return r;
}

START_TEST(levels_of_one_chip)
{
	const struct fixture_ids oem5 = { 0x1000, 0xc030, 0x15d9, 0x1d25 };
	const struct fixture_ids oem4 = { 0x1000, 0xc010, 0x15d9, 0x1d25 };
	const struct fixture_ids other4 = { 0x1000, 0xc010, 0x1000, 0x1096 };
	const struct {
		const struct fixture_ids *upper, *lower;
		uint32_t chips;
		bool collapsed, probable;
	} cases[] = {
		{ &fixture_plain, &fixture_plain, 3, false, false },
		{ &fixture_gen4, &fixture_gen4, 1, true, false },
		{ &fixture_gen5_upper, &fixture_gen5_lower, 1, true, false },
		{ &fixture_gen5_lower, &fixture_gen5_upper, 3, false, false },
		{ &fixture_gen5_upper, &fixture_gen5_upper, 3, false, false },
		{ &fixture_gen4, &fixture_gen5_lower, 3, false, false },
		{ &fixture_gen5_upper, &fixture_gen4, 3, false, false },
		{ &fixture_gen4, &other4, 3, false, false },
		{ &other4, &fixture_gen4, 3, false, false },
		{ &fixture_gen4, &fixture_dgx, 3, false, false },
		{ &fixture_dgx, &fixture_dgx, 3, false, false },
		{ &oem5, &oem5, 3, false, true },
		{ &oem4, &oem4, 3, false, true },
		{ &oem4, &oem5, 3, false, false },
		{ &fixture_gen5_upper, &oem5, 3, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topo_distance r = tower(cases[i].upper, cases[i].lower);
		CHECK_DISTANCE(r, TOPO_PXB, 3, cases[i].chips, 3840);
		ck_assert_msg(r.collapsed == cases[i].collapsed, "case %zu", i);
		ck_assert_msg(r.probable == cases[i].probable, "case %zu", i);
	}
}
END_TEST

START_TEST(three_levels)
{
	struct pair p;

	pair_begin(&p);
	uint32_t one = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_gen4);
	uint32_t two = fixture_switch(&p.fx, fixture_down(&p.fx, one), &fixture_gen4);
	uint32_t three = fixture_slot(&p.fx, fixture_down(&p.fx, two), &fixture_gen4);
	pair_end(&p, three, fixture_down(&p.fx, one));
	CHECK_DISTANCE(pair_way(&p), TOPO_PXB, 3, 1, 3840);
	ck_assert_uint_eq(p.m.pci[three].chip, one);
	ck_assert_uint_eq(p.m.pci[p.m.gpu[0].pci].chip, TOPO_NONE);
	/* ids that cannot be read are no ids */
	p.m.pci[two].has_ids = false;
	topo_number_chips(&p.m);
	CHECK_DISTANCE(pair_way(&p), TOPO_PXB, 3, 3, 3840);
	topo_machine_clear(&p.m);
}
END_TEST

/* ---- links ---- */

START_TEST(the_narrowest_link)
{
	struct pair p;

	pair_begin(&p);
	uint32_t up = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_gen4);
	uint32_t low = fixture_switch(&p.fx, fixture_down(&p.fx, up), &fixture_gen4);
	pair_end(&p, fixture_down(&p.fx, low), fixture_port(&p.fx));
	struct topo_pci *gpu = &p.m.pci[p.m.gpu[0].pci], *hca = &p.m.pci[p.m.hca[0].pci];
	hca->cur.width = 4;
	ck_assert(pair_way(&p).max_bw == 3840 && pair_way(&p).cur_bw == 960);
	gpu->max.speed = gpu->cur.speed = 30;
	ck_assert(pair_way(&p).max_bw == 480 && pair_way(&p).cur_bw == 480);
	/* between two levels of one chip there is none */
	p.m.pci[low].max.speed = p.m.pci[low].cur.speed = 15;
	ck_assert_uint_eq(pair_way(&p).max_bw, 480);
	p.m.pci[up].max.speed = 15;
	ck_assert_uint_eq(pair_way(&p).max_bw, 240);
	/* what is not told is not guessed */
	hca->max.speed = 0;
	ck_assert_uint_eq(pair_way(&p).max_bw, 0);
	ck_assert_uint_eq(pair_way(&p).cur_bw, 480);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(a_vf_uses_its_pfs_link)
{
	struct pair p;
	struct topo_distance r;

	pair_begin(&p);
	uint32_t up = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_plain);
	uint32_t a = fixture_down(&p.fx, up), b = fixture_down(&p.fx, up);
	p.gpu = fixture_gpu(&p.fx, a);
	p.hca = fixture_hca(&p.fx, b, "mlx5_0");
	uint32_t vf = fixture_vf(&p.fx, p.hca, 3, NULL);
	fixture_done(&p.fx);
	topo_distance(&p.m, p.m.gpu[0].pci, vf, &r);
	CHECK_DISTANCE(r, TOPO_PIX, 1, 1, 3840);
	/* in a virtual machine the PF is not there */
	p.m.pci[vf].physfn = TOPO_NONE;
	topo_distance(&p.m, p.m.gpu[0].pci, vf, &r);
	CHECK_DISTANCE(r, TOPO_PIX, 1, 1, 0);
	topo_machine_clear(&p.m);
}
END_TEST

/* ---- HCAs of more than one function, and the order ---- */

START_TEST(a_bond_is_as_far_as_its_farther_function)
{
	struct pair p;

	pair_begin(&p);
	uint32_t up = fixture_switch(&p.fx, fixture_port(&p.fx), &fixture_plain);
	uint32_t far = fixture_port(&p.fx);
	p.gpu = fixture_gpu(&p.fx, fixture_down(&p.fx, up));
	p.hca = fixture_hca(&p.fx, fixture_down(&p.fx, up), "mlx5_bond_0");
	uint32_t second = fixture_fn(&p.fx, far, 0, &fixture_plain);
	fixture_done(&p.fx);
	p.m.hca[0].kind = TOPO_HCA_BOND;
	CHECK_DISTANCE(pair_way(&p), TOPO_PIX, 1, 1, 3840);
	p.m.hca[0].second = second;
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 1, 1, 3840);
	p.m.hca[0].second = p.m.hca[0].pci;
	p.m.hca[0].pci = second;
	CHECK_DISTANCE(pair_way(&p), TOPO_PHB, 1, 1, 3840);
	topo_machine_clear(&p.m);
}
END_TEST

START_TEST(distances_are_ordered)
{
	static const struct {
		enum topo_class x;
		uint32_t x_switches;
		enum topo_class y;
		uint32_t y_switches;
		int want;
	} cases[] = {
		{ TOPO_PIX, 1, TOPO_PIX, 1, 0 },   { TOPO_PXB, 1, TOPO_PIX, 1, 0 },
		{ TOPO_PXB, 2, TOPO_PIX, 1, 1 },   { TOPO_PXB, 3, TOPO_PHB, 0, -1 },
		{ TOPO_PHB, 2, TOPO_NODE, 0, -1 }, { TOPO_NODE, 2, TOPO_SYS, 0, -1 },
		{ TOPO_SYS, 1, TOPO_SYS, 2, -1 },  { TOPO_CLASS_UNKNOWN, 0, TOPO_SYS, 9, 1 },
		{ TOPO_X, 0, TOPO_PIX, 0, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topo_distance x = { .class = cases[i].x, .switches = cases[i].x_switches };
		struct topo_distance y = { .class = cases[i].y, .switches = cases[i].y_switches };
		ck_assert_msg(topo_distance_cmp(&x, &y) == cases[i].want, "case %zu", i);
		ck_assert_msg(topo_distance_cmp(&y, &x) == -cases[i].want, "case %zu back", i);
	}
	ck_assert_str_eq(topo_class_name(TOPO_CLASS_UNKNOWN), "unknown");
}
END_TEST

TEST_PROGRAM("distance", distances_of_a_dgx_a100, one_chip_of_gen5, a_bridge_of_the_gpu_is_the_gpu,
	     an_unknown_numa_node, an_hca_of_a_processor, ports_of_one_switch, switch_below_switch,
	     root_ports, functions_of_one_device, odd_bridges, root_complexes, levels_of_one_chip,
	     three_levels, the_narrowest_link, a_vf_uses_its_pfs_link,
	     a_bond_is_as_far_as_its_farther_function, distances_are_ordered)
