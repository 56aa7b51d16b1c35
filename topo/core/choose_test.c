// SPDX-License-Identifier: Apache-2.0
/*
 * Nearest HCAs, assignment and rails, on published computers and on machines built for one rule
 * each.
 */
#include "topo/core/choose.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

#define TEXT 16384

static void choose(const struct topo_machine *m, const struct topo_scope *s, struct topo_choice *c)
{
	struct err e = { 0 };

	if (topo_choose(m, s, c, &e))
		ck_abort_msg("%s", e.msg);
}

static void tell(const struct topo_machine *m, const char *what, const uint32_t *hca, size_t n,
		 char *out)
{
	testing_append(out, TEXT, what);
	for (size_t i = 0; i < n; i++) {
		testing_append(out, TEXT, i ? "," : "");
		testing_append(out, TEXT, m->hca[hca[i]].name);
	}
}

/* "nearest assigned | share, own": what one GPU gets. */
static const char *told(const struct topo_machine *m, const struct topo_choice *c, uint32_t gpu)
{
	static char out[TEXT];
	const struct topo_gpu_choice *g = &c->gpu[gpu];
	char own[16];

	*out = '\0';
	tell(m, "", g->nearest, g->n_nearest, out);
	tell(m, " > ", &g->assigned, g->assigned != TOPO_NONE, out);
	tell(m, " | ", g->share, g->n_share, out);
	(void)snprintf(own, sizeof(own), " own %zu", g->n_own);
	testing_append(out, TEXT, own);
	return out;
}

static const char *whole(const char *xml, uint32_t gpu)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };

	topo_xml(xml, &m);
	topo_roles(&m, NULL);
	choose(&m, NULL, &c);
	return told(&m, &c, gpu);
}

/* ---- real machines ---- */

START_TEST(hcas_of_a_dgx_a100_are_chosen)
{
	ck_assert_str_eq(whole("dgx-a100", 0), "mlx5_0,mlx5_1 > mlx5_0 | mlx5_0 own 1");
	ck_assert_str_eq(whole("dgx-a100", 1), "mlx5_0,mlx5_1 > mlx5_1 | mlx5_1 own 1");
	ck_assert_str_eq(whole("dgx-a100", 6), "mlx5_8,mlx5_9 > mlx5_8 | mlx5_8 own 1");
	ck_assert_str_eq(whole("dgx-a100", 7), "mlx5_8,mlx5_9 > mlx5_9 | mlx5_9 own 1");
}
END_TEST

/* What a reader of bridges alone would say: that the collapsing matters is seen here. */
START_TEST(without_collapsing_half_of_the_hcas_are_nobodys)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };

	topo_xml("dgx-a100", &m);
	for (uint32_t i = 0; i < m.n_pci; i++) {
		if (m.pci[i].chip != TOPO_NONE)
			m.pci[i].chip = i;
	}
	choose(&m, NULL, &c);
	ck_assert_str_eq(told(&m, &c, 1), "mlx5_0 > mlx5_0 | mlx5_0 own 1");
	ck_assert_str_ne(told(&m, &c, 0), "mlx5_0,mlx5_1 > mlx5_0 | mlx5_0 own 1");
}
END_TEST

START_TEST(hcas_of_other_machines_are_chosen)
{
	ck_assert_str_eq(whole("oci-bm-gpu-h100", 1),
			 "mlx5_3,mlx5_4 > mlx5_3 | mlx5_3,mlx5_4 own 2");
	ck_assert_str_eq(whole("aws-p4d", 2), "net1 > net1 | net1 own 0");
	ck_assert_str_eq(whole("aws-p4d", 3), "net1 > net1 | net1 own 0");
	ck_assert_str_eq(whole("azure-nd-a100-v4", 5), "net4,net5 > net5 | net5 own 1");
	ck_assert_str_eq(whole("rccl-topo_8p_950", 7), "bnxt_re7 > bnxt_re7 | bnxt_re7 own 1");
	ck_assert_str_eq(whole("synthetic-a_pix100_phb400", 0),
			 "near100 > near100 | near100 own 1");
	ck_assert_str_eq(whole("synthetic-c_flat_vm_8x8_numa-1", 3),
			 "mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_5,mlx5_6,mlx5_7 > mlx5_3 | "
			 "mlx5_3 own 1");
	ck_assert_str_eq(whole("synthetic-e_1switch_3gpu_4nic", 2),
			 "mlx5_0,mlx5_1,mlx5_2,mlx5_3 > mlx5_2 | mlx5_2,mlx5_3 own 1");
	/* alone it is assigned all that is nearest */
	ck_assert_str_eq(whole("synthetic-j_dgxa100_only_gpu1", 0),
			 "mlx5_0,mlx5_1 > mlx5_0 | mlx5_0,mlx5_1 own 2");
}
END_TEST

START_TEST(rails_are_numbered)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };

	topo_xml("oci-bm-gpu-h100", &m);
	choose(&m, NULL, &c);
	ck_assert_uint_eq(c.n_rails, 8);
	for (uint32_t i = 0; i < m.n_hcas; i++)
		ck_assert_uint_eq(c.rail[i], i / 2);
}
END_TEST

/* ---- assigning ---- */

/* GPUs and one-port cards on one switch. */
static void one_switch(struct topo_machine *m, uint32_t gpus, uint32_t hcas)
{
	struct fixture fx = { .m = m };
	char name[TOPO_NAME_LEN];

	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	for (uint32_t i = 0; i < gpus; i++)
		(void)fixture_gpu(&fx, fixture_down(&fx, up));
	for (uint32_t i = 0; i < hcas; i++) {
		(void)snprintf(name, sizeof(name), "mlx5_%u", i);
		(void)fixture_hca(&fx, fixture_down(&fx, up), name);
	}
	fixture_done(&fx);
}

/* Nothing idle, nobody better off by more than what cannot be divided. */
static const char *unfair(const struct topo_choice *c, uint32_t gpus, uint32_t hcas)
{
	uint32_t taken[8] = { 0 }, assigned[8] = { 0 };
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t g = 0; g < gpus; g++) {
		const struct topo_gpu_choice *x = &c->gpu[g];
		if (x->assigned != x->share[0])
			return "the assigned one is not first";
		assigned[x->assigned]++;
		for (size_t i = 0; i < x->n_share; i++)
			taken[x->share[i]]++;
		if (hcas >= gpus && x->n_own != hcas / gpus)
			return "not as many to each as can be";
		for (size_t i = 0; i < x->n_own; i++) {
			for (uint32_t o = 0; o < gpus; o++)
				for (size_t k = 0; o != g && k < c->gpu[o].n_share; k++)
					if (c->gpu[o].share[k] == x->share[i])
						return "its own is another's too";
		}
	}
	for (uint32_t h = 0; h < hcas; h++) {
		if (!taken[h])
			return "one is idle";
		least = assigned[h] < least ? assigned[h] : least;
		most = assigned[h] > most ? assigned[h] : most;
	}
	return most - least > 1 ? "uneven" : NULL;
}

START_TEST(hcas_are_assigned_fairly)
{
	for (uint32_t gpus = 1; gpus <= 8; gpus++) {
		for (uint32_t hcas = 1; hcas <= 8; hcas++) {
			auto_topo_machine struct topo_machine m = { 0 };
			auto_topo_choice struct topo_choice c = { 0 };
			one_switch(&m, gpus, hcas);
			choose(&m, NULL, &c);
			const char *bad = unfair(&c, gpus, hcas);
			ck_assert_msg(!bad, "%u GPUs, %u HCAs: %s", gpus, hcas, bad ? bad : "");
		}
	}
}
END_TEST

/* Cards of two ports: ports are assigned only where cards do not suffice. */
static const char *dual_cards(uint32_t gpus, uint32_t cards, uint32_t gpu)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	struct fixture fx = { .m = &m };

	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	for (uint32_t i = 0; i < gpus; i++)
		(void)fixture_gpu(&fx, fixture_down(&fx, up));
	for (uint32_t i = 0; i < cards; i++) {
		char name[2][TOPO_NAME_LEN];
		(void)snprintf(name[0], sizeof(name[0]), "%up0", i);
		(void)snprintf(name[1], sizeof(name[1]), "%up1", i);
		(void)fixture_hca_fn(&fx, fixture_hca(&fx, fixture_down(&fx, up), name[0]), 1,
				     name[1]);
	}
	fixture_done(&fx);
	choose(&m, NULL, &c);
	ck_assert_uint_eq(c.n_rails, cards);
	return strchr(told(&m, &c, gpu), '>') + 2;
}

START_TEST(two_ports_of_one_card_count_as_one)
{
	ck_assert_str_eq(dual_cards(2, 2, 0), "0p0 | 0p0,0p1 own 2");
	ck_assert_str_eq(dual_cards(2, 2, 1), "1p0 | 1p0,1p1 own 2");
	ck_assert_str_eq(dual_cards(2, 1, 0), "0p0 | 0p0 own 0");
	ck_assert_str_eq(dual_cards(2, 1, 1), "0p1 | 0p1 own 0");
	ck_assert_str_eq(dual_cards(3, 1, 2), "0p0 | 0p0 own 0");
	/* three GPUs on two cards: neighbours have one card */
	ck_assert_str_eq(dual_cards(3, 2, 0), "0p0 | 0p0 own 0");
	ck_assert_str_eq(dual_cards(3, 2, 1), "0p1 | 0p1 own 0");
	ck_assert_str_eq(dual_cards(3, 2, 2), "1p0 | 1p0,1p1 own 2");
	ck_assert_str_eq(dual_cards(2, 3, 1), "1p0 | 1p0,1p1,2p0,2p1 own 2");
}
END_TEST

/* One GPU has but one choice; the other, which could take that too, leaves it alone. */
START_TEST(a_gpu_with_another_choice_leaves_the_hca_to_its_neighbour)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	struct fixture fx = { .m = &m };

	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_hca(&fx, fixture_down(&fx, up), "a");
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	(void)fixture_hca(&fx, fixture_slot(&fx, fixture_port(&fx), &fixture_plain), "b");
	fixture_done(&fx);
	choose(&m, NULL, &c);
	ck_assert_str_eq(told(&m, &c, 0), "a,b > b | b own 1");
	ck_assert_str_eq(told(&m, &c, 1), "a > a | a own 1");
}
END_TEST

/* ---- candidates ---- */

START_TEST(virtual_functions)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct fixture fx = { .m = &m };
	auto_topo_choice struct topo_choice c = { 0 }, pod = { 0 };

	fixture_root(&fx, 0);
	uint32_t up = fixture_switch(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, fixture_down(&fx, up));
	uint32_t pf = fixture_hca(&fx, fixture_down(&fx, up), "pf");
	(void)fixture_vf(&fx, pf, 0, "v0");
	(void)fixture_vf(&fx, pf, 1, "v1");
	(void)fixture_vf(&fx, pf, 2, NULL);
	uint32_t sf = fixture_hca_fn(&fx, pf, 0, "sf");
	m.hca[sf].kind = TOPO_HCA_SF;
	m.hca[sf].pci = m.hca[pf].pci;
	fixture_done(&fx);
	for (uint32_t i = 0; i < m.n_hcas; i++)
		ck_assert_uint_eq(m.hca[i].card, m.hca[pf].card);
	choose(&m, NULL, &c);
	ck_assert_str_eq(told(&m, &c, 0), "pf > pf | pf own 1");
	ck_assert(c.n_rails == 1 && c.rail[topo_find_hca(&m, "v1")] == 0);
	/* in the pod the PF is not to be had */
	bool in[4];
	for (uint32_t i = 0; i < 4; i++)
		in[i] = m.hca[i].kind == TOPO_HCA_VF;
	choose(&m, &(struct topo_scope){ .hca = in }, &pod);
	ck_assert_str_eq(told(&m, &pod, 0), "v0,v1 > v0 | v0,v1 own 2");
	ck_assert_uint_eq(pod.rail[topo_find_hca(&m, "pf")], TOPO_NONE);
}
END_TEST

START_TEST(a_bond_stands_for_both_its_functions)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	struct fixture fx = { .m = &m };

	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	uint32_t bond = fixture_hca(&fx, fixture_port(&fx), "bond");
	uint32_t second = fixture_hca_fn(&fx, bond, 1, "second");
	(void)fixture_vf(&fx, second, 0, "vf");
	m.hca[bond].kind = TOPO_HCA_BOND;
	m.hca[bond].second = m.hca[second].pci;
	m.hca[second].port[0].active = TOPO_NO;
	fixture_done(&fx);
	choose(&m, NULL, &c);
	ck_assert_str_eq(told(&m, &c, 0), "bond > bond | bond own 1");
}
END_TEST

START_TEST(only_usable_hcas_are_assigned)
{
	struct topo_port port[2] = { { .active = TOPO_NO }, { .active = TOPO_NO } };
	struct topo_hca h = { .port = port, .n_ports = 2 };

	ck_assert(!topo_usable(&h));
	port[1].active = TOPO_UNKNOWN;
	ck_assert(topo_usable(&h));
	port[1].active = TOPO_YES;
	ck_assert(topo_usable(&h));
	h.kind = TOPO_HCA_SOFTWARE;
	ck_assert(!topo_usable(&h));
	h = (struct topo_hca){ 0 };
	ck_assert(topo_usable(&h));
}
END_TEST

START_TEST(storage_hcas_are_chosen_only_without_others)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 }, all = { 0 };

	one_switch(&m, 1, 3);
	m.hca[0].role = TOPO_STORAGE;
	m.hca[1].role = TOPO_MANAGEMENT;
	choose(&m, NULL, &c);
	ck_assert_str_eq(told(&m, &c, 0), "mlx5_2 > mlx5_2 | mlx5_2 own 1");
	ck_assert(c.rail[0] == TOPO_NONE && c.rail[2] == 0 && c.n_rails == 1);
	m.hca[2].port[0].active = TOPO_NO;
	choose(&m, NULL, &all);
	ck_assert_str_eq(told(&m, &all, 0), "mlx5_0,mlx5_1 > mlx5_0 | mlx5_0,mlx5_1 own 2");
}
END_TEST

static const char *none(struct topo_machine *m, const struct topo_scope *s)
{
	auto_topo_choice struct topo_choice c = { 0 };

	choose(m, s, &c);
	ck_assert(c.gpu[0].n_nearest == 0 && c.gpu[0].assigned == TOPO_NONE);
	ck_assert(c.gpu[0].n_share == 0 && c.gpu[0].n_own == 0);
	return c.gpu[0].why_none ? c.gpu[0].why_none : "";
}

START_TEST(the_reason_for_no_hca_is_given)
{
	auto_topo_machine struct topo_machine m = { 0 }, empty = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	const bool no[1] = { false };

	one_switch(&m, 1, 1);
	ck_assert_str_eq(none(&m, &(struct topo_scope){ .hca = no }), "there is no RDMA device");
	ck_assert_str_eq(none(&m, &(struct topo_scope){ .gpu = no }),
			 "it is not one of the GPUs asked for");
	m.hca[0].port[0].active = TOPO_NO;
	ck_assert_str_eq(none(&m, NULL), "no RDMA device has an active port");
	m.hca[0].kind = TOPO_HCA_SOFTWARE;
	ck_assert_str_eq(none(&m, NULL), "there are only RDMA devices in software");
	m.hca[0].kind = TOPO_HCA_PF;
	m.hca[0].port[0].active = TOPO_YES;
	m.gpu[0].on_package = true;
	ck_assert_ptr_nonnull(strstr(none(&m, NULL), "own package"));
	choose(&m, NULL, &c);
	ck_assert_uint_eq(c.n_rails, 1);
	topo_choice_clear(&c);
	/* its own ports are no rail */
	m.hca[0].pci = m.gpu[0].pci;
	choose(&m, NULL, &c);
	ck_assert(c.n_rails == 0 && c.rail[0] == TOPO_NONE);
	topo_choice_clear(&c);
	m.gpu[0].on_package = false;
	m.hca[0].pci = TOPO_NONE;
	ck_assert_str_eq(none(&m, NULL), "the place of the RDMA devices is not known");
	choose(&empty, NULL, &c);
	ck_assert(c.n_gpus == 0 && c.n_hcas == 0 && c.n_rails == 0);
}
END_TEST

START_TEST(rails_without_a_gpu)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };

	one_switch(&m, 0, 3);
	m.hca[1].port[0].active = TOPO_NO;
	choose(&m, NULL, &c);
	ck_assert(c.n_rails == 2 && c.rail[0] == 0 && c.rail[1] == TOPO_NONE && c.rail[2] == 1);
}
END_TEST

/* ---- whatever the order ---- */

static uint32_t dice(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (uint32_t)(((uint64_t)*seed * n) >> 32);
}

#define SHUFFLE(array, n, seed)                                                                    \
	for (size_t i_ = (n); i_ > 1; i_--) {                                                      \
		size_t k_ = dice(&(seed), (uint32_t)i_);                                           \
		__typeof__(*(array)) x_ = (array)[i_ - 1];                                         \
		(array)[i_ - 1] = (array)[k_];                                                     \
		(array)[k_] = x_;                                                                  \
	}

/* All of a choice by names and addresses, in the order of addresses. */
static void told_all(const struct topo_machine *m, const struct topo_choice *c, char *out)
{
	char at[PCI_STR_LEN], rail[PCI_STR_LEN + TOPO_NAME_LEN + 16];

	*out = '\0';
	for (uint32_t bus = 0; bus < 256; bus++) {
		for (uint32_t g = 0; g < m->n_gpus; g++) {
			if (m->pci[m->gpu[g].pci].addr.bus != bus)
				continue;
			testing_append(out, TEXT, pci_format(m->pci[m->gpu[g].pci].addr, at));
			testing_append(out, TEXT, ": ");
			testing_append(out, TEXT, told(m, c, g));
			testing_append(out, TEXT, "\n");
		}
		for (uint32_t h = 0; h < m->n_hcas; h++) {
			if (m->pci[m->hca[h].pci].addr.bus != bus || m->pci[m->hca[h].pci].addr.fn)
				continue;
			(void)snprintf(rail, sizeof(rail), "%s rail %d\n", m->hca[h].name,
				       (int)c->rail[h]);
			testing_append(out, TEXT, rail);
		}
	}
}

START_TEST(the_order_of_records_changes_nothing)
{
	static char before[TEXT], after[TEXT];
	auto_topo_machine struct topo_machine m = { 0 };
	auto_topo_choice struct topo_choice c = { 0 };
	uint32_t seed = 5;

	fixture_dgx_a100(&m);
	choose(&m, NULL, &c);
	told_all(&m, &c, before);
	for (int round = 0; round < 50; round++) {
		auto_topo_choice struct topo_choice again = { 0 };
		uint32_t card[16];
		SHUFFLE(m.gpu, m.n_gpus, seed);
		for (uint32_t i = 0; i < m.n_hcas; i++)
			m.hca[i].card = m.hca[m.hca[i].card].pci; /* by what does not move */
		SHUFFLE(m.hca, m.n_hcas, seed);
		for (uint32_t i = 0; i < m.n_hcas; i++)
			for (card[i] = 0; m.hca[card[i]].pci != m.hca[i].card;)
				card[i]++;
		for (uint32_t i = 0; i < m.n_hcas; i++)
			m.hca[i].card = card[i];
		choose(&m, NULL, &again);
		told_all(&m, &again, after);
		ck_assert_str_eq(after, before);
	}
}
END_TEST

static int choose_once(void *m, struct err *e)
{
	auto_topo_choice struct topo_choice c = { 0 };

	return topo_choose(m, NULL, &c, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	auto_topo_machine struct topo_machine m = { 0 };

	fixture_dgx_a100(&m);
	ck_assert_str_eq(alloc_fail_each(choose_once, &m), "ok");
}
END_TEST

TEST_PROGRAM("choose", hcas_of_a_dgx_a100_are_chosen,
	     without_collapsing_half_of_the_hcas_are_nobodys, hcas_of_other_machines_are_chosen,
	     rails_are_numbered, hcas_are_assigned_fairly, two_ports_of_one_card_count_as_one,
	     a_gpu_with_another_choice_leaves_the_hca_to_its_neighbour, virtual_functions,
	     a_bond_stands_for_both_its_functions, only_usable_hcas_are_assigned,
	     storage_hcas_are_chosen_only_without_others, the_reason_for_no_hca_is_given,
	     rails_without_a_gpu, the_order_of_records_changes_nothing,
	     each_failing_allocation_is_an_error)
