/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_list.h: the tables of `railctl rdma list`. */
#ifndef RAILHEAD_RAILCTL_DEVICE_RDMA_LIST_H
#define RAILHEAD_RAILCTL_DEVICE_RDMA_LIST_H

#include "lib/cli/cmd.h"

enum rdma_list_view {
	RDMA_VIEW_PORTS,
	RDMA_VIEW_GIDS,
	RDMA_VIEW_IB, /* ports of InfiniBand */
};

/* rdma_list_print - devices of inventory_json() as a table. */
int rdma_list_print(const struct cmd_run *r, const struct json *devices, enum rdma_list_view view,
		    struct err *e) must_check;

#endif
