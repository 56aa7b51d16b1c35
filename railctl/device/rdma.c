/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c: `railctl rdma`: the group of commands about RDMA. */
#include "railctl/device/rdma.h"

static const struct cmd *const commands[] = {
	&rdma_list_cmd, &rdma_env_cmd, &rdma_check_cmd, &rdma_mode_cmd, &rdma_partitions_cmd,
	&rdma_qos_cmd,  NULL
};

const struct cmd cmd_rdma = {
	.name = "rdma",
	.summary = "show RDMA devices, and settings for pods that use them",
	.sub = commands,
};
