/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: which GID NCCL takes when it is not told an index. Pure.
 *
 * As NCCL 2.21 to 2.30 do it (src/transport/net_ib/connect.cc, ncclIbGetGidIndex): it begins with
 * index 0 whatever that is, goes through the table, and changes over to an entry of the wanted
 * family and range when the one it holds is of another family, not valid, or of another version.
 * It knows nothing of namespaces: in mode shared a neighbour's GID is as good as ours.
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

/* nccl_gid_index - of an Ethernet port. */
uint32_t nccl_gid_index(const struct inv_port *p, const struct nccl_rule *r);

/* inv_gid_at - the entry of that index; NULL: a free place. */
const struct inv_gid *inv_gid_at(const struct inv_port *p, uint32_t index);

#endif
