// SPDX-License-Identifier: Apache-2.0
/* The matrix omits VFs if there are hundreds, and stays complete if there are few. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/output/show.h"

/* A GPU, two PFs with RDMA devices, and n VFs of the first. */
static void make(struct topo_machine *m, unsigned int n)
{
	struct err e = { 0 };
	uint32_t root, cpu, pci, gpu, hca;
	char name[16];

	ck_assert(!topo_add_cpu(m, 0, &cpu, &e) && !topo_add_root(m, "pci0000:00", &root, &e));
	m->root[root].cpu = cpu;
	for (unsigned int i = 0; i < n + 3; i++) {
		struct pci_addr a = { 0, 1, (uint8_t)(i / 8), (uint8_t)(i % 8) };
		ck_assert_int_eq(topo_add_pci(m, a, &pci, &e), 0);
		m->pci[pci].root = root;
		(void)snprintf(name, sizeof(name), "mlx5_%u", i);
		if (i == 0) {
			ck_assert_int_eq(topo_add_gpu(m, pci, &gpu, &e), 0);
			continue;
		}
		ck_assert_int_eq(topo_add_hca(m, name, &hca, &e), 0);
		m->hca[hca].pci = pci;
		if (i < 3)
			continue;
		m->hca[hca].kind = TOPO_HCA_VF;
		m->pci[pci].is_vf = true;
		m->pci[pci].physfn = 1;
	}
}

static char *matrix(const struct topo_view *v)
{
	char *text = NULL;
	size_t len;
	struct err e = { 0 };
	struct out o = { .to = open_memstream(&text, &len) };

	ck_assert_ptr_nonnull(o.to);
	ck_assert_int_eq(show_matrix(v, &o, &e), 0);
	(void)fclose(o.to);
	return text;
}

START_TEST(a_few_vfs_are_shown)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct topo_view v = { .m = &m };

	make(&m, 62);
	auto_free char *text = matrix(&v);
	ck_assert_ptr_nonnull(strstr(text, "\n  NIC63: mlx5_64\n"));
	ck_assert_ptr_null(strstr(text, "not shown"));
}
END_TEST

START_TEST(many_are_folded_into_their_pfs)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct topo_view v = { .m = &m };

	make(&m, 63);
	auto_free char *text = matrix(&v);
	ck_assert_ptr_nonnull(strstr(text, "\n  NIC1: mlx5_2\n\n  63 VFs are not shown"));
	ck_assert_ptr_null(strstr(text, "NIC2"));
}
END_TEST

/* A pod that sees no PF sees its VFs. */
START_TEST(vfs_without_their_pf_are_shown)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct topo_view v = { .m = &m };
	bool mask[200];

	make(&m, 100);
	memset(mask, true, sizeof(mask));
	mask[0] = mask[1] = false;
	v.scope.hca = mask;
	auto_free char *text = matrix(&v);
	ck_assert_ptr_nonnull(strstr(text, "\n  NIC99: mlx5_102\n"));
	ck_assert_ptr_null(strstr(text, "not shown"));
}
END_TEST

static int fold(void *arg, struct err *e)
{
	FILE *null = fopen("/dev/null", "we");
	struct out o = { .to = null };
	int rc = show_matrix(arg, &o, e);

	(void)fclose(null);
	return rc;
}

START_TEST(every_allocation_may_fail)
{
	auto_topo_machine struct topo_machine m = { 0 };
	struct topo_view v = { .m = &m };

	make(&m, 80);
	ck_assert_str_eq(alloc_fail_each(fold, &v), "ok");
}
END_TEST

TEST_PROGRAM("show_matrix", a_few_vfs_are_shown, many_are_folded_into_their_pfs,
	     vfs_without_their_pf_are_shown, every_allocation_may_fail)
