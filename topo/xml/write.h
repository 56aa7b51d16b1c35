/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h: topology files as NCCL's and RCCL's own parsers take them. Pure.
 *
 * No prolog, no tabs, no line break in a tag, lower case; at most 256 elements, those counted that
 * NCCL adds while it loads the file. *out is text with NUL, owned by the caller. ERR_FIELD says
 * what is too much, or does not fit.
 */
#ifndef RAILHEAD_TOPO_XML_WRITE_H
#define RAILHEAD_TOPO_XML_WRITE_H

#include "topo/core/choose.h"

struct aff_xml_opts {
	bool rccl;         /* version 2 */
	bool skeleton;     /* pci elements only, as NCCL_TOPO_FILE wants it */
	bool keep_vf_path; /* for NCCL_IB_MERGE_VFS=0; else devices are where NCCL looks for them */
	const struct aff_scope *scope; /* NULL: all GPUs and HCAs */
};

/* aff_xml_write - the machine; read back, NCCL's answers are the same. A tree of /sys becomes what
 * NCCL would see of it: one element for a switch, none for root ports. */
int aff_xml_write(const struct aff_machine *m, const struct aff_xml_opts *o, char **out,
		  struct err *e) must_check;

/* A function that the virtual machine has, and which one of the host it is. */
struct aff_guest_pair {
	struct pci_addr guest, host;
};

/* aff_guest_pair_parse - "guest=host", two PCI addresses. -1: it is none. */
int aff_guest_pair_parse(const char *text, struct aff_guest_pair *out) must_check;

struct aff_guest {
	const struct aff_guest_pair *map;
	size_t n;
	const struct aff_machine *machine; /* the guest's own; NULL: not told */
};

/*
 * aff_xml_write_guest - the NCCL_TOPO_FILE for a virtual machine that shows none of the host's
 * switches: the part of the host's tree that holds the functions of the map, these under the
 * guest's addresses, switches under invented ones (ffff:ff:01.0, ...), NUMA nodes the guest's. A
 * switch that the host does not have is never declared: that would turn GPUDirect on across a host
 * bridge. A host node becomes the guest's node that the guest tells of its functions, else one in
 * their order; of a guest that is not told, one node 0 with the host's kind of CPU. The map's order
 * decides ties. A comment says so where NCCL_IB_MERGE_VFS=0 is needed with it. ERR_NOTFOUND: a
 * function of the map is not on the host.
 */
int aff_xml_write_guest(const struct aff_machine *host, const struct aff_guest *guest, char **out,
			struct err *e) must_check;

#endif
