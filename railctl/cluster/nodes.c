/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c: `railctl cluster node list`: which nodes there are, and whose heartbeat moves.
 */
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/cluster.h"

#define SHORT 8 /* characters of an id in the table */

static struct out_cell shortened(const struct cmd_run *r, const struct json *n,
				 char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, SHORT + 1, "%s", json_str(n) ? json_str(n) : "");
	return (struct out_cell){ buf, OUT_FAINT };
}

static struct out_cell nodes_state_of(const struct json *node)
{
	if (json_true(json_get(json_get(node, "heartbeat"), "twin")))
		return (struct out_cell){ "twin", OUT_BAD };
	if (json_true(json_get(node, "forgotten")))
		return (struct out_cell){ "forgotten", OUT_WARN };
	if (json_true(json_get(node, "thisNode")))
		return (struct out_cell){ "this node", OUT_GOOD };
	return (struct out_cell){ NULL, OUT_PLAIN };
}

struct out_cell cluster_age(const struct cmd_run *r, const struct json *seconds,
			    char buf[LIST_TEXT_LEN])
{
	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, seconds ? "%.0f s" : "none", json_num(seconds));
	return (struct out_cell){ buf, OUT_PLAIN };
}

int cluster_print_nodes(const struct cmd_run *r, const struct list_column *columns,
			const struct json *answer, struct err *e)
{
	double more = json_num(json_get(answer, "more"));

	if (list_print(r, columns, json_get(answer, "nodes"), e))
		return -1;
	if (more > 0)
		out_line(&r->out, OUT_WARN, "%.0f more nodes are not shown", more);
	return 0;
}

static int list_nodes(struct cmd_run *r, struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "NODE", 0, "name" },
		{ .title = "HEARTBEAT", OUT_RIGHT, "heartbeat.seconds", .cell = cluster_age },
		{ .title = "BLOCKS", OUT_RIGHT, "blocks" },
		{ .title = "STATE", 0, .word = nodes_state_of },
		{ .title = "NUMBER", OUT_SPARE, "number", OUT_FAINT },
		{ .title = "HOLDER", OUT_SPARE, "holder", .cell = shortened },
		{ .title = "MACHINE", OUT_SPARE, "machine", .cell = shortened },
		{ .title = "BOOT", OUT_SPARE, "boot", .cell = shortened },
		{ .title = "AGENT", OUT_SPARE, "version", OUT_FAINT },
		{ .title = NULL },
	};
	auto_json struct json *answer = NULL;

	if (agent_client_call(&r->ctx, &(struct agent_call){ "nodes", NULL }, CLUSTER_NODES_WAIT_MS,
			      &answer, e))
		return -1;
	return r->out.json ? out_json(&r->out, answer, e)
			   : cluster_print_nodes(r, columns, answer, e);
}

static const char *const list_examples[] = { "railctl cluster node list",
					     "railctl cluster node list --json", NULL };

const struct cmd cmd_cluster_node_list = {
	.name = "list",
	.summary = "show all nodes, whose heartbeat moves, and their blocks",
	.about = "HEARTBEAT says how long the agent of this node has seen a heartbeat unchanged. "
		 "The agent looks only when it is asked, so the first answer says 0 s. Ask again "
		 "after two periods of the heartbeat: a number that has grown by that time is a "
		 "node that does not reach the cluster store. Each call reads all nodes, "
		 "heartbeats and blocks of the cluster.",
	.examples = list_examples,
	.run = list_nodes,
};
