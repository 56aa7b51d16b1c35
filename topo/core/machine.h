/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: a snapshot of one machine: PCI functions, NUMA nodes, GPUs, HCAs.
 *
 * A reader (read.h) fills the snapshot; afterwards it does not change, and every answer is a
 * function of it. Cross-references are array indices; AFF_NONE means none. "Not known" marks a
 * value that the source (sysfs or a topology file) does not have; no default replaces it.
 *
 * From sysfs, each PCI function has a record, also root ports and ports of switches. A topology
 * file of NCCL has one record for each switch, its upstream port, and none for root ports. `kind`
 * distinguishes them.
 */
#ifndef RAILHEAD_TOPO_CORE_MACHINE_H
#define RAILHEAD_TOPO_CORE_MACHINE_H

#include "lib/base/err.h"
#include "lib/base/parse.h"
#include "lib/pci/pci.h"

#define AFF_NONE     UINT32_MAX
#define AFF_NAME_LEN 64

enum aff_tristate { AFF_UNKNOWN, AFF_NO, AFF_YES };

/* A PCIe link: usable bandwidth of a lane in 100 Mbit/s (15, 30, 60, 120, 240 or 480), and the
 * number of lanes; 0: not known. 16 lanes of 120 are 192 Gbit/s. */
struct aff_pcie_link {
	uint16_t speed;
	uint8_t width;
};

enum aff_kind { AFF_ENDPOINT, AFF_ROOT_PORT, AFF_UPSTREAM, AFF_DOWNSTREAM, AFF_BRIDGE };

struct aff_pci {
	struct pci_addr addr;
	uint32_t parent; /* the function above; AFF_NONE: directly below its root complex */
	uint32_t root;   /* its root complex */
	uint32_t physfn; /* PF of a VF, if the snapshot has it; else AFF_NONE */
	enum aff_kind kind;
	bool is_vf;
	bool has_ids;        /* the four ids below are known */
	bool has_class;      /* class_code is known */
	uint32_t class_code; /* 24 bits */
	uint16_t vendor, device, sub_vendor, sub_device;
	int numa; /* its file numa_node; -1: not known */
	/* The link above it: the maximum, and the current state, each of the weaker end. From a
	 * topology file both have the file's value. Not known for links inside a switch. */
	struct aff_pcie_link max, cur;
	bool one_end;  /* sysfs: max_link_width is known for only one end of that link */
	uint32_t chip; /* set by aff_number_chips(): one number for all ports of one chip */
};

/* A root complex, "pci0000:3a". A topology file has one for each cpu element, with the name "". */
struct aff_root {
	char name[PCI_ROOT_LEN];
	uint32_t cpu; /* its NUMA node's record */
};

/* A NUMA node, with the values of NCCL's cpu element; numa -1 has a record of its own. */
struct aff_cpu {
	int numa;
	char affinity[256]; /* in the format of cpumap; "": not known */
	char arch[16], vendor[32];
	int family, model; /* -1: not known */
};

enum aff_vendor { AFF_OTHER, AFF_NVIDIA, AFF_AMD, AFF_GAUDI, AFF_ASCEND };

struct aff_nvlink {
	struct pci_addr target; /* without meaning when hidden */
	bool hidden;            /* an NVSwitch that is not shown: "fffffff:ffff:ff" */
	uint32_t tclass;        /* class code of the target */
	uint32_t count;
};

struct aff_gpu {
	uint32_t pci;
	enum aff_vendor vendor;
	bool on_package; /* RDMA ports on the package (Ascend, Gaudi): no HCA is nearest */
	int index;       /* position by PCI address, or the topology file's dev */
	int rank;        /* from a topology file; -1: not known */
	int sm;          /* compute capability x 10; 0: not known */
	enum aff_tristate gdr;
	struct aff_nvlink *nvlink; /* owned */
	size_t n_nvlinks;
	uint32_t c2c_mbps, c2c_count; /* MB/s of each link; 0: not known */
};

enum aff_hca_kind { AFF_HCA_PF, AFF_HCA_VF, AFF_HCA_SF, AFF_HCA_BOND, AFF_HCA_SOFTWARE };
enum aff_layer { AFF_LAYER_UNKNOWN, AFF_ETHERNET, AFF_INFINIBAND };
enum aff_role { AFF_ROLE_UNKNOWN, AFF_COMPUTE, AFF_STORAGE, AFF_MANAGEMENT };

struct aff_port {
	uint32_t port;
	enum aff_tristate active; /* state is ACTIVE */
	enum aff_layer layer;
	uint32_t rate_mbps; /* 0: not known */
	char netdev[IFNAME_LEN];
};

/* An RDMA device. A topology file has one for each net element. */
struct aff_hca {
	char name[AFF_NAME_LEN];
	enum aff_hca_kind kind;
	uint32_t pci;    /* its function: VF its own, SF its PF's, software its interface's.
			  * AFF_NONE: it has no hardware, or is below a cpu element */
	uint32_t second; /* the other function of a bond; AFF_NONE */
	uint32_t cpu;    /* the NUMA node, if it has no function; AFF_NONE */
	uint32_t card;   /* one number for all functions and ports of one card; the lowest index */
	uint64_t guid;   /* sys_image_guid, or a file's guid; 0: not known */
	enum aff_role role;
	const char *rule;      /* the rule that gave the role, see aff_roles(); "": none; static */
	struct aff_port *port; /* owned */
	size_t n_ports;
	int dev;               /* from a topology file; -1: not known */
	enum aff_tristate gdr; /* from a topology file */
	double latency;        /* from a topology file, microseconds */
	uint32_t maxconn;      /* from a topology file; 0: not known */
};

enum aff_source { AFF_LIVE, AFF_CAPTURE, AFF_NCCL_XML, AFF_RCCL_XML };

struct aff_machine {
	enum aff_source source;
	/* A topology file without gpu and net elements. GPUs (rank = index, 12 hidden NVLinks, no
	 * sm) and NICs (net0, ..., no rate) are those that NCCL would find, by address. */
	bool skeleton;
	enum aff_tristate vm; /* it is a virtual machine */
	bool full_config;     /* more than 64 bytes of configuration space could be read */
	struct aff_pci *pci;  /* each array owned; parents before children */
	struct aff_root *root;
	struct aff_cpu *cpu;
	struct aff_gpu *gpu; /* by index */
	struct aff_hca *hca; /* by PCI address and name; from a file: in the file's order */
	size_t n_pci, n_roots, n_cpus, n_gpus, n_hcas;
	char **note; /* remarks of the reader, one sentence each; owned */
	size_t n_notes;
};

void aff_machine_clear(struct aff_machine *m); /* free all that m owns */
#define auto_aff_machine auto_clean(aff_machine_clear)

/* aff_find_* - the index of a function, GPU or HCA; AFF_NONE: the machine does not have it. */
uint32_t aff_find_pci(const struct aff_machine *m, struct pci_addr a);
uint32_t aff_find_gpu(const struct aff_machine *m, struct pci_addr a);
uint32_t aff_find_hca(const struct aff_machine *m, const char *name);
/* aff_pci_order - pci_order() of a function, to sort by PCI address; AFF_NONE sorts last. */
uint64_t aff_pci_order(const struct aff_machine *m, uint32_t pci);

#endif
