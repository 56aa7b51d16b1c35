/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c: `railctl cluster node list`: which nodes there are, and whose heartbeat moves.
 */
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/cluster.h"

#define SHORT 8 /* characters of an id in the table */

/* The agent reads three lists, each with a time of its own. */
#define NODES_WAIT_MS (4 * CLUSTER_WAIT_MS)

static const char *shortened(const struct json *text, char out[SHORT + 1])
{
	const char *s = json_str(text);

	(void)snprintf(out, SHORT + 1, "%s", s ? s : "-");
	return out;
}

static struct out_cell nodes_state_of(const struct json *node)
{
	if (json_true(json_get(json_get(node, "heartbeat"), "twin")))
		return (struct out_cell){ "twin", OUT_BAD };
	if (json_true(json_get(node, "forgotten")))
		return (struct out_cell){ "forgotten", OUT_WARN };
	if (json_true(json_get(node, "thisNode")))
		return (struct out_cell){ "this node", OUT_GOOD };
	return (struct out_cell){ "-", OUT_PLAIN };
}

static const char *age_of(const struct json *node, char *out, size_t size)
{
	const struct json *seconds = json_get(json_get(node, "heartbeat"), "seconds");

	if (!seconds)
		return "none";
	(void)snprintf(out, size, "%.0f s", json_num(seconds));
	return out;
}

static int nodes_print_node(struct out_table *t, const struct json *node, struct err *e)
{
	char holder[SHORT + 1], machine[SHORT + 1], boot[SHORT + 1], blocks[32], age[32],
		number[32];
	const struct json *n = json_get(node, "number");
	const char *version = json_str(json_get(node, "version"));

	(void)snprintf(number, sizeof(number), n ? "%.0f" : "-", json_num(n));
	(void)snprintf(blocks, sizeof(blocks), "%.0f", json_num(json_get(node, "blocks")));
	const struct out_cell cells[] = {
		{ json_str(json_get(node, "name")), OUT_PLAIN },
		{ age_of(node, age, sizeof(age)), OUT_PLAIN },
		{ blocks, OUT_PLAIN },
		nodes_state_of(node),
		{ number, OUT_FAINT },
		{ shortened(json_get(node, "holder"), holder), OUT_FAINT },
		{ shortened(json_get(node, "machine"), machine), OUT_FAINT },
		{ shortened(json_get(node, "boot"), boot), OUT_FAINT },
		{ version ? version : "-", OUT_FAINT },
	};

	return out_row(t, cells, e);
}

static int cluster_print_nodes(const struct cmd_run *r, const struct json *answer, struct err *e)
{
	static const struct out_column columns[] = {
		{ "NODE", 0 },
		{ "HEARTBEAT", OUT_RIGHT },
		{ "BLOCKS", OUT_RIGHT },
		{ "STATE", 0 },
		{ "NUMBER", OUT_SPARE },
		{ "HOLDER", OUT_SPARE },
		{ "MACHINE", OUT_SPARE },
		{ "BOOT", OUT_SPARE },
		{ "AGENT", OUT_SPARE },
	};
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };
	double more = json_num(json_get(answer, "more"));

	json_each (n, json_get(answer, "nodes")) {
		if (nodes_print_node(&t, n, e))
			return -1;
	}
	out_table(&r->out, &t);
	if (more > 0)
		out_line(&r->out, OUT_WARN, "%.0f more nodes are not shown", more);
	return 0;
}

static int list_nodes(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;

	if (agent_client_call(&r->ctx, &(struct agent_call){ "nodes", NULL }, NODES_WAIT_MS,
			      &answer, e))
		return -1;
	return r->out.json ? out_json(&r->out, answer, e) : cluster_print_nodes(r, answer, e);
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
