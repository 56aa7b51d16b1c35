// SPDX-License-Identifier: Apache-2.0
/* Predictions for machines from /sys: the elements that NCCL finds, and the paths of VFs. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/read/read.h"
#include "topo/testing/nccl.h"
#include "topo/testing/topo.h"
#include "topo/testing/tree.h"
#include "topo/testing/fixture.h"
#include "topo/nccl/write.h"

static void predict(const struct topo_machine *m, const struct topo_scope *s, bool keep,
		    struct nccl_prediction *a)
{
	struct nccl_opts o = { .gdr_level = -1, .keep_vf_path = keep };
	struct err e;

	if (nccl_predict(m, s, &o, a, &e))
		ck_abort_msg("%s", e.msg);
}

/* The rates of what was captured are not those that NCCL was told. */
static void capture(const char *name, struct topo_machine *m)
{
	tree_machine(tree_unpack(name), m);
	for (size_t i = 0; i < m->n_hcas; i++) {
		for (size_t k = 0; k < m->hca[i].n_ports; k++)
			m->hca[i].port[k].rate_mbps = 100000;
	}
}

static void compare(const char *name, const struct topo_machine *m, const struct nccl_prediction *a)
{
	struct nccl_tally t = { 0 };

	nccl_compare(name, m, a, TALLY_ALL, &t);
	ck_assert_msg(t.lines > 0 && t.agree == t.lines, "%u of %u: %s", t.agree, t.lines, t.first);
}

/* Eight accelerators and two HCAs behind two switches, through NCCL's own walker. */
START_TEST(a_real_tree)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };

	capture("hwloc-8ve", &m);
	ck_assert_uint_eq(m.n_hcas, 2);
	memcpy(m.hca[0].name, "mlx5_0", 7);
	memcpy(m.hca[1].name, "mlx5_1", 7);
	predict(&m, NULL, false, &a);
	compare("hwloc-8ve", &m, &a);
}
END_TEST

/* In the guest every PF has two VFs with devices of their own: NCCL takes them for its ports. */
START_TEST(a_guest_with_vfs)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };

	capture("qemu-pxb-xio3130-igb-sriov-rxe", &m);
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, 3);
	for (size_t i = 0; i < a.n_nets; i++)
		ck_assert(a.net[i].fused == 2 && !a.net[i].displaced);
	compare("qemu-pxb-xio3130", &m, &a);
	auto_nccl_prediction struct nccl_prediction apart = { 0 };
	predict(&m, NULL, true, &apart);
	/* functions of one device number are ports of one card to NCCL: two VFs each */
	ck_assert_uint_eq(apart.n_nets, 6);
}
END_TEST

/* ---- where NCCL looks for devices ---- */

/* A switch with a GPU and a PF with two VFs; another with a GPU and nothing. */
static uint32_t two_switches(struct topo_machine *m, struct fixture *fx)
{
	*fx = (struct fixture){ .m = m };
	m->source = TOPO_LIVE;
	fixture_root(fx, 0);
	uint32_t up = fixture_switch(fx, fixture_port(fx), &fixture_plain);
	(void)fixture_gpu(fx, fixture_down(fx, up));
	uint32_t pf = fixture_hca(fx, fixture_down(fx, up), "pf");
	(void)fixture_gpu(fx, fixture_slot(fx, fixture_port(fx), &fixture_plain));
	return pf;
}

static void only(struct topo_machine *m, const char *name, bool *hca, bool keep,
		 struct nccl_prediction *a)
{
	struct topo_scope s = { .hca = hca };

	for (size_t i = 0; i < m->n_hcas; i++)
		hca[i] = !strcmp(m->hca[i].name, name);
	predict(m, &s, keep, a);
	ck_assert_uint_eq(a->n_nets, 1);
}

/* name, the PF's address, the VF's, and what NCCL says of the VF with its path rewritten or not */
struct vf_case {
	const char *what;
	uint8_t bus, dev;
	bool sf;
	enum nccl_path_type rewritten, kept;
};

static void check_vf(const struct vf_case *c)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);
	uint32_t vf = fixture_vf(&fx, pf, 0, "vf");
	bool hca[2];

	if (c->bus)
		m.pci[vf].addr.bus = c->bus;
	if (c->dev)
		m.pci[vf].addr.dev = c->dev;
	fixture_done(&fx);
	if (c->sf)
		m.hca[topo_find_hca(&m, "vf")].kind = TOPO_HCA_SF;
	for (int keep = 0; keep < 2; keep++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		enum nccl_path_type want = keep ? c->kept : c->rewritten;
		only(&m, "vf", hca, keep, &a);
		ck_assert_msg(a.gpu[0].type == want, "%s, %d: %s", c->what, keep,
			      nccl_path_name(a.gpu[0].type));
		ck_assert_msg(a.net[0].displaced == (want == NCCL_PHB), "%s", c->what);
		ck_assert_uint_eq(a.net[0].fused, 0);
	}
}

START_TEST(vfs_are_looked_for_at_device_00)
{
	static const struct vf_case cases[] = {
		{ "beside its PF", 0, 0, false, NCCL_PIX, NCCL_PIX },
		{ "a larger number", 0, 0x1f, false, NCCL_PIX, NCCL_PIX },
		{ "on the next bus", 0xee, 2, false, NCCL_PHB, NCCL_PIX },
		{ "a subfunction", 0, 0, true, NCCL_PHB, NCCL_PHB },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_vf(&cases[i]);
}
END_TEST

/* NCCL 2.30.7 with two such devices: "Could not find any local path from gpu 0 to net". One alone,
 * or both apart, are at the first CPU. */
START_TEST(two_that_nccl_does_not_find_are_lost)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);
	bool hca[3] = { false, true, true };
	const struct topo_scope s = { .hca = hca };
	static const struct {
		bool second, no_merge;
		uint32_t nets, channels;
		enum nccl_path_type type;
	} cases[] = { { true, false, 1, 0, NCCL_DIS },
		      { true, true, 2, 1, NCCL_PHB },
		      { false, false, 1, 1, NCCL_PHB } };
	struct err e;

	(void)fixture_vf(&fx, pf, 0, "vf0");
	(void)fixture_vf(&fx, pf, 1, "vf1");
	fixture_done(&fx);
	ck_assert_uint_eq(m.n_hcas, 3);
	m.hca[1].kind = m.hca[2].kind = TOPO_HCA_SF;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct nccl_opts o = { .gdr_level = -1, .no_merge = cases[i].no_merge };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		hca[2] = cases[i].second;
		ck_assert_int_eq(nccl_predict(&m, &s, &o, &a, &e), 0);
		ck_assert_uint_eq(a.n_nets, cases[i].nets);
		ck_assert_uint_eq(a.gpu[0].n_channels, cases[i].channels);
		ck_assert_int_eq(a.gpu[0].type, cases[i].type);
	}
}
END_TEST

/* Integrated in a guest, "0000:00:05.0", they all become the host bridge. */
START_TEST(integrated_functions_become_the_host_bridge)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct fixture fx = { .m = &m };
	uint32_t pci[3];
	struct pci_addr at = { 0 };

	m.source = TOPO_LIVE;
	fixture_root(&fx, -1);
	pci[0] = fixture_fn(&fx, TOPO_NONE, 0, &fixture_plain);
	m.pci[pci[0]].addr = at;
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t h = fixture_hca(&fx, TOPO_NONE, i ? "mlx5_1" : "mlx5_0");
		at.dev = (uint8_t)(5 + i);
		m.pci[m.hca[h].pci].addr = at;
	}
	(void)fixture_gpu(&fx, fixture_port(&fx));
	fixture_done(&fx);
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, 1);
	ck_assert(a.net[0].displaced && a.net[0].fused == 1);
	ck_assert_int_eq(a.gpu[0].type, NCCL_PHB);
}
END_TEST

START_TEST(ports_that_are_down_are_not_there)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);

	fixture_done(&fx);
	m.hca[pf].port[0].active = TOPO_NO;
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, 0);
	ck_assert(a.gpu[0].in);
	ck_assert_int_eq(a.gpu[0].type, NCCL_DIS);
	ck_assert_uint_eq(a.gpu[0].n_channels, 0);
	ck_assert(!a.gpu[0].gdr);
}
END_TEST

/* Each port is a device; one that tells no port has one; without a function it hangs on a CPU. */
START_TEST(ports_and_places)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct fixture fx = { 0 };
	uint32_t bare, none, h = two_switches(&m, &fx);
	struct err e;

	ck_assert_int_eq(topo_add_port(&m.hca[h], 2, &e), 0);
	ck_assert_int_eq(topo_add_hca(&m, "bare", &bare, &e), 0);
	ck_assert_int_eq(topo_add_hca(&m, "none", &none, &e), 0);
	m.hca[bare].pci = m.hca[h].pci;
	fixture_done(&fx);
	const struct nccl_opts apart = { .gdr_level = -1, .no_merge = true };
	ck_assert_int_eq(nccl_predict(&m, NULL, &apart, &a, &e), 0);
	ck_assert_uint_eq(a.n_nets, 4);
	for (uint32_t n = 0; n < 4; n++) {
		const struct topo_hca *at = &m.hca[a.net[n].hca];
		bool lost = at->pci == TOPO_NONE;
		ck_assert_int_eq(a.gpu[0].path[n].type, lost ? NCCL_PHB : NCCL_PIX);
		ck_assert_int_eq(a.net[n].port > 0, at->n_ports > 0);
		ck_assert(!a.net[n].displaced);
	}
}
END_TEST

/* A VF of InfiniBand is not a port of an Ethernet card. NCCL then gives up the whole group. */
START_TEST(layers_are_not_fused)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);

	(void)fixture_vf(&fx, pf, 0, "vf0");
	(void)fixture_vf(&fx, pf, 1, "vf1");
	fixture_done(&fx);
	m.hca[topo_find_hca(&m, "pf")].port[0].layer = TOPO_ETHERNET;
	m.hca[topo_find_hca(&m, "vf0")].port[0].layer = TOPO_INFINIBAND;
	m.hca[topo_find_hca(&m, "vf1")].port[0].layer = TOPO_ETHERNET;
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, 3);
	m.hca[topo_find_hca(&m, "vf0")].port[0].layer = TOPO_ETHERNET;
	nccl_prediction_clear(&a);
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, 1);
	ck_assert_uint_eq(a.net[0].fused, 2);
}
END_TEST

/* ---- climbing ---- */

/* A domain of five digits is not an address to NCCL: the path up ends there. */
START_TEST(long_domains_end_the_climb)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction near = { 0 }, far = { 0 };
	struct fixture fx;

	(void)two_switches(&m, &fx);
	fixture_done(&fx);
	predict(&m, NULL, false, &near);
	ck_assert_int_eq(near.gpu[0].type, NCCL_PIX);
	for (size_t i = 0; i < m.n_pci; i++)
		m.pci[i].addr.domain = 0x10000;
	predict(&m, NULL, false, &far);
	ck_assert_int_eq(far.gpu[0].type, NCCL_PHB);
	ck_assert_double_eq_tol(far.gpu[0].bw, 12.0, 0.001);
	/* NCCL finds neither of them: they are at one cpu, which is not that of the others */
	auto_nccl_prediction struct nccl_prediction apart = { 0 };
	m.pci[m.hca[0].pci].addr.domain = 0;
	predict(&m, NULL, false, &apart);
	ck_assert_int_eq(apart.gpu[0].type, NCCL_SYS);
}
END_TEST

/* GPU 0 is at node 3, GPU 1 at node 1, and the HCAs at nodes 2 and 1. The first rank knows its GPU
 * and all HCAs, so node 1 comes last. */
START_TEST(the_first_rank_finds_all_nets)
{
	static const int gpu[] = { 3, 1 }, hca[] = { 2, 1 };
	auto_topo_machine struct topo_machine m = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };
	struct fixture fx = { .m = &m };

	m.source = TOPO_LIVE;
	for (size_t i = 0; i < 2; i++) {
		fixture_root(&fx, gpu[i]);
		(void)fixture_gpu(&fx, fixture_slot(&fx, fixture_port(&fx), &fixture_plain));
	}
	for (size_t i = 0; i < 2; i++) {
		fixture_root(&fx, hca[i]);
		(void)fixture_hca(&fx, fixture_port(&fx), i ? "second" : "first");
	}
	fixture_done(&fx);
	predict(&m, NULL, false, &a);
	ck_assert_int_eq(a.gpu[0].type, NCCL_SYS);
	ck_assert_uint_eq(a.gpu[0].n_local, 2);
	ck_assert_str_eq(m.hca[a.net[a.gpu[0].local[0]].hca].name, "first");
}
END_TEST

/* A width that only one of the two ends tells is none to NCCL, and none is 16 lanes. */
START_TEST(links_as_nccl_reads_them)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);
	struct topo_pci *p = &m.pci[m.hca[pf].pci], *gpu = &m.pci[m.gpu[0].pci];

	fixture_done(&fx);
	for (int i = 0; i < 4; i++) {
		static const double want[] = { 24.0, 48.0, 12.0, 3.0 };
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		p->max.width = 8;
		p->one_end = i == 1;
		p->max.speed = i < 2 ? 240 : i == 2 ? 120 : 0;
		/* an NVIDIA GPU's link is what it is now, as the driver tells it: not its speed */
		gpu->cur = (struct topo_pcie_link){ 15, i == 3 ? 1 : 16 };
		predict(&m, NULL, false, &a);
		ck_assert_double_eq_tol(a.gpu[0].bw, i == 3 ? 3.0 : want[i], 0.001);
	}
}
END_TEST

/* NUMA -1 is a node of its own to NCCL, and node 0 to RCCL. */
START_TEST(nodes_that_are_not_told)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };

	m.source = TOPO_CAPTURE;
	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	fixture_root(&fx, -1);
	(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_0");
	fixture_done(&fx);
	for (int rccl = 0; rccl < 2; rccl++) {
		auto_nccl_prediction struct nccl_prediction a = { 0 };
		struct nccl_opts o = { .rccl = rccl, .gdr_level = -1 };
		struct err e;
		ck_assert_int_eq(nccl_predict(&m, NULL, &o, &a, &e), 0);
		ck_assert_int_eq(a.gpu[0].type, rccl ? NCCL_PHB : NCCL_SYS);
	}
}
END_TEST

/* ---- written and read back ---- */

static void read_back(const char *name, unsigned int hcas)
{
	auto_topo_machine struct topo_machine m = { 0 }, again = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 }, b = { 0 };
	auto_free char *text = NULL;
	struct err e;

	capture(name, &m);
	predict(&m, NULL, false, &a);
	ck_assert_uint_eq(a.n_nets, hcas);
	ck_assert_int_eq(topo_xml_write(&m, &(struct topo_xml_opts){ 0 }, &text, &e), 0);
	ck_assert_int_eq(topo_read_xml(text, strlen(text), &again, &e), 0);
	ck_assert_uint_eq(again.n_notes, 0);
	predict(&again, NULL, false, &b);
	ck_assert_uint_eq(b.n_nets, a.n_nets);
	for (size_t g = 0; g < a.n_gpus; g++) {
		ck_assert_uint_eq(a.gpu[g].n_local, b.gpu[g].n_local);
		for (size_t n = 0; n < a.n_nets; n++) {
			const struct nccl_net_path *x = &a.gpu[g].path[n], *w = &b.gpu[g].path[n];
			ck_assert_str_eq(m.hca[a.net[n].hca].name, again.hca[b.net[n].hca].name);
			ck_assert(x->type == w->type && x->bw == w->bw && x->hops == w->hops);
		}
	}
}

START_TEST(captures_written_and_read_back)
{
	read_back("hwloc-8ve", 2);
	read_back("qemu-pxb-xio3130-igb-sriov-rxe", 3);
}
END_TEST

static int predict_it(void *arg, struct err *e)
{
	struct nccl_opts o = NCCL_OPTS_DEFAULT;
	auto_nccl_prediction struct nccl_prediction a = { 0 };

	return nccl_predict(arg, NULL, &o, &a, e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_topo_machine struct topo_machine m = { 0 }, file = { 0 };
	struct fixture fx;
	uint32_t pf = two_switches(&m, &fx);

	(void)fixture_vf(&fx, pf, 0, "vf");
	fixture_done(&fx);
	ck_assert_str_eq(alloc_fail_each(predict_it, &m), "ok");
	topo_xml("dgx-a100", &file);
	ck_assert_str_eq(alloc_fail_each(predict_it, &file), "ok");
}
END_TEST

TEST_PROGRAM("nccl_tree", a_real_tree, a_guest_with_vfs, vfs_are_looked_for_at_device_00,
	     integrated_functions_become_the_host_bridge, ports_that_are_down_are_not_there,
	     ports_and_places, layers_are_not_fused, long_domains_end_the_climb,
	     the_first_rank_finds_all_nets, links_as_nccl_reads_them, nodes_that_are_not_told,
	     captures_written_and_read_back, memory_may_end_anywhere,
	     two_that_nccl_does_not_find_are_lost)
