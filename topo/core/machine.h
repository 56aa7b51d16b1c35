/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: a snapshot of one machine: PCI functions, NUMA nodes, GPUs, HCAs.
 *
 * A reader (read.h) fills the snapshot; afterwards it does not change, and every answer is a
 * function of it. Cross-references are array indices; TOPO_NONE means none. "Not known" marks a
 * value that the source (sysfs or a topology file) does not have; no default replaces it.
 *
 * From sysfs, each PCI function has a record, also root ports and ports of switches. A file of NCCL
 * has one record for a switch, its upstream port, and none for root ports. `kind` is their kind.
 */
#ifndef RAILHEAD_TOPO_CORE_MACHINE_H
#define RAILHEAD_TOPO_CORE_MACHINE_H

#include "topo/core/device.h"

/* A PCIe link: usable bandwidth of a lane in 100 Mbit/s (15, 30, 60, 120, 240 or 480), and the
 * number of lanes; 0: not known. 16 lanes of 120 are 192 Gbit/s. */
struct topo_pcie_link {
	uint16_t speed;
	uint8_t width;
};

enum topo_kind { TOPO_ENDPOINT, TOPO_ROOT_PORT, TOPO_UPSTREAM, TOPO_DOWNSTREAM, TOPO_BRIDGE };

struct topo_pci {
	struct pci_addr addr;
	uint32_t parent; /* the function above; TOPO_NONE: directly below its root complex */
	uint32_t root;   /* its root complex */
	uint32_t physfn; /* PF of a VF, if the snapshot has it; else TOPO_NONE */
	enum topo_kind kind;
	bool is_vf;
	bool has_ids, has_class; /* the four ids below are known; class_code is known */
	uint32_t class_code;     /* 24 bits */
	uint16_t vendor, device, sub_vendor, sub_device;
	int numa; /* its file numa_node; -1: not known */
	/* The link above it: the maximum, and the current state, each of the weaker end. From a
	 * topology file both have the file's value. Not known for links inside a switch. */
	struct topo_pcie_link max, cur;
	bool one_end;  /* sysfs: max_link_width is known for only one end of that link */
	uint32_t chip; /* set by topo_number_chips(): one number for all ports of one chip */
};

/* A root complex, "pci0000:3a". A topology file has one for each cpu element, with the name "". */
struct topo_root {
	char name[PCI_ROOT_LEN];
	uint32_t cpu; /* its NUMA node's record */
};

/* A NUMA node, with the values of NCCL's cpu element; numa -1 has a record of its own. */
struct topo_cpu {
	int numa;
	char affinity[256]; /* in the format of cpumap; "": not known */
	char arch[16], vendor[32];
	int family, model; /* of CPUID, as NCCL adds them up: 175 is AMD's 25; -1: not known */
};

enum topo_source { TOPO_LIVE, TOPO_CAPTURE, TOPO_NCCL_XML, TOPO_RCCL_XML };

struct topo_machine {
	enum topo_source source;
	/* A topology file without gpu and net elements. GPUs (rank = index, 12 hidden NVLinks, no
	 * sm) and NICs (net0, ..., no rate) are those that NCCL would find, by address. */
	bool skeleton;
	enum topo_tristate vm;     /* it is a virtual machine */
	enum topo_tristate hyperv; /* RCCL takes it for a guest of Hyper-V */
	bool full_config;          /* more than 64 bytes of configuration space could be read */
	struct topo_pci *pci;      /* each array owned; parents before children */
	struct topo_root *root;
	struct topo_cpu *cpu;
	struct topo_gpu *gpu; /* by index */
	struct topo_hca *hca; /* by PCI address and name; from a file: in the file's order */
	size_t n_pci, n_roots, n_cpus, n_gpus, n_hcas;
	char **note; /* remarks of the reader, one sentence each; owned */
	size_t n_notes;
};

void topo_machine_clear(struct topo_machine *m); /* free all that m owns */
#define auto_topo_machine auto_clean(topo_machine_clear)

/* topo_find_* - the index of a function, GPU or HCA; TOPO_NONE: the machine does not have it. */
uint32_t topo_find_pci(const struct topo_machine *m, struct pci_addr a);
uint32_t topo_find_gpu(const struct topo_machine *m, struct pci_addr a);
uint32_t topo_find_hca(const struct topo_machine *m, const char *name);
/* topo_is_socket - whether NCCL's file has this net for its sockets: it has port 0, an HCA never.
 */
bool topo_is_socket(const struct topo_machine *m, uint32_t hca);
/* topo_is_network - jobs can send by it: it is no software device, SMI or NVSwitch. */
bool topo_is_network(const struct topo_hca *h);
/* topo_pci_order - pci_order() of a function, to sort by PCI address; TOPO_NONE sorts last. */
uint64_t topo_pci_order(const struct topo_machine *m, uint32_t pci);

#endif
