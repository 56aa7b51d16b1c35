/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h: one machine as the affinity helper sees it: PCI functions, NUMA nodes, GPUs, HCAs.
 *
 * A snapshot, filled by a reader (read.h) and not changed afterwards: every answer is a function of
 * it. Things name each other by their index in the arrays; AFF_NONE is no such thing. What the
 * source does not tell is marked so and never made up.
 *
 * A PCI function read from sysfs is one record, ports of switches and root ports included. A
 * topology file of NCCL has one record for each switch, that of its upstream port, and none for
 * root ports: kind says which is which.
 */
#ifndef RAILHEAD_TOPO_CORE_MACHINE_H
#define RAILHEAD_TOPO_CORE_MACHINE_H

#include "lib/base/err.h"
#include "lib/base/parse.h"
#include "lib/pci/pci.h"

#define AFF_NONE     UINT32_MAX
#define AFF_NAME_LEN 64

enum aff_tristate { AFF_UNKNOWN, AFF_NO, AFF_YES };

/* What a link carries: usable 100 Mbit/s a lane (15, 30, 60, 120, 240 or 480) and lanes; 0: not
 * told. 16 lanes of 120 are 192 Gbit/s. */
struct aff_pcie_link {
	uint16_t speed;
	uint8_t width;
};

enum aff_kind { AFF_ENDPOINT, AFF_ROOT_PORT, AFF_UPSTREAM, AFF_DOWNSTREAM, AFF_BRIDGE };

struct aff_pci {
	struct pci_addr addr;
	uint32_t parent; /* the function above; AFF_NONE: it hangs on its root complex */
	uint32_t root;   /* its root complex */
	uint32_t physfn; /* of a VF: its PF, when that is in the snapshot; else AFF_NONE */
	enum aff_kind kind;
	bool is_vf;
	bool has_ids;        /* the four ids below are told */
	bool has_class;      /* class_code is told */
	uint32_t class_code; /* 24 bits */
	uint16_t vendor, device, sub_vendor, sub_device;
	int numa; /* its own file's word; -1: not told */
	/* The link above it, by the weaker of its two ends: what it could do, and what it does. In
	 * a topology file both are the file's. Not told for what is inside a switch. */
	struct aff_pcie_link max, cur;
	bool one_end;  /* of a tree: only one end of that link tells how wide it can be */
	uint32_t chip; /* filled by aff_number_chips(): one number for all ports of one chip */
};

/* A root complex, "pci0000:3a"; of a topology file: one for each of its cpu elements, name "". */
struct aff_root {
	char name[PCI_ROOT_LEN];
	uint32_t cpu; /* its NUMA node's record */
};

/* A NUMA node, as NCCL's files have it; numa -1 is a record of its own. */
struct aff_cpu {
	int numa;
	char affinity[256]; /* as cpumap writes it; "" not told */
	char arch[16], vendor[32];
	int family, model; /* -1: not told */
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
	int index;       /* position by PCI address, or a topology file's dev */
	int rank;        /* a topology file's; -1: not told */
	int sm;          /* compute capability x 10; 0: not told */
	enum aff_tristate gdr;
	struct aff_nvlink *nvlink; /* owned */
	size_t n_nvlinks;
	uint32_t c2c_mbps, c2c_count; /* MB/s a link; 0: none told */
};

enum aff_hca_kind { AFF_HCA_PF, AFF_HCA_VF, AFF_HCA_SF, AFF_HCA_BOND, AFF_HCA_SOFTWARE };
enum aff_layer { AFF_LAYER_UNKNOWN, AFF_ETHERNET, AFF_INFINIBAND };
enum aff_role { AFF_ROLE_UNKNOWN, AFF_COMPUTE, AFF_STORAGE, AFF_MANAGEMENT };

struct aff_port {
	uint32_t port;
	enum aff_tristate active; /* state is ACTIVE */
	enum aff_layer layer;
	uint32_t rate_mbps; /* 0: not told */
	char netdev[IFNAME_LEN];
};

/* An RDMA device; of a topology file: one for each net element. */
struct aff_hca {
	char name[AFF_NAME_LEN];
	enum aff_hca_kind kind;
	uint32_t pci;    /* where it is: VF its own function, SF its PF, software its interface's;
			  * AFF_NONE: no hardware below, or under a cpu element */
	uint32_t second; /* a bond's other function; AFF_NONE */
	uint32_t cpu;    /* where it hangs if it has no function; AFF_NONE */
	uint32_t card;   /* one number for all functions and ports of one card; the lowest index */
	uint64_t guid;   /* sys_image_guid, or a file's guid; 0: not told */
	enum aff_role role;
	const char *rule;      /* which rule gave the role, "" when none did; a literal */
	struct aff_port *port; /* owned */
	size_t n_ports;
	int dev;               /* a topology file's; -1: not told */
	enum aff_tristate gdr; /* a topology file's */
	double latency;        /* of a topology file, microseconds */
	uint32_t maxconn;      /* 0: not told */
};

enum aff_source { AFF_LIVE, AFF_CAPTURE, AFF_NCCL_XML, AFF_RCCL_XML };

struct aff_machine {
	enum aff_source source;
	/* A topology file without gpu and net elements: GPUs (rank as index, 12 hidden NVLinks, sm
	 * not told) and NICs (net0, ...; rate not told) are what NCCL would find, by address. */
	bool skeleton;
	enum aff_tristate vm; /* it is a virtual machine */
	bool full_config;     /* more than 64 bytes of configuration space could be read */
	struct aff_pci *pci;  /* each array owned; parents before children */
	struct aff_root *root;
	struct aff_cpu *cpu;
	struct aff_gpu *gpu; /* by index */
	struct aff_hca *hca; /* by PCI address and name; of a file: as it has them */
	size_t n_pci, n_roots, n_cpus, n_gpus, n_hcas;
	/* What the reader noticed, a sentence each: owned. */
	char **note;
	size_t n_notes;
};

void aff_machine_clear(struct aff_machine *m);
#define auto_aff_machine auto_clean(aff_machine_clear)

/* aff_find_* - an index, AFF_NONE when it has no such thing. */
uint32_t aff_find_pci(const struct aff_machine *m, struct pci_addr a);
uint32_t aff_find_gpu(const struct aff_machine *m, struct pci_addr a);
uint32_t aff_find_hca(const struct aff_machine *m, const char *name);
uint64_t aff_pci_order(const struct aff_machine *m, uint32_t pci); /* pci_order(); NONE: last */

#endif
