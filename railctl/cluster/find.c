/* SPDX-License-Identifier: Apache-2.0 */
/* find.c: `railctl cluster find`: on which node the pod with an address is. */
#include <stdio.h>

#include "railctl/cluster/cluster.h"

/* The name of a pod ends before its interface. */
static void print_identity(const struct cmd_run *r, const struct json *p)
{
	const char *identity = json_str(json_get(p, "identity"));

	if (identity)
		out_line(&r->out, OUT_PLAIN, "The address is that of %s.", identity);
}

static void print_loan(const struct cmd_run *r, const struct json *loan)
{
	if (!loan)
		return;
	if (json_true(json_get(loan, "returned")))
		out_line(&r->out, OUT_PLAIN, "Node %s had the address as a loan, and returned it.",
			 json_text_or(loan, "node", "-"));
	else if (json_true(json_get(loan, "taken")))
		out_line(&r->out, OUT_PLAIN, "It lends the address to node %s.",
			 json_text_or(loan, "node", "-"));
	else
		out_line(&r->out, OUT_PLAIN, "It offers the address to node %s.",
			 json_text_or(loan, "node", "-"));
}

static void find_print_node(const struct cmd_run *r, const char *address, const struct json *p)
{
	const char *owner = json_str(json_get(p, "owner")), *node = json_str(json_get(p, "node"));

	if (owner)
		out_line(&r->out, OUT_PLAIN, "Node %s has the block.", owner);
	else
		out_line(&r->out, OUT_PLAIN, "No node has the block, so no pod has the address.");
	print_loan(r, json_get(p, "loan"));
	if (node)
		out_line(&r->out, OUT_GOOD, "The pod, on node %s: railctl ipam who %s", node,
			 address);
}

static void find_print_pool(const struct cmd_run *r, const char *address, const struct json *p)
{
	out_line(&r->out, OUT_PLAIN, "%s is in the block %s-%s of the shared pool %s%s.", address,
		 json_text_or(p, "first", "-"), json_text_or(p, "last", "-"),
		 json_text_or(p, "pool", "-"),
		 json_true(json_get(p, "deleted")) ? ", which is deleted" : "");
	if (!json_true(json_get(p, "usable")))
		out_line(&r->out, OUT_WARN, "The pool does not assign the address.");
	print_identity(r, p);
	find_print_node(r, address, p);
}

static int find_print(struct cmd_run *r, const struct json *answer, struct err *e)
{
	const struct json *pools = json_get(answer, "pools");
	const char *address = json_text_or(answer, "address", "-");

	if (!json_len(pools))
		r->status = CMD_FAILED;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	if (!json_len(pools))
		out_line(&r->out, OUT_WARN,
			 "No shared pool of the cluster has %s. For pools of one node, or with "
			 "slices, ask each node: railctl ipam lease list",
			 address);
	json_each (p, pools)
		find_print_pool(r, address, p);
	return 0;
}

static int find_address(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;

	if (agent_client_find(&r->ctx, r->opts.words[0], &answer, e))
		return -1;
	return find_print(r, answer, e);
}

static const char *const find_examples[] = { "railctl cluster find 10.1.0.7",
					     "railctl cluster find --json 10.1.0.7", NULL };

const struct cmd cmd_cluster_find = {
	.name = "find",
	.words = "ADDRESS",
	.summary = "say on which node the pod with an address is",
	.about = "It names the block and the shared pool of the address, and the node that has the "
		 "block. That node may lend the address to another one. The cluster store does not "
		 "know pods, so the last line is the command that shows the pod on its node. Exit "
		 "status 1: no shared pool has the address.",
	.examples = find_examples,
	.min_words = 1,
	.max_words = 1,
	.run = find_address,
};
