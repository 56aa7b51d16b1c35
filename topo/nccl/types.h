/* SPDX-License-Identifier: Apache-2.0 */
/* types.h: NCCL's path types, its options and its nets, as all files of the prediction use them. */
#ifndef RAILHEAD_TOPO_NCCL_TYPES_H
#define RAILHEAD_TOPO_NCCL_TYPES_H

#include "topo/core/choose.h"

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
	bool rccl;               /* RCCL's rules; a file of version 2 can be asked either way */
	enum nccl_policy policy; /* NCCL_NETDEVS_POLICY */
	uint32_t max;            /* of MAX:N */
	int gdr_level;           /* NCCL_NET_GDR_LEVEL as enum nccl_path_type; -1: not set */
	bool keep_vf_path;       /* NCCL_IB_MERGE_VFS=0 */
	bool no_pxn;             /* NCCL_PXN_DISABLE=1 */
	/* Negative controls for tests: rules left out. */
	bool no_flatten, no_mirror, no_bandwidth, no_gdr;
};
#define NCCL_OPTS_DEFAULT                                                                          \
	{                                                                                          \
		.gdr_level = -1                                                                    \
	}

/* One net device as NCCL counts them: a port of an HCA, by its number (0: not told). VFs that NCCL
 * takes for ports of one card (its NCCL_IB_MERGE_VFS) stand behind the first of them. */
struct nccl_net {
	uint32_t hca, port;
	uint32_t fused; /* how many more stand behind it */
	bool displaced; /* NCCL looks for it elsewhere than where it is */
};

#endif
