/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph for Graphviz. Solid edges are links; those between a GPU and an HCA are paths. Every node
 * and edge has a class, so that a style sheet or a script can find it.
 */
#include <stdio.h>
#include <string.h>

#include "topo/output/boxes.h"

/* ---- text ---- */

/* The inside of a quoted string. Bytes that are not UTF-8, and control characters, become '?'. */
static void put_escaped(FILE *to, const char *text)
{
	bool whole = utf8_valid(text, strlen(text));

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else
			fputc(c < 0x20 || c == 0x7f || (c >= 0x80 && !whole) ? '?' : c, to);
	}
}

static void put_attribute(FILE *to, const char *name, const char *value)
{
	fprintf(to, ", %s=\"", name);
	put_escaped(to, value);
	fputc('"', to);
}

/* ---- nodes ---- */

static const struct {
	const char *class, *look;
} kinds[] = {
	[BOX_PAGE] = { "page", "" },
	[BOX_SOCKET] = { "cpu", "shape=box3d, fillcolor=\"#e9edf2\"" },
	[BOX_ROOT] = { "root", "shape=box, style=dashed" },
	[BOX_SWITCH] = { "switch", "shape=box, fillcolor=\"#e4edf9\"" },
	[BOX_HCA] = { "hca", "shape=box, fillcolor=\"#fff3d9\"" },
	[BOX_GPU] = { "gpu", "shape=box, fillcolor=\"#e0f3e3\"" },
};

static bool is_drawn(const struct show_box *b)
{
	return b->kind != BOX_PAGE && (b->has_hca || b->has_gpu);
}

/* "gpu0", from the box's key. */
static void put_id(FILE *to, const struct show_box *b)
{
	if (b->key == TOPO_NONE)
		fprintf(to, "%s_unknown", kinds[b->kind].class);
	else
		fprintf(to, "%s%u", kinds[b->kind].class, b->key);
}

static void put_node(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	const struct topo_machine *m = s->v->m;
	char text[BOX_TEXT_LEN], more[BOX_TEXT_LEN] = "", bdf[PCI_STR_LEN] = "";
	const char *line[] = { text, bdf, more };

	(void)boxes_title(s, b, text);
	if (b->kind == BOX_GPU) {
		(void)snprintf(text, sizeof(text), "GPU %d", m->gpu[b->key].index);
		(void)snprintf(more, sizeof(more), "%s", boxes_vendor(&m->gpu[b->key]));
		(void)show_gpu_bdf(m, b->key, bdf);
	} else if (b->kind == BOX_HCA) {
		line[0] = m->hca[b->key].name;
		(void)show_hca_bdf(m, b->key, bdf);
		line[2] = boxes_describe_hca(s, b, more);
	}
	fputc('\t', to);
	put_id(to, b);
	fprintf(to, " [class=\"%s\", %s, label=\"", kinds[b->kind].class, kinds[b->kind].look);
	for (size_t i = 0; i < ARRAY_SIZE(line); i++) {
		if (i && *line[i])
			fputs("\\n", to);
		put_escaped(to, line[i]);
	}
	fputc('"', to);
	if (b->kind == BOX_SWITCH)
		pci_format(m->pci[b->pci].addr, bdf);
	if (*bdf)
		put_attribute(to, "bdf", bdf);
	if (b->kind == BOX_HCA)
		put_attribute(to, "name", m->hca[b->key].name);
	fputs("];\n", to);
}

/* ---- links ---- */

static uint32_t pci_of(const struct show_boxes *s, const struct show_box *b)
{
	switch (b->kind) {
	case BOX_SWITCH:
		return b->pci;
	case BOX_HCA:
		return s->v->m->hca[b->key].pci;
	case BOX_GPU:
		return s->v->m->gpu[b->key].pci;
	case BOX_PAGE:
	case BOX_SOCKET:
	case BOX_ROOT:
		break;
	}
	return TOPO_NONE;
}

/* "384 Gbit/s", or "96 of 384 Gbit/s" if the link is slower now than it could be. */
static void put_bandwidth(const struct topo_pci *p, FILE *to)
{
	uint32_t max = (uint32_t)p->max.speed * p->max.width;
	uint32_t now = (uint32_t)p->cur.speed * p->cur.width;

	if (max && now && now < max)
		fprintf(to, ", label=\"%g of %g Gbit/s\"", now / 10.0, max / 10.0);
	else if (max)
		fprintf(to, ", label=\"%g Gbit/s\"", max / 10.0);
}

static void put_edge(FILE *to, const struct show_box *a, const struct show_box *b)
{
	fputc('\t', to);
	put_id(to, a);
	fputs(" -- ", to);
	put_id(to, b);
}

static void put_link(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	const struct show_box *above = &s->box[b->parent];
	uint32_t pci = pci_of(s, b);

	if (above->kind == BOX_PAGE)
		return;
	put_edge(to, above, b);
	fputs(" [class=\"pcie\"", to);
	if (pci != TOPO_NONE)
		put_bandwidth(&s->v->m->pci[pci], to);
	fputs("];\n", to);
}

static void put_c2c(const struct show_boxes *s, const struct show_box *gpu, FILE *to)
{
	const struct topo_gpu *g = &s->v->m->gpu[gpu->key];
	const struct show_box *b = gpu;

	while (b->kind != BOX_SOCKET && b->kind != BOX_PAGE)
		b = &s->box[b->parent];
	if (!g->c2c_count || b->kind != BOX_SOCKET)
		return;
	put_edge(to, b, gpu);
	fprintf(to, " [class=\"c2c\", style=bold, color=\"#3f9151\", label=\"C2C %g GB/s\"];\n",
		(double)g->c2c_mbps * g->c2c_count / 1000);
}

/* Links of GPUs to each other, or to switches that are one node. */
static void put_nvlinks(const struct show_boxes *s, const struct show_box *gpu, FILE *to)
{
	static const char look[] = "color=\"#76818d\"";
	const struct topo_machine *m = s->v->m;
	uint32_t n = show_links_to_switches(&m->gpu[gpu->key]);

	if (n) {
		fputc('\t', to);
		put_id(to, gpu);
		fprintf(to, " -- nvswitch [class=\"nvlink\", %s, label=\"NV%u\"];\n", look, n);
	}
	for (const struct show_box *b = gpu + 1; b < s->box + s->n; b++) {
		n = b->kind == BOX_GPU ? show_direct_links(m, gpu->key, b->key) : 0;
		if (!n)
			continue;
		put_edge(to, gpu, b);
		/* not "label": dot does not find routes for many labels between neighbours */
		fprintf(to, " [class=\"nvlink\", %s, constraint=false, xlabel=", look);
		if (m->gpu[gpu->key].vendor == TOPO_AMD)
			fputs("\"XGMI\"];\n", to);
		else
			fprintf(to, "\"NV%u\"];\n", n);
	}
}

/* ---- paths ---- */

enum { PATH_NEAREST = 1, PATH_ASSIGNED = 2, PATH_NCCL = 4 };

static void mark(const struct show_boxes *s, const uint32_t *hca, size_t n, uint8_t *marks,
		 uint8_t bit)
{
	for (size_t i = 0; i < n; i++) {
		const struct show_box *b = boxes_find(s, BOX_HCA, hca[i]);

		if (b)
			marks[b - s->box] |= bit;
	}
}

static void put_path(const struct show_boxes *s, const struct show_box *gpu,
		     const struct show_box *hca, unsigned marks, FILE *to)
{
	static const char *const look[] = { "style=dashed, color=\"#c9202c\"", "color=\"#1a66c9\"",
					    "color=\"#1a66c9\", penwidth=3" };
	struct topo_distance r;

	topo_distance_to_hca(s->v->m, gpu->key, hca->key, &r);
	put_edge(to, hca, gpu); /* dot draws the second below the first */
	fprintf(to, " [class=\"path%s%s%s\", %s, label=\"%s\"];\n",
		marks & PATH_NEAREST ? " nearest" : "", marks & PATH_ASSIGNED ? " assigned" : "",
		marks & PATH_NCCL ? " nccl" : "",
		look[marks & PATH_ASSIGNED  ? 2
		     : marks & PATH_NEAREST ? 1
					    : 0],
		topo_class_name(r.class));
}

static int put_paths(const struct show_boxes *s, const struct show_box *gpu, FILE *to)
{
	const struct topo_gpu_choice *c = &s->v->choice->gpu[gpu->key];
	auto_free uint8_t *marks = calloc(s->n, sizeof(*marks));
	size_t n_takes;
	auto_free uint32_t *takes = show_takes(s->v->nccl, gpu->key, &n_takes);

	if (!marks || !takes)
		return -1;
	if (boxes_draws_nearest(c))
		mark(s, c->nearest, c->n_nearest, marks, PATH_NEAREST);
	mark(s, c->share, c->n_share, marks, PATH_NEAREST | PATH_ASSIGNED);
	mark(s, takes, n_takes, marks, PATH_NCCL);
	for (size_t i = 0; i < s->n; i++)
		if (marks[i])
			put_path(s, gpu, &s->box[i], marks[i], to);
	return 0;
}

/* ---- the whole ---- */

static const char head[] =
	"# Links: class pcie, c2c, nvlink. Paths of a GPU to an HCA: class path, with the words\n"
	"# nearest, assigned (the HCA that the GPU should take) and nccl (NCCL takes it).\n"
	"graph topology {\n"
	"\tgraph [rankdir=TB, ranksep=0.7, fontname=\"sans-serif\"];\n"
	"\tnode [style=filled, color=\"#5a6672\", fontname=\"sans-serif\", fontsize=11];\n"
	"\tedge [color=\"#5a6672\", fontname=\"sans-serif\", fontsize=9];\n";

static int put_graph(const struct show_boxes *s, FILE *to)
{
	bool nvswitch = false;

	fputs(head, to);
	for (size_t i = 0; i < s->n; i++) {
		if (is_drawn(&s->box[i]))
			put_node(s, &s->box[i], to);
		nvswitch |= s->box[i].kind == BOX_GPU &&
			    show_links_to_switches(&s->v->m->gpu[s->box[i].key]);
	}
	if (nvswitch)
		fputs("\tnvswitch [class=\"nvswitch\", shape=box, fillcolor=\"#e9edf2\", "
		      "label=\"NVSwitch\"];\n",
		      to);
	for (size_t i = 0; i < s->n; i++)
		if (is_drawn(&s->box[i]))
			put_link(s, &s->box[i], to);
	for (size_t i = 0; i < s->n; i++) {
		if (s->box[i].kind != BOX_GPU)
			continue;
		put_c2c(s, &s->box[i], to);
		put_nvlinks(s, &s->box[i], to);
		if (put_paths(s, &s->box[i], to))
			return -1;
	}
	fputs("}\n", to);
	return 0;
}

int show_dot(const struct topo_view *v, FILE *to, struct err *e)
{
	auto_boxes struct show_boxes s = { 0 };

	if (boxes_build(v, &s) || put_graph(&s, to))
		return err_nomem(e);
	return show_finish(to, e);
}
