/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.h: NCCL's own view of a machine: between the files of the prediction.
 *
 * XML     the tree of elements that NCCL would have read or found, in document order;
 * system  nodes and links (ncclTopoSystem), Broadcom switches flattened.
 */
#ifndef RAILHEAD_TOPO_NCCL_SYSTEM_H
#define RAILHEAD_TOPO_NCCL_SYSTEM_H

#include "topo/nccl/types.h"

/* ---- XML (ncclXml) ---- */

struct nccl_xml_node {   /* a cpu or a pci element */
	uint32_t parent; /* item above, which comes earlier; AFF_NONE: this is a cpu */
	uint32_t pci;    /* the machine's function; AFF_NONE: this is a cpu */
	uint32_t cpu;    /* of a cpu: the machine's record; AFF_NONE: there is none */
	int numa;        /* of a cpu */
};

struct nccl_xml_net { /* a net element */
	struct nccl_net net;
	uint32_t item; /* in which element; a cpu: NCCL does not know better */
	uint32_t mbps; /* as NCCL reads it */
};

struct nccl_xml {
	struct nccl_xml_node *item; /* in document order */
	struct nccl_xml_net *net;   /* in document order */
	uint32_t *gpu;              /* the machine's GPUs that are in, in document order */
	uint32_t *item_of;          /* of each function; AFF_NONE: it is not in the view */
	uint32_t n_items, n_nets, n_gpus;
};

/* nccl_xml_make - as ncclTopoGetSystem reads or builds it, before it makes the system. */
int nccl_xml_make(const struct aff_machine *m, const struct aff_scope *scope,
		  const struct nccl_opts *o, struct nccl_xml *out, struct err *e) must_check;
void nccl_xml_clear(struct nccl_xml *v);
#define auto_nccl_xml auto_clean(nccl_xml_clear)

/* Steps of it. _from_file: elements and nets of a topology file (ncclTopoGetXmlFromFile);
 * _from_sys: elements of a tree, as NCCL finds them (ncclTopoGetXmlFromSys); _add_nets: the nets of
 * a tree (ncclTopoFillNet). */
void nccl_xml_from_file(const struct aff_machine *m, const struct aff_scope *scope,
			struct nccl_xml *v);
int nccl_xml_from_sys(const struct aff_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		      struct err *e) must_check;
void nccl_xml_add_nets(const struct aff_machine *m, const struct aff_scope *scope,
		       const struct nccl_opts *o, struct nccl_xml *v);

/* What NCCL would know, but the source does not tell: not in the way. */
#define NCCL_MBPS_UNKNOWN 400000

bool nccl_is_tree(const struct aff_machine *m);
/* nccl_pcie_link - the link above a function as NCCL reads it; 0: it will take its default. */
struct aff_pcie_link nccl_pcie_link(const struct aff_machine *m, uint32_t pci);
/* nccl_pcie_bw - GB/s. */
float nccl_pcie_bw(struct aff_pcie_link l);

/* ---- system (ncclTopoSystem) ---- */

enum nccl_kind {
	NCCL_NODE_CPU,
	NCCL_NODE_PCI,
	NCCL_NODE_GPU,
	NCCL_NODE_NVS,
	NCCL_NODE_NIC,
	NCCL_NODE_NET,
};

struct nccl_topo_link {
	uint32_t to;
	enum nccl_path_type type; /* NVL, C2C, PIX (any PCIe link), SYS, NET */
	float bw;
};

struct nccl_links {
	struct nccl_topo_link *link; /* owned */
	uint32_t n;
};

struct nccl_node {
	enum nccl_kind kind;
	bool gone;      /* flattened away */
	uint32_t thing; /* item; of a GPU or net: which of the XML's */
	uint32_t up;    /* the node above; AFF_NONE */
	float bw;       /* of the link to it */
	uint64_t id;    /* of a switch: aff_pci_ids(); of a NIC: its bus and device */
	/* Ways on, in the order in which NCCL tries them. Those to NICs and nets lead nowhere else
	 * and are kept apart: a search need not look at hundreds of VFs. */
	struct nccl_links core, leaf;
};

struct nccl_system {
	struct nccl_node *node; /* NICs and nets behind all others */
	uint32_t n_nodes, n_core;
	uint32_t *cpu, *gpu, *net; /* nodes of each kind, in NCCL's order; owned */
	uint32_t n_cpus, n_gpus, n_nets;
};

/* nccl_system_make - ncclTopoGetSystemFromXml. */
int nccl_system_make(const struct aff_machine *m, const struct nccl_xml *v,
		     const struct nccl_opts *o, struct nccl_system *out, struct err *e) must_check;
void nccl_system_clear(struct nccl_system *g);
#define auto_nccl_system auto_clean(nccl_system_clear)

/* nccl_connect_nodes - ncclTopoConnectNodes: widest first, as NCCL keeps them; a second one to the
 * same node widens it.
 */
int nccl_connect_nodes(struct nccl_links *l, struct nccl_topo_link to, struct err *e) must_check;
/* nccl_flatten_bcm - ncclTopoFlattenBcmSwitches: Broadcom's two levels become one. */
int nccl_flatten_bcm(struct nccl_system *g, struct err *e) must_check;
/* nccl_add_links - ncclTopoAddNvLinks, ncclTopoAddC2c, ncclTopoConnectCpus: links that are not of
 * the PCI tree: NVLink, C2C, between CPUs. */
int nccl_add_links(const struct aff_machine *m, const struct nccl_xml *v, bool rccl,
		   struct nccl_system *g, struct err *e) must_check;

#endif
