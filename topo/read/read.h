/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h: reads a machine from a tree of /sys and /proc, live or captured, or from a topology file
 * of NCCL or RCCL.
 */
#ifndef RAILHEAD_TOPO_READ_READ_H
#define RAILHEAD_TOPO_READ_READ_H

#include "topo/core/machine.h"

struct topo_read_opts {
	/* PCI classes that are accelerators in addition to the table in gpu.c. 0x0b40 and
	 * 0x0b4000 match every class that begins with 0x0b40; 0x0b4001 matches itself only. */
	const uint32_t *class_code;
	size_t n_classes;
	/* Only what topo_roles() and topo_choose() need: of links neither speed nor width, and no
	 * ids of subsystems except of bridges. These are half of the files. */
	bool places_only;
	/* A port of an NVSwitch stays a PF: reading the VPD of a card takes milliseconds. */
	bool no_vpd;
};

/*
 * topo_read_sysfs - read a machine; the caller clears *out. sysfs and proc are the folders that
 * represent /sys and /proc; proc may be NULL; "/sys" is the live machine. Links are resolved inside
 * the folder only; a note names each one that leads out. The result does not depend on the order
 * in which folders list their entries. Values that cannot be read are "not known". A machine
 * without GPUs or HCAs is valid. In a captured tree without class/infiniband, functions of the
 * class InfiniBand are the HCAs, and a note says so. ERR_NOTFOUND: sysfs is not such a folder.
 */
int topo_read_sysfs(const char *sysfs, const char *proc, const struct topo_read_opts *o,
		    struct topo_machine *out, struct err *e) must_check;

/* topo_default_netdev - the interface of the IPv4 default route with the lowest metric; "": there
 * is none, or it is not known. proc: as above. live: proc is this machine's, where net is a link.
 */
void topo_default_netdev(const char *proc, bool live, char out[IFNAME_LEN]);

/*
 * topo_read_functions - read only n PCI functions and the functions above them, because a plugin
 * has no time to read a whole machine. topo_find_pci() finds them in *out; a function that does not
 * exist is omitted. There are no GPUs and HCAs, and NUMA nodes have only their numbers.
 */
int topo_read_functions(const char *sysfs, const char *const *bdf, size_t n,
			struct topo_machine *out, struct err *e) must_check;

/*
 * topo_read_xml - parse the text of a topology file, version 1 or 2, at most 4 MiB; the caller
 * clears *out. PCI functions and HCAs keep the order of the file, which decides ties in NCCL. As
 * in NCCL, GPUs without a rank and nets without a dev are omitted. Syntax that only NCCL's parser
 * refuses is accepted, with a note. ERR_FIELD names line and element.
 */
int topo_read_xml(const char *text, size_t len, struct topo_machine *out, struct err *e) must_check;

/* topo_pcie_speed_parse - the `speed` of struct topo_pcie_link for a value of max_link_speed, "16.0
 * GT/s PCIe" or "16 GT/s"; 0 for anything else. */
uint16_t topo_pcie_speed_parse(const char *text);
/* topo_pcie_link_text - the kernel's text for such a speed, "16.0 GT/s PCIe"; "" for 0. Static. */
const char *topo_pcie_link_text(uint16_t speed);

#endif
