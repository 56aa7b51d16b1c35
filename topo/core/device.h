/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: GPUs and HCAs of a machine. Cross-references are indices into the arrays of struct
 * topo_machine; TOPO_NONE means none.
 */
#ifndef RAILHEAD_TOPO_CORE_DEVICE_H
#define RAILHEAD_TOPO_CORE_DEVICE_H

#include "lib/base/err.h"
#include "lib/base/parse.h"
#include "lib/device/pci.h"

#define TOPO_NONE     UINT32_MAX
#define TOPO_NAME_LEN 64

enum topo_tristate { TOPO_UNKNOWN, TOPO_NO, TOPO_YES };

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
	int sm;          /* compute capability x 10; 0: not known. In RCCL's files: compute units */
	uint32_t gfx;    /* from a topology file of RCCL: 0x942 of gfx942; 0: not known */
	enum topo_tristate gdr;
	struct topo_nvlink *nvlink; /* owned */
	size_t n_nvlinks;
	/* Coherent links to the CPU of its package (NVLink-C2C): MB/s of each, and their number; 0:
	 * none is known. c2c_from says whence: "file", "numa_status" or "device"; NULL: none;
	 * static. */
	uint32_t c2c_mbps, c2c_count;
	const char *c2c_from;
};

/* SMI and NVSWITCH look like ports of InfiniBand, but no job can send by them: the sub-device of a
 * ConnectX-8 for its subnet manager, and a ConnectX-7 bridge by which NVSwitches are managed. */
enum topo_hca_kind {
	TOPO_HCA_PF,
	TOPO_HCA_VF,
	TOPO_HCA_SF,
	TOPO_HCA_BOND,
	TOPO_HCA_SOFTWARE,
	TOPO_HCA_SMI,
	TOPO_HCA_NVSWITCH
};
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
	uint32_t pci;       /* its function: VF its own, SF its PF's, software its interface's.
			     * TOPO_NONE: it has no hardware, or is below a cpu element */
	uint32_t second;    /* the other function of a bond; TOPO_NONE */
	uint32_t cpu;       /* the NUMA node, if it has no function; TOPO_NONE */
	uint32_t direct;    /* Data Direct: the function by which it reads and writes GPU memory;
			     * TOPO_NONE. From sysfs probable only (direct.c); in a file, where
			     * its name is "mlx5_0_dma", it is `pci` */
	bool direct_proved; /* topo_set_direct(): libmlx5 named that function, or none */
	uint32_t card; /* one number for all functions and ports of one card; the lowest index */
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

#endif
