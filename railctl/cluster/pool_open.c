/* SPDX-License-Identifier: Apache-2.0 */
/* pool_open.c: `railctl cluster pool open`: the end of the state "adopting". */
#include "railctl/cluster/cluster.h"

/* The agent reads lists of the cluster, and writes the pool. */
#define OPEN_WAIT_MS (4 * CLUSTER_WAIT_MS)

static int open_pool(struct cmd_run *r, struct err *e)
{
	auto_json struct json *args = json_new_object(), *answer = NULL;
	const char *name = r->opts.words[0];

	if (!args || json_add_str(args, "pool", name))
		return err_nomem(e);
	if (cluster_wait(r, name, NULL, e))
		return -1;
	if (r->status)
		return 0;
	if (agent_client_call(&r->ctx, &(struct agent_call){ "pool-open", args }, OPEN_WAIT_MS,
			      &answer, e) ||
	    cluster_wait(r, name, NULL, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	out_line(&r->out, OUT_PLAIN, "Shared pool %s %s.", name,
		 json_true(json_get(answer, "opened")) ? "is open: nodes claim free blocks of it"
						       : "was open already");
	return 0;
}

static const struct opt open_opts[] = {
	{ "wait", "SECONDS", "wait until all nodes have taken it over, before and after", 0 },
	{ 0 },
};

static const char *const open_examples[] = { "railctl cluster pool open rail0", NULL };

const struct cmd cmd_cluster_pool_open = {
	.name = "open",
	.words = "NAME",
	.summary = "open a shared pool into which all nodes have brought their leases",
	.about = "A pool with \"state\": \"adopting\" takes over the leases of the pools of this "
		 "name that each node had alone. The command refuses while a node has not reported "
		 "that all blocks of its leases are its own, and names the node. A node whose "
		 "heartbeat does not move counts, too, because its pods may live.",
	.examples = open_examples,
	.opts = { open_opts },
	.min_words = 1,
	.max_words = 1,
	.run = open_pool,
};
