/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places boxes in rows. In a box, HCAs are above GPUs, so that lines between them go down. Boxes
 * with both are beside that column, or above it if the space is too small.
 */
#include "topo/output/svg.h"

#define CARD_W  132
#define CARD_H  58
#define GAP     14
#define PAD     12
#define TITLE   24
#define LINES   60   /* between HCAs and GPUs */
#define ROW_MAX 1400 /* a row is broken when it would be wider */

bool svg_title_below(const struct show_box *b)
{
	return b->has_gpu && !b->has_hca;
}

enum group { GROUP_BOTH, GROUP_HCA, GROUP_GPU };

static enum group group_of(const struct show_box *b)
{
	if (b->has_hca && b->has_gpu)
		return GROUP_BOTH;
	return b->has_gpu ? GROUP_GPU : GROUP_HCA;
}

static bool is_drawn(const struct show_box *b)
{
	return b->has_hca || b->has_gpu;
}

/* Boxes left to right, in rows. */
struct flow {
	int x, y;  /* where the next goes */
	int row_h; /* so far */
	int w, h;  /* of all */
};

/* The number of boxes in a row, if all rows have about the same length. */
static size_t in_a_row(const struct show_boxes *s, size_t parent, enum group group)
{
	size_t n = 0, rows;
	int w = 0;

	for (size_t i = s->box[parent].first; i != BOX_NONE; i = s->box[i].next) {
		if (!is_drawn(&s->box[i]) || group_of(&s->box[i]) != group)
			continue;
		w += s->box[i].w + (n ? GAP : 0);
		n++;
	}
	rows = 1 + (size_t)(w > 0 ? w - 1 : 0) / ROW_MAX;
	return (n + rows - 1) / rows;
}

/* The boxes of one group below parent; positions relative to it. */
static void flow_group(struct show_boxes *s, size_t parent, enum group group, struct flow *f)
{
	size_t most = in_a_row(s, parent, group), n = 0;

	for (size_t i = s->box[parent].first; i != BOX_NONE; i = s->box[i].next) {
		struct show_box *b = &s->box[i];

		if (!is_drawn(b) || group_of(b) != group)
			continue;
		if (n == most || (n && f->x + b->w > ROW_MAX)) {
			f->y += f->row_h + GAP;
			f->x = f->row_h = 0;
			n = 0;
		}
		n++;
		b->x = f->x;
		b->y = f->y;
		f->x += b->w + GAP;
		if (b->h > f->row_h)
			f->row_h = b->h;
		if (f->x - GAP > f->w)
			f->w = f->x - GAP;
		f->h = f->y + f->row_h;
	}
}

static void shift_group(struct show_boxes *s, size_t parent, enum group group,
			const struct show_box *by)
{
	for (size_t i = s->box[parent].first; i != BOX_NONE; i = s->box[i].next) {
		struct show_box *b = &s->box[i];

		if (!is_drawn(b) || group_of(b) != group)
			continue;
		b->x += by->x;
		b->y += by->y;
	}
}

/* All boxes of a row except cards get the height of the highest one. */
static void align_row(struct show_boxes *s, size_t parent, enum group group)
{
	for (size_t i = s->box[parent].first; i != BOX_NONE; i = s->box[i].next) {
		int top = s->box[i].y, row_h = 0;

		if (!is_drawn(&s->box[i]) || group_of(&s->box[i]) != group)
			continue;
		for (size_t k = s->box[parent].first; k != BOX_NONE; k = s->box[k].next) {
			const struct show_box *b = &s->box[k];

			if (is_drawn(b) && group_of(b) == group && b->y == top && b->h > row_h)
				row_h = b->h;
		}
		if (s->box[i].kind != BOX_HCA && s->box[i].kind != BOX_GPU)
			s->box[i].h = row_h;
	}
}

static int max_int(int a, int b)
{
	return a > b ? a : b;
}

/* From the leaves up: set sizes, and positions relative to the parent. */
static void measure_box(struct show_boxes *s, size_t at)
{
	struct flow both = { 0 }, hca = { 0 }, gpu = { 0 };
	bool page = s->box[at].kind == BOX_PAGE;
	int pad = page ? 0 : PAD, head = page ? 0 : svg_title_below(&s->box[at]) ? PAD : TITLE;
	int foot = page ? 0 : TITLE + PAD - head, column_w, column_h, beside, floor;

	if (s->box[at].kind == BOX_HCA || s->box[at].kind == BOX_GPU) {
		s->box[at].w = CARD_W;
		s->box[at].h = CARD_H;
		return;
	}
	for (size_t i = s->box[at].first; i != BOX_NONE; i = s->box[i].next)
		measure_box(s, i);
	flow_group(s, at, GROUP_BOTH, &both);
	flow_group(s, at, GROUP_HCA, &hca);
	flow_group(s, at, GROUP_GPU, &gpu);
	column_w = max_int(hca.w, gpu.w);
	column_h = hca.h + gpu.h + (hca.h && gpu.h ? LINES : 0);
	beside = both.w && column_w ? GAP : 0;
	/* beside, if there is enough space; else below */
	if (both.w + beside + column_w <= ROW_MAX) {
		floor = max_int(both.h, column_h);
		shift_group(s, at, GROUP_BOTH, &(struct show_box){ .x = pad, .y = head });
		shift_group(s, at, GROUP_HCA,
			    &(struct show_box){ .x = pad + both.w + beside + (column_w - hca.w) / 2,
						.y = head });
		shift_group(s, at, GROUP_GPU,
			    &(struct show_box){ .x = pad + both.w + beside + (column_w - gpu.w) / 2,
						.y = head + floor - gpu.h });
		s->box[at].w = both.w + beside + column_w + 2 * pad;
	} else {
		floor = both.h + GAP + column_h;
		shift_group(s, at, GROUP_BOTH, &(struct show_box){ .x = pad, .y = head });
		shift_group(s, at, GROUP_HCA,
			    &(struct show_box){ .x = pad, .y = head + both.h + GAP });
		shift_group(s, at, GROUP_GPU,
			    &(struct show_box){ .x = pad, .y = head + floor - gpu.h });
		s->box[at].w = max_int(both.w, column_w) + 2 * pad;
	}
	s->box[at].h = floor + head + foot;
	align_row(s, at, GROUP_BOTH);
	align_row(s, at, GROUP_HCA);
	align_row(s, at, GROUP_GPU);
}

/* Parents come before their children, so that one pass makes all positions absolute. */
void svg_place(struct show_boxes *s)
{
	measure_box(s, 0);
	s->box[0].x = SVG_MARGIN;
	s->box[0].y = SVG_TOP;
	for (size_t i = 1; i < s->n; i++) {
		s->box[i].x += s->box[s->box[i].parent].x;
		s->box[i].y += s->box[s->box[i].parent].y;
	}
	s->box[0].x = s->box[0].y = 0;
	s->box[0].w += 2 * SVG_MARGIN;
	s->box[0].h += SVG_TOP + SVG_MARGIN;
}
