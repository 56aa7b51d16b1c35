/* SPDX-License-Identifier: Apache-2.0 */
/*
 * version.h: versions of NCCL, RCCL and UCX, and the rules that differ between them. Pure.
 *
 * All rules that differ stand in one table, each with its source. A rule that NCCL gains or loses
 * is a line there and a test of the code that asks for it. The version of RCCL is that of the NCCL
 * on which it is based.
 */
#ifndef RAILHEAD_LIB_RDMA_VERSION_H
#define RAILHEAD_LIB_RDMA_VERSION_H

#include "lib/base/base.h"

struct lib_version {
	uint16_t major, minor, patch;
};

/* The newest versions whose sources railhead follows; used if that of the job is not known. */
#define NCCL_VERSION_NEWEST ((struct lib_version){ 2, 30, 7 })
#define RCCL_VERSION_NEWEST ((struct lib_version){ 2, 31, 2 })
#define UCX_VERSION_NEWEST  ((struct lib_version){ 1, 22, 0 })
/* That of ROCm 7.14, used if that of the job is not known. Later ones are on `develop` only. */
#define RCCL_VERSION_RELEASED ((struct lib_version){ 2, 30, 4 })

/*
 * lib_version_parse - "2.27", "2.27.3", "2.27.3-1", "2.27.3+cuda12.4"; a missing patch is 0. -1 for
 * any other text.
 */
int lib_version_parse(const char *text, struct lib_version *out) must_check;

#define LIB_VERSION_LEN 24
/* lib_version_format - "2.27.3". Returns out. */
char *lib_version_format(struct lib_version v, char out[LIB_VERSION_LEN]);

/* First those of NCCL, then those of RCCL alone, then those of UCX. */
enum lib_rule {
	NCCL_CHOOSES_GID,    /* by NCCL_IB_ADDR_FAMILY, _RANGE and NCCL_IB_ROCE_VERSION_NUM */
	NCCL_ABORTS_ON_TYPE, /* if the type of a GID that it compares cannot be read */
	NCCL_KNOWS_PEERMEM,  /* the module nvidia_peermem, on newer kernels, too */
	NCCL_HAS_CONF_FILE,  /* NCCL_CONF_FILE names a file of settings */
	NCCL_HAS_GIN_TC,     /* NCCL_GIN_IB_TC */
	NCCL_HAS_SUBNETS,    /* NCCL_IB_SUBNET_AWARE_ROUTING */
	NCCL_HCA_HAS_RAILS,  /* rail and plane in NCCL_IB_HCA */
	/* asked by topo/nccl */
	NCCL_FLATTENS_PEX890, /* two levels of a PEX890xx are one switch */
	NCCL_VF_AT_00,        /* a VF is looked for at device 00, before that at x0 */
	NCCL_KEEPS_PATH,      /* the PCI path of an HCA is not rewritten at all */
	NCCL_PAIRS_PORTS,     /* the plugin makes one device of two ports of a card */
	NCCL_FUSES_NETS,      /* nets that are near each other become one */
	NCCL_NIC_IS_FUNCTION, /* each function is a NIC; before, all of a device are one */
	NCCL_WIDENS_FUSED,  /* a fused net has the lanes of its parts, and a function below the cpu
			     */
	NCCL_REFUSES_CPUS,  /* parts below different CPUs are an error; before, the net is lost */
	NCCL_WIDENS_ALL,    /* a fused net widens the links of its parts, too */
	NCCL_KNOWS_SM100,   /* the speed of NVLink of Blackwell */
	NCCL_KNOWS_XEON_4,  /* links between CPUs of Sapphire Rapids and later */
	NCCL_HAS_C2C,       /* C2C is a type of path, not NVLink */
	NCCL_HAS_P2C,       /* and with PCIe behind it nearly as good as a switch */
	NCCL_P2C_IS_LOCAL,  /* P2C only to local nets, before that to all nets of the CPU */
	NCCL_PXN_OVER_C2C,  /* PXN also to a GPU whose net is P2C */
	NCCL_PXN_NEEDS_GDR, /* PXN only to a GPU that reads with GPUDirect RDMA */
	NCCL_HAS_DATA_DIRECT,  /* the Data Direct function of a ConnectX-8 */
	NCCL_HAS_POLICY,       /* NCCL_NETDEVS_POLICY */
	NCCL_HAS_DEV_NODES,    /* a GPU has a node above it: one hop more */
	NCCL_TYPE_FIRST,       /* paths: the lower type, before that fewer hops */
	NCCL_ASKS_FOR_LINK,    /* NVML, for the present PCIe link of a GPU */
	NCCL_COUNTS_SHARERS,   /* a GPU's number modulo the GPUs that share its nets */
	RCCL_SPREADS_BY_PLACE, /* by the place of a GPU among those, not by its number */
	RCCL_FUSES_OVER_CPUS,  /* a fused net of several CPUs is at that of its first part */
	RCCL_PASSES_GPUS,      /* a path leads through a GPU, by XGMI to another one */
	RCCL_HAS_NVB,          /* such a path is NVB, before that as good as XGMI */
	RCCL_COUNTS_SHARERS,   /* NCCL_COUNTS_SHARERS, for a while */
	RCCL_JOINS_DOMAINS,    /* MI450: a GPU and a NIC of one PCI domain are at one switch */
	RCCL_KNOWS_GFX1250,    /* the speed of XGMI of MI450 */
	RCCL_KNOWS_XEON_6,     /* links between CPUs of Granite Rapids and Sierra Forest */
	RCCL_READS_FAMILY,     /* AMD's family 25 of a CPU is 25, before that 175, as Rome needs */
	UCX_HAS_SUBNETS,       /* UCX_IB_ROCE_SUBNETS */
	UCX_HAS_EFA,           /* the transport srd, for Elastic Fabric Adapters */
	UCX_HAS_REACH_MODE,    /* UCX_IB_ROCE_REACHABILITY_MODE; by default, the routes count */
	UCX_SKIPS_LOCAL,       /* global IPv6 addresses precede link-local ones */
	UCX_TAKES_DRIVER_TC,   /* without a class of its own: that of the driver, else 106 */
	LIB_RULES
};

/* lib_rule_holds - whether a rule holds in this version of its library. */
bool lib_rule_holds(enum lib_rule rule, struct lib_version v);
/* lib_rule_in_rccl - whether RCCL of this version has a rule of NCCL's or its own. Versions after
 * RCCL_VERSION_NEWEST count as that one. */
bool lib_rule_in_rccl(enum lib_rule rule, struct lib_version v);

#define LIB_RULE_LEN 80
/*
 * lib_rule_versions - "NCCL since 2.21.0 and before 2.26.2", "UCX since 1.18.0", from the table.
 * Returns out.
 */
char *lib_rule_versions(enum lib_rule rule, char out[LIB_RULE_LEN]);

#endif
