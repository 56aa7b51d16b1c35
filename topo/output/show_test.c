/* SPDX-License-Identifier: Apache-2.0 */
/* Published matrices as text, each format for programs, and failing allocations.
 * conformance/railctl tests the whole program. */
#include "topo/output/show.h"

#include <stdio.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "topo/core/machine_build.h"
#include "topo/core/pci_switch.h"
#include "topo/output/show_priv.h"
#include "topo/testing/topo.h"
#include "topo/testing/fixture.h"

/* ---- a machine with all answers ---- */

struct stage {
	struct topo_machine m;
	struct topo_choice choice;
	struct nccl_prediction nccl;
	struct comparison differ;
	struct gdr_findings findings;
	struct nccl_opts opts;
	struct topo_view v;
};

static void stage_clear(struct stage *s)
{
	gdr_findings_clear(&s->findings);
	comparison_clear(&s->differ);
	nccl_prediction_clear(&s->nccl);
	topo_choice_clear(&s->choice);
	topo_machine_clear(&s->m);
}
#define auto_stage auto_clean(stage_clear)

/* s->m is there. */
static void answer(struct stage *s)
{
	struct err e = { 0 };
	struct compare_input in = { .m = &s->m,
				    .scope = &s->v.scope,
				    .choice = &s->choice,
				    .opts = &s->opts,
				    .nccl = &s->nccl };

	s->opts = (struct nccl_opts)NCCL_OPTS_DEFAULT;
	topo_roles(&s->m, NULL);
	ck_assert_int_eq(topo_choose(&s->m, NULL, &s->choice, &e), 0);
	ck_assert_int_eq(nccl_predict(&s->m, &s->v.scope, &s->opts, &s->nccl, &e), 0);
	ck_assert_int_eq(compare_with_nccl(&in, &s->differ, &e), 0);
	ck_assert_int_eq(gdr_check(&s->m, &s->choice, NULL, &s->findings, &e), 0);
	s->v.m = &s->m;
	s->v.choice = &s->choice;
	s->v.nccl = &s->nccl;
	s->v.differ = &s->differ;
	s->v.findings = &s->findings;
}

static void stage_xml(struct stage *s, const char *name)
{
	topo_xml(name, &s->m);
	answer(s);
}

/* Text that a function of a view writes; the caller frees it. */
typedef int (*write_fn)(const struct topo_view *v, const struct out *o, struct err *e);

static char *written(const struct topo_view *v, write_fn fn, bool color)
{
	char *text = NULL;
	size_t size;
	struct out o = { .to = open_memstream(&text, &size), .color = color };
	struct err e = { 0 };

	ck_assert_ptr_nonnull(o.to);
	ck_assert_int_eq(fn(v, &o, &e), 0);
	ck_assert_int_eq(fclose(o.to), 0);
	return text;
}

static int write_svg(const struct topo_view *v, const struct out *o, struct err *e)
{
	return show_svg(v, o->to, e);
}

static int write_env(const struct topo_view *v, const struct out *o, struct err *e)
{
	return show_env(v, true, o->to, e);
}

static int write_labels(const struct topo_view *v, const struct out *o, struct err *e)
{
	return show_labels(v, o->to, e);
}

/* ---- the published matrices, as text ---- */

/* Cell c (from 1) of the row that begins with the label and a tab; "" when there is none. */
static void cell_of(const char *text, const char *label, unsigned c, char out[32])
{
	char key[32];
	const char *row;
	size_t len;

	*out = '\0';
	(void)snprintf(key, sizeof(key), "\n%s\t", label);
	row = strstr(text, key);
	if (!row)
		return;
	for (row++; c > 0; c--)
		row += strcspn(row, "\t\n") + 1;
	len = strcspn(row, "\t\n");
	ck_assert_uint_lt(len, 32);
	memcpy(out, row, len);
	out[len] = '\0';
}

static void check_published(const char *name, void (*build)(struct topo_machine *m))
{
	auto_stage struct stage s = { 0 };
	auto_json struct json *tree = NULL;
	struct err e = { 0 };
	char file[96], cell[32], label[16];
	unsigned wrong = 0, seen = 0, nic;

	build(&s.m);
	answer(&s);
	auto_free char *text = written(&s.v, show_matrix, false);
	(void)snprintf(file, sizeof(file), "matrix/%s.json", name);
	auto_free char *published = topo_text(file);
	ck_assert_int_eq(json_parse(published, strlen(published), file, &tree, &e), 0);
	json_each (row, json_get(tree, "cells")) {
		json_each (want, row) {
			uint32_t hca = topo_find_hca(&s.m, json_key(want));

			ck_assert_uint_ne(hca, TOPO_NONE);
			cell_of(text, json_key(row), (unsigned)(1 + s.m.n_gpus + hca), cell);
			wrong += strcmp(cell, json_str(want)) != 0;
			/* The matrix is the same from the NIC's side. */
			(void)snprintf(label, sizeof(label), "NIC%u", hca);
			nic = (unsigned)strtoul(json_key(row) + 3, NULL, 10);
			cell_of(text, label, nic + 1, cell);
			wrong += strcmp(cell, json_str(want)) != 0;
			seen++;
		}
	}
	ck_assert_uint_ge(seen, 4);
	ck_assert_msg(wrong == 0, "%s: %u of %u cells are others:\n%s", name, wrong, 2 * seen,
		      text);
}

START_TEST(published_matrices)
{
	check_published("dgx-a100-8gpu-10nic", fixture_dgx_a100);
	check_published("dgx-h100-8gpu-12nic", fixture_dgx_h100);
	check_published("hgx-h200-8gpu-8nic-bond", fixture_hgx_h200);
	check_published("pcie-4gpu-1nic", fixture_pcie4);
}
END_TEST

START_TEST(matrix_of_one_machine)
{
	auto_stage struct stage s = { 0 };
	const bool gpu[8] = { [1] = true, [6] = true }, hca[8] = { [2] = true };

	stage_xml(&s, "dgx-a100");
	s.v.scope = (struct topo_scope){ gpu, hca };
	auto_free char *text = written(&s.v, show_matrix, false);
	ck_assert_ptr_nonnull(strstr(text, "\tGPU1\tGPU6\tNIC0\tCPU Affinity\tNUMA Affinity\n"
					   "GPU1\t X \tNV12\tSYS\t48-63,176-191\t3\n"
					   "GPU6\tNV12\t X \tSYS\t80-95,208-223\t5\n"
					   "NIC0\tSYS\tSYS\t X \t\t\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nNIC Legend:\n\n  NIC0: mlx5_2\n"));
	ck_assert_ptr_null(strstr(text, "NIC1"));
	auto_free char *underlined = written(&s.v, show_matrix, true);
	ck_assert_ptr_nonnull(strstr(underlined, "\t\033[4mGPU1\033[0m\t"));
}
END_TEST

/* Scripts take all lines of the matrix, and none of those beside it. */
START_TEST(a_line_break_in_a_name_makes_no_row)
{
	auto_stage struct stage s = { 0 };

	stage_xml(&s, "synthetic-a_pix100_phb400");
	auto_free char *text = written(&s.v, show_lines, false);
	ck_assert_ptr_null(strstr(text, "\nGPU"));
	ck_assert_ptr_null(strstr(text, "\nNIC"));
	ck_assert_ptr_nonnull(strstr(text, "near100"));
	ck_assert_ptr_nonnull(strstr(text, "    set NCCL_IB_HCA"));
}
END_TEST

/* ---- CPUs ---- */

START_TEST(cpu_lists_are_printed)
{
	static const struct {
		const char *mask, *ranges;
	} cases[] = {
		{ "f", "0-3" },
		{ "1", "0" },
		{ "00000000,ffffffff", "0-31" },
		{ "ffff0000,00000000", "48-63" },
		{ "80000000,00000000,00000001", "0,95" },
		{ "5", "0,2" },
		{ "A", "1,3" },
		{ "0", "" },
		{ "", "" },
		{ "0-3", "" },
		{ "zz", "" },
	};
	char buf[64], small[6];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_str_eq(show_cpus(cases[i].mask, buf, sizeof(buf)), cases[i].ranges);
	ck_assert_str_eq(show_cpus("55", small, sizeof(small)), "");
}
END_TEST

/* ---- what programs read ---- */

START_TEST(json_of_nothing)
{
	auto_stage struct stage s = { 0 };

	answer(&s);
	auto_json struct json *o = show_json(&s.v);
	ck_assert_uint_eq(json_len(json_get(o, "gpus")), 0);
	ck_assert_ptr_nonnull(json_get(o, "hcas"));
	auto_free char *env = written(&s.v, write_env, false);
	ck_assert_str_eq(env, "# no GPU: nothing to set\n");
	auto_free char *svg = written(&s.v, write_svg, false);
	ck_assert_ptr_nonnull(strstr(svg, "0 GPUs, 0 HCAs, 0 rails"));
}
END_TEST

/* An HCA without a function, one in software, a port that is down, a bond. */
START_TEST(hcas_without_a_function_are_shown)
{
	auto_stage struct stage s = { 0 };
	struct fixture fx = { .m = &s.m };
	struct err e = { 0 };
	uint32_t slot, lost;

	fixture_root(&fx, 0);
	slot = fixture_slot(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, slot);
	(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_0");
	ck_assert_int_eq(topo_add_hca(&s.m, "lo\033st", &lost, &e), 0);
	s.m.hca[lost].kind = TOPO_HCA_SOFTWARE;
	s.m.hca[0].port[0].active = TOPO_NO;
	topo_sort(&s.m);
	topo_number_chips(&s.m);
	answer(&s);
	auto_json struct json *o = show_json(&s.v);
	const struct json *hcas = json_get(json_first(json_get(o, "gpus")), "hcas");
	ck_assert_uint_eq(json_len(hcas), 2);
	ck_assert_uint_eq(json_len(json_get(json_first(json_get(o, "gpus")), "nearest")), 0);
	ck_assert_ptr_nonnull(json_get(json_first(json_get(o, "gpus")), "why_none"));
	auto_free char *matrix = written(&s.v, show_matrix, false);
	ck_assert_ptr_nonnull(strstr(matrix, "N/A"));
	ck_assert_ptr_null(strchr(matrix, '\033'));
	auto_free char *svg = written(&s.v, write_svg, false);
	ck_assert_ptr_nonnull(strstr(svg, "class=\"mark\""));
	ck_assert_ptr_nonnull(strstr(svg, "port down"));
	ck_assert_ptr_null(strchr(svg, '\033'));
}
END_TEST

/* The file of a function is empty: the port above it says the node, not the root complex. As the
 * distance has it. */
START_TEST(a_node_is_that_of_the_port_above)
{
	auto_stage struct stage s = { 0 };
	struct fixture fx = { .m = &s.m };
	char shape[2][SHOW_SHAPE_LEN];

	fixture_root(&fx, 1);
	(void)fixture_gpu(&fx, fixture_port(&fx));
	(void)fixture_hca(&fx, fixture_port(&fx), "mlx5_0");
	fixture_done(&fx);
	for (size_t i = 0; i < s.m.n_cpus; i++)
		s.m.cpu[i].numa = 5;
	answer(&s);
	(void)show_shape(&s.v, shape[0]);
	s.m.pci[s.m.gpu[0].pci].numa = s.m.pci[s.m.hca[0].pci].numa = -1;
	(void)show_shape(&s.v, shape[1]);
	ck_assert_str_eq(shape[0], shape[1]);
	auto_json struct json *o = show_json(&s.v);
	auto_free char *gpu = json_print(json_get(json_first(json_get(o, "gpus")), "numa"), false);
	auto_free char *hca = json_print(json_get(json_first(json_get(o, "hcas")), "numa"), false);
	ck_assert_str_eq(gpu, "1");
	ck_assert_str_eq(hca, "1");
	auto_free char *matrix = written(&s.v, show_matrix, false);
	ck_assert_ptr_nonnull(strstr(matrix, "\t1\n"));
}
END_TEST

/* VFs whose PF is drawn are a number on it. */
START_TEST(vfs_in_the_picture)
{
	auto_stage struct stage s = { 0 };
	struct fixture fx = { .m = &s.m };
	uint32_t slot, hca;
	char name[16];

	fixture_root(&fx, 0);
	slot = fixture_slot(&fx, fixture_port(&fx), &fixture_plain);
	(void)fixture_gpu(&fx, slot);
	hca = fixture_hca(&fx, slot, "mlx5_0");
	for (uint8_t i = 0; i < 5; i++) {
		(void)snprintf(name, sizeof(name), "mlx5_%u", i + 1u);
		(void)fixture_vf(&fx, hca, i, name);
	}
	fixture_done(&fx);
	answer(&s);
	char shape[2][SHOW_SHAPE_LEN];
	(void)show_shape(&s.v, shape[0]);
	auto_free char *svg = written(&s.v, write_svg, false);
	ck_assert_ptr_nonnull(strstr(svg, "5 VFs"));
	ck_assert_ptr_null(strstr(svg, "mlx5_3"));
	/* A pod that has VFs alone sees them. */
	bool only[6];
	for (size_t i = 0; i < 6; i++)
		only[i] = s.m.hca[i].kind == TOPO_HCA_VF;
	s.v.scope.hca = only;
	auto_free char *pod = written(&s.v, write_svg, false);
	ck_assert_ptr_nonnull(strstr(pod, "mlx5_3"));
	s.v.scope.hca = NULL;
	ck_assert_str_eq(show_shape(&s.v, shape[1]), shape[0]);
}
END_TEST

/* ---- memory ---- */

/* But for show_lines: out_line() says itself that memory is out, and goes on. */
static int all_forms(void *arg, struct err *e)
{
	const struct topo_view *v = arg;
	struct out o = { .to = fopen("/dev/null", "we") };
	auto_json struct json *all = show_json(v);
	int rc = -1;

	if (!o.to)
		return -1;
	if (!all)
		(void)err_nomem(e);
	else
		rc = show_matrix(v, &o, e) || write_svg(v, &o, e) || write_env(v, &o, e) ||
				     write_labels(v, &o, e)
			     ? -1
			     : 0;
	(void)fclose(o.to);
	return rc;
}

/* No machine of testdata has it: the answer is set. */
START_TEST(ties_are_one_line)
{
	auto_stage struct stage s = { 0 };

	stage_xml(&s, "dgx-a100");
	for (size_t g = 0; g < s.m.n_gpus; g++) {
		free(s.differ.gpu[g].text);
		ck_assert_int_gt(asprintf(&s.differ.gpu[g].text, "NCCL takes mlx5_%zu", g), 0);
		s.differ.gpu[g].verdict = COMPARE_PERMUTED;
		s.differ.gpu[g].cause = COMPARE_TIE;
	}
	auto_free char *text = written(&s.v, show_lines, false);
	const char *all =
		strstr(text, "  - GPU 0, 1, 2, 3, 4, 5, 6, 7: NCCL takes HCAs that are as near");
	ck_assert_ptr_nonnull(all);
	ck_assert_ptr_null(strstr(all + 1, "  - "));
	ck_assert_ptr_null(strstr(text, "NCCL takes mlx5_"));
}
END_TEST

START_TEST(memory_runs_out)
{
	auto_stage struct stage s = { 0 };

	stage_xml(&s, "synthetic-a_pix100_phb400");
	ck_assert_str_eq(alloc_fail_each(all_forms, &s.v), "ok");
}
END_TEST

TEST_PROGRAM("show", published_matrices, matrix_of_one_machine, a_line_break_in_a_name_makes_no_row,
	     cpu_lists_are_printed, json_of_nothing, hcas_without_a_function_are_shown,
	     a_node_is_that_of_the_port_above, vfs_in_the_picture, ties_are_one_line,
	     memory_runs_out)
