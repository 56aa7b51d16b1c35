/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for people: for each GPU its nearest HCAs, NCCL's choice, and the reason of a difference.
 */
#include <stdio.h>
#include <string.h>

#include "topo/output/show_priv.h"

static const struct out_column columns[] = {
	{ "PCI", OUT_SPARE },
	{ "GPU", OUT_RIGHT },
	{ "NUMA", OUT_RIGHT | OUT_SPARE },
	{ "NEAREST", OUT_SHRINK },
	{ "CLASS", 0 },
	{ "CHIPS", OUT_RIGHT },
	{ "GBIT/S", OUT_RIGHT },
	{ "ASSIGNED", 0 },
	{ "NCCL TAKES", OUT_SHRINK },
	{ "PATH", 0 },
	{ "GDR", 0 },
	{ "READY", 0 },
};

/* Texts of one line. */
struct line {
	char bdf[PCI_STR_LEN], index[16], numa[16], chips[16], gbps[32];
	char *nearest, *takes; /* owned */
};

static void line_clear(struct line *l)
{
	free(l->nearest);
	free(l->takes);
}
#define auto_line auto_clean(line_clear)

/* "192"; for a link below its maximum "96 of 192". */
static void put_gbps(const struct topo_distance *r, char buf[32])
{
	if (r->cur_bw && r->cur_bw < r->max_bw)
		(void)snprintf(buf, 32, "%u of %u", r->cur_bw / 10, r->max_bw / 10);
	else if (r->max_bw)
		(void)snprintf(buf, 32, "%u", r->max_bw / 10);
}

#define NAMES_MAX 4

/* A long list is cut: "mlx5_0,mlx5_1,mlx5_2,+5"; JSON has all names. */
static char *some_names(const struct topo_machine *m, const uint32_t *hca, size_t n)
{
	auto_free char *names = show_names(m, hca, n <= NAMES_MAX ? n : NAMES_MAX - 1);
	char *text;

	if (!names || n <= NAMES_MAX)
		return TAKE_PTR(names);
	return asprintf(&text, "%s,+%zu", names, n - (NAMES_MAX - 1)) < 0 ? NULL : text;
}

static int mark_uncertain(char **takes)
{
	char *marked;

	if (asprintf(&marked, "%s*", *takes) < 0)
		return -1;
	free(*takes);
	*takes = marked;
	return 0;
}

static int fill_line(const struct topo_view *v, size_t g, const struct topo_distance *r,
		     struct line *l)
{
	const struct topo_gpu_choice *c = &v->choice->gpu[g];
	int numa = topo_numa(v->m, v->m->gpu[g].pci);
	size_t n;
	auto_free uint32_t *takes = show_takes(v->nccl, g, &n);

	*l = (struct line){ .nearest = some_names(v->m, c->nearest, c->n_nearest) };
	l->takes = takes ? some_names(v->m, takes, n) : NULL;
	show_gpu_bdf(v->m, g, l->bdf);
	(void)snprintf(l->index, sizeof(l->index), "%d", v->m->gpu[g].index);
	if (numa >= 0)
		(void)snprintf(l->numa, sizeof(l->numa), "%d", numa);
	if (r) {
		(void)snprintf(l->chips, sizeof(l->chips), "%u", r->switches);
		put_gbps(r, l->gbps);
	}
	if (l->takes && nccl_is_uncertain(v->nccl, g) && mark_uncertain(&l->takes))
		return -1;
	return l->nearest && l->takes ? 0 : -1;
}

static int show_lines_add_line(const struct topo_view *v, size_t g, struct out_table *t,
			       struct err *e)
{
	const struct topo_gpu_choice *c = &v->choice->gpu[g];
	const struct nccl_gpu *n = &v->nccl->gpu[g];
	bool none = !n->in || n->type == NCCL_DIS;
	enum finding_state ready =
		v->findings ? gdr_worst(v->findings, (uint32_t)g) : FINDING_UNKNOWN;
	struct topo_distance r = { .class = TOPO_CLASS_UNKNOWN };
	auto_line struct line l = { 0 };

	if (c->n_nearest)
		topo_distance_to_hca(v->m, (uint32_t)g, c->nearest[0], &r);
	if (fill_line(v, g, r.class == TOPO_CLASS_UNKNOWN ? NULL : &r, &l))
		return err_nomem(e);
	const struct out_cell cells[] = {
		{ l.bdf, OUT_PLAIN },
		{ l.index, OUT_PLAIN },
		{ l.numa, OUT_PLAIN },
		{ l.nearest, OUT_PLAIN },
		{ r.class == TOPO_CLASS_UNKNOWN ? NULL : topo_class_name(r.class), OUT_PLAIN },
		{ l.chips, OUT_PLAIN },
		{ l.gbps, r.cur_bw < r.max_bw && r.cur_bw ? OUT_WARN : OUT_PLAIN },
		{ c->assigned == TOPO_NONE ? NULL : v->m->hca[c->assigned].name, OUT_PLAIN },
		{ l.takes, show_unavailable(v, g) ? OUT_BAD : OUT_PLAIN },
		{ none ? NULL : nccl_path_name(n->type), OUT_PLAIN },
		{ none     ? NULL
		  : n->gdr ? "on"
			   : "off",
		  none || n->gdr ? OUT_PLAIN : OUT_BAD },
		{ v->findings ? finding_state_name(ready) : NULL, finding_style(ready) },
	};
	return out_row(t, cells, e);
}

static void put_remark(const struct out *o, const char *whose, const char *text,
		       const char *setting)
{
	out_line(o, OUT_WARN, "  - %s%s", whose, text);
	if (setting)
		out_line(o, OUT_PLAIN, "    set %s", setting);
}

/* The sentence for a GPU and its setting: why NCCL chooses differently, or why it has no HCA. */
static const char *remark_of(const struct topo_view *v, size_t gpu, unsigned which,
			     const char **setting)
{
	const struct compare_gpu *d = &v->differ->gpu[gpu];

	*setting = NULL;
	if (!show_has_gpu(v, gpu))
		return NULL;
	if (which == 0)
		return v->choice->gpu[gpu].why_none;
	*setting = d->setting;
	/* that of each GPU would be a line of names that the table has, about nothing to repair */
	return d->cause == COMPARE_TIE ? "NCCL takes HCAs that are as near, in another order"
				       : d->text;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

#define WHOSE_LEN 160

/* Print "GPU 0, 1, 2: " for all GPUs with the same sentence; false: gpu is not the first of them.
 */
static bool put_whose(const struct topo_view *v, size_t gpu, unsigned which, char whose[WHOSE_LEN])
{
	const char *setting, *other_setting, *text = remark_of(v, gpu, which, &setting), *other;
	size_t len = 0;

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		other = remark_of(v, g, which, &other_setting);
		if (!is_same_text(text, other) || !is_same_text(setting, other_setting))
			continue;
		if (g < gpu)
			return false;
		if (len < WHOSE_LEN - 20)
			len += (size_t)snprintf(whose + len, WHOSE_LEN - len, "%s%d",
						g == gpu ? "GPU " : ", ", v->m->gpu[g].index);
	}
	(void)snprintf(whose + len, WHOSE_LEN - len, ": ");
	return true;
}

static void put_remarks(const struct topo_view *v, const struct out *o)
{
	const char *text, *setting;
	char whose[WHOSE_LEN];
	bool said = false;

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		for (unsigned which = 0; which < 2; which++) {
			text = remark_of(v, g, which, &setting);
			said |= setting && is_same_text(setting, v->differ->setting);
			if (text && put_whose(v, g, which, whose))
				put_remark(o, whose, text, setting);
		}
	}
	if (v->differ->text && !said)
		put_remark(o, "all: ", v->differ->text, v->differ->setting);
	for (size_t i = 0; i < v->m->n_notes; i++)
		put_remark(o, "", v->m->note[i], NULL);
}

static void put_footnote(const struct topo_view *v, const struct out *o)
{
	bool any = false;

	for (size_t g = 0; g < v->m->n_gpus; g++)
		any |= show_has_gpu(v, g) && nccl_is_uncertain(v->nccl, g);
	if (any)
		out_line(o, OUT_PLAIN, "  * less certain: %s", show_why_uncertain(v->nccl));
}

static int put_foreign_hcas(const struct topo_view *v, const struct out *o, struct err *e)
{
	auto_free char *names = v->pod ? show_foreign_hcas(v) : strdup("");

	if (!names)
		return err_nomem(e);
	if (!*names)
		return 0;
	out_line(o, OUT_WARN, "  - visible here, but other pods': %s", names);
	out_line(o, OUT_PLAIN, "    NCCL would take them too: set what --env prints");
	return 0;
}

int show_lines(const struct topo_view *v, const struct out *o, struct err *e)
{
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };

	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g) && show_lines_add_line(v, g, &t, e))
			return -1;
	if (t.n_rows)
		out_table(o, &t);
	put_footnote(v, o);
	put_remarks(v, o);
	return put_foreign_hcas(v, o, e);
}
