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

#include "lib/base/err.h"
#include "lib/base/parse.h"
#include "lib/pci/pci.h"

#define TOPO_NONE     UINT32_MAX
#define TOPO_NAME_LEN 64

enum topo_tristate { TOPO_UNKNOWN, TOPO_NO, TOPO_YES };

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
	int family, model; /* -1: not known */
};

enum topo_vendor { TOPO_OTHER, TOPO_NVIDIA, TOPO_AMD, TOPO_GAUDI, TOPO_ASCEND };

struct topo_nvlink {
	struct pci_addr target; /* without meaning when hidden */
	bool hidden;            /* an NVSwitch that is not shown: "fffffff:ffff:ff" */
	uint32_t tclass;        /* class code of the target */
	uint32_t count;
};

struct topo_gpu {
	uint32_t pci;
	enum topo_vendor vendor;
	bool on_package; /* RDMA ports on the package (Ascend, Gaudi): no HCA is nearest */
	int index;       /* position by PCI address, or the topology file's dev */
	int rank;        /* from a topology file; -1: not known */
	int sm;          /* compute capability x 10; 0: not known */
	enum topo_tristate gdr;
	struct topo_nvlink *nvlink; /* owned */
	size_t n_nvlinks;
	uint32_t c2c_mbps, c2c_count; /* MB/s of each link; 0: not known */
};

enum topo_hca_kind { TOPO_HCA_PF, TOPO_HCA_VF, TOPO_HCA_SF, TOPO_HCA_BOND, TOPO_HCA_SOFTWARE };
enum topo_layer { TOPO_LAYER_UNKNOWN, TOPO_ETHERNET, TOPO_INFINIBAND };
enum topo_role { TOPO_ROLE_UNKNOWN, TOPO_COMPUTE, TOPO_STORAGE, TOPO_MANAGEMENT };

struct topo_port {
	uint32_t port;
	enum topo_tristate active; /* state is ACTIVE */
	char state[16];            /* its name, "DOWN"; "": not known */
	enum topo_layer layer;
	uint32_t rate_mbps; /* 0: not known */
	char netdev[IFNAME_LEN];
	bool representor; /* netdev stands for a VF or SF: the PF is in switchdev mode */
};

/* An RDMA device. A topology file has one for each net element. */
struct topo_hca {
	char name[TOPO_NAME_LEN];
	enum topo_hca_kind kind;
	uint32_t pci;    /* its function: VF its own, SF its PF's, software its interface's.
			  * TOPO_NONE: it has no hardware, or is below a cpu element */
	uint32_t second; /* the other function of a bond; TOPO_NONE */
	uint32_t cpu;    /* the NUMA node, if it has no function; TOPO_NONE */
	uint32_t card;   /* one number for all functions and ports of one card; the lowest index */
	uint64_t guid, node; /* sys_image_guid or that of a file; node_guid of a PF; 0: unknown */
	enum topo_role role;
	const char *rule; /* the rule that gave the role, see topo_roles(); "": none; static */
	struct topo_port *port; /* owned */
	size_t n_ports;
	int dev;                /* from a topology file; -1: not known */
	enum topo_tristate gdr; /* from a topology file */
	double latency;         /* from a topology file, microseconds */
	uint32_t maxconn;       /* from a topology file; 0: not known */
};

enum topo_source { TOPO_LIVE, TOPO_CAPTURE, TOPO_NCCL_XML, TOPO_RCCL_XML };

struct topo_machine {
	enum topo_source source;
	/* A topology file without gpu and net elements. GPUs (rank = index, 12 hidden NVLinks, no
	 * sm) and NICs (net0, ..., no rate) are those that NCCL would find, by address. */
	bool skeleton;
	enum topo_tristate vm; /* it is a virtual machine */
	bool full_config;      /* more than 64 bytes of configuration space could be read */
	struct topo_pci *pci;  /* each array owned; parents before children */
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
/* topo_pci_order - pci_order() of a function, to sort by PCI address; TOPO_NONE sorts last. */
uint64_t topo_pci_order(const struct topo_machine *m, uint32_t pci);

#endif
