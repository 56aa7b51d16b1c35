/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h: NCCL's own view of a machine: between the files of the prediction.
 *
 * outline  the tree of elements that NCCL would have read or found, in document order;
 * graph    nodes and links, Broadcom switches flattened.
 */
#ifndef RAILHEAD_TOPO_NCCL_VIEW_H
#define RAILHEAD_TOPO_NCCL_VIEW_H

#include "topo/nccl/nccl.h"

/* ---- outline ---- */

struct nccl_item {       /* a cpu or a pci element */
	uint32_t parent; /* item above, which comes earlier; AFF_NONE: this is a cpu */
	uint32_t pci;    /* the machine's function; AFF_NONE: this is a cpu */
	uint32_t cpu;    /* of a cpu: the machine's record; AFF_NONE: there is none */
	int numa;        /* of a cpu */
};

struct nccl_place { /* a net element */
	struct nccl_net net;
	uint32_t item; /* in which element; a cpu: NCCL does not know better */
	uint32_t mbps; /* as NCCL reads it */
};

struct nccl_outline {
	struct nccl_item *item; /* in document order */
	struct nccl_place *net; /* in document order */
	uint32_t *gpu;          /* the machine's GPUs that are in, in document order */
	uint32_t *item_of;      /* of each function; AFF_NONE: it is not in the view */
	uint32_t n_items, n_nets, n_gpus;
};

int nccl_outline_make(const struct aff_machine *m, const struct aff_scope *scope,
		      const struct nccl_opts *o, struct nccl_outline *out,
		      struct err *e) must_check;
void nccl_outline_clear(struct nccl_outline *v);
#define auto_nccl_outline auto_clean(nccl_outline_clear)

/* Steps of it. _file: elements and nets of a topology file; _climb: elements of a tree, as NCCL
 * climbs; _nets: of a tree. */
void nccl_outline_file(const struct aff_machine *m, const struct aff_scope *scope,
		       struct nccl_outline *v);
int nccl_outline_climb(const struct aff_machine *m, const struct nccl_opts *o,
		       struct nccl_outline *v, struct err *e) must_check;
void nccl_outline_nets(const struct aff_machine *m, const struct aff_scope *scope,
		       const struct nccl_opts *o, struct nccl_outline *v);

/* What NCCL would know, but the source does not tell: not in the way. */
#define NCCL_MBPS_UNKNOWN 400000

bool nccl_is_tree(const struct aff_machine *m);
/* nccl_link - the link above a function as NCCL reads it; 0: it will take its default. */
struct aff_link nccl_link(const struct aff_machine *m, uint32_t pci);
/* nccl_link_bw - GB/s. */
float nccl_link_bw(struct aff_link l);

/* ---- graph ---- */

enum nccl_kind {
	NCCL_NODE_CPU,
	NCCL_NODE_PCI,
	NCCL_NODE_GPU,
	NCCL_NODE_NVS,
	NCCL_NODE_NIC,
	NCCL_NODE_NET,
};

struct nccl_link_to {
	uint32_t to;
	enum nccl_path type; /* NVL, C2C, PIX (any PCIe link), SYS, NET */
	float bw;
};

struct nccl_links {
	struct nccl_link_to *link; /* owned */
	uint32_t n;
};

struct nccl_node {
	enum nccl_kind kind;
	bool gone;      /* flattened away */
	uint32_t thing; /* item; of a GPU or net: which of the outline's */
	uint32_t up;    /* the node above; AFF_NONE */
	float bw;       /* of the link to it */
	uint64_t id;    /* of a switch: aff_ids(); of a NIC: its bus and device */
	/* Ways on, in the order in which NCCL tries them. Those to NICs and nets lead nowhere else
	 * and are kept apart: a search need not look at hundreds of VFs. */
	struct nccl_links core, leaf;
};

struct nccl_graph {
	struct nccl_node *node; /* NICs and nets behind all others */
	uint32_t n_nodes, n_core;
	uint32_t *cpu, *gpu, *net; /* nodes of each kind, in NCCL's order; owned */
	uint32_t n_cpus, n_gpus, n_nets;
};

int nccl_graph_make(const struct aff_machine *m, const struct nccl_outline *v,
		    const struct nccl_opts *o, struct nccl_graph *out, struct err *e) must_check;
void nccl_graph_clear(struct nccl_graph *g);
#define auto_nccl_graph auto_clean(nccl_graph_clear)

/* nccl_add_link - widest first, as NCCL keeps them; a second one to the same node widens it. */
int nccl_add_link(struct nccl_links *l, struct nccl_link_to to, struct err *e) must_check;
/* nccl_flatten - Broadcom's two levels become one. */
int nccl_flatten(struct nccl_graph *g, struct err *e) must_check;
/* nccl_wires - links that are not of the PCI tree: NVLink, C2C, between CPUs. */
int nccl_wires(const struct aff_machine *m, const struct nccl_outline *v, bool rccl,
	       struct nccl_graph *g, struct err *e) must_check;

#endif
