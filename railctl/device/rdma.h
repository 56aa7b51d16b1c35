/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.h: the commands of `railctl rdma`, one file each. */
#ifndef RAILHEAD_RAILCTL_DEVICE_RDMA_H
#define RAILHEAD_RAILCTL_DEVICE_RDMA_H

#include "lib/cli/cmd.h"
#include "lib/cli/finding.h"

extern const struct cmd cmd_rdma, rdma_check_cmd, rdma_env_cmd, rdma_list_cmd, rdma_mode_cmd,
	rdma_partitions_cmd, rdma_qos_cmd;

/* rdma_check_find - the findings of `railctl rdma check`. */
int rdma_check_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;

#endif
