/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.h: NIC fusion: which nets become one device, and where that one is. */
#ifndef RAILHEAD_TOPO_NCCL_FUSE_H
#define RAILHEAD_TOPO_NCCL_FUSE_H

#include "topo/nccl/system.h"

/* NCCL's plugin stops at 32 devices (MAX_IB_DEVS). More nets are not fused: that would cost much.
 */
#define NCCL_NETS_MAX 256
/*
 * nccl_fuse_nets - ncclTopoMakeVNics: ports whose distance is at most NCCL_NET_MERGE_LEVEL, and the
 * groups of NCCL_NET_FORCE_MERGE, become one net each. ERR_FIELD: NCCL would end with an error.
 */
int nccl_fuse_nets(const struct topo_machine *m, const struct nccl_opts *o, struct nccl_xml *v,
		   struct err *e) must_check;

/* ---- shared by its two files ---- */

#define NCCL_PORT NCCL_NVL /* PATH_PORT has the number of PATH_NVL */

struct nccl_group {
	uint32_t net[NCCL_FUSED_MAX], n; /* in the order of the nets */
	struct nccl_xml_net made;
};

struct nccl_fusing {
	const struct topo_machine *m;
	const struct nccl_opts *o;
	struct nccl_xml *v;
	uint32_t n;    /* physical nets */
	uint32_t *nth; /* nets in the order of the plugin, in which NCCL looks at them */
	bool *placed;  /* by net */
	enum nccl_path_type *path; /* [net][net] */
	struct nccl_group *group;  /* in the order in which NCCL makes their devices */
	size_t n_groups;
};

/*
 * nccl_nets_path - ncclTopoGetPath: the distance of two elements. *common: the lowest element above
 * both; TOPO_NONE: they are below different cpus.
 */
enum nccl_path_type nccl_nets_path(const struct nccl_fusing *f, uint32_t x, uint32_t y,
				   uint32_t *common);
/*
 * nccl_place_group - ncclTopoGetVNicParent: finds or makes the element of a group's net, and sets
 * the widths of links. `made` begins as a copy of the first part. ERR_FIELD: NCCL would end.
 */
int nccl_place_group(struct nccl_fusing *f, const struct nccl_group *g, struct nccl_xml_net *made,
		     struct err *e) must_check;

#endif
