// SPDX-License-Identifier: Apache-2.0
/* Each reason why NCCL does not use the assigned HCA is found, and the proposed setting helps. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/nccl/compare.h"
#include "topo/read/read.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

struct compare_case {
	struct topo_machine m;
	struct topo_choice node, choice;
	struct nccl_opts opts;
	struct nccl_prediction nccl;
	struct comparison differ;
	bool gpu[16], hca[64];
	enum nccl_path_type level; /* NCCL_NET_GDR_LEVEL; 0: not set */
};

static void compare_case_clear(struct compare_case *w)
{
	comparison_clear(&w->differ);
	nccl_prediction_clear(&w->nccl);
	topo_choice_clear(&w->choice);
	topo_choice_clear(&w->node);
	topo_machine_clear(&w->m);
}
#define auto_compare_case auto_clean(compare_case_clear)

/* The answers for some GPUs (NULL: all), "0 3", and some HCAs (NULL: all), by number. */
static void answer(struct compare_case *w, const char *gpus, const char *hcas)
{
	struct topo_scope s = { gpus ? w->gpu : NULL, hcas ? w->hca : NULL };
	struct topo_scope own = { hcas ? s.gpu : NULL, s.hca };
	struct compare_input in = { &w->m, &s, &w->choice, &w->node, &w->opts, &w->nccl };
	struct err e;
	char *end;

	for (; gpus && *gpus; gpus = end)
		w->gpu[strtoul(gpus, &end, 10)] = true;
	for (; hcas && *hcas; hcas = end)
		w->hca[strtoul(hcas, &end, 10)] = true;
	w->opts.gdr_level = w->level ? (int)w->level : -1;
	ck_assert_int_eq(topo_choose(&w->m, NULL, &w->node, &e), 0);
	ck_assert_int_eq(topo_choose(&w->m, &own, &w->choice, &e), 0);
	ck_assert_int_eq(nccl_predict(&w->m, &s, &w->opts, &w->nccl, &e), 0);
	ck_assert_int_eq(compare_with_nccl(&in, &w->differ, &e), 0);
}

static char *line(const struct compare_case *w, uint32_t gpu)
{
	static char out[512];
	const struct compare_gpu *d = &w->differ.gpu[gpu];

	(void)snprintf(out, sizeof(out), "%s %s: %s [%s]", compare_verdict_name(d->verdict),
		       compare_cause_id(d->cause), d->text ? d->text : "-",
		       d->setting ? d->setting : "-");
	return out;
}

START_TEST(nothing_is_said_where_all_is_well)
{
	static const char *const fine[] = { "dgx-a100", "oci-bm-gpu-h100", "aws-p4d",
					    "rccl-topo_8p_950" };

	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		auto_compare_case struct compare_case w = { 0 };
		topo_xml(fine[i], &w.m);
		answer(&w, NULL, NULL);
		for (uint32_t g = 0; g < w.m.n_gpus; g++)
			ck_assert_str_eq(line(&w, g), "same : - [-]");
		ck_assert_ptr_null(w.differ.text);
		ck_assert_ptr_null(w.differ.setting);
	}
}
END_TEST

START_TEST(a_faster_far_hca_is_explained)
{
	auto_compare_case struct compare_case w = { 0 };

	topo_xml("synthetic-a_pix100_phb400", &w.m);
	answer(&w, NULL, NULL);
	ck_assert_str_eq(line(&w, 0), "away faster: NCCL takes far400 instead of near100: more "
				      "bandwidth counts before distance, and GPUDirect RDMA is off "
				      "there [NCCL_IB_HCA==near100]");
	ck_assert_str_eq(w.differ.text, "NCCL takes HCAs that are not these GPUs' own");
	ck_assert_str_eq(w.differ.setting, "NCCL_IB_HCA==near100");
}
END_TEST

START_TEST(a_storage_card_is_explained)
{
	auto_compare_case struct compare_case w = { 0 }, other = { 0 };

	topo_xml("synthetic-a_pix100_phb400", &w.m);
	topo_xml("synthetic-a_pix100_phb400", &other.m);
	other.m.hca[topo_find_hca(&other.m, "far400")].role = TOPO_MANAGEMENT;
	answer(&other, NULL, NULL);
	ck_assert_int_eq(other.differ.gpu[0].cause, COMPARE_ROLE);
	w.m.hca[topo_find_hca(&w.m, "far400")].role = TOPO_STORAGE;
	answer(&w, NULL, NULL);
	ck_assert_str_eq(line(&w, 0), "away role: NCCL takes far400 instead of near100: it knows "
				      "no storage and management networks [NCCL_IB_HCA==near100]");
}
END_TEST

/* Only one HCA is left: GPUs elsewhere reach it through NVLink, which no setting makes better. */
START_TEST(a_way_through_a_peer_is_explained)
{
	auto_compare_case struct compare_case w = { 0 };

	topo_xml("dgx-a100", &w.m);
	answer(&w, NULL, "2");
	ck_assert_str_eq(line(&w, 0), "same pxn: no HCA of its own is near enough: NCCL reaches "
				      "mlx5_2 through NVLink and the GPUs beside them (PXN) [-]");
	ck_assert_str_eq(line(&w, 2), "same : - [-]");
	ck_assert_ptr_null(w.differ.setting);
}
END_TEST

/* Two subfunctions, which NCCL does not find. */
START_TEST(hcas_that_nccl_loses_are_explained)
{
	auto_compare_case struct compare_case w = { 0 };
	struct fixture fx = { .m = &w.m };

	w.m.source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	(void)fixture_hca(&fx, fixture_down(&fx, up), "sf0");
	(void)fixture_hca(&fx, fixture_down(&fx, up), "sf1");
	fixture_done(&fx);
	w.m.hca[0].kind = w.m.hca[1].kind = TOPO_HCA_SF;
	answer(&w, NULL, NULL);
	ck_assert_str_eq(line(&w, 0),
			 "none lost: NCCL finds no HCA: it makes one device of HCAs whose "
			 "function it does not find, or that are below different "
			 "CPUs, and loses it "
			 "[NCCL_NET_MERGE_LEVEL=LOC]");
	ck_assert_str_eq(w.differ.setting, "NCCL_NET_MERGE_LEVEL=LOC");
}
END_TEST

START_TEST(a_flat_virtual_machine_is_explained)
{
	auto_compare_case struct compare_case w = { 0 };

	topo_xml("synthetic-c_flat_vm_8x8_numa-1", &w.m);
	answer(&w, NULL, NULL);
	ck_assert_int_eq(w.differ.gpu[3].cause, COMPARE_FLAT_VM);
	ck_assert_ptr_nonnull(strstr(w.differ.gpu[3].setting, "NCCL_TOPO_FILE="));
	ck_assert_str_eq(w.differ.text, "which HCAs are near is not known: the machine shows "
					"neither switches nor NUMA nodes");
	ck_assert_ptr_nonnull(strstr(w.differ.setting, "NCCL_TOPO_FILE="));
}
END_TEST

START_TEST(one_gpu_takes_its_neighbours_too)
{
	auto_compare_case struct compare_case w = { 0 }, alone = { 0 };

	topo_xml("dgx-a100", &w.m);
	answer(&w, "1", NULL);
	ck_assert_str_eq(line(&w, 0), "none : - [-]");
	ck_assert_str_eq(line(&w, 1),
			 "permuted lone-gpu: NCCL takes mlx5_0, mlx5_1: it does not know the other "
			 "GPUs of the machine, whose HCAs are among these [NCCL_IB_HCA==mlx5_1]");
	ck_assert_str_eq(w.differ.setting, "NCCL_IB_HCA==mlx5_1");
	/* with its own HCA only there is nothing to change */
	topo_xml("dgx-a100", &alone.m);
	answer(&alone, "1", "1");
	ck_assert_str_eq(line(&alone, 1), "same : - [-]");
}
END_TEST

START_TEST(a_tie_assigned_otherwise_is_explained)
{
	auto_compare_case struct compare_case w = { 0 };
	unsigned int ties = 0;

	topo_xml("synthetic-e_1switch_3gpu_4nic", &w.m);
	answer(&w, NULL, NULL);
	for (uint32_t g = 0; g < 3; g++)
		ties += w.differ.gpu[g].cause == COMPARE_TIE;
	ck_assert_uint_gt(ties, 0);
	/* harmless: nothing to say of all together */
	ck_assert_ptr_null(w.differ.text);
}
END_TEST

START_TEST(gpudirect_off_is_explained)
{
	auto_compare_case struct compare_case far = { 0 }, unable = { 0 }, driver = { 0 },
					      other = { 0 }, old = { 0 }, level = { 0 },
					      remote = { 0 }, live = { 0 };

	topo_xml("rccl-topo_4p_942", &far.m);
	answer(&far, NULL, NULL);
	ck_assert_str_eq(line(&far, 0), "same gdr-off: NCCL does not use GPUDirect RDMA: the path "
					"is PHB, through the CPU [NCCL_NET_GDR_LEVEL=PHB]");
	topo_xml("dgx-a100", &unable.m);
	unable.m.hca[0].gdr = TOPO_NO;
	answer(&unable, NULL, "0");
	ck_assert_str_eq(line(&unable, 0), "same gdr-off: NCCL does not use GPUDirect RDMA: the "
					   "file says that a device or its driver cannot [-]");
	topo_xml("dgx-a100", &live.m);
	live.m.source = TOPO_LIVE;
	live.m.hca[0].gdr = TOPO_NO;
	answer(&live, NULL, "0");
	ck_assert_str_eq(line(&live, 0), "same gdr-off: NCCL does not use GPUDirect RDMA: the "
					 "driver of the device does not offer it [-]");
	topo_xml("dgx-a100", &other.m);
	other.m.hca[0].gdr = TOPO_NO;
	answer(&other, NULL, "0 2 3");
	ck_assert_str_eq(line(&other, 0), "away gdr-off: NCCL takes mlx5_2 instead of mlx5_0: with "
					  "mlx5_0 it does not use GPUDirect RDMA [-]");
	topo_xml("dgx-a100", &driver.m);
	driver.m.gpu[0].gdr = TOPO_NO;
	answer(&driver, NULL, "0");
	ck_assert_ptr_nonnull(strstr(line(&driver, 0), "its driver cannot [-]"));
	topo_xml("synthetic-e_1switch_3gpu_4nic", &old.m);
	for (size_t g = 0; g < old.m.n_gpus; g++)
		old.m.gpu[g].sm = 70;
	answer(&old, "0 1", "0 1");
	ck_assert_ptr_nonnull(strstr(line(&old, 0), "older than Ampere and has no NVLink [-]"));
	topo_xml("synthetic-e_1switch_3gpu_4nic", &level.m);
	level.level = NCCL_NVL;
	answer(&level, "0 1", "0 1");
	ck_assert_ptr_nonnull(
		strstr(line(&level, 0), "NCCL_NET_GDR_LEVEL allows no more than NVL ["));
	topo_xml("rccl-topo_8p_rome", &remote.m);
	answer(&remote, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(line(&remote, 0), "the path is SYS, through the CPU [-]"));
}
END_TEST

/* VFs on the bus behind their PF's: NCCL finds nothing at device 00 there. */
static void next_bus(struct topo_machine *m)
{
	struct fixture fx = { .m = m };

	m->source = TOPO_LIVE;
	fixture_root(&fx, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
		(void)fixture_gpu(&fx, fixture_down(&fx, up));
		uint32_t pf = fixture_hca(&fx, fixture_down(&fx, up), i ? "mlx5_1" : "mlx5_0");
		uint32_t vf = fixture_vf(&fx, pf, 0, i ? "mlx5_3" : "mlx5_2");
		m->pci[vf].addr.bus = (uint8_t)(0x80 + i);
		m->pci[vf].addr.dev = 3;
	}
	fixture_done(&fx);
}

START_TEST(a_vf_that_nccl_looks_for_elsewhere)
{
	auto_compare_case struct compare_case w = { 0 };
	char hcas[32];

	next_bus(&w.m);
	(void)snprintf(hcas, sizeof(hcas), "%u %u", topo_find_hca(&w.m, "mlx5_2"),
		       topo_find_hca(&w.m, "mlx5_3"));
	answer(&w, "0 1", hcas);
	ck_assert_uint_eq(w.nccl.n_nets, 1);
	ck_assert(w.nccl.net[0].displaced && w.nccl.net[0].fused);
	ck_assert_str_eq(line(&w, 0), "none vf-path: NCCL finds no HCA: it looks for a VF's "
				      "function at device 00 of its bus [NCCL_IB_MERGE_VFS=0]");
	ck_assert_str_eq(w.differ.setting, "NCCL_IB_MERGE_VFS=0");
	/* and with that nothing is wrong any more */
	auto_compare_case struct compare_case remedied = { .opts = { .keep_vf_path = true } };
	next_bus(&remedied.m);
	answer(&remedied, "0 1", hcas);
	ck_assert_str_eq(line(&remedied, 0), "same : - [-]");
	ck_assert_ptr_null(remedied.differ.setting);
}
END_TEST

/* Where NCCL looks for v it is near a, and is fused with it. Where v is, NCCL would end: no help.
 */
START_TEST(a_setting_with_which_nccl_ends_is_no_help)
{
	auto_compare_case struct compare_case w = { .opts = { .merge_level = NCCL_SYS } };
	struct nccl_opts own = { .gdr_level = -1, .merge_level = NCCL_SYS, .keep_vf_path = true };
	auto_nccl_prediction struct nccl_prediction ignored = { 0 };
	struct fixture fx = { .m = &w.m };
	struct err e;

	w.m.source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	(void)fixture_hca(&fx, fixture_down(&fx, up), "a");
	fixture_root(&fx, 1);
	uint32_t v = fixture_hca(&fx, fixture_port(&fx), "v");
	w.m.hca[v].kind = TOPO_HCA_VF;
	w.m.pci[w.m.hca[v].pci].addr.dev = 1;
	fixture_done(&fx);
	ck_assert_int_eq(nccl_predict(&w.m, NULL, &own, &ignored, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	answer(&w, NULL, NULL);
	ck_assert_uint_eq(w.nccl.n_nets, 1);
	ck_assert_ptr_null(strstr(line(&w, 0), "NCCL_IB_MERGE_VFS"));
}
END_TEST

START_TEST(more_ports_than_nccl_takes)
{
	auto_compare_case struct compare_case w = { 0 };
	struct fixture fx = { .m = &w.m };
	char name[16];

	w.m.source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	for (int i = 0; i < 33; i++) {
		(void)snprintf(name, sizeof(name), "mlx5_%d", i);
		(void)fixture_hca(&fx, fixture_down(&fx, up), name);
	}
	fixture_done(&fx);
	answer(&w, NULL, NULL);
	ck_assert_str_eq(w.differ.text, "NCCL uses 32 of 33 ports: which ones is not known");
	ck_assert_ptr_nonnull(strstr(w.differ.setting, "NCCL_IB_HCA==mlx5_0,"));
}
END_TEST

/* Whoever asks without a scope, and without the whole machine's choice. */
START_TEST(without_other_gpus_there_is_no_cause)
{
	auto_compare_case struct compare_case w = { 0 };
	auto_comparison struct comparison d = { 0 };
	struct compare_input in = { &w.m, NULL, &w.choice, NULL, &w.opts, &w.nccl };
	struct topo_scope all = { 0 };
	struct err e;

	topo_xml("dgx-a100", &w.m);
	answer(&w, NULL, NULL);
	ck_assert_int_eq(compare_with_nccl(&in, &d, &e), 0);
	ck_assert_int_eq(d.gpu[0].cause, COMPARE_NO_CAUSE);
	comparison_clear(&d);
	in.scope = &all;
	in.node = &w.node;
	ck_assert_int_eq(compare_with_nccl(&in, &d, &e), 0);
	ck_assert_int_eq(d.gpu[7].cause, COMPARE_NO_CAUSE);
}
END_TEST

/* Two VFs of a card that is not there are one device to NCCL: whichever a GPU should take. */
START_TEST(vfs_that_nccl_takes_for_one)
{
	auto_compare_case struct compare_case w = { 0 };
	struct fixture fx = { .m = &w.m };
	char hcas[32];

	w.m.source = TOPO_LIVE;
	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	uint32_t pf = fixture_hca(&fx, fixture_down(&fx, up), "pf");
	(void)fixture_vf(&fx, pf, 0, "vf0");
	(void)fixture_vf(&fx, pf, 1, "vf1");
	fixture_done(&fx);
	for (size_t i = 0; i < w.m.n_hcas; i++)
		w.m.hca[i].card = 0;
	(void)snprintf(hcas, sizeof(hcas), "%u %u", topo_find_hca(&w.m, "vf0"),
		       topo_find_hca(&w.m, "vf1"));
	answer(&w, "0 1", hcas);
	ck_assert_uint_eq(w.nccl.n_nets, 1);
	ck_assert_uint_eq(w.nccl.net[0].fused, 1);
	for (uint32_t g = 0; g < 2; g++)
		ck_assert_str_eq(line(&w, g), "same : - [-]");
}
END_TEST

static void read_text(struct compare_case *w, const char *text)
{
	struct err e;

	if (topo_read_xml(text, strlen(text), &w->m, &e))
		ck_abort_msg("%s", e.msg);
}

#define PCI(bus, class)                                                                            \
	"<pci busid=\"0000:" bus                                                                   \
	":00.0\" class=\"" class "\" link_speed=\"16 GT/s\" link_width=\"16\">"
#define END     "</pci>"
#define FAR_GPU PCI("03", "0x030200") "<gpu dev=\"0\" rank=\"0\" sm=\"90\" gdr=\"1\"/>" END
#define NET(name, dev)                                                                             \
	"<nic><net name=\"" name "\" dev=\"" dev "\" speed=\"100000\" gdr=\"1\"/></nic>"

/* Three switches between, or four: to NCCL both are PXB. */
START_TEST(names_that_say_less)
{
	auto_compare_case struct compare_case w = { 0 };

	read_text(&w, "<system version=\"1\"><cpu numaid=\"0\">" PCI("01", "0x060400")
			      PCI("02", "0x060400") FAR_GPU END PCI("04", "0x060400")
				      PCI("05", "0x020000") NET("near", "0")
					      END END PCI("06", "0x060400") PCI("07", "0x060400")
						      PCI("08", "0x020000") NET("far", "1")
							      END END END END "</cpu></system>");
	answer(&w, NULL, NULL);
	ck_assert_str_eq(line(&w, 0),
			 "away other: NCCL takes near, far instead of near [NCCL_IB_HCA==near]");
}
END_TEST

/* An HCA without a function, and devices on root ports of which some tell their node. */
START_TEST(a_machine_with_switches_is_not_flat)
{
	auto_compare_case struct compare_case w = { 0 }, told = { 0 };
	struct fixture fx = { .m = &told.m };

	read_text(&w, "<system version=\"1\"><cpu numaid=\"-1\">" FAR_GPU NET("a", "0")
			      NET("b", "1") "</cpu></system>");
	answer(&w, NULL, NULL);
	ck_assert_int_ne(w.differ.gpu[0].cause, COMPARE_FLAT_VM);
	for (int flat = 0; flat < 2; flat++) {
		auto_compare_case struct compare_case vm = { 0 };
		fx = (struct fixture){ .m = &vm.m };
		vm.m.source = TOPO_LIVE;
		vm.m.vm = flat ? TOPO_YES : TOPO_NO;
		fixture_root(&fx, 0);
		(void)fixture_gpu(&fx, fixture_port(&fx));
		(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_0");
		(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_1");
		fixture_done(&fx);
		answer(&vm, NULL, NULL);
		ck_assert_int_eq(vm.differ.gpu[0].cause == COMPARE_FLAT_VM, flat);
	}
	/* a GPU and an HCA below one root port of a cloud's machine: PIX */
	auto_compare_case struct compare_case near = { 0 };
	fx = (struct fixture){ .m = &near.m };
	near.m.source = TOPO_LIVE;
	near.m.vm = TOPO_YES;
	fixture_root(&fx, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t port = fixture_port(&fx);

		(void)fixture_gpu(&fx, port);
		(void)fixture_hca(&fx, port, i ? "mlx5_1" : "mlx5_0");
	}
	fixture_done(&fx);
	answer(&near, NULL, NULL);
	ck_assert_int_ne(near.differ.gpu[0].cause, COMPARE_FLAT_VM);
}
END_TEST

START_TEST(nothing_to_take)
{
	auto_compare_case struct compare_case none = { 0 }, software = { 0 };

	topo_xml("synthetic-a_pix100_phb400", &none.m);
	answer(&none, NULL, "");
	ck_assert_str_eq(line(&none, 0), "none : - [-]");
	/* NCCL would take a software device: nothing is nearest */
	topo_xml("synthetic-a_pix100_phb400", &software.m);
	for (size_t i = 0; i < software.m.n_hcas; i++)
		software.m.hca[i].kind = TOPO_HCA_SOFTWARE;
	answer(&software, NULL, NULL);
	ck_assert_uint_gt(software.nccl.gpu[0].n_channels, 0);
	ck_assert_str_eq(line(&software, 0), "none : - [-]");
}
END_TEST

static int find_it(void *arg, struct err *e)
{
	const struct compare_input *in = arg;
	auto_comparison struct comparison d = { 0 };

	return compare_with_nccl(in, &d, e);
}

START_TEST(memory_may_end_anywhere)
{
	auto_compare_case struct compare_case w = { 0 };
	struct topo_scope s = { NULL, w.hca };
	struct compare_input in = { &w.m, &s, &w.choice, &w.node, &w.opts, &w.nccl };

	next_bus(&w.m);
	answer(&w, NULL, "1 3");
	ck_assert_str_eq(alloc_fail_each(find_it, &in), "ok");
}
END_TEST

TEST_PROGRAM("differ", nothing_is_said_where_all_is_well, a_faster_far_hca_is_explained,
	     a_storage_card_is_explained, a_way_through_a_peer_is_explained,
	     hcas_that_nccl_loses_are_explained, a_flat_virtual_machine_is_explained,
	     one_gpu_takes_its_neighbours_too, a_tie_assigned_otherwise_is_explained,
	     gpudirect_off_is_explained, a_vf_that_nccl_looks_for_elsewhere,
	     more_ports_than_nccl_takes, a_setting_with_which_nccl_ends_is_no_help,
	     without_other_gpus_there_is_no_cause, vfs_that_nccl_takes_for_one, names_that_say_less,
	     a_machine_with_switches_is_not_flat, nothing_to_take, memory_may_end_anywhere)
