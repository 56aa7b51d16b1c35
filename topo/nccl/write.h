/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: writes topology files that the parsers of NCCL and RCCL accept. Pure.
 *
 * These parsers accept no prolog, no tabs, and no line break in a tag. A file has at most 256
 * elements, including those that NCCL adds when it loads the file. *out is a string, owned by the
 * caller. ERR_FIELD names the limit, or the value that cannot be written.
 */
#ifndef RAILHEAD_TOPO_NCCL_WRITE_H
#define RAILHEAD_TOPO_NCCL_WRITE_H

#include "topo/core/choose.h"

struct topo_xml_opts {
	bool rccl;         /* version 2 */
	bool skeleton;     /* only pci elements: NCCL adds gpu and net elements to NCCL_TOPO_FILE */
	bool keep_vf_path; /* for NCCL_IB_MERGE_VFS=0; else VFs have the path that NCCL uses */
	const struct topo_scope *scope; /* NULL: all GPUs and HCAs */
};

/* topo_xml_write - write a machine; the prediction for the file equals that for the machine. As in
 * NCCL, a machine from /sys gets one element for a switch and none for root ports. */
int topo_xml_write(const struct topo_machine *m, const struct topo_xml_opts *o, char **out,
		   struct err *e) must_check;

/* A function of a virtual machine, and the function of the host that it is. */
struct topo_guest_pair {
	struct pci_addr guest, host;
};

/* topo_guest_pair_parse - parse "guest=host", two PCI addresses; -1: it is malformed. */
int topo_guest_pair_parse(const char *text, struct topo_guest_pair *out) must_check;

struct topo_guest {
	const struct topo_guest_pair *map;
	size_t n;
	const struct topo_machine *machine; /* a capture of the guest; NULL: not known */
};

/*
 * topo_xml_write_guest - write the NCCL_TOPO_FILE for a virtual machine that does not show the
 * host's switches. The file has the part of the host's tree above the functions of the map:
 *	functions	with the guest's addresses; the map's order decides ties in NCCL
 *	switches	only those of the host, with invented addresses (ffff:ff:01.0, ...); another
 *			switch would turn GPUDirect RDMA on across a host bridge
 *	NUMA nodes	the guest's node of the same functions, else the guest's nodes in order;
 *			without a capture of the guest, one node 0 with the host's kind of CPU
 * A comment in the file says if NCCL_IB_MERGE_VFS=0 is necessary. ERR_NOTFOUND: the host does not
 * have a function of the map.
 */
int topo_xml_write_guest(const struct topo_machine *host, const struct topo_guest *guest,
			 char **out, struct err *e) must_check;

#endif
