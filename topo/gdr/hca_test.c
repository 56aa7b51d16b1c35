/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of HCAs and of the machine; sources with less information; failing allocations. */

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/testing/gdr.h"

static struct gdr_test w;

/* ---- settings ---- */

START_TEST(settings_are_judged)
{
	struct gdr_test_config k = { .mps = 1, .mrrs = 2 };

	gdr_test_make(&w);
	gdr_test_config(&w, w.nic, k, 4096);
	ck_assert_int_eq(gdr_test_state(&w, "read-request"), FINDING_WARN);
	w.m.hca[0].port[0].rate_mbps = 100000;
	ck_assert_int_eq(gdr_test_state(&w, "read-request"), FINDING_OK);
	k.unordered = true;
	gdr_test_config(&w, w.nic, k, 4096);
	ck_assert_int_eq(gdr_test_state(&w, "relaxed-ordering"), FINDING_OK);
	w.m.vm = TOPO_YES;
	ck_assert_int_eq(gdr_test_state(&w, "relaxed-ordering"), FINDING_WARN);
	ck_assert_int_eq(gdr_test_state(&w, "payload"), FINDING_OK);
	k.mps = 0;
	gdr_test_config(&w, w.nic, k, 4096);
	ck_assert_int_eq(gdr_test_state(&w, "payload"), FINDING_WARN);
	gdr_test_config(&w, w.nic_port, k, 4096);
	ck_assert_int_eq(gdr_test_state(&w, "payload"), FINDING_WARN);
	gdr_test_config(&w, w.nic, (struct gdr_test_config){ .mps = 1, .mrrs = 5 }, 4096);
	ck_assert_int_eq(gdr_test_state(&w, "payload"), FINDING_WARN);
}
END_TEST

START_TEST(numa_and_iommu_may_be_unknown)
{
	gdr_test_make(&w);
	w.m.pci[w.nic].numa = -1;
	ck_assert_int_eq(gdr_test_state(&w, "numa"), FINDING_OK); /* the root complex knows it */
	w.m.cpu[0].numa = -1;
	ck_assert_int_eq(gdr_test_state(&w, "numa"), FINDING_UNKNOWN);
	gdr_test_file("sys/kernel/iommu_groups/7/type", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_UNKNOWN);
	gdr_test_file(gdr_test_path(&w, w.nic, "iommu_group"), NULL);
	gdr_test_file(gdr_test_path(&w, w.gpu, "iommu_group"), NULL);
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_OK); /* there is no IOMMU */
	gdr_test_file("sys/kernel/iommu_groups/7", NULL);
	gdr_test_file("sys/kernel/iommu_groups", NULL);
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_UNKNOWN);
}
END_TEST

START_TEST(links_that_lead_out_are_not_followed)
{
	gdr_test_make(&w);
	gdr_test_file("secret", "DMA\n");
	gdr_test_file("sys/kernel/iommu_groups/7/type", NULL);
	gdr_test_link("sys/kernel/iommu_groups/7/type", "/mnt/secret");
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_UNKNOWN);
	gdr_test_file("sys/kernel/iommu_groups/7/type", NULL);
	gdr_test_link("sys/kernel/iommu_groups/7/type", "../../../../secret");
	ck_assert_int_eq(gdr_test_state(&w, "iommu"), FINDING_UNKNOWN);
}
END_TEST

/* ---- ports, roles, bonds ---- */

START_TEST(a_near_port_that_is_down_is_told)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x;

	gdr_test_make(&w);
	w.m.hca[0].port[0].active = TOPO_NO;
	w.choice.n_nearest = 0;
	(void)gdr_test_look(&w, "", &f);
	x = gdr_test_find(&f, "port", 0, 0);
	ck_assert_int_eq(x->state, FINDING_WARN);
	ck_assert_ptr_nonnull(gdr_test_find(&f, "nearest", 0, TOPO_NONE));
	w.choice.n_nearest = 1;
	w.m.hca[0].port[0].active = TOPO_UNKNOWN;
	ck_assert_int_eq(gdr_test_state(&w, "port"), FINDING_UNKNOWN);
}
END_TEST

/* ---- rails ---- */

/* The finding of the first port of the HCA; the caller has cleared *all. */
static const struct finding *rail(struct findings *all, const char *id)
{
	struct err e;

	findings_clear(all);
	ck_assert_int_eq(gdr_check_rail(&w.m, &w.dirs, (struct gdr_rail){ 0, 0 }, all, &e), 0);
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->item[i].id, id) == 0)
			return &all->item[i];
	ck_abort_msg("no finding %s", id);
}

START_TEST(a_rail_far_from_gpus_has_port_and_link)
{
	auto_findings struct findings all = { 0 };

	gdr_test_make(&w);
	w.choice.n_nearest = 0;
	ck_assert_int_eq(rail(&all, "port")->state, FINDING_OK);
	ck_assert_str_eq(rail(&all, "port")->value, "ACTIVE, 200 Gbit/s");
	ck_assert_int_eq(rail(&all, "link")->state, FINDING_OK);
	w.m.pci[w.nic].cur.width = 8;
	ck_assert_int_eq(rail(&all, "link")->state, FINDING_WARN);
	w.m.pci[w.nic].cur.width = 16;
	w.m.pci[w.nic].cur.speed /= 2;
	ck_assert_int_eq(rail(&all, "link")->state, FINDING_WARN);
	w.m.pci[w.nic].cur.width = 0;
	w.m.pci[w.nic].cur.speed *= 2;
	ck_assert_int_eq(rail(&all, "link")->state, FINDING_UNKNOWN);
	ck_assert_uint_eq(all.n, 2);
}
END_TEST

START_TEST(a_port_of_a_rail_that_is_down_says_its_state)
{
	auto_findings struct findings all = { 0 };

	gdr_test_make(&w);
	w.m.hca[0].port[0].active = TOPO_NO;
	w.m.hca[0].port[0].layer = TOPO_INFINIBAND;
	ck_assert_str_eq(rail(&all, "port")->value, "the port is not ACTIVE");
	/* The file may have another state by now. */
	gdr_test_file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
	memcpy(w.m.hca[0].port[0].state, "INIT", sizeof("INIT"));
	ck_assert_str_eq(rail(&all, "port")->value, "the port is INIT");
	ck_assert_int_eq(rail(&all, "port")->state, FINDING_WARN);
	ck_assert_ptr_nonnull(strstr(rail(&all, "port")->remedy, "subnet manager"));
	w.m.hca[0].port[0].active = TOPO_UNKNOWN;
	ck_assert_int_eq(rail(&all, "port")->state, FINDING_UNKNOWN);
}
END_TEST

START_TEST(a_bonded_rail_has_the_links_of_both_functions)
{
	auto_findings struct findings all = { 0 };
	size_t slow = 0;

	gdr_test_make(&w);
	w.m.hca[0].kind = TOPO_HCA_BOND;
	w.m.hca[0].second = w.gpu;
	w.m.pci[w.gpu].cur.width = 8;
	(void)rail(&all, "link");
	ck_assert_uint_eq(all.n, 3);
	for (size_t i = 0; i < all.n; i++)
		slow += all.item[i].state == FINDING_WARN;
	ck_assert_uint_eq(slow, 1);
}
END_TEST

START_TEST(a_storage_card_is_told)
{
	gdr_test_make(&w);
	ck_assert(!gdr_test_has(&w, "role"));
	w.m.hca[0].role = TOPO_COMPUTE;
	w.m.hca[0].rule = "below the switch of a GPU";
	ck_assert_int_eq(gdr_test_state(&w, "role"), FINDING_OK);
	w.m.hca[0].role = TOPO_STORAGE;
	ck_assert_int_eq(gdr_test_state(&w, "role"), FINDING_WARN);
}
END_TEST

START_TEST(a_bond_of_far_cards_is_told)
{
	gdr_test_make(&w);
	w.m.hca[0].kind = TOPO_HCA_BOND;
	w.m.hca[0].second = w.nic;
	ck_assert_int_eq(gdr_test_state(&w, "bond"), FINDING_OK);
	w.m.hca[0].second = w.gpu;
	ck_assert_int_eq(gdr_test_state(&w, "bond"), FINDING_WARN);
}
END_TEST

/* ---- VFs ---- */

/* The HCA is VF of a function at that address; TOPO_NONE of a PF that is not seen. */
static void make_vf(const char *pf)
{
	struct pci_addr a;
	struct err e;
	uint32_t i = TOPO_NONE;

	if (pf) {
		ck_assert_int_eq(pci_parse(pf, &a), 0);
		ck_assert_int_eq(topo_add_pci(&w.m, a, &i, &e), 0);
		w.m.pci[i].parent = w.nic_port;
		w.m.pci[i].root = 0;
		w.m.pci[i].max = w.m.pci[i].cur = (struct topo_pcie_link){ 120, 16 };
		gdr_test_config(&w, i, (struct gdr_test_config){ .mps = 1, .mrrs = 2 }, 4096);
	}
	w.m.pci[w.nic].is_vf = true;
	w.m.pci[w.nic].physfn = i;
	w.m.hca[0].kind = TOPO_HCA_VF;
}

START_TEST(nccl_finds_a_vf_at_its_pf)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.pci[w.nic].addr.dev = 2;
	make_vf("0000:24:00.1");
	gdr_test_config(&w, w.nic, (struct gdr_test_config){ .mps = 1, .mrrs = 5 }, 4096);
	gdr_test_link(gdr_test_path(&w, w.nic, "iommu_group"), "../../../../kernel/iommu_groups/7");
	ck_assert_int_eq(gdr_test_look(&w, "vf", &f)->state, FINDING_OK);
	/* The PF's word counts. */
	ck_assert_int_eq(gdr_test_look(NULL, "read-request", &f)->state, FINDING_WARN);
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_WARN);
}
END_TEST

START_TEST(nccl_does_not_find_a_vf_on_another_bus)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x;

	gdr_test_make(&w);
	make_vf("0000:23:00.1");
	x = gdr_test_look(&w, "vf", &f);
	ck_assert_int_eq(x->state, FINDING_WARN);
	ck_assert_str_eq(x->remedy, "set NCCL_IB_MERGE_VFS=0");
}
END_TEST

START_TEST(without_the_pf_its_settings_are_unknown)
{
	gdr_test_make(&w);
	make_vf(NULL);
	ck_assert_int_eq(gdr_test_state(&w, "vf"), FINDING_WARN);
	ck_assert_int_eq(gdr_test_state(&w, "read-request"), FINDING_UNKNOWN);
	w.m.hca[0].kind = TOPO_HCA_SF;
	ck_assert_int_eq(gdr_test_state(&w, "sf"), FINDING_WARN);
}
END_TEST

START_TEST(pf_and_vf_together_are_taken_for_one_card)
{
	struct err e;
	uint32_t h;

	gdr_test_make(&w);
	make_vf("0000:24:00.1");
	ck_assert_int_eq(topo_add_hca(&w.m, "mlx5_1", &h, &e), 0);
	w.m.hca[h].pci = w.m.pci[w.nic].physfn;
	w.nearest[1] = h;
	w.choice.n_nearest = 2;
	ck_assert_int_eq(gdr_test_state(&w, "vf"), FINDING_WARN);
}
END_TEST

START_TEST(data_direct_is_seen)
{
	struct err e;
	uint32_t i;

	gdr_test_make(&w);
	ck_assert(!gdr_test_has(&w, "data-direct"));
	ck_assert_int_eq(topo_add_pci(&w.m, (struct pci_addr){ .bus = 0x23, .fn = 1 }, &i, &e), 0);
	w.m.pci[i].parent = w.gpu_port;
	w.m.pci[i].root = 0;
	w.m.pci[i].vendor = 0x15b3;
	w.m.pci[i].class_code = 0x080100;
	w.m.pci[i].has_ids = w.m.pci[i].has_class = true;
	w.m.pci[w.nic].parent = TOPO_NONE;
	ck_assert(!gdr_test_has(&w, "data-direct"));
	ck_assert_int_eq(gdr_test_state(&w, "distance"), FINDING_WARN);
	w.m.hca[0].direct = i;
	ck_assert_int_eq(gdr_test_state(&w, "data-direct"), FINDING_OK);
	/* the pair is probable only */
	ck_assert_int_eq(gdr_test_state(&w, "distance"), FINDING_UNKNOWN);
	ck_assert_uint_eq(topo_set_direct(&w.m, w.m.hca[0].name, i), 1);
	ck_assert_int_eq(gdr_test_state(&w, "distance"), FINDING_OK);
	w.m.hca[0].direct_proved = false;
	w.m.gpu[0].c2c_mbps = 40000;
	w.m.gpu[0].c2c_count = 10;
	w.m.gpu[0].c2c_from = "device";
	ck_assert_int_eq(gdr_test_state(&w, "distance"), FINDING_OK);
}
END_TEST

/* ---- the machine ---- */

START_TEST(a_virtual_machine_is_reported)
{
	gdr_test_make(&w);
	w.m.vm = TOPO_YES;
	ck_assert_int_eq(gdr_test_state(&w, "vm"), FINDING_UNKNOWN);
	ck_assert(!gdr_test_has(&w, "vm-tree"));
	w.m.pci[w.gpu].parent = w.root_port;
	w.m.pci[w.nic].parent = TOPO_NONE;
	ck_assert_int_eq(gdr_test_state(&w, "vm-tree"), FINDING_WARN);
	w.m.pci[w.nic].parent = w.root_port;
	ck_assert(!gdr_test_has(&w, "vm-tree"));
	w.m.vm = TOPO_UNKNOWN;
	ck_assert_int_eq(gdr_test_state(&w, "vm"), FINDING_UNKNOWN);
}
END_TEST

START_TEST(more_ports_than_nccl_opens_are_reported)
{
	struct topo_port many[33], *own;

	gdr_test_make(&w);
	for (size_t i = 0; i < 33; i++)
		many[i] = w.m.hca[0].port[0];
	own = w.m.hca[0].port;
	w.m.hca[0].port = many;
	w.m.hca[0].n_ports = 32;
	ck_assert(!gdr_test_has(&w, "many"));
	w.m.hca[0].n_ports = 33;
	ck_assert_int_eq(gdr_test_state(&w, "many"), FINDING_WARN);
	many[7].active = TOPO_NO;
	ck_assert(!gdr_test_has(&w, "many"));
	w.m.hca[0].port = own;
	w.m.hca[0].n_ports = 1;
}
END_TEST

START_TEST(the_command_line_is_read)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	ck_assert(!gdr_test_has(&w, "acs-kernel"));
	gdr_test_file(
		"proc/cmdline",
		"quiet pci=disable_acs_redir=0000:22:00.0 iommu=pt pci=config_acs=00@pci:0:0\n");
	ck_assert_str_eq(gdr_test_look(&w, "acs-kernel", &f)->value,
			 "pci=disable_acs_redir=0000:22:00.0 pci=config_acs=00@pci:0:0");
}
END_TEST

START_TEST(a_topology_file_leaves_settings_unknown)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.source = TOPO_NCCL_XML;
	ck_assert_int_eq(gdr_test_look(&w, "file", &f)->state, FINDING_UNKNOWN);
	ck_assert_ptr_null(gdr_test_find(&f, "acs", TOPO_NONE, TOPO_NONE));
	ck_assert_int_eq(gdr_test_look(NULL, "distance", &f)->state, FINDING_OK);
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_UNKNOWN);
}
END_TEST

START_TEST(an_empty_tree_is_unknown_and_never_ok)
{
	static const char *const sure[] = { "distance", "link", "numa", "port", "vm" };
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.dirs = (struct topo_tree_dirs){ .sysfs = "/mnt/none", .proc = "/mnt/none" };
	w.m.source = TOPO_CAPTURE;
	(void)gdr_test_look(&w, "", &f);
	for (size_t i = 0; i < f.all.n; i++) {
		bool from_machine = false;

		for (size_t j = 0; j < ARRAY_SIZE(sure); j++)
			from_machine |= !strcmp(f.all.item[i].id, sure[j]);
		ck_assert_msg((f.all.item[i].state == FINDING_OK) == from_machine, "%s is %s",
			      f.all.item[i].id, finding_state_name(f.all.item[i].state));
	}
}
END_TEST

START_TEST(without_a_gpu_there_are_no_findings)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.m.n_gpus = 0;
	w.c.n_gpus = 0;
	(void)gdr_test_look(&w, "", &f);
	ck_assert_uint_eq(f.all.n, 0);
	ck_assert_int_eq(gdr_worst(&f, TOPO_NONE), FINDING_OK);
	w.m.n_gpus = 1;
}
END_TEST

START_TEST(what_is_out_of_scope_is_not_looked_at)
{
	bool gpu[1] = { false }, hca[1] = { false };
	struct topo_scope scope = { .hca = hca };
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.dirs.scope = &scope;
	w.m.hca[0].port[0].active = TOPO_NO;
	w.choice.n_nearest = 0;
	ck_assert(!gdr_test_has(&w, "port"));
	ck_assert(gdr_test_has(&w, "nearest"));
	scope.gpu = gpu;
	(void)gdr_test_look(&w, "", &f);
	ck_assert_ptr_null(gdr_test_find(&f, "nearest", 0, TOPO_NONE));
	ck_assert_ptr_null(gdr_test_find(&f, "peermem", TOPO_NONE, TOPO_NONE));
	ck_assert_int_eq(gdr_worst(&f, 0), FINDING_OK);
}
END_TEST

START_TEST(neighbours_that_are_seen_are_named)
{
	bool hca[1] = { true };
	struct topo_scope scope = { .hca = hca };
	auto_gdr_findings struct gdr_findings f = { 0 };

	gdr_test_make(&w);
	w.dirs.scope = &scope;
	w.dirs.others_seen = true;
	ck_assert(!gdr_test_has(&w, "neighbours"));
	hca[0] = false;
	w.choice.n_nearest = 0;
	ck_assert_str_eq(gdr_test_look(&w, "neighbours", &f)->value, "mlx5_0");
	w.dirs.others_seen = false;
	ck_assert(!gdr_test_has(&w, "neighbours"));
}
END_TEST

static int ask(void *arg, struct err *e)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	(void)arg;
	return gdr_check(&w.m, &w.c, &w.dirs, &f, e);
}

static int ask_rail(void *arg, struct err *e)
{
	auto_findings struct findings all = { 0 };

	(void)arg;
	return gdr_check_rail(&w.m, &w.dirs, (struct gdr_rail){ 0, 0 }, &all, e);
}

START_TEST(memory_may_end_anywhere)
{
	gdr_test_make(&w);
	make_vf("0000:24:00.1");
	ck_assert_str_eq(alloc_fail_each(ask, NULL), "ok");
	w.m.gpu[0].vendor = TOPO_AMD;
	ck_assert_str_eq(alloc_fail_each(ask, NULL), "ok");
	w.m.hca[0].port[0].active = TOPO_NO;
	ck_assert_str_eq(alloc_fail_each(ask_rail, NULL), "ok");
}
END_TEST

TEST_PROGRAM("gdr_hca", settings_are_judged, numa_and_iommu_may_be_unknown,
	     links_that_lead_out_are_not_followed, a_near_port_that_is_down_is_told,
	     a_rail_far_from_gpus_has_port_and_link, a_port_of_a_rail_that_is_down_says_its_state,
	     a_bonded_rail_has_the_links_of_both_functions, a_storage_card_is_told,
	     a_bond_of_far_cards_is_told, nccl_finds_a_vf_at_its_pf,
	     nccl_does_not_find_a_vf_on_another_bus, without_the_pf_its_settings_are_unknown,
	     pf_and_vf_together_are_taken_for_one_card, data_direct_is_seen,
	     a_virtual_machine_is_reported, more_ports_than_nccl_opens_are_reported,
	     the_command_line_is_read, a_topology_file_leaves_settings_unknown,
	     an_empty_tree_is_unknown_and_never_ok, without_a_gpu_there_are_no_findings,
	     what_is_out_of_scope_is_not_looked_at, neighbours_that_are_seen_are_named,
	     memory_may_end_anywhere)
