/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of the picture: style, title, legend and sentences. Colours are CSS classes, with other
 * values for dark screens; print is light. A mark and a sentence repeat what a red colour means.
 */
#include <stdio.h>
#include <string.h>

#include "topo/output/svg.h"

/* ---- colours ---- */

static const char shapes[] =
	"text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;"
	"font-size:11px}\n"
	".r{font-size:34px;font-weight:600}.h{font-size:19px;font-weight:600}.n{font-size:13px;"
	"font-weight:600}"
	".b{font-weight:600}.m{text-anchor:middle}.on{font-weight:700}\n"
	".root{fill:none;stroke-dasharray:2 3}.idle{stroke-dasharray:4 3}"
	".way{fill:none;stroke-linecap:round}\n"
	".mine{stroke-width:3}.near{stroke-width:1.2}.off{stroke-width:2;stroke-dasharray:6 4}"
	".bad{stroke-width:2.5}.tray{fill:none}\n";

static const char light[] = "text{fill:#1b2530}.d{fill:#5a6672}.page{fill:#ffffff}"
			    ".socket{fill:#f4f6f9;stroke:#b9c3ce}.root,.tray{stroke:#b9c3ce}\n"
			    ".switch{fill:#e4edf9;stroke:#557db3}.hca{fill:#fff3d9;stroke:#9a6b0f}"
			    ".gpu{fill:#e0f3e3;stroke:#3f9151}\n"
			    ".mine,.near{stroke:#1a66c9}.off,.bad{stroke:#c9202c}"
			    ".mark{fill:#c9202c}.on{fill:#ffffff}\n";

static const char dark[] = "text{fill:#e6edf3}.d{fill:#9fabb8}.page{fill:#0d1117}"
			   ".socket{fill:#161c25;stroke:#3d4855}.root,.tray{stroke:#4a5664}\n"
			   ".switch{fill:#16263e;stroke:#4f77ab}.hca{fill:#33290f;stroke:#d0972a}"
			   ".gpu{fill:#12301a;stroke:#44b35d}\n"
			   ".mine,.near{stroke:#62a8ff}.off,.bad{stroke:#ff6b70}"
			   ".mark{fill:#ff6b70}.on{fill:#0d1117}\n";

/* Programs that know no media query, such as those for slides, show the light colours. */
static void put_style(FILE *to)
{
	fprintf(to, "<style>\n%s%s@media screen and (prefers-color-scheme:dark){\n%s}\n</style>\n",
		shapes, light, dark);
}

/* ---- legend and sentences ---- */

#define LINE_H 17

#define LINE_LEN 256

static int put_paragraph(const struct show_boxes *s, const char *text, int y, FILE *to)
{
	size_t cap = (size_t)(s->box[0].w - 2 * SVG_MARGIN - 24) * 10 / 58;
	char piece[LINE_LEN];

	if (cap >= LINE_LEN)
		cap = LINE_LEN - 1;
	while (*text) {
		size_t len = strlen(text), cut = len < cap ? len : cap;

		while (cut < len && cut > 0 && text[cut] != ' ')
			cut--;
		if (cut == 0)
			cut = len < cap ? len : cap;
		memcpy(piece, text, cut);
		piece[cut] = '\0';
		svg_put_line(to, "t", (struct svg_point){ SVG_MARGIN + 24, y }, piece);
		y += LINE_H;
		text += cut + (text[cut] == ' ');
	}
	return y;
}

/* The sentence for the mark at a GPU; NULL: it has no mark. */
static const char *trouble_of(const struct topo_view *v, size_t gpu, unsigned which)
{
	const char *finding = svg_gpu_finding(v, (uint32_t)gpu);

	if (!show_has_gpu(v, gpu))
		return NULL;
	if (which == 0)
		return finding ? finding : v->choice->gpu[gpu].why_none;
	return svg_gpu_remark(v, (uint32_t)gpu);
}

/* "GPU 0, 1, 2: sentence" for all GPUs with that sentence; NULL: gpu is not the first of them. */
static char *trouble_text(const struct topo_view *v, size_t gpu, unsigned which)
{
	const char *text = trouble_of(v, gpu, which), *other;
	char whose[160];
	size_t len = 0;
	char *line;

	if (!text)
		return NULL;
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		other = trouble_of(v, g, which);
		if (!other || strcmp(other, text) != 0)
			continue;
		if (g < gpu)
			return NULL;
		if (len < sizeof(whose) - 16)
			len += (size_t)snprintf(whose + len, sizeof(whose) - len, "%s%d",
						g == gpu ? "GPU " : ", ", v->m->gpu[g].index);
	}
	return asprintf(&line, "%s: %s", whose, text) < 0 ? NULL : line;
}

static int put_troubles(const struct show_boxes *s, int y, FILE *to)
{
	for (size_t g = 0; g < s->v->m->n_gpus; g++) {
		for (unsigned which = 0; which < 2; which++) {
			auto_free char *text = trouble_text(s->v, g, which);

			if (!text)
				continue;
			if (which || svg_gpu_finding(s->v, (uint32_t)g) ||
			    !s->v->m->gpu[g].on_package)
				svg_put_mark(SVG_MARGIN + 10, y - 13, to);
			y = put_paragraph(s, text, y, to) + 4;
		}
	}
	return y;
}

static void find_paths(const struct topo_view *v, bool there[SVG_PATHS])
{
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		const struct topo_gpu_choice *c = &v->choice->gpu[g];

		if (!show_has_gpu(v, g))
			continue;
		there[SVG_MINE] |= c->n_share > 0;
		there[SVG_NEAR] |= boxes_draws_nearest(c) && c->n_nearest > c->n_share;
		there[SVG_OFF] |= v->differ->gpu[g].verdict == COMPARE_FARTHER;
	}
}

static void show_svg_put_legend(const bool there[SVG_PATHS], int y, FILE *to)
{
	static const struct {
		const char *class, *text;
	} entry[SVG_PATHS] = {
		[SVG_MINE] = { "mine", "the HCA that the GPU should take" },
		[SVG_NEAR] = { "near", "just as near" },
		[SVG_OFF] = { "off", "what NCCL takes instead" },
	};
	int x = SVG_MARGIN;

	for (size_t i = 0; i < SVG_PATHS; i++) {
		if (!there[i])
			continue;
		fprintf(to, "<path class=\"way %s\" d=\"M%d %dh28\"/>", entry[i].class, x, y - 4);
		svg_put_line(to, "d", (struct svg_point){ x + 36, y }, entry[i].text);
		x += 66 + 6 * (int)strlen(entry[i].text);
	}
}

/* ---- the whole ---- */

static void put_head(const struct show_boxes *s, int height, FILE *to)
{
	size_t gpus = show_count_gpus(s->v), hcas = show_count_hcas(s->v);
	unsigned rails = s->v->choice->n_rails;
	char text[160];

	(void)snprintf(text, sizeof(text), "%zu GPU%s, %zu HCA%s, %u rail%s", gpus,
		       gpus == 1 ? "" : "s", hcas, hcas == 1 ? "" : "s", rails,
		       rails == 1 ? "" : "s");
	fprintf(to,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
		"height=\"%d\" role=\"img\">\n<title>Which HCA is nearest to which GPU: "
		"%s</title>\n",
		s->box[0].w, height, s->box[0].w, height, text);
	put_style(to);
	fputs("<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n", to);
	svg_put_line(to, "h", (struct svg_point){ SVG_MARGIN, 34 },
		     "Which HCA is nearest to which GPU");
	svg_put_line(to, "d", (struct svg_point){ SVG_MARGIN, 52 }, text);
}

/* Everything below the title. Returns the height of the picture, -1: no memory. */
static int put_body(struct show_boxes *s, FILE *to)
{
	bool there[SVG_PATHS] = { false };
	int y = s->box[0].h + 6;

	if (svg_put_all(s, to))
		return -1;
	find_paths(s->v, there);
	show_svg_put_legend(there, y, to);
	y += LINE_H + 8;
	return put_troubles(s, y, to) + SVG_MARGIN / 2;
}

int show_svg(const struct topo_view *v, FILE *to, struct err *e)
{
	auto_boxes struct show_boxes s = { 0 };
	char *body = NULL;
	size_t size;
	int height;

	if (boxes_build(v, &s))
		return err_nomem(e);
	svg_place(&s);
	FILE *f = open_memstream(&body, &size);
	if (!f)
		return err_nomem(e);
	height = put_body(&s, f);
	bool lost = ferror(f);
	auto_free char *owned = fclose(f) ? (free(body), NULL) : body;
	if (height < 0 || lost || !owned)
		return err_nomem(e);
	put_head(&s, height, to);
	fprintf(to, "%s</svg>\n", owned);
	return show_finish(to, e);
}
