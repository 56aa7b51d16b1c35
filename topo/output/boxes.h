/* SPDX-License-Identifier: Apache-2.0 */
/*
 * boxes.h: a machine as a tree of boxes, for pictures: NUMA nodes, root complexes and switch chips
 * with HCAs and GPUs in them.
 */
#ifndef RAILHEAD_TOPO_OUTPUT_BOXES_H
#define RAILHEAD_TOPO_OUTPUT_BOXES_H

#include "topo/output/show_priv.h"

enum box_kind { BOX_PAGE, BOX_SOCKET, BOX_ROOT, BOX_SWITCH, BOX_HCA, BOX_GPU };

#define BOX_NONE SIZE_MAX

struct show_box {
	enum box_kind kind;
	uint32_t key;          /* a cpu, root, chip, HCA or GPU; TOPO_NONE: not known */
	uint32_t pci;          /* switch: its first function */
	size_t parent;         /* a box; BOX_NONE: this is the page */
	size_t first, next;    /* first child, next sibling, in the order of adding */
	bool has_hca, has_gpu; /* at any level below */
	uint32_t vfs;          /* HCA: number of VFs and subfunctions that are not drawn */
	int x, y, w, h;        /* set by svg_place() */
};

struct show_boxes {
	const struct topo_view *v;
	struct show_box *box; /* owned; the page first */
	size_t n;
};

/* boxes_build - make boxes for all GPUs and HCAs in scope and the switches above them; -1: no
 * memory. VFs and subfunctions have a box only if their PF is not in scope. */
int boxes_build(const struct topo_view *v, struct show_boxes *out) must_check;
void boxes_clear(struct show_boxes *s);
#define auto_boxes auto_clean(boxes_clear)

/* boxes_find - the box of an HCA or GPU; for a VF without a box, its PF's. NULL: none. */
const struct show_box *boxes_find(const struct show_boxes *s, enum box_kind kind, uint32_t key);

#define BOX_TEXT_LEN 128
/* boxes_title - "NUMA node 0", "root complex pci0000:15", "PEX890xx 16:00.0"; "" for a card.
 * boxes_describe_hca - "200G, rail 3, 16 VFs", with middle dots. Both return buf. */
char *boxes_title(const struct show_boxes *s, const struct show_box *b, char buf[BOX_TEXT_LEN]);
char *boxes_describe_hca(const struct show_boxes *s, const struct show_box *b,
			 char buf[BOX_TEXT_LEN]);
/* boxes_vendor - "NVIDIA"; static. */
const char *boxes_vendor(const struct topo_gpu *g);

/* boxes_draws_nearest - there is a line to each nearest HCA; else to those that the GPU should
 * take. */
bool boxes_draws_nearest(const struct topo_gpu_choice *c);

#endif
