/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h: a picture of a machine: nested boxes, with HCAs above GPUs. svg_place.c sets positions,
 * svg_draw.c writes SVG.
 */
#ifndef RAILHEAD_TOPO_OUTPUT_SVG_H
#define RAILHEAD_TOPO_OUTPUT_SVG_H

#include "topo/output/boxes.h"

#define SVG_TOP    64 /* above the first socket: the title */
#define SVG_MARGIN 24

/* svg_title_below - the title is at the bottom, because lines enter the box from above. */
bool svg_title_below(const struct show_box *b);

/* svg_place - set x, y, w, h of all boxes; the page encloses the sockets and the margin. */
void svg_place(struct show_boxes *s);

/* svg_put_all - write all boxes and the lines between them; -1: no memory. */
int svg_put_all(const struct show_boxes *s, FILE *to) must_check;

struct svg_point {
	int x, y;
};

/* svg_put_line - write a line of escaped text; class: a class of the style in show_svg.c. */
void svg_put_line(FILE *to, const char *class, struct svg_point at, const char *text);
/* svg_put_mark - write a warning sign, which needs no colour; its top is at x, y. */
void svg_put_mark(int x, int y, FILE *to);
enum svg_path { SVG_MINE, SVG_NEAR, SVG_OFF, SVG_PATHS };

/* svg_gpu_finding - why a GPU cannot use GPUDirect RDMA; NULL: no known reason. */
const char *svg_gpu_finding(const struct topo_view *v, uint32_t gpu);
/* svg_gpu_remark - why NCCL's choice for it is a worse one, or why no choice is known to be right;
 * NULL: it is as good as ours. */
const char *svg_gpu_remark(const struct topo_view *v, uint32_t gpu);

#endif
