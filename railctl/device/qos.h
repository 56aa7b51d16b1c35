/* SPDX-License-Identifier: Apache-2.0 */
/* qos.h: what the files of `railctl rdma qos` share. */
#ifndef RAILHEAD_RAILCTL_DEVICE_QOS_H
#define RAILHEAD_RAILCTL_DEVICE_QOS_H

#include "lib/cli/cmd.h"
#include "rdma/qos/cards.h"

extern const struct cmd rdma_qos_apply_cmd, rdma_qos_check_cmd, rdma_qos_set_cmd;

#endif
