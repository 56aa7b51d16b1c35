/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_step.c: `railctl cluster pool open` and `close`: the ends of the states "adopting"
 * and "leaving".
 */
#include "railctl/cluster/cluster.h"

/* The agent reads lists of the cluster, and writes the pool. */
#define STEP_WAIT_MS (4 * CLUSTER_WAIT_MS)

struct step {
	const char *call, *done; /* of the agent, and the key of its answer */
	const char *now, *before;
};

static int run_step(struct cmd_run *r, const struct step *s, struct err *e)
{
	auto_json struct json *args = json_new_object(), *answer = NULL;
	const char *name = r->opts.words[0];

	if (!args || json_add_str(args, "pool", name))
		return err_nomem(e);
	if (cluster_wait(r, name, NULL, e))
		return -1;
	if (r->status)
		return 0;
	if (agent_client_call(&r->ctx, &(struct agent_call){ s->call, args }, STEP_WAIT_MS, &answer,
			      e) ||
	    cluster_wait(r, name, NULL, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	out_line(&r->out, OUT_PLAIN, "Shared pool %s %s.", name,
		 json_true(json_get(answer, s->done)) ? s->now : s->before);
	return 0;
}

static int open_pool(struct cmd_run *r, struct err *e)
{
	static const struct step step = { "pool-open", "opened",
					  "is open: nodes claim free blocks of it",
					  "was open already" };

	return run_step(r, &step, e);
}

static int close_pool(struct cmd_run *r, struct err *e)
{
	static const struct step step = { "pool-close", "closed",
					  "is closed: each node gets it with slices",
					  "was closed already" };

	return run_step(r, &step, e);
}

static const struct opt step_opts[] = {
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
	.opts = { step_opts },
	.min_words = 1,
	.max_words = 1,
	.run = open_pool,
};

static const char *const close_examples[] = { "railctl cluster pool close rail0",
					      "railctl cluster pool close --wait 600 rail0", NULL };

const struct cmd cmd_cluster_pool_close = {
	.name = "close",
	.words = "NAME",
	.summary = "close a shared pool whose nodes are all in their slices",
	.about = "A pool with \"state\": \"leaving\" returns to slices. The command refuses while "
		 "a node has not reported that its leases are in its own slice, and names node and "
		 "pods. A node whose heartbeat does not move counts, too, because its pods may "
		 "live. Then each node gets the pool with slices as its own, and gives its blocks "
		 "back. A closed pool is never open again: `railctl cluster pool delete` deletes "
		 "its object once all nodes have left it.",
	.examples = close_examples,
	.opts = { step_opts },
	.min_words = 1,
	.max_words = 1,
	.run = close_pool,
};
