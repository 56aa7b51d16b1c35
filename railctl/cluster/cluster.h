/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.h: what the files of `railctl cluster` share. */
#ifndef RAILHEAD_RAILCTL_CLUSTER_CLUSTER_H
#define RAILHEAD_RAILCTL_CLUSTER_CLUSTER_H

#include "ipam/alloc/agent_client.h"
#include "lib/cli/finding.h"
#include "lib/cli/list.h"

extern const struct cmd cmd_cluster, cmd_cluster_pool_apply, cmd_cluster_pool_delete,
	cmd_cluster_pool_list, cmd_cluster_pool_open, cmd_cluster_pool_show, cmd_cluster_fabric,
	cmd_cluster_topology, cmd_cluster_node_forget, cmd_cluster_node_list, cmd_cluster_plan,
	cmd_cluster_report, cmd_cluster_reserved;

#define CLUSTER_RANGES_MAX 256 /* of one command */

/* The agent itself waits for the cluster store up to 5 seconds for each of a few steps. */
#define CLUSTER_WAIT_MS 30000

/*
 * cluster_wait_option - the value of --wait; 0: it was not given.
 *
 * cluster_wait - with --wait: until all nodes whose heartbeat moves have taken over the present
 * definition of the pool, or so many seconds have passed. pool NULL: the addresses that the cluster
 * reserves. The nodes that have not are named, and the command ends with CMD_FAILED. changed: the
 * result of the command, which gets the key "nodes"; NULL: then success says nothing.
 */
int cluster_wait_option(struct cmd_run *r, unsigned *seconds, struct err *e) must_check;
int cluster_wait(struct cmd_run *r, const char *pool, struct json *changed,
		 struct err *e) must_check;

/* cluster_agent_status - the answer of the node agent to "status"; owned by the caller. 1: there is
 * no socket of an agent, as e says. */
int cluster_agent_status(struct cmd_run *r, struct json **out, struct err *e) must_check;

/*
 * cluster_status_find - findings about the node agent. cluster_fabric_find - those of `railctl
 * cluster fabric` about this node. 1: there is no agent here, or it does not listen, as e says.
 */
int cluster_status_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;
int cluster_fabric_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;

/* CLUSTER_NODES_WAIT_MS - for answers for which the agent reads three lists, each with a time of
 * its own. */
#define CLUSTER_NODES_WAIT_MS (4 * CLUSTER_WAIT_MS)

/* cluster_pool_state - of a pool of agent_client_pools(): "ok", or what it is. */
struct out_cell cluster_pool_state(const struct json *pool);

/* cluster_age - of a heartbeat, or "none". cluster_print_nodes - the nodes of an answer, and how
 * many are not in it. */
struct out_cell cluster_age(const struct cmd_run *r, const struct json *seconds,
			    char buf[LIST_TEXT_LEN]);
int cluster_print_nodes(const struct cmd_run *r, const struct list_column *columns,
			const struct json *answer, struct err *e) must_check;

#endif
