/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.h: NCCL's model of a machine; shared by the files of this folder.
 *
 * XML (ncclXml): the tree of elements that NCCL reads from a file or from /sys, in document order.
 * System (ncclTopoSystem): nodes and links made from the XML, with Broadcom switches flattened.
 */
#ifndef RAILHEAD_TOPO_NCCL_SYSTEM_H
#define RAILHEAD_TOPO_NCCL_SYSTEM_H

#include "topo/nccl/types.h"

/* ---- XML (ncclXml) ---- */
struct nccl_xml_node {   /* a cpu or a pci element */
	uint32_t parent; /* the item above, which comes earlier; TOPO_NONE: this is a cpu */
	uint32_t pci;    /* the machine's function; TOPO_NONE: this is a cpu */
	uint32_t cpu;    /* cpu: the machine's record; TOPO_NONE: there is none */
	int numa;        /* cpu: its NUMA node */
	uint32_t width;  /* link_width that fusion set; 0: that of the function */
	uint32_t made;   /* fusion made this element with the function of another: its number */
};

struct nccl_xml_net { /* a net element */
	struct nccl_net net;
	uint32_t item; /* the element above it; a cpu if NCCL does not find the function */
	uint32_t
		after; /* of a net at a cpu: the element before its nic; TOPO_NONE: there is none */
	uint32_t nth;  /* its number in the plugin; in a file, its dev */
	uint32_t mbps; /* Mbit/s as NCCL reads it */
	bool lost;     /* fused to where NCCL does not look: it has no path */
};

struct nccl_xml {
	struct nccl_xml_node *item; /* in document order */
	struct nccl_xml_net *net;   /* in document order */
	uint32_t *gpu;              /* indices of the machine's GPUs in scope, in document order */
	uint32_t *item_of;          /* by function: its item; TOPO_NONE: it has none */
	uint32_t n_items, n_nets, n_gpus;
	bool ranks_differ; /* the ranks fuse different nets: device N is not the same for all */
};

/* nccl_xml_make - the XML that ncclTopoGetSystem reads or builds. The caller clears *out. */
int nccl_xml_make(const struct topo_machine *m, const struct topo_scope *scope,
		  const struct nccl_opts *o, struct nccl_xml *out, struct err *e) must_check;
void nccl_xml_clear(struct nccl_xml *v);
#define auto_nccl_xml auto_clean(nccl_xml_clear)

/* Its steps. _from_file: elements and nets of a topology file (ncclTopoGetXmlFromFile). For a
 * machine from sysfs: _add_nets, its nets (ncclTopoFillNet), whose `item` is a function of the
 * machine until _from_sys adds the elements above GPUs and nets (ncclTopoGetXmlFromSys). */
void nccl_xml_from_file(const struct topo_machine *m, const struct topo_scope *scope,
			const struct nccl_opts *o, struct nccl_xml *v);
int nccl_xml_from_sys(const struct topo_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		      struct err *e) must_check;
void nccl_xml_add_nets(const struct topo_machine *m, const struct topo_scope *scope,
		       const struct nccl_opts *o, struct nccl_xml *v);

/* nccl_xml_fuse_ranks - ncclTopoFuseXml: the XMLs of n ranks as one, without GPUs. */
int nccl_xml_fuse_ranks(const struct topo_machine *m, const struct nccl_xml *rank, uint32_t n,
			struct nccl_xml *out, struct err *e) must_check;

/* nccl_ib_pci - the function at which NCCL's IB plugin looks for an HCA; TOPO_NONE: it does not
 * exist. *displaced: its distances are not those of the HCA. */
uint32_t nccl_ib_pci(const struct topo_machine *m, uint32_t hca, const struct nccl_opts *o,
		     bool *displaced);
/* nccl_pair_ports - ncclIbFindMatchingDev, before fusion: ports of one card are one net, also those
 * of a file: NCCL drops nets that no plugin has. */
void nccl_pair_ports(const struct topo_machine *m, struct nccl_xml *v);
/* nccl_filter_nets - matchIfList: drop the nets that NCCL_IB_HCA does not name. */
void nccl_filter_nets(const struct topo_machine *m, const char *list, struct nccl_xml *v);

/* nccl_is_above - an element is `item` or above it. nccl_net_place - a number that grows in
 * document order. */
bool nccl_is_above(const struct nccl_xml *v, uint32_t above, uint32_t item);
uint32_t nccl_net_place(const struct nccl_xml *v, const struct nccl_xml_net *n);
#define NCCL_MBPS_UNKNOWN 400000 /* a rate that NCCL would know: it decides nothing */

/* nccl_is_tree - the machine was read from sysfs, live or captured, not from a topology file. */
bool nccl_is_tree(const struct topo_machine *m);
/* nccl_net_port - the port of a net's first HCA; NULL: it is not known. */
const struct topo_port *nccl_net_port(const struct topo_machine *m, const struct nccl_net *n);
/* checkBDFFormat: an address with a longer domain has more than 12 characters. getPciPath cuts it
 * off, so that NCCL does not find such a function in /sys: it is at a cpu of its own, -1. */
#define NCCL_DOMAIN_MAX 0xffff
/* nccl_pcie_link - the link above a function as NCCL reads it; 0: NCCL uses its default. */
struct topo_pcie_link nccl_pcie_link(const struct topo_machine *m, const struct nccl_opts *o,
				     uint32_t pci);
/* nccl_pcie_bw - the bandwidth of a link in GB/s, with NCCL's defaults (ncclTopoAddPci). */
float nccl_pcie_bw(struct topo_pcie_link l);

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
	bool gone;      /* flattened: merged into `up` */
	uint32_t index; /* of its item of the XML; a GPU or net: its index there */
	uint32_t up;    /* the node above; TOPO_NONE */
	float bw;       /* of the link to it, GB/s */
	uint64_t id;    /* switch: topo_pci_ids(); NIC: its domain, bus and device */
	/* Links in the order in which NCCL follows them. Links to NICs and nets are separate,
	 * because they lead no further: a search then skips hundreds of VFs. */
	struct nccl_links core, leaf;
};

struct nccl_system {
	struct nccl_node *node; /* the first n_core are neither NICs nor nets; owned */
	uint32_t n_nodes, n_core;
	uint32_t *cpu, *gpu, *net; /* nodes of each kind, in NCCL's order; owned */
	uint32_t n_cpus, n_gpus, n_nets;
};

/* nccl_system_make - ncclTopoGetSystemFromXml. The caller clears *out. */
int nccl_system_make(const struct topo_machine *m, const struct nccl_xml *v,
		     const struct nccl_opts *o, struct nccl_system *out, struct err *e) must_check;
void nccl_system_clear(struct nccl_system *g);
#define auto_nccl_system auto_clean(nccl_system_clear)

/* nccl_connect_nodes - ncclTopoConnectNodes: add a link; links are sorted by bandwidth, highest
 * first. A second link to the same node adds its bandwidth to the first. */
int nccl_connect_nodes(struct nccl_links *l, struct nccl_topo_link to, struct err *e) must_check;
/* nccl_flatten_bcm - ncclTopoFlattenBcmSwitches: two levels of a Broadcom switch become one. */
int nccl_flatten_bcm(const struct nccl_opts *o, struct nccl_system *g, struct err *e) must_check;
/* nccl_add_links - ncclTopoAddNvLinks, ncclTopoAddC2c, ncclTopoConnectCpus: add the links outside
 * the PCI tree. */
int nccl_add_links(const struct topo_machine *m, const struct nccl_xml *v,
		   const struct nccl_opts *o, struct nccl_system *g, struct err *e) must_check;

#endif
