/* SPDX-License-Identifier: Apache-2.0 */
/* node.c: `railctl cluster node`: an operator's word about other nodes. */
#include "railctl/cluster/cluster.h"

/* The agent looks at the heartbeat for two of its periods, which are an hour at most. */
#define FORGET_WAIT_MS (3 * 3600 * 1000)

static int forget_node(struct cmd_run *r, struct err *e)
{
	auto_json struct json *args = json_new_object(), *answer = NULL;
	const char *name = r->opts.words[0];

	if (!args || json_add_str(args, "node", name))
		return err_nomem(e);
	if (agent_client_call(&r->ctx, &(struct agent_call){ "node-forget", args }, FORGET_WAIT_MS,
			      &answer, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, args, e);
	out_line(&r->out, OUT_PLAIN,
		 "Node %s is off: railheadd --reclaim takes its blocks when nodeHold has passed.",
		 name);
	return 0;
}

static const char *const forget_examples[] = { "railctl cluster node forget gpu-17", NULL };

const struct cmd cmd_cluster_node_forget = {
	.name = "forget",
	.words = "NAME",
	.summary = "say that a node's machine is off, so that others may use its addresses",
	.about = "It watches the node's heartbeat for two of its periods, and refuses if the "
		 "heartbeat moves. Switch the machine off first: pods that still run there keep "
		 "their addresses, and only a probe finds them. If the heartbeat moves later, the "
		 "statement is void.",
	.examples = forget_examples,
	.min_words = 1,
	.max_words = 1,
	.run = forget_node,
};
