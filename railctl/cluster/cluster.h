/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h: what the files of `railctl cluster` share. */
#ifndef RAILHEAD_RAILCTL_CLUSTER_CLUSTER_H
#define RAILHEAD_RAILCTL_CLUSTER_CLUSTER_H

#include "ipam/agent/agent_client.h"
#include "lib/cli/cmd.h"

extern const struct cmd cmd_cluster, cmd_cluster_pool_apply, cmd_cluster_pool_delete,
	cmd_cluster_node_forget, cmd_cluster_node_list;

/* The agent itself waits for the cluster store up to 5 seconds for each of a few steps. */
#define CLUSTER_WAIT_MS 30000

#endif
