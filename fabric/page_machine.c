/* SPDX-License-Identifier: Apache-2.0 */
/* page_machine.c: pictures of machines: GPUs, the rails, and the leaves that these are cabled to.
 */
#include <string.h>

#include "fabric/page.h"
#include "lib/cli/markup.h"

#define SHAPES_MAX   8
#define OUTLIERS_MAX 24

/* ---- one picture ---- */

#define CARD_W  104
#define CARD_H  64
#define GAP     10
#define LEAF_H  24
#define ROW     8 /* cards side by side */
#define LETTERS 15

/* A machine at a place of the picture. */
struct drawn {
	const struct page_draw *d;
	const struct page_node *n;
	bool leaves; /* draw them, and what is wrong with them */
	int row_h;
};

static void put_text(const struct drawn *m, const char *class, int x, int y, const char *text)
{
	fprintf(m->d->to, "<text class=%s x=%d y=%d>", class, x, y);
	markup_put_short(text, LETTERS, m->d->to);
	fputs("</text>", m->d->to);
}

static void put_box(const struct drawn *m, const char *class, const int at[4])
{
	fprintf(m->d->to, "<rect class=s%s x=%d y=%d width=%d height=%d rx=5 />", class, at[0],
		at[1], at[2], at[3]);
}

static void put_leaf(const struct drawn *m, const struct fabric_port *x, int left, int top,
		     const struct page_mark *mark)
{
	const int middle = left + CARD_W / 2;

	put_box(m, "box", (const int[]){ left, top, CARD_W, LEAF_H });
	put_text(m, "t", middle, top + 16, x->leaf ? x->leaf_name : "?");
	fprintf(m->d->to, "<line class=s%s x1=%d y1=%d x2=%d y2=%d />", mark->class, middle,
		top + LEAF_H, middle, top + LEAF_H + 22);
	put_text(m, "d", middle + 26, top + LEAF_H + 15, x->leaf ? x->port : "");
}

static void put_rail(const struct drawn *m, size_t i)
{
	const struct fabric_port *x = &m->n->cables->port[i];
	const struct fabric_place at = { .rail = x->rail, .member = x->member };
	const enum page_cell cell =
		m->leaves ? page_cell_of(m->n, x, page_place_at(m->d, page_group_of(m->n), &at))
			  : PAGE_FREE;
	const int left = GAP + (int)(i % ROW) * (CARD_W + GAP), middle = left + CARD_W / 2;
	int top = GAP + (int)(i / ROW) * m->row_h;
	char line[PAGE_LINK_LEN];

	if (m->leaves) {
		put_leaf(m, x, left, top, &page_marks[cell]);
		top += LEAF_H + 22;
	}
	put_box(m, page_marks[cell].class, (const int[]){ left, top, CARD_W, CARD_H });
	(void)snprintf(line, sizeof(line), "%s rail %u", m->leaves ? page_marks[cell].mark : "",
		       x->rail);
	put_text(m, "t", middle, top + 17, line);
	put_text(m, "m", middle, top + 33, x->interface);
	put_text(m, "d", middle, top + 49, page_link(x->mbps, x->mtu, line));
	fputc('\n', m->d->to);
}

static void put_machine(const struct page_draw *d, const struct page_node *n, bool leaves)
{
	const size_t rails = n->cables ? n->cables->n : 0;
	struct drawn m = { d, n, leaves, CARD_H + GAP + (leaves ? LEAF_H + 22 : 0) };
	const int rows = (int)((rails + ROW - 1) / ROW), across = rails > ROW ? ROW : (int)rails;
	const int w = across * (CARD_W + GAP) + GAP, h = rows * m.row_h + GAP;
	char gpus[64];

	if (!rails)
		return;
	fprintf(d->to, "<svg viewBox=\"0 0 %d %d\" width=%d height=%d role=img>\n", w,
		h + LEAF_H + GAP, w, h + LEAF_H + GAP);
	for (size_t i = 0; i < rails; i++)
		put_rail(&m, i);
	(void)snprintf(gpus, sizeof(gpus), "%.8s GPUs", n->gpus ? n->gpus : "?");
	put_box(&m, "box", (const int[]){ GAP, h, w - 2 * GAP, LEAF_H });
	put_text(&m, "t", w / 2, h + 16, gpus);
	fputs("</svg>\n", d->to);
}

/* ---- all of them ---- */

static void put_caption(const struct page_draw *d, const struct page_node *n, size_t alike)
{
	fputs("<figure><figcaption>", d->to);
	if (alike > 1)
		fprintf(d->to, "<b>%zu alike</b>: as ", alike);
	fputs("<bdi>", d->to);
	markup_put_short(n->name, 63, d->to);
	fputs("</bdi>", d->to);
	if (n->gpus || n->rails || !n->cables) {
		fputs(" <small>", d->to);
		if (n->gpus) {
			markup_put_short(n->gpus, 8, d->to);
			fputs(" GPUs ", d->to);
		}
		if (n->rails) {
			markup_put_short(n->rails, 8, d->to);
			fputs(" rails ", d->to);
		}
		fputs(n->cables ? "</small>" : "of which no cable is known</small>", d->to);
	}
	fputs("</figcaption>\n", d->to);
}

static void put_figure(const struct page_draw *d, const struct page_node *n, size_t alike,
		       bool leaves)
{
	put_caption(d, n, alike);
	put_machine(d, n, leaves);
	fputs("</figure>\n", d->to);
}

/* The only node of its shape, while others are alike. */
static bool is_alone(const struct page *p, size_t shape)
{
	return p->shape[shape].n == 1 && p->n_shapes > 1;
}

/* It has a rail that is not as those of its group. */
static bool is_wrong(const struct page_draw *d, const struct page_node *n)
{
	for (size_t i = 0; n->cables && i < n->cables->n; i++) {
		const struct fabric_port *x = &n->cables->port[i];
		const struct fabric_place at = { .rail = x->rail, .member = x->member };

		if (page_cell_of(n, x, page_place_at(d, page_group_of(n), &at)) < PAGE_SILENT)
			return true;
	}
	return false;
}

void page_put_machines(const struct page_draw *d)
{
	const struct page *p = d->facts->page;
	size_t shapes = 0, outliers = 0, left = 0;

	fputs("<section><h2>Machines</h2>\n<p class=note>Nodes with equal rails and GPUs are "
	      "alike, and have one picture. Outliers have their leaves, too. The store does not "
	      "know "
	      "which GPU is near to which rail: <code>railctl topo --svg FILE</code> on a node "
	      "draws "
	      "its whole machine.</p>\n<div class=machines>\n",
	      d->to);
	for (; shapes < p->n_shapes && shapes < SHAPES_MAX && page_has_room(d); shapes++)
		put_figure(d, &p->node[p->shape[shapes].node], p->shape[shapes].n,
			   is_alone(p, shapes));
	for (size_t i = 0; i < p->n; i++) {
		const struct page_node *n = &p->node[d->order[i]];

		if (!n->outlier || !is_wrong(d, n) || (n->shape < shapes && is_alone(p, n->shape)))
			continue;
		if (outliers == OUTLIERS_MAX || !page_has_room(d)) {
			left++;
			continue;
		}
		outliers++;
		put_figure(d, n, 1, true);
	}
	fputs("</div>\n", d->to);
	if (p->n_shapes > shapes || left)
		fprintf(d->to,
			"<p class=note>%zu more shapes and %zu more outliers have no "
			"picture.</p>\n",
			p->n_shapes - shapes, left);
	fputs("</section>\n", d->to);
}
