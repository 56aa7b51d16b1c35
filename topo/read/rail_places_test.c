// SPDX-License-Identifier: Apache-2.0
/*
 * rail_places_test.c: for each machine of testdata, the numbers of rails and the HCAs of each GPU
 * are the same whether the whole machine was read or only what they depend on.
 */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/read/read.h"
#include "topo/testing/tree.h"

static const char *const made[] = {
	"azure-nd-h100", "dgx-h100",         "flat-vm", "gaudi3",    "gb10",     "gb200-eth",
	"gb200-ib",      "gb200-ib-storage", "gb300",   "gb300-xdr", "gh200",    "hgx-b200",
	"hgx-b200-ib",   "hgx-b300",         "mi300x",  "mi355x",    "oci-h100", "p5-efa",
};

/* The archive of a class/infiniband alone has no machine. */
static const char *const captured[] = {
	"ghw-linux-amd64-accel-nvidia",
	"ghw-linux-amd64-accel",
	"hwloc-8ve",
	"hwloc-mic-mlx4",
	"hwloc-pcidomain32bits",
	"qemu-pxb-xio3130-igb-sriov-rxe",
};

struct reading {
	struct topo_machine m;
	struct topo_choice c;
};

static void read_by(const char *dir, const struct topo_read_opts *o, struct reading *r)
{
	char sys[256], proc[256];
	struct err e = { .msg = "" };

	(void)snprintf(sys, sizeof(sys), "%s/sys", dir);
	(void)snprintf(proc, sizeof(proc), "%s/proc", dir);
	*r = (struct reading){ .c = { .n_gpus = 0 } };
	ck_assert_msg(topo_read_sysfs(sys, proc, o, &r->m, &e) == 0, "%s: %s", dir, e.msg);
	topo_roles(&r->m, "");
	ck_assert_msg(topo_choose(&r->m, NULL, &r->c, &e) == 0, "%s: %s", dir, e.msg);
}

static void reading_clear(struct reading *r)
{
	topo_choice_clear(&r->c);
	topo_machine_clear(&r->m);
}

static void same_hcas(const char *dir, const struct reading *a, const struct reading *b)
{
	ck_assert_uint_eq(a->m.n_hcas, b->m.n_hcas);
	for (size_t i = 0; i < a->m.n_hcas; i++) {
		ck_assert_str_eq(a->m.hca[i].name, b->m.hca[i].name);
		ck_assert_msg(a->c.rail[i] == b->c.rail[i], "%s: %s: rail %u and %u", dir,
			      a->m.hca[i].name, a->c.rail[i], b->c.rail[i]);
		ck_assert(a->m.hca[i].role == b->m.hca[i].role &&
			  a->m.hca[i].card == b->m.hca[i].card &&
			  a->m.hca[i].kind == b->m.hca[i].kind);
	}
}

static void same_gpus(const char *dir, const struct reading *a, const struct reading *b)
{
	ck_assert_uint_eq(a->c.n_gpus, b->c.n_gpus);
	for (size_t i = 0; i < a->c.n_gpus; i++) {
		const struct topo_gpu_choice *x = &a->c.gpu[i], *y = &b->c.gpu[i];

		ck_assert_msg(x->n_nearest == y->n_nearest && x->n_share == y->n_share &&
				      x->assigned == y->assigned,
			      "%s: GPU %zu", dir, i);
		for (size_t k = 0; k < x->n_nearest; k++)
			ck_assert_uint_eq(x->nearest[k], y->nearest[k]);
		for (size_t k = 0; k < x->n_share; k++)
			ck_assert_uint_eq(x->share[k], y->share[k]);
	}
}

static size_t compare(const char *dir)
{
	static const struct topo_read_opts places = { .places_only = true };
	struct reading whole, few;
	size_t rails;

	read_by(dir, NULL, &whole);
	read_by(dir, &places, &few);
	same_hcas(dir, &whole, &few);
	same_gpus(dir, &whole, &few);
	for (size_t i = 0; i < whole.m.n_pci; i++)
		ck_assert_msg(whole.m.pci[i].kind == few.m.pci[i].kind &&
				      whole.m.pci[i].chip == few.m.pci[i].chip,
			      "%s: function %zu", dir, i);
	rails = whole.c.n_rails;
	reading_clear(&whole);
	reading_clear(&few);
	return rails;
}

START_TEST(made_machines_have_the_same_numbers)
{
	size_t rails = 0;

	for (size_t i = 0; i < ARRAY_SIZE(made); i++)
		rails += compare(tree_made(made[i]));
	ck_assert_uint_gt(rails, ARRAY_SIZE(made));
}
END_TEST

START_TEST(captured_machines_have_the_same_numbers)
{
	for (size_t i = 0; i < ARRAY_SIZE(captured); i++)
		(void)compare(tree_unpack(captured[i]));
}
END_TEST

/* The links are what is left out. */
START_TEST(links_are_not_read)
{
	static const struct topo_read_opts places = { .places_only = true };
	const char *dir = tree_made("dgx-h100");
	struct reading whole, few;
	size_t links = 0;

	read_by(dir, NULL, &whole);
	read_by(dir, &places, &few);
	for (size_t i = 0; i < whole.m.n_pci; i++) {
		links += whole.m.pci[i].cur.speed != 0;
		ck_assert_uint_eq(few.m.pci[i].cur.speed, 0);
	}
	ck_assert_uint_gt(links, 8);
	reading_clear(&whole);
	reading_clear(&few);
}
END_TEST

TEST_PROGRAM("topo/read/rail_places", made_machines_have_the_same_numbers,
	     captured_machines_have_the_same_numbers, links_are_not_read)
