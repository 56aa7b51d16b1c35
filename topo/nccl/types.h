/* SPDX-License-Identifier: Apache-2.0 */
/* types.h: NCCL's path types, options and nets, which all files of the prediction use. */
#ifndef RAILHEAD_TOPO_NCCL_TYPES_H
#define RAILHEAD_TOPO_NCCL_TYPES_H

#include "lib/rdma/version.h"
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

enum nccl_direct { NCCL_DIRECT_ONLY, NCCL_DIRECT_OFF, NCCL_DIRECT_BOTH };

struct nccl_opts {
	/* NCCL's, or that of the NCCL on which RCCL is based; 0: the newest that is known. */
	struct lib_version version;
	bool rccl;               /* RCCL's rules; independent of the version of a file */
	enum nccl_policy policy; /* NCCL_NETDEVS_POLICY */
	uint32_t max;            /* of MAX:N */
	int gdr_level;           /* NCCL_NET_GDR_LEVEL as enum nccl_path_type; -1: not set */
	bool keep_vf_path;       /* NCCL_IB_MERGE_VFS=0 */
	bool no_pxn;             /* NCCL_PXN_DISABLE=1: the default of RCCL */
	bool pxn;                /* NCCL_PXN_DISABLE=0 */
	bool no_c2c;             /* NCCL_NET_GDR_C2C=0 */
	bool no_read;            /* NCCL_NET_GDR_READ=0 */
	bool read;               /* NCCL_NET_GDR_READ=1 */
	bool fold_vfs;           /* for files: VFs of one path are one net, as in RCCL */
	enum nccl_direct direct; /* NCCL_IB_DATA_DIRECT: 1, the default; 0; 2 */
	bool no_merge;           /* NCCL_NET_MERGE_LEVEL=LOC */
	bool no_merge_nics;      /* NCCL_IB_MERGE_NICS=0: no group of force_merge either */
	enum nccl_path_type merge_level; /* NCCL_NET_MERGE_LEVEL; NCCL_LOC: not set, PORT */
	bool merge_rails;     /* NCCL_NET_MERGE_POLICY=RAIL: only ports of one rail of hca_list */
	const char *hca_list; /* NCCL_IB_HCA; NULL; not owned */
	const char *force_merge; /* NCCL_NET_FORCE_MERGE; NULL; not owned */
	bool own_file;           /* NCCL_TOPO_FILE is this topology file: it numbers the GPUs */
	/* Negative controls for tests: rules that are not applied. */
	bool no_flatten, no_mirror, no_bandwidth, skip_gdr_rule;
	uint64_t inverted; /* bits of rules of lib/rdma whose answer is inverted */
};
_Static_assert(LIB_RULES <= 64, "nccl_opts.inverted");
#define NCCL_OPTS_DEFAULT                                                                          \
	{                                                                                          \
		.gdr_level = -1                                                                    \
	}

/* nccl_version - whose rules hold: the version of the job, else the newest that is released. */
static inline struct lib_version nccl_version(const struct nccl_opts *o)
{
	if (o->version.major)
		return o->version;
	return o->rccl ? RCCL_VERSION_RELEASED : NCCL_VERSION_NEWEST;
}

/* nccl_rule - whether the library of these options has a rule of lib/rdma/version.h. */
static inline bool nccl_rule(const struct nccl_opts *o, enum lib_rule rule)
{
	struct lib_version v = nccl_version(o);
	bool holds = o->rccl ? lib_rule_in_rccl(rule, v) : lib_rule_holds(rule, v);

	return holds != (o->inverted >> rule & 1);
}

/* What the library 2.30.7 does: of eight ports at one distance it makes two devices of four. */
#define NCCL_FUSED_MAX 4

struct nccl_hca_port {
	uint32_t hca, port; /* port 0: its number is not known */
	bool displaced;     /* NCCL_IB_MERGE_VFS makes NCCL use the path of another device */
	bool direct;        /* at its Data Direct function: NCCL's name is "mlx5_0_dma" */
};

/* A net device of NCCL: a port of an HCA, or several that NCCL fused into one device. A reader asks
 * each part: GPUs of a flat guest can have all their HCAs in one net. */
struct nccl_net {
	uint32_t hca, port;                            /* of the first part */
	bool displaced, direct;                        /* of the first part */
	uint32_t fused;                                /* the number of other parts */
	struct nccl_hca_port with[NCCL_FUSED_MAX - 1]; /* the others; RCCL: at most that many */
};

/* nccl_net_parts - the number of ports of a net; nccl_net_part: one of them. */
static inline uint32_t nccl_net_parts(const struct nccl_net *n)
{
	return 1 + (n->fused < NCCL_FUSED_MAX ? n->fused : NCCL_FUSED_MAX - 1);
}
static inline struct nccl_hca_port nccl_net_part(const struct nccl_net *n, uint32_t i)
{
	return i ? n->with[i - 1]
		 : (struct nccl_hca_port){ n->hca, n->port, n->displaced, n->direct };
}

#endif
