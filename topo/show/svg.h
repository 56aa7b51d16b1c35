/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h: a picture of a machine: nested boxes for NUMA nodes, root complexes and switches, with
 * HCAs above GPUs. svg_tree.c builds the tree, svg_place.c sets positions, svg_draw.c writes SVG.
 */
#ifndef RAILHEAD_TOPO_SHOW_SVG_H
#define RAILHEAD_TOPO_SHOW_SVG_H

#include "topo/show/show_priv.h"

enum svg_kind { SVG_PAGE, SVG_SOCKET, SVG_ROOT, SVG_SWITCH, SVG_HCA, SVG_GPU };

#define SVG_NONE SIZE_MAX

struct svg_box {
	enum svg_kind kind;
	uint32_t key;          /* a cpu, root, chip, HCA or GPU; TOPO_NONE: not known */
	uint32_t pci;          /* switch: its first function */
	size_t parent;         /* a box; SVG_NONE: this is the page */
	size_t first, next;    /* first child, next sibling, in the order of adding */
	bool has_hca, has_gpu; /* at any level below */
	uint32_t vfs;          /* HCA: number of VFs and subfunctions that are not drawn */
	int x, y, w, h;
};

struct svg {
	const struct topo_view *v;
	struct svg_box *box; /* owned; the page first */
	size_t n;
};

/* svg_build - make boxes for all GPUs and HCAs in scope and the switches above them; -1: no memory.
 * VFs and subfunctions have a box only if their PF is not in scope. */
int svg_build(const struct topo_view *v, struct svg *out) must_check;
void svg_clear(struct svg *s);
#define auto_svg auto_clean(svg_clear)

/* svg_find - the box of an HCA or GPU; for a VF without a box, its PF's. NULL: none. */
const struct svg_box *svg_find(const struct svg *s, enum svg_kind kind, uint32_t key);

#define SVG_TOP    64 /* above the first socket: the title */
#define SVG_MARGIN 24

/* svg_title_below - the title is at the bottom, because lines enter the box from above. */
bool svg_title_below(const struct svg_box *b);

/* svg_place - set x, y, w, h of all boxes; the page encloses the sockets and the margin. */
void svg_place(struct svg *s);

/* svg_put_all - write all boxes and the lines between them; -1: no memory. */
int svg_put_all(const struct svg *s, FILE *to) must_check;

struct svg_point {
	int x, y;
};

/* svg_put_line - write a line of escaped text; class: a class of the style in show_svg.c. */
void svg_put_line(FILE *to, const char *class, struct svg_point at, const char *text);
/* svg_put_mark - write a warning sign, which needs no colour; its top is at x, y. */
void svg_put_mark(int x, int y, FILE *to);
/* svg_gpu_finding - why a GPU cannot use GPUDirect RDMA; NULL: no known reason. */
const char *svg_gpu_finding(const struct topo_view *v, uint32_t gpu);
/* svg_gpu_remark - why NCCL's choice for it is a worse one, or why no choice is known to be right;
 * NULL: it is as good as ours. */
const char *svg_gpu_remark(const struct topo_view *v, uint32_t gpu);
/* svg_draws_nearest - there is a line to each nearest HCA; else to those that the GPU should take.
 */
bool svg_draws_nearest(const struct topo_gpu_choice *c);

#endif
