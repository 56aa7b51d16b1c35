/* SPDX-License-Identifier: Apache-2.0 */
/* types.h: NCCL's path types, options and nets, which all files of the prediction use. */
#ifndef RAILHEAD_TOPO_NCCL_TYPES_H
#define RAILHEAD_TOPO_NCCL_TYPES_H

#include "topo/core/choose.h"

/* Path types, PATH_* of topo.h: best first. nccl_path_name() has their names. */
enum nccl_path_type {
	NCCL_LOC,
	NCCL_NVL,
	NCCL_NVB,
	NCCL_C2C,
	NCCL_PIX,
	NCCL_PXB,
	NCCL_P2C,
	NCCL_PXN,
	NCCL_PHB,
	NCCL_SYS,
	NCCL_NET,
	NCCL_DIS,
};

enum nccl_policy { NCCL_AUTO, NCCL_ALL, NCCL_MAX };

struct nccl_opts {
	bool rccl;               /* RCCL's rules; independent of the version of a file */
	enum nccl_policy policy; /* NCCL_NETDEVS_POLICY */
	uint32_t max;            /* of MAX:N */
	int gdr_level;           /* NCCL_NET_GDR_LEVEL as enum nccl_path_type; -1: not set */
	bool keep_vf_path;       /* NCCL_IB_MERGE_VFS=0 */
	bool no_pxn;             /* NCCL_PXN_DISABLE=1 */
	/* Negative controls for tests: rules that are not applied. */
	bool no_flatten, no_mirror, no_bandwidth, skip_gdr_rule;
};
#define NCCL_OPTS_DEFAULT                                                                          \
	{                                                                                          \
		.gdr_level = -1                                                                    \
	}

/* A net device of NCCL: a port of an HCA; port 0: its number is not known. NCCL may merge VFs into
 * one net (NCCL_IB_MERGE_NICS); then it has the first of them. */
struct nccl_net {
	uint32_t hca, port;
	uint32_t fused; /* number of VFs merged into it */
	bool displaced; /* NCCL_IB_MERGE_VFS makes NCCL use the path of another device */
};

#endif
