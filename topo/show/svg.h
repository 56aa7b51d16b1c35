/* SPDX-License-Identifier: Apache-2.0 */
/*
 * svg.h: a picture of a machine: NUMA nodes, root complexes and switches as boxes in each other,
 * HCAs above GPUs. svg_tree.c says what is in what, svg_place.c where it goes, svg_draw.c draws.
 */
#ifndef RAILHEAD_TOPO_SHOW_SVG_H
#define RAILHEAD_TOPO_SHOW_SVG_H

#include "topo/show/show_priv.h"

enum svg_kind { SVG_PAGE, SVG_SOCKET, SVG_ROOT, SVG_SWITCH, SVG_HCA, SVG_GPU };

#define SVG_NONE SIZE_MAX

struct svg_box {
	enum svg_kind kind;
	uint32_t key;       /* a cpu, root, chip, HCA or GPU; AFF_NONE: a place that is not known */
	uint32_t pci;       /* of a switch: the function that came first */
	size_t parent;      /* a box; SVG_NONE of the page */
	size_t first, next; /* below it; beside it, in the order of adding */
	bool has_hca, has_gpu; /* somewhere below */
	uint32_t vfs;          /* of an HCA: VFs and subfunctions that are not drawn */
	int x, y, w, h;
};

struct svg {
	const struct aff_view *v;
	struct svg_box *box; /* owned; the page first */
	size_t n;
};

/* svg_build - all GPUs and HCAs of the view with what is above them; -1: no memory. VFs and
 * subfunctions are drawn only where their PF is not. */
int svg_build(const struct aff_view *v, struct svg *out) must_check;
void svg_clear(struct svg *s);
#define auto_svg auto_clean(svg_clear)

/* svg_find - the box of an HCA or GPU; of a VF that is not drawn, its PF's. NULL: none. */
const struct svg_box *svg_find(const struct svg *s, enum svg_kind kind, uint32_t key);

#define SVG_TOP    64 /* above the first socket: the title */
#define SVG_MARGIN 24

/* svg_title_below - of a box that lines reach from above, the title is at its foot. */
bool svg_title_below(const struct svg_box *b);

/* svg_place - x, y, w, h of all; the page's are those of the sockets with the margin. */
void svg_place(struct svg *s);

/* svg_put_all - all boxes with the ways between them; -1: no memory. */
int svg_put_all(const struct svg *s, FILE *to) must_check;

struct svg_point {
	int x, y;
};

/* svg_put_line - a line of text, escaped; class is one of show_svg.c's style. */
void svg_put_line(FILE *to, const char *class, struct svg_point at, const char *text);
/* svg_put_mark - a sign for trouble that needs no colour: its top at x, y. */
void svg_put_mark(int x, int y, FILE *to);
/* svg_gpu_finding - what keeps a GPU from GPUDirect RDMA; NULL: nothing that is known. */
const char *svg_gpu_finding(const struct aff_view *v, uint32_t gpu);

#endif
