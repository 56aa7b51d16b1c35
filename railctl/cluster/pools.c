/* SPDX-License-Identifier: Apache-2.0 */
/* pools.c: `railctl cluster pool list`: how full shared pools are in the whole cluster. */
#include <stdio.h>
#include <string.h>

#include "railctl/cluster/cluster.h"

#define NUMBER_LEN 32

static const char *pools_number_of(const struct json *o, const char *key, char out[NUMBER_LEN])
{
	const struct json *n = json_get(o, key);

	return n ? out_amount(json_num(n), out, NUMBER_LEN) : "-";
}

static struct out_cell pools_state_of(const struct json *pool)
{
	const char *state = json_str(json_get(json_get(pool, "definition"), "state"));

	if (json_true(json_get(pool, "deleted")))
		return (struct out_cell){ "deleted", OUT_WARN };
	if (state && strcmp(state, "open") != 0)
		return (struct out_cell){ state, OUT_WARN };
	return (struct out_cell){ "ok", OUT_GOOD };
}

static int pools_print_pools(const struct cmd_run *r, const struct json *pools, struct err *e)
{
	static const struct out_column columns[] = {
		{ "POOL", 0 },
		{ "SUBNET", 0 },
		{ "ADDRESSES", OUT_RIGHT },
		{ "RESERVED", OUT_RIGHT },
		{ "IN BLOCKS", OUT_RIGHT },
		{ "BLOCKS", OUT_RIGHT },
		{ "BLOCK SIZE", OUT_RIGHT },
		{ "NODES", OUT_RIGHT },
		{ "STATE", 0 },
	};
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };

	json_each (p, pools) {
		char all[NUMBER_LEN], reserved[NUMBER_LEN], owned[NUMBER_LEN], blocks[NUMBER_LEN],
			size[NUMBER_LEN], nodes[NUMBER_LEN];
		const struct json *def = json_get(p, "definition");
		const struct out_cell cells[] = {
			{ json_text_or(p, "name", "-"), OUT_PLAIN },
			{ json_text_or(def, "subnet", "-"), OUT_PLAIN },
			{ pools_number_of(p, "addresses", all), OUT_PLAIN },
			{ pools_number_of(p, "reserved", reserved), OUT_PLAIN },
			{ pools_number_of(p, "inBlocks", owned), OUT_PLAIN },
			{ pools_number_of(p, "blocks", blocks), OUT_PLAIN },
			{ pools_number_of(def, "blockSize", size), OUT_PLAIN },
			{ pools_number_of(p, "nodes", nodes), OUT_PLAIN },
			pools_state_of(p),
		};

		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(&r->out, &t);
	return 0;
}

static int pools_print_nodes(const struct cmd_run *r, const struct json *pools, struct err *e)
{
	static const struct out_column columns[] = {
		{ "POOL", 0 }, { "NODE", 0 }, { "IN BLOCKS", OUT_RIGHT }, { "BLOCKS", OUT_RIGHT }
	};
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };

	json_each (p, pools) {
		json_each (n, json_get(p, "byNode")) {
			char owned[NUMBER_LEN], blocks[NUMBER_LEN];
			const struct out_cell cells[] = {
				{ json_text_or(p, "name", "-"), OUT_PLAIN },
				{ json_text_or(n, "node", "-"), OUT_PLAIN },
				{ pools_number_of(n, "inBlocks", owned), OUT_PLAIN },
				{ pools_number_of(n, "blocks", blocks), OUT_PLAIN },
			};

			if (out_row(&t, cells, e))
				return -1;
		}
	}
	out_table(&r->out, &t);
	return 0;
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
		return pools_print_pools(r, pools, e);
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
