/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures of many machines on one page, in rows of equal cells. */
#include <stdio.h>
#include <string.h>

#include "topo/output/svg.h"

#define GAP    20
#define TOP    76 /* the title of the page */
#define BOTTOM 44 /* the legend */
#define LINE_H 17

/* ---- one cell ---- */

struct cell {
	char *body; /* owned */
	int w, h;
};

static void put_name(const struct show_tray *t, FILE *to)
{
	size_t gpus = show_count_gpus(t->view), hcas = show_count_hcas(t->view);
	unsigned rails = t->view->choice->n_rails;
	char text[160];

	(void)snprintf(text, sizeof(text), "%zu GPU%s, %zu HCA%s, %u rail%s", gpus,
		       gpus == 1 ? "" : "s", hcas, hcas == 1 ? "" : "s", rails,
		       rails == 1 ? "" : "s");
	if (t->differs)
		svg_put_mark(SVG_MARGIN + 10, 19, to);
	svg_put_line(to, "h", (struct svg_point){ SVG_MARGIN + (t->differs ? 28 : 0), 34 },
		     t->name);
	svg_put_line(to, "d", (struct svg_point){ SVG_MARGIN, 52 }, text);
}

static int put_cell(const struct show_tray *t, struct cell *c, FILE *to)
{
	auto_boxes struct show_boxes s = { 0 };
	int y;

	if (boxes_build(t->view, &s))
		return -1;
	svg_place(&s);
	put_name(t, to);
	if (svg_put_all(&s, to))
		return -1;
	y = s.box[0].h;
	if (t->differs) {
		svg_put_mark(SVG_MARGIN + 10, y - 13, to);
		y = svg_put_paragraph(&s, t->differs, y, to) + 4;
	}
	y = svg_put_troubles(&s, y, to);
	c->w = s.box[0].w;
	c->h = y > s.box[0].h ? y : s.box[0].h;
	return 0;
}

static int make_cell(const struct show_tray *t, struct cell *c)
{
	size_t size;
	FILE *to = open_memstream(&c->body, &size);

	if (!to)
		return -1;
	int rc = put_cell(t, c, to);
	if (ferror(to))
		rc = -1;
	return fclose(to) ? -1 : rc;
}

/* ---- the page ---- */

/* Rows and columns that fill a landscape page: the width is nearest to 8/5 of the height. */
static size_t count_columns(size_t n, const struct cell *all)
{
	size_t best = 1;
	double least = 0;

	for (size_t columns = 1; columns <= n; columns++) {
		size_t rows = (n + columns - 1) / columns;
		double w = (double)columns * all->w, h = (double)rows * all->h;
		double off = w > 1.6 * h ? w / (1.6 * h) : 1.6 * h / w;

		if (columns == 1 || off < least) {
			best = columns;
			least = off;
		}
	}
	return best;
}

static void put_page(const struct show_tray *tray, const struct cell *cell, size_t n,
		     enum show_theme theme, FILE *to)
{
	struct cell all = { 0 };
	bool there[SVG_PATHS] = { false };
	size_t odd = 0;
	char text[96];

	for (size_t i = 0; i < n; i++) {
		all.w = cell[i].w > all.w ? cell[i].w : all.w;
		all.h = cell[i].h > all.h ? cell[i].h : all.h;
		odd += tray[i].differs != NULL;
		svg_find_paths(tray[i].view, there);
	}
	const int columns = (int)count_columns(n, &all), rows = ((int)n + columns - 1) / columns;
	const int w = columns * (all.w + GAP) + GAP, h = TOP + rows * (all.h + GAP) + BOTTOM;
	(void)snprintf(text, sizeof(text), odd ? "%zu machines, %zu differ%s" : "%zu machines", n,
		       odd, odd == 1 ? "s" : "");
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\">\n<title>%s</title>\n",
		w, h, w, h, text);
	svg_put_style(theme, to);
	fputs("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", to);
	svg_put_line(to, "r", (struct svg_point){ SVG_MARGIN, 48 }, text);
	for (size_t i = 0; i < n; i++) {
		fprintf(to,
			"<g transform=\"translate(%d %d)\"><rect class=\"tray%s\" width=\"%d\" "
			"height=\"%d\" rx=\"12\"/>\n%s</g>\n",
			GAP + (int)i % columns * (all.w + GAP),
			TOP + (int)i / columns * (all.h + GAP), tray[i].differs ? " bad" : "",
			all.w, all.h, cell[i].body);
	}
	svg_put_legend(there, h - LINE_H, to);
	fputs("</svg>\n", to);
}

int show_svg_rack(const struct show_tray *tray, size_t n, enum show_theme theme, FILE *to,
		  struct err *e)
{
	auto_free struct cell *cell = calloc(n + 1, sizeof(*cell));
	int rc = cell ? 0 : -1;

	for (size_t i = 0; i < n && !rc; i++)
		rc = make_cell(&tray[i], &cell[i]);
	if (!rc)
		put_page(tray, cell, n, theme, to);
	for (size_t i = 0; i < n && cell; i++)
		free(cell[i].body);
	return rc ? err_nomem(e) : show_finish(to, e);
}
