/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix of `nvidia-smi topo -m`, for the GPUs and HCAs in scope. */
#include <stdio.h>

#include "topo/output/show_priv.h"

/* ---- cells ---- */

#define CELL_LEN 16

#define CLASS_CODE(code)  ((code) >> 8)
#define CLASS_NVSWITCH    0x0680
#define CLASS_NVLINK_HOST 0x068001 /* POWER: a CPU at the other end */

static uint32_t links_to_switches(const struct topo_gpu *g)
{
	uint32_t n = 0;

	for (size_t i = 0; i < g->n_nvlinks; i++) {
		const struct topo_nvlink *l = &g->nvlink[i];

		if (l->hidden ||
		    (CLASS_CODE(l->tclass) == CLASS_NVSWITCH && l->tclass != CLASS_NVLINK_HOST))
			n += l->count;
	}
	return n;
}

static uint32_t direct_links(const struct topo_machine *m, size_t a, size_t b)
{
	const struct topo_gpu *g = &m->gpu[a];
	uint32_t n = 0;

	for (size_t i = 0; i < g->n_nvlinks; i++)
		if (!g->nvlink[i].hidden &&
		    pci_same(g->nvlink[i].target, m->pci[m->gpu[b].pci].addr))
			n += g->nvlink[i].count;
	return n;
}

static uint32_t links_between(const struct topo_machine *m, size_t a, size_t b)
{
	uint32_t n = direct_links(m, a, b), here, there;

	if (n)
		return n;
	here = links_to_switches(&m->gpu[a]);
	there = links_to_switches(&m->gpu[b]);
	return here < there ? here : there;
}

static const char *class_cell(enum topo_class c)
{
	return c == TOPO_CLASS_UNKNOWN ? "N/A" : topo_class_name(c);
}

static const char *gpu_cell(const struct topo_machine *m, size_t a, size_t b, char buf[CELL_LEN])
{
	struct topo_distance r;
	uint32_t links;

	if (a == b)
		return " X ";
	links = links_between(m, a, b);
	if (links && m->gpu[a].vendor == TOPO_AMD)
		return "XGMI";
	if (links) {
		(void)snprintf(buf, CELL_LEN, "NV%u", links);
		return buf;
	}
	topo_distance(m, m->gpu[a].pci, m->gpu[b].pci, &r);
	return class_cell(r.class);
}

static const char *mixed_cell(const struct topo_machine *m, size_t gpu, size_t hca)
{
	struct topo_distance r;

	topo_distance_to_own(m, (uint32_t)gpu, (uint32_t)hca, &r);
	return class_cell(r.class);
}

/* A bond has the distance of its farther function. Two devices of one function are on one card. */
static const char *hca_cell(const struct topo_machine *m, size_t a, size_t b)
{
	const uint32_t from[] = { m->hca[a].pci, m->hca[a].second };
	const uint32_t to[] = { m->hca[b].pci, m->hca[b].second };
	enum topo_class worst = TOPO_PIX;
	struct topo_distance r;

	if (a == b)
		return " X ";
	if (from[0] == TOPO_NONE || to[0] == TOPO_NONE)
		return "N/A";
	for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(to); k++) {
			if (from[i] == TOPO_NONE || to[k] == TOPO_NONE)
				continue;
			topo_distance(m, from[i], to[k], &r);
			if (r.class > worst)
				worst = r.class;
		}
	}
	return class_cell(worst);
}

/* ---- rows ---- */

static void show_matrix_put_header(const struct topo_view *v, const struct out *o)
{
	const char *on = o->color ? "\033[4m" : "", *off = o->color ? "\033[0m" : "";
	size_t nic = 0;

	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g))
			fprintf(o->to, "\t%sGPU%d%s", on, v->m->gpu[g].index, off);
	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(v, h))
			fprintf(o->to, "\t%sNIC%zu%s", on, nic++, off);
	fprintf(o->to, "\t%sCPU Affinity%s\t%sNUMA Affinity%s\n", on, off, on, off);
}

static void put_affinity(const struct topo_machine *m, size_t gpu, FILE *to)
{
	uint32_t pci = m->gpu[gpu].pci, root = m->pci[pci].root;
	int numa = topo_numa(m, pci);
	const char *mask = "";
	char cpus[512];

	if (root != TOPO_NONE && m->root[root].cpu != TOPO_NONE)
		mask = m->cpu[m->root[root].cpu].affinity;
	show_cpus(mask, cpus, sizeof(cpus));
	fprintf(to, "\t%s\t", *cpus ? cpus : "N/A");
	if (numa < 0)
		fputs("N/A\n", to);
	else
		fprintf(to, "%d\n", numa);
}

static void put_gpu_row(const struct topo_view *v, size_t gpu, FILE *to)
{
	char cell[CELL_LEN];

	fprintf(to, "GPU%d", v->m->gpu[gpu].index);
	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g))
			fprintf(to, "\t%s", gpu_cell(v->m, gpu, g, cell));
	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(v, h))
			fprintf(to, "\t%s", mixed_cell(v->m, gpu, h));
	put_affinity(v->m, gpu, to);
}

/* The affinity cells of a NIC's row are empty. */
static void put_hca_row(const struct topo_view *v, size_t hca, size_t nic, FILE *to)
{
	fprintf(to, "NIC%zu", nic);
	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g))
			fprintf(to, "\t%s", mixed_cell(v->m, g, hca));
	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(v, h))
			fprintf(to, "\t%s", hca_cell(v->m, hca, h));
	fputs("\t\t\n", to);
}

/* ---- legends ---- */

/* The text of nvidia-smi, which scripts and people know. */
static const char legend[] =
	"\nLegend:\n\n"
	"  X    = Self\n"
	"  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes "
	"(e.g., QPI/UPI)\n"
	"  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges "
	"within a NUMA node\n"
	"  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
	"  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host "
	"Bridge)\n"
	"  PIX  = Connection traversing at most a single PCIe bridge\n"
	"  NV#  = Connection traversing a bonded set of # NVLinks\n";

static int put_legend(const struct topo_view *v, const struct out *o, struct err *e)
{
	bool amd = false;
	size_t nic = 0;

	for (size_t g = 0; g < v->m->n_gpus; g++)
		amd |= show_has_gpu(v, g) && v->m->gpu[g].vendor == TOPO_AMD &&
		       v->m->gpu[g].n_nvlinks;
	fprintf(o->to, "%s%s", legend, amd ? "  XGMI = Links between AMD GPUs\n" : "");
	if (show_count_hcas(v))
		fputs("\nNIC Legend:\n\n", o->to);
	for (size_t h = 0; h < v->m->n_hcas; h++) {
		if (!show_has_hca(v, h))
			continue;
		auto_free char *name = out_clean(v->m->hca[h].name);
		if (!name)
			return err_nomem(e);
		fprintf(o->to, "  NIC%zu: %s\n", nic++, name);
	}
	return 0;
}

/* ---- many VFs ---- */

/* The maximum number of columns; thousands would take minutes to compute. */
#define NICS_MAX 64

/* If there are more HCAs, show those that are not VFs of a visible PF, which has the same
 * distances. *mask is NULL if all are shown; owned by the caller. Returns the number of HCAs shown.
 */
static int fold_vfs(const struct topo_view *v, bool **mask, size_t *folded, struct err *e)
{
	const struct topo_machine *m = v->m;
	auto_free bool *pf = calloc(m->n_pci + 1, sizeof(*pf));
	auto_free bool *show = calloc(m->n_hcas + 1, sizeof(*show));

	if (!pf || !show)
		return err_nomem(e);
	if (show_count_hcas(v) <= NICS_MAX)
		return 0;
	for (size_t h = 0; h < m->n_hcas; h++) {
		const struct topo_hca *d = &m->hca[h];
		if (show_has_hca(v, h) && d->pci != TOPO_NONE && d->kind != TOPO_HCA_VF)
			pf[d->pci] = true;
	}
	for (size_t h = 0; h < m->n_hcas; h++) {
		const struct topo_hca *d = &m->hca[h];
		bool vf = d->kind == TOPO_HCA_VF && m->pci[d->pci].physfn != TOPO_NONE &&
			  pf[m->pci[d->pci].physfn];
		show[h] = show_has_hca(v, h) && !vf;
		*folded += show_has_hca(v, h) && vf;
	}
	*mask = TAKE_PTR(show);
	return 0;
}

int show_matrix(const struct topo_view *v, const struct out *o, struct err *e)
{
	auto_free bool *mask = NULL;
	struct topo_view shown = *v;
	size_t nic = 0, folded = 0;

	if (fold_vfs(v, &mask, &folded, e))
		return -1;
	if (mask)
		shown.scope.hca = mask;
	show_matrix_put_header(&shown, o);
	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (show_has_gpu(&shown, g))
			put_gpu_row(&shown, g, o->to);
	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(&shown, h))
			put_hca_row(&shown, h, nic++, o->to);
	if (put_legend(&shown, o, e))
		return -1;
	if (folded)
		fprintf(o->to, "\n  %zu VFs are not shown: each is as far from all as its PF\n",
			folded);
	return 0;
}
