/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: which GID NCCL takes if NCCL_IB_GID_INDEX is not set. Pure.
 *
 * The rule of NCCL 2.21 to 2.30 (src/transport/net_ib/connect.cc, ncclIbGetGidIndex): start with
 * index 0, and go through the table. If the current entry has another family or version, or is not
 * valid, change to an entry of the wanted family and range. NCCL does not know namespaces: in mode
 * shared it may take the GID of another pod.
 */
#ifndef RAILHEAD_RDMA_ENV_NCCL_H
#define RAILHEAD_RDMA_ENV_NCCL_H

#include "rdma/inventory/inventory.h"

struct nccl_rule {
	enum ip_family family;  /* NCCL_IB_ADDR_FAMILY; IP_V4 when unset */
	bool has_range;         /* NCCL_IB_ADDR_RANGE is set */
	struct ip_prefix range; /* of that family */
	enum gid_type version;  /* NCCL_IB_ROCE_VERSION_NUM: GID_ROCE_V1, GID_ROCE_V2 */
};

/* nccl_gid_index - the index that NCCL takes on an Ethernet port. */
uint32_t nccl_gid_index(const struct inv_port *p, const struct nccl_rule *r);

/*
 * nccl_reads_unknown - true if NCCL reads the type of an entry whose type sysfs does not show. It
 * reads types only to compare two entries of the wanted family, the later one in the range. Before
 * 2.26.2 the error of that file ends the job (NCCL_ABORTS_ON_TYPE). NVIDIA's DOCA-OFED gives EINVAL
 * for entries of other namespaces; Linux's own driver gives it only for free entries.
 */
bool nccl_reads_unknown(const struct inv_port *p, const struct nccl_rule *r);

/* inv_gid_at - the entry with that index, borrowed from p; NULL: the index is free. */
const struct inv_gid *inv_gid_at(const struct inv_port *p, uint32_t index);

#endif
