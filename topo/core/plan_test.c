// SPDX-License-Identifier: Apache-2.0
/* Plans for pods: which VFs they get, which cards stay unused, and why a plan is refused. */
#include "topo/core/plan.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

#define TEXT 4096

struct plan_case {
	struct topo_machine m;
	struct topo_choice c;
	struct topo_plan plan;
	struct topo_plan_request request;
	const struct topo_scope *scope;
	struct err e;
};

static void plan_case_clear(struct plan_case *d)
{
	topo_plan_clear(&d->plan);
	topo_choice_clear(&d->c);
	topo_machine_clear(&d->m);
}
#define auto_plan_case auto_clean(plan_case_clear)

static int plan(struct plan_case *d, uint32_t pods, uint32_t each)
{
	topo_choice_clear(&d->c);
	topo_plan_clear(&d->plan);
	d->request.pods = pods;
	d->request.gpus_per_pod = each;
	d->request.scope = d->scope;
	ck_assert_int_eq(topo_choose(&d->m, d->scope, &d->c, &d->e), 0);
	return topo_plan_make(&d->m, &d->c, &d->request, &d->plan, &d->e);
}

/* "gpu:hca[=vf] ..." of one pod, GPUs by number, VFs by address without the domain. */
static const char *pod(const struct plan_case *d, size_t n)
{
	static char out[TEXT];
	char one[2 * TOPO_NAME_LEN], vf[PCI_STR_LEN];

	*out = '\0';
	for (size_t i = 0; i < d->plan.pod[n].n_items; i++) {
		const struct topo_plan_item *x = &d->plan.pod[n].item[i];
		ck_assert_uint_eq(x->rail, d->c.rail[x->hca]);
		(void)snprintf(one, sizeof(one), "%s%u:%s%s%s", i ? " " : "", x->gpu,
			       d->m.hca[x->hca].name, x->vf == TOPO_NONE ? "" : "=",
			       x->vf == TOPO_NONE ? "" : pci_format(d->m.pci[x->vf].addr, vf) + 5);
		testing_append(out, TEXT, one);
	}
	return out;
}

static void refused(struct plan_case *d, uint32_t pods, uint32_t each, enum err_code code,
		    const char *what)
{
	ck_assert_int_eq(plan(d, pods, each), -1);
	ck_assert_int_eq(d->e.code, code);
	ck_assert_msg(strstr(d->e.msg, what) != NULL, "%s", d->e.msg);
	d->e = (struct err){ 0 };
}

/* Give each HCA n VFs. */
static void add_vfs(struct topo_machine *m, uint8_t n)
{
	struct fixture fx = { .m = m };
	size_t hcas = m->n_hcas;

	for (uint32_t h = 0; h < hcas; h++) {
		for (uint8_t i = 0; i < n; i++)
			(void)fixture_vf(&fx, h, i, NULL);
	}
}

START_TEST(pods_with_one_gpu_each)
{
	auto_plan_case struct plan_case d = { 0 };

	fixture_dgx_a100(&d.m);
	add_vfs(&d.m, 4);
	ck_assert_int_eq(plan(&d, 8, 1), 0);
	ck_assert_uint_eq(d.plan.n_pods, 8);
	ck_assert_uint_eq(d.plan.n_notes, 0);
	for (uint32_t i = 0; i < 8; i++) {
		const struct topo_plan_pod *p = &d.plan.pod[i];
		ck_assert(p->n_gpus == 1 && p->gpu[0] == i && p->n_items == 1);
		ck_assert(p->item[0].hca == i && p->item[0].rail == i);
		ck_assert_uint_eq(d.m.pci[p->item[0].vf].physfn, d.m.hca[i].pci);
		ck_assert(d.m.pci[p->item[0].vf].addr.dev == 1 &&
			  p->item[0].distance.class == TOPO_PXB);
		ck_assert_uint_eq(p->item[0].distance.switches, 2);
	}
}
END_TEST

static void set_layers(struct topo_machine *m, uint32_t first, enum topo_layer layer)
{
	for (uint32_t h = first; h < m->n_hcas; h++)
		m->hca[h].port[0].layer = layer;
}

START_TEST(VFs_of_InfiniBand_are_planned_as_others_are)
{
	auto_plan_case struct plan_case d = { 0 };
	char roce[TEXT];

	fixture_dgx_a100(&d.m);
	add_vfs(&d.m, 4);
	set_layers(&d.m, 0, TOPO_ETHERNET);
	ck_assert_int_eq(plan(&d, 4, 2), 0);
	(void)strcpy(roce, pod(&d, 3));
	set_layers(&d.m, 0, TOPO_INFINIBAND);
	ck_assert_int_eq(plan(&d, 4, 2), 0);
	ck_assert_str_eq(pod(&d, 3), roce);
	ck_assert_ptr_nonnull(strchr(roce, '='));
	ck_assert_uint_eq(d.plan.n_notes, 0);
	/* A machine with both, and a pod that gets both. */
	set_layers(&d.m, 7, TOPO_ETHERNET);
	ck_assert_int_eq(plan(&d, 4, 2), 0);
	ck_assert_uint_eq(d.plan.n_notes, 1);
	ck_assert_str_eq(
		d.plan.note[0],
		"pod 3 has InfiniBand and Ethernet, which NCCL does not connect: leave one "
		"out with --hcas");
}
END_TEST

START_TEST(pods_with_several_gpus_each)
{
	auto_plan_case struct plan_case d = { 0 };

	topo_xml("oci-bm-gpu-h100", &d.m);
	ck_assert_int_eq(plan(&d, 2, 2), 0);
	ck_assert_str_eq(pod(&d, 0), "0:mlx5_0 0:mlx5_1 1:mlx5_3 1:mlx5_4");
	ck_assert_str_eq(pod(&d, 1), "2:mlx5_5 2:mlx5_6 3:mlx5_7 3:mlx5_8");
	ck_assert_uint_eq(d.plan.pod[0].item[0].vf, TOPO_NONE);
	ck_assert_int_eq(d.plan.pod[0].item[0].distance.class, TOPO_PXB);
}
END_TEST

START_TEST(gpus_that_share_an_hca)
{
	auto_plan_case struct plan_case d = { 0 };

	topo_xml("aws-p4d", &d.m);
	refused(&d, 2, 1, ERR_EXHAUSTED,
		"pod 0: GPU 0000:10:1c.0 and GPU 0000:10:1d.0 would be in");
	ck_assert_int_eq(plan(&d, 4, 2), 0);
	ck_assert_str_eq(pod(&d, 3), "6:net3 7:net3");
	ck_assert_uint_eq(d.plan.n_notes, 4);
	ck_assert_str_eq(d.plan.note[0],
			 "GPU 0000:10:1c.0 and GPU 0000:10:1d.0 of one pod share net0");
	topo_plan_clear(&d.plan);

	/* the same VF for both */
	topo_machine_clear(&d.m);
	fixture_pcie4(&d.m);
	add_vfs(&d.m, 2);
	ck_assert_int_eq(plan(&d, 1, 4), 0);
	ck_assert_uint_eq(d.plan.pod[0].item[0].vf, d.plan.pod[0].item[3].vf);
	refused(&d, 4, 1, ERR_EXHAUSTED, "both need mlx5_0");
}
END_TEST

/* Three GPUs, four HCAs: the fourth is everybody's, and so nobody's unless there is one pod. */
START_TEST(a_surplus_hca_is_shared_only_within_one_pod)
{
	auto_plan_case struct plan_case d = { 0 };

	topo_xml("synthetic-e_1switch_3gpu_4nic", &d.m);
	ck_assert_int_eq(plan(&d, 3, 1), 0);
	ck_assert_str_eq(pod(&d, 1), "1:mlx5_1");
	ck_assert_uint_eq(d.plan.n_notes, 1);
	ck_assert_ptr_nonnull(strstr(d.plan.note[0], "mlx5_3 stays unused"));
	ck_assert_int_eq(plan(&d, 1, 3), 0);
	ck_assert_str_eq(pod(&d, 0), "0:mlx5_0 0:mlx5_3 1:mlx5_1 1:mlx5_3 2:mlx5_2 2:mlx5_3");
	ck_assert_int_eq(plan(&d, 1, 1), 0);
	ck_assert_str_eq(pod(&d, 0), "0:mlx5_0 0:mlx5_3");
}
END_TEST

START_TEST(only_free_vfs_are_planned)
{
	auto_plan_case struct plan_case d = { 0 };

	fixture_dgx_a100(&d.m);
	add_vfs(&d.m, 3);
	auto_free bool *taken = calloc(d.m.n_pci, sizeof(*taken));
	uint32_t pf = d.m.hca[1].pci, vfs = 0;
	d.request.taken = taken;
	for (uint32_t i = 0; i < d.m.n_pci; i++)
		taken[i] = d.m.pci[i].physfn == pf && vfs++ < 2;
	ck_assert_int_eq(plan(&d, 2, 1), 0);
	ck_assert_uint_eq(d.m.pci[d.plan.pod[0].item[0].vf].addr.fn, 0);
	ck_assert_uint_eq(d.m.pci[d.plan.pod[1].item[0].vf].addr.fn, 2);
	for (uint32_t i = 0; i < d.m.n_pci; i++)
		taken[i] = d.m.pci[i].physfn == pf;
	refused(&d, 2, 1, ERR_EXHAUSTED, "pod 1: mlx5_1: no free VF: all 3 are taken");
	ck_assert_int_eq(plan(&d, 1, 1), 0);
}
END_TEST

/* In a virtual machine the HCAs are VFs; a bond's VFs are those of both its functions. */
START_TEST(hcas_of_other_kinds)
{
	auto_plan_case struct plan_case d = { 0 };

	topo_xml("synthetic-c_flat_vm_8x8_numa-1", &d.m);
	for (size_t i = 0; i < d.m.n_hcas; i++)
		d.m.hca[i].kind = TOPO_HCA_VF;
	ck_assert_int_eq(plan(&d, 8, 1), 0);
	ck_assert_uint_eq(d.plan.pod[5].item[0].vf, d.m.hca[5].pci);
	topo_plan_clear(&d.plan);
	topo_machine_clear(&d.m);

	struct fixture fx = { .m = &d.m };
	fixture_root(&fx, 0);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	uint32_t bond = fixture_hca(&fx, fixture_port(&fx), "bond");
	uint32_t second = fixture_hca_fn(&fx, bond, 1, "second");
	uint32_t vf = fixture_vf(&fx, second, 0, NULL);
	d.m.hca[bond].kind = TOPO_HCA_BOND;
	d.m.hca[bond].second = d.m.hca[second].pci;
	free(d.m.hca[second].port);
	d.m.n_hcas--;
	fixture_done(&fx);
	ck_assert_int_eq(plan(&d, 1, 1), 0);
	ck_assert_uint_eq(d.plan.pod[0].item[0].vf, vf);
}
END_TEST

START_TEST(impossible_requests_are_refused)
{
	auto_plan_case struct plan_case d = { 0 };
	const bool gpus[8] = { [2] = true, [5] = true };

	fixture_dgx_a100(&d.m);
	refused(&d, 0, 1, ERR_FIELD, "pods: 0");
	refused(&d, 1, 0, ERR_FIELD, "gpus-per-pod: 0");
	refused(&d, 3, 3, ERR_EXHAUSTED, "3 pods of 3 GPUs need 9 GPUs, there are 8");
	refused(&d, UINT32_MAX, UINT32_MAX, ERR_EXHAUSTED, "there are 8");
	d.scope = &(struct topo_scope){ .gpu = gpus };
	refused(&d, 3, 1, ERR_EXHAUSTED, "there are 2");
	ck_assert_int_eq(plan(&d, 2, 1), 0);
	/* alone on its switch it has both */
	ck_assert_str_eq(pod(&d, 1), "5:mlx5_4 5:mlx5_5");
	d.m.gpu[2].on_package = true;
	refused(&d, 2, 1, ERR_EXHAUSTED, "has no HCA: its RDMA ports are on its own package");
}
END_TEST

static int plan_once(void *arg, struct err *e)
{
	struct plan_case *d = arg;
	auto_topo_plan struct topo_plan p = { 0 };

	return topo_plan_make(&d->m, &d->c, &d->request, &p, e);
}

START_TEST(each_failing_allocation_is_an_error)
{
	auto_plan_case struct plan_case d = { 0 };

	topo_xml("aws-p4d", &d.m);
	ck_assert_int_eq(plan(&d, 4, 2), 0);
	ck_assert_str_eq(alloc_fail_each(plan_once, &d), "ok");
}
END_TEST

TEST_PROGRAM("plan", pods_with_one_gpu_each, VFs_of_InfiniBand_are_planned_as_others_are,
	     pods_with_several_gpus_each, gpus_that_share_an_hca,
	     a_surplus_hca_is_shared_only_within_one_pod, only_free_vfs_are_planned,
	     hcas_of_other_kinds, impossible_requests_are_refused,
	     each_failing_allocation_is_an_error)
