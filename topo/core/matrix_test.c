// SPDX-License-Identifier: Apache-2.0
/* What is published of four computers, cell by cell: testdata/matrix. */
#include <stdio.h>

#include "lib/json/json.h"
#include "lib/testing/testing.h"
#include "topo/core/choose.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

struct published {
	struct topo_machine m;
	struct json *tree;
	struct topo_choice c;
	unsigned cells;
};

static void published_clear(struct published *p)
{
	topo_machine_clear(&p->m);
	topo_choice_clear(&p->c);
	json_free(p->tree);
}
#define auto_published auto_clean(published_clear)

static void check_gpu(struct published *p, uint32_t gpu, const struct json *row)
{
	json_each (cell, row) {
		struct topo_distance r;
		uint32_t hca = topo_find_hca(&p->m, json_key(cell));
		ck_assert_msg(hca != TOPO_NONE, "%s is missing", json_key(cell));
		topo_distance_to_hca(&p->m, gpu, hca, &r);
		ck_assert_msg(!strcmp(topo_class_name(r.class), json_str(cell)),
			      "GPU%u %s: %s, published is %s", gpu, json_key(cell),
			      topo_class_name(r.class), json_str(cell));
		p->cells++;
	}
}

static void check_nearest(const struct published *p, uint32_t gpu, const struct json *names)
{
	const struct topo_gpu_choice *g = &p->c.gpu[gpu];
	size_t i = 0;

	ck_assert_uint_eq(g->n_nearest, json_len(names));
	json_each (name, names)
		ck_assert_str_eq(p->m.hca[g->nearest[i++]].name, json_str(name));
}

static void check_published(struct published *p, const char *name,
			    void (*build)(struct topo_machine *m))
{
	char file[128], gpu[16];
	struct err e = { 0 };

	(void)snprintf(file, sizeof(file), "matrix/%s.json", name);
	auto_free char *text = topo_text(file);
	ck_assert_int_eq(json_parse(text, strlen(text), file, &p->tree, &e), 0);
	build(&p->m);
	topo_roles(&p->m, NULL);
	ck_assert_int_eq(topo_choose(&p->m, NULL, &p->c, &e), 0);
	ck_assert_uint_eq(p->m.n_gpus, json_len(json_get(p->tree, "gpus")));
	ck_assert_uint_eq(p->m.n_hcas, json_len(json_get(p->tree, "nics")));
	for (uint32_t i = 0; i < p->m.n_gpus; i++) {
		(void)snprintf(gpu, sizeof(gpu), "GPU%u", i);
		check_gpu(p, i, json_get(json_get(p->tree, "cells"), gpu));
		check_nearest(p, i, json_get(json_get(p->tree, "nearest"), gpu));
	}
}

START_TEST(matrix_of_a_dgx_a100)
{
	auto_published struct published p = { 0 };

	check_published(&p, "dgx-a100-8gpu-10nic", fixture_dgx_a100);
	ck_assert_uint_eq(p.cells, 80);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(p.c.gpu[i].assigned, i);
	ck_assert_uint_eq(p.c.n_rails, 8);
	ck_assert(p.c.rail[7] == 7 && p.c.rail[8] == TOPO_NONE && p.c.rail[9] == TOPO_NONE);
}
END_TEST

START_TEST(matrix_of_a_dgx_h100)
{
	auto_published struct published p = { 0 };

	check_published(&p, "dgx-h100-8gpu-12nic", fixture_dgx_h100);
	ck_assert_uint_eq(p.cells, 96);
	ck_assert_uint_eq(p.c.n_rails, 8);
	for (uint32_t i = 0; i < 8; i++)
		ck_assert_uint_eq(p.c.rail[p.c.gpu[i].assigned], i);
	/* not told, and so never called remote */
	struct topo_distance r;
	topo_distance_to_hca(&p.m, 0, topo_find_hca(&p.m, "mlx5_3"), &r);
	ck_assert(r.class == TOPO_SYS && r.same_numa == TOPO_UNKNOWN);
}
END_TEST

START_TEST(matrix_of_an_hgx_h200)
{
	auto_published struct published p = { 0 };

	check_published(&p, "hgx-h200-8gpu-8nic-bond", fixture_hgx_h200);
	ck_assert_uint_eq(p.cells, 72);
	ck_assert_int_eq(p.m.hca[8].role, TOPO_STORAGE);
	ck_assert_uint_eq(p.c.rail[8], TOPO_NONE);
}
END_TEST

START_TEST(matrix_of_a_pcie_server)
{
	auto_published struct published p = { 0 };

	check_published(&p, "pcie-4gpu-1nic", fixture_pcie4);
	ck_assert_uint_eq(p.cells, 4);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(p.c.gpu[i].assigned == 0 && p.c.gpu[i].n_own == 0);
}
END_TEST

TEST_PROGRAM("matrix", matrix_of_a_dgx_a100, matrix_of_a_dgx_h100, matrix_of_an_hgx_h200,
	     matrix_of_a_pcie_server)
