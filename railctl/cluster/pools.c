/* SPDX-License-Identifier: Apache-2.0 */
/* pools.c: `railctl cluster pool list`: how full shared pools are in the whole cluster. */
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/cluster.h"

struct out_cell cluster_pool_state(const struct json *pool)
{
	const char *state = json_str(json_get(json_get(pool, "definition"), "state"));

	if (json_true(json_get(pool, "deleted")))
		return (struct out_cell){ "deleted", OUT_WARN };
	if (state && strcmp(state, "open") != 0)
		return (struct out_cell){ state, OUT_WARN };
	return (struct out_cell){ "ok", OUT_GOOD };
}

static const struct list_column columns[] = {
	{ .title = "POOL", 0, "name" },
	{ .title = "SUBNET", 0, "definition.subnet" },
	{ .title = "ADDRESSES", OUT_RIGHT, "addresses" },
	{ .title = "RESERVED", OUT_RIGHT, "reserved" },
	{ .title = "IN BLOCKS", OUT_RIGHT, "inBlocks" },
	{ .title = "BLOCKS", OUT_RIGHT, "blocks" },
	{ .title = "BLOCK SIZE", OUT_RIGHT, "definition.blockSize" },
	{ .title = "NODES", OUT_RIGHT, "nodes" },
	{ .title = "STATE", 0, .word = cluster_pool_state },
	{ .title = NULL },
};

static int pools_print_nodes(const struct cmd_run *r, const struct json *pools, struct err *e)
{
	static const struct list_column by_node[] = {
		{ .title = "POOL", 0, "pool" },
		{ .title = "NODE", 0, "node" },
		{ .title = "IN BLOCKS", OUT_RIGHT, "inBlocks" },
		{ .title = "BLOCKS", OUT_RIGHT, "blocks" },
		{ .title = NULL },
	};
	auto_json struct json *rows = json_new_array();

	json_each (p, pools) {
		json_each (n, json_get(p, "byNode")) {
			struct json *row = rows ? json_dup(n) : NULL;

			if (!row || json_push(rows, row) ||
			    json_add_str(row, "pool", json_text(p, "name")))
				return err_nomem(e);
		}
	}
	return rows ? list_print(r, by_node, rows, e) : err_nomem(e);
}

static int list_pools(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;
	const struct json *pools;
	double more;

	if (agent_client_pools(&r->ctx, &answer, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	pools = json_get(answer, "pools");
	more = json_num(json_get(answer, "more"));
	if (!opt_is_set(&r->opts, "by-node"))
		return list_print(r, columns, pools, e);
	if (pools_print_nodes(r, pools, e))
		return -1;
	if (more > 0)
		out_line(&r->out, OUT_WARN, "%.0f more rows are not shown", more);
	return 0;
}

static const struct opt list_opts[] = {
	{ "by-node", NULL, "show what each node has of each pool", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const list_examples[] = { "railctl cluster pool list",
					     "railctl cluster pool list --by-node", NULL };

const struct cmd cmd_cluster_pool_list = {
	.name = "list",
	.summary = "show the shared pools, and how full they are in the whole cluster",
	.about =
		"ADDRESSES can be assigned. RESERVED are further ones of the pool's ranges that "
		"`railctl cluster reserved` keeps from all pools. "
		"IN BLOCKS is the number of addresses in blocks that nodes have. Only a node knows "
		"which of them pods use: `railctl ipam usage` there. Each call reads all pools, "
		"reserved addresses and blocks of the cluster. A pool that was deleted is shown as "
		"long as a node "
		"has a block of it.",
	.opts = { list_opts },
	.examples = list_examples,
	.run = list_pools,
};
