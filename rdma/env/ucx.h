/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ucx.h: which GID UCX takes on a RoCE port if UCX_IB_GID_INDEX is not set. Pure.
 *
 * The rule of UCX up to 1.22 (src/uct/ib/base/ib_device.c, uct_ib_device_select_gid): the first
 * entry of RoCE v2 with IPv4, else of RoCE v2 with IPv6, else of RoCE v1. Since 1.21, IPv6
 * addresses that are not link-local precede those that are (openucx/ucx pull request 10939). A type
 * that cannot be read counts as RoCE v1. UCX_IB_ROCE_SUBNETS leaves only entries of its networks
 * (pull request 10027); its documentation has networks of IPv4.
 */
#ifndef RAILHEAD_RDMA_ENV_UCX_H
#define RAILHEAD_RDMA_ENV_UCX_H

#include "rdma/inventory/inventory.h"

struct ucx_rule {
	const struct ip_prefix *subnet; /* borrowed; UCX_IB_ROCE_SUBNETS */
	size_t n_subnets;               /* 0: all entries */
	bool local_last;                /* the rule of 1.21 */
};

/* ucx_gid - the entry that UCX takes, borrowed from p; NULL: none fits, and UCX takes index 0. */
const struct inv_gid *ucx_gid(const struct inv_port *p, const struct ucx_rule *r);

#endif
