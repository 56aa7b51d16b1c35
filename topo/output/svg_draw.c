/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the SVG of boxes, cards, and the lines between HCAs and GPUs. */
#include <stdio.h>
#include <string.h>

#include "lib/cli/markup.h"
#include "topo/output/svg.h"

void svg_put_line(FILE *to, const char *class, struct svg_point at, const char *text)
{
	fprintf(to, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, at.x, at.y);
	markup_put(text, to);
	fputs("</text>\n", to);
}

/* ---- boxes ---- */

static void put_rect(const struct show_box *b, const char *class, int radius, FILE *to)
{
	fprintf(to, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\"/>\n",
		class, b->x, b->y, b->w, b->h, radius);
}

/* A triangle with '!'. */
void svg_put_mark(int x, int y, FILE *to)
{
	fprintf(to, "<path class=\"mark\" d=\"M%d %dl10 18h-20z\"/>", x, y);
	fprintf(to, "<text class=\"on m\" x=\"%d\" y=\"%d\">!</text>\n", x, y + 15);
}

static void put_title(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	char text[BOX_TEXT_LEN];

	fprintf(to, "<text class=\"%s\" x=\"%d\" y=\"%d\">", b->kind == BOX_SOCKET ? "n" : "d",
		b->x + 12, svg_title_below(b) ? b->y + b->h - 8 : b->y + 16);
	markup_put_short(boxes_title(s, b, text), (size_t)(b->w - 20) * 10 / 63, to);
	fputs("</text>\n", to);
}

static void put_container(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	static const char *const classes[] = {
		[BOX_SOCKET] = "socket",
		[BOX_ROOT] = "root",
		[BOX_SWITCH] = "switch",
	};

	put_rect(b, classes[b->kind], b->kind == BOX_SOCKET ? 10 : 7, to);
	put_title(s, b, to);
}

/* ---- trouble ---- */

const char *svg_gpu_finding(const struct topo_view *v, uint32_t gpu)
{
	for (size_t i = 0; v->findings && i < v->findings->all.n; i++) {
		const struct finding *f = &v->findings->all.item[i];

		if (f->state == FINDING_FAIL && f->of[GDR_OF_GPU] == gpu && f->reason)
			return f->reason;
	}
	return NULL;
}

const char *svg_gpu_remark(const struct topo_view *v, uint32_t gpu)
{
	const struct compare_gpu *d = &v->differ->gpu[gpu];

	return show_unavailable(v, gpu) || d->cause == COMPARE_FLAT_VM ? d->text : NULL;
}

static bool gpu_troubled(const struct topo_view *v, uint32_t gpu)
{
	return svg_gpu_finding(v, gpu) || svg_gpu_remark(v, gpu) ||
	       (v->choice->gpu[gpu].why_none && !v->m->gpu[gpu].on_package);
}

static bool hca_troubled(const struct topo_view *v, uint32_t hca)
{
	const struct topo_hca *h = &v->m->hca[hca];

	return topo_is_network(h) && !topo_usable(h);
}

/* ---- cards ---- */

static void put_card(const struct show_box *b, bool bad, const char *const line[3], FILE *to)
{
	static const char *const classes[] = { "n m", "d m", "d m" };

	for (int i = 0; i < 3; i++) {
		fprintf(to, "<text class=\"%s\" x=\"%d\" y=\"%d\">", classes[i], b->x + b->w / 2,
			b->y + 19 + 15 * i);
		markup_put_short(line[i], i ? 21 : 16, to);
		fputs("</text>\n", to);
	}
	if (bad)
		svg_put_mark(b->x + b->w - 4, b->y - 8, to);
}

static void put_gpu(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	const struct topo_gpu *g = &s->v->m->gpu[b->key];
	char name[32], bdf[PCI_STR_LEN];
	bool bad = gpu_troubled(s->v, b->key);
	const char *const line[] = { name, show_gpu_bdf(s->v->m, b->key, bdf), boxes_vendor(g) };

	(void)snprintf(name, sizeof(name), "GPU %d", g->index);
	put_rect(b, bad ? "gpu bad" : "gpu", 6, to);
	put_card(b, bad, line, to);
}

static void put_hca(const struct show_boxes *s, const struct show_box *b, FILE *to)
{
	const struct topo_hca *h = &s->v->m->hca[b->key];
	char bdf[PCI_STR_LEN], text[BOX_TEXT_LEN];
	const char *where = show_hca_bdf(s->v->m, b->key, bdf);
	bool bad = hca_troubled(s->v, b->key);
	const char *const line[] = { h->name, where ? where : "no function",
				     boxes_describe_hca(s, b, text) };

	put_rect(b,
		 bad                                       ? "hca bad"
		 : s->v->choice->rail[b->key] == TOPO_NONE ? "hca idle"
							   : "hca",
		 6, to);
	put_card(b, bad, line, to);
}

/* ---- lines between HCAs and GPUs ---- */

/* A line from the bottom of an HCA to the top of a GPU; number i of n at that GPU. */
struct drawn_path {
	const struct show_box *hca, *gpu;
	size_t i, n;
};

static void put_path(const struct drawn_path *w, const char *class, FILE *to)
{
	int x1 = w->hca->x + w->hca->w / 2, y1 = w->hca->y + w->hca->h;
	int x2 = w->gpu->x + w->gpu->w * ((int)w->i + 1) / ((int)w->n + 1), y2 = w->gpu->y;
	int bend = (y2 - y1) / 2;

	/* if the HCA is not above the GPU, the line makes a wider bend */
	if (bend < 30)
		bend = 30;
	fprintf(to, "<path class=\"way %s\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n", class, x1, y1, x1,
		y1 + bend, x2, y2 - bend, x2, y2);
}

static const char *path_class(const struct topo_gpu_choice *c, uint32_t hca)
{
	return has_u32(c->share, c->n_share, hca) ? "mine" : "near";
}

/* The HCAs that NCCL uses although they are farther than the nearest. */
static size_t foreign_hcas(const struct show_boxes *s, uint32_t gpu, uint32_t *takes, size_t n)
{
	const struct topo_gpu_choice *c = &s->v->choice->gpu[gpu];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (s->v->differ->gpu[gpu].verdict == COMPARE_FARTHER &&
		    !has_u32(c->nearest, c->n_nearest, takes[i]))
			takes[kept++] = takes[i];
	return kept;
}

static int put_paths(const struct show_boxes *s, const struct show_box *gpu, FILE *to)
{
	const struct topo_gpu_choice *c = &s->v->choice->gpu[gpu->key];
	bool all = boxes_draws_nearest(c);
	const uint32_t *list = all ? c->nearest : c->share;
	size_t n = all ? c->n_nearest : c->n_share, n_takes;
	auto_free uint32_t *takes = show_takes(s->v->nccl, gpu->key, &n_takes);
	struct drawn_path w = { .gpu = gpu };

	if (!takes)
		return -1;
	n_takes = foreign_hcas(s, gpu->key, takes, n_takes);
	w.n = n + n_takes;
	for (w.i = 0; w.i < w.n; w.i++) {
		bool off = w.i >= n;
		uint32_t hca = off ? takes[w.i - n] : list[w.i];

		w.hca = boxes_find(s, BOX_HCA, hca);
		if (w.hca)
			put_path(&w, off ? "off" : path_class(c, hca), to);
	}
	return 0;
}

/* ---- all of it ---- */

int svg_put_all(const struct show_boxes *s, FILE *to)
{
	for (size_t i = 1; i < s->n; i++)
		if (s->box[i].kind < BOX_HCA && (s->box[i].has_hca || s->box[i].has_gpu))
			put_container(s, &s->box[i], to);
	for (size_t i = 1; i < s->n; i++)
		if (s->box[i].kind == BOX_GPU && put_paths(s, &s->box[i], to))
			return -1;
	for (size_t i = 1; i < s->n; i++) {
		if (s->box[i].kind == BOX_GPU)
			put_gpu(s, &s->box[i], to);
		else if (s->box[i].kind == BOX_HCA)
			put_hca(s, &s->box[i], to);
	}
	return 0;
}
