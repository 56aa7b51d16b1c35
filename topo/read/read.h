/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h: where a machine comes from: a tree of /sys and /proc, live or captured, or a topology
 * file of NCCL or RCCL.
 */
#ifndef RAILHEAD_TOPO_READ_READ_H
#define RAILHEAD_TOPO_READ_READ_H

#include "topo/core/machine.h"

struct aff_read_opts {
	/* More accelerators than those of the table in read_gpu.c, by PCI class: 0x0b40 and
	 * 0x0b4000 are all that begin so, 0x0b4001 is just that. */
	const uint32_t *class_code;
	size_t n_classes;
};

/*
 * aff_read_sysfs - sysfs and proc are the folders that stand for /sys and /proc (proc may be NULL);
 * "/sys" itself is the live machine. Links are followed inside the folder only; what is refused is
 * noted. The order in which a folder lists its entries changes nothing. What cannot be read is "not
 * told"; a machine without a GPU or an HCA is a machine. A captured tree without class/infiniband:
 * functions of the class InfiniBand are its HCAs, which is noted. ERR_NOTFOUND: it is no such
 * folder.
 */
int aff_read_sysfs(const char *sysfs, const char *proc, const struct aff_read_opts *o,
		   struct aff_machine *out, struct err *e) must_check;

/* aff_default_netdev - the interface of the default route over IPv4, that of the least metric where
 * there are several; "" when there is none, or that is not told. proc as above. live: it is this
 * machine's, whose links are followed. */
void aff_default_netdev(const char *proc, bool live, char out[IFNAME_LEN]);

/*
 * aff_read_functions - only these PCI functions with what is above them, for the plugin, which
 * cannot afford a whole machine: aff_find_pci() finds them. What is not there is left out. No GPU
 * and HCA records, and of NUMA nodes only the numbers.
 */
int aff_read_functions(const char *sysfs, const char *const *bdf, size_t n, struct aff_machine *out,
		       struct err *e) must_check;

/*
 * aff_read_xml - the text of a topology file, version 1 or 2, at most 4 MiB. PCI functions and HCAs
 * in the order of the file, which decides ties in NCCL; GPUs without a rank and nets without a dev
 * are left out, as NCCL does. What NCCL's parser would refuse is read, and noted. ERR_FIELD names
 * line and element.
 */
int aff_read_xml(const char *text, size_t len, struct aff_machine *out, struct err *e) must_check;

/* aff_pcie_speed_parse - max_link_speed and the like: "16.0 GT/s PCIe", "16 GT/s"; 0 for anything
 * else.
 */
uint16_t aff_pcie_speed_parse(const char *text);
/* aff_pcie_link_text - as the kernel writes it, "16.0 GT/s PCIe"; "" for 0. */
const char *aff_pcie_link_text(uint16_t speed);

#endif
