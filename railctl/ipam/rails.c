/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.c: `railctl ipam pool rails`: an addressing plan for the rails of a cluster, as pools.
 * It changes no store.
 */
#include <stdio.h>

#include "ipam/conf/rail_plan.h"
#include "lib/base/parse.h"
#include "railctl/ipam/ipam.h"
#include "railctl/ipam/pool_files.h"

#define LABEL "leaf" /* of the nodes, unless --label names another one */

/* ---- the question ---- */

static int rails_read_number(struct cmd_run *r, const char *option, uint64_t max, uint64_t *out,
			     struct err *e)
{
	const char *text = opt_get(&r->opts, option);

	if (!text || parse_u64(text, 1, max, out) == 0)
		return 0;
	return cmd_usage(r, e, "--%s: \"%.64s\" is not a number from 1 to %llu", option, text,
			 (unsigned long long)max);
}

static int read_ask(struct cmd_run *r, struct rail_ask *out, struct err *e)
{
	const char *supernet = opt_get(&r->opts, "supernet");

	if (!opt_is_set(&r->opts, "count") || !opt_is_set(&r->opts, "nodes") || !supernet)
		return cmd_usage(r, e, "a plan needs --count, --nodes and --supernet");
	if (r->out.json && opt_is_set(&r->opts, "dir"))
		return cmd_usage(r, e, "--dir or --json, not both: both write the pools");
	if (rails_read_number(r, "count", RAIL_PLAN_COUNT_MAX, &out->count, e) ||
	    rails_read_number(r, "nodes", RAIL_PLAN_NODES_MAX, &out->nodes, e) ||
	    rails_read_number(r, "leaf", RAIL_PLAN_NODES_MAX, &out->leaf, e) ||
	    rails_read_number(r, "per-node", RAIL_PLAN_PER_NODE_MAX, &out->per_node, e) ||
	    rails_read_number(r, "block-size", RAIL_PLAN_PER_NODE_MAX, &out->block, e))
		return -1;
	if (opt_is_set(&r->opts, "label") && opt_is_set(&r->opts, "no-labels"))
		return cmd_usage(r, e, "--label or --no-labels, not both");
	if (!opt_is_set(&r->opts, "no-labels"))
		out->label = opt_is_set(&r->opts, "label") ? opt_get(&r->opts, "label") : LABEL;
	if (ip_parse_prefix(supernet, &out->supernet))
		return cmd_usage(r, e,
				 "--supernet: \"%.64s\" is not a network like 10.0.0.0/12 or "
				 "fd00:1::/48",
				 supernet);
	return 0;
}

/* ---- the files ---- */

/* Nodes refuse pools one by one, and late. So the whole plan is looked at first. */
static int rails_check_pools(const struct rail_plan *p, struct err *e)
{
	for (uint64_t i = 0; i < p->ask.count; i++) {
		auto_json struct json *pools = rail_plan_pools(p, i);

		if (!pools)
			return err_nomem(e);
		json_each (pool, pools) {
			if (pool_files_check(pool, e))
				return err_wrap(e, "the plan");
		}
	}
	return 0;
}

static int rails_write_dir(const struct rail_plan *p, const char *path, struct err *e)
{
	auto_json struct json *files = json_new_object();

	for (uint64_t i = 0; i < p->ask.count; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "rail%llu", (unsigned long long)i);
		if (!files || json_put(files, name, rail_plan_pools(p, i)))
			return err_nomem(e);
	}
	return pool_files_write(path, files, e) ? err_wrap(e, "--dir") : 0;
}

static int rails_print_json(const struct cmd_run *r, const struct rail_plan *p, struct err *e)
{
	auto_json struct json *all = json_new_array();

	for (uint64_t i = 0; i < p->ask.count; i++) {
		auto_json struct json *pools = rail_plan_pools(p, i);

		if (!all || !pools)
			return err_nomem(e);
		json_each (pool, pools) {
			if (json_push(all, json_dup(pool)))
				return err_nomem(e);
		}
	}
	return all ? out_json(&r->out, all, e) : err_nomem(e);
}

/* ---- the tables ---- */

static const struct out_column rail_columns[] = {
	{ "RAIL", OUT_RIGHT },         { "NETWORK", OUT_SHRINK }, { "FIRST SUBNET", OUT_SHRINK },
	{ "LAST SUBNET", OUT_SHRINK }, { "POOLS", OUT_SHRINK },
};

static int ipam_print_rails(const struct out *o, const struct rail_plan *p, struct err *e)
{
	auto_table struct out_table t = { .columns = rail_columns,
					  .n_columns = ARRAY_SIZE(rail_columns) };

	for (uint64_t i = 0; i < p->ask.count; i++) {
		struct rail_leaf first = rail_plan_leaf(p, i, 0);
		struct rail_leaf last = rail_plan_leaf(p, i, p->groups - 1);
		char number[24], text[3][PREFIX_STR_LEN], pools[2 * RAIL_PLAN_NAME_LEN];

		(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)i);
		(void)snprintf(pools, sizeof(pools), p->groups > 1 ? "rail%s-*" : "rail%s", number);
		const struct out_cell cells[] = {
			{ number, OUT_PLAIN },
			{ ip_format_prefix(rail_plan_rail(p, i), text[0]), OUT_PLAIN },
			{ ip_format_prefix(first.subnet, text[1]), OUT_PLAIN },
			{ ip_format_prefix(last.subnet, text[2]), OUT_PLAIN },
			{ pools, OUT_PLAIN },
		};
		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(o, &t);
	return 0;
}

static const struct out_column leaf_columns[] = {
	{ "LEAF GROUP", OUT_RIGHT }, { "NODES", OUT_RIGHT },    { "LABEL", OUT_SHRINK },
	{ "SUBNET", OUT_SHRINK },    { "GATEWAY", OUT_SHRINK }, { "NICS", OUT_SHRINK },
	{ "PODS", OUT_SHRINK },
};

static char *range_text(struct ip_range r, char out[2 * IP_STR_LEN])
{
	char first[IP_STR_LEN], last[IP_STR_LEN];

	(void)snprintf(out, (size_t)2 * IP_STR_LEN, "%s-%s", ip_format(r.first, first),
		       ip_format(r.last, last));
	return out;
}

static int print_leaves(const struct out *o, const struct rail_plan *p, struct err *e)
{
	auto_table struct out_table t = { .columns = leaf_columns,
					  .n_columns = ARRAY_SIZE(leaf_columns) };

	for (uint64_t g = 0; g < p->groups; g++) {
		struct rail_leaf l = rail_plan_leaf(p, 0, g);
		char number[24], nodes[48], subnet[PREFIX_STR_LEN], gw[IP_STR_LEN];
		char label[RAIL_PLAN_GROUP_LEN];
		char hosts[2 * IP_STR_LEN], pods[2 * IP_STR_LEN];

		(void)snprintf(number, sizeof(number), "%llu", (unsigned long long)g);
		(void)snprintf(nodes, sizeof(nodes), "%llu-%llu", (unsigned long long)l.first_node,
			       (unsigned long long)(l.first_node + l.n_nodes - 1));
		const struct out_cell cells[] = {
			{ number, OUT_PLAIN },
			{ nodes, OUT_PLAIN },
			{ rail_plan_labels(p) ? rail_plan_group(g, label) : "-", OUT_PLAIN },
			{ ip_format_prefix(l.subnet, subnet), OUT_PLAIN },
			{ ip_format(l.gateway, gw), OUT_PLAIN },
			{ range_text(l.hosts, hosts), OUT_PLAIN },
			{ range_text(l.pods, pods), OUT_PLAIN },
		};
		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(o, &t);
	return 0;
}

/* ---- the text ---- */

static double amount(u128 n)
{
	return (double)n;
}

static void print_summary(const struct out *o, const struct rail_plan *p)
{
	const struct rail_ask *a = &p->ask;
	unsigned bits = ip_bits(a->supernet.addr.family);
	uint64_t full = a->nodes < a->leaf ? a->nodes : a->leaf;
	u128 used = (u128)a->count * p->groups << (bits - p->subnet_len);
	u128 spare = p->n_pods / a->block - p->blocks;
	char text[PREFIX_STR_LEN], pods[24], left[24];

	out_pair(o, "Supernet", "%s", ip_format_prefix(a->supernet, text));
	out_pair(o, "Rails", "%llu, each a /%u", (unsigned long long)a->count, p->rail_len);
	out_pair(o, "Leaf groups", "%llu of %llu nodes, each a /%u of each rail",
		 (unsigned long long)p->groups, (unsigned long long)full, p->subnet_len);
	out_pair(o, "Each node", "%llu addresses for pods on each rail, in blocks of %llu",
		 (unsigned long long)a->per_node, (unsigned long long)a->block);
	out_pair(o, "Each subnet", "%s addresses for pods; %.0f block%s more than needed",
		 out_amount(amount(p->n_pods), pods, sizeof(pods)), amount(spare),
		 spare == 1 ? "" : "s");
	out_pair(o, "Left over", "%.0f more leaf groups in each rail; %s addresses in all",
		 amount((u128)1 << (p->subnet_len - p->rail_len)) - (double)p->groups,
		 out_amount(amount((u128)1 << (bits - a->supernet.len)) - amount(used), left,
			    sizeof(left)));
}

static void print_how_to_label(const struct out *o, const struct rail_plan *p)
{
	struct rail_leaf first = rail_plan_leaf(p, 0, 0);
	const char *key = p->ask.label;
	char group[RAIL_PLAN_GROUP_LEN];

	out_line(o, OUT_PLAIN,
		 "- Label each node with its leaf group, %s=g0 to %s=%s. A node without the label "
		 "gets no address.",
		 key, key, rail_plan_group(p->groups - 1, group));
	out_line(o, OUT_PLAIN, "  With Kubernetes: kubectl label node NAME %s=g0", key);
	out_line(o, OUT_PLAIN,
		 "  Without it, on each of the nodes 0-%llu: railctl ipam node label %s=g0",
		 (unsigned long long)(first.n_nodes - 1), key);
}

static void print_next(const struct out *o, const struct rail_plan *p, const char *dir)
{
	out_line(o, OUT_HEAD, "Next");
	if (rail_plan_labels(p))
		print_how_to_label(o, p);
	if (dir)
		out_line(o, OUT_PLAIN,
			 "- for f in %s/rail*.json; do railctl cluster pool apply \"$f\"; done",
			 dir);
	else
		out_line(o, OUT_PLAIN, "- Write the pools: --dir DIR, or --json.");
	out_line(o, OUT_PLAIN, "- Network of rail 0: \"ipam\": {\"type\": \"railhead-ipam\", %s}",
		 p->groups > 1 ? "\"pools\": \"rail0-*\", \"matchMaster\": true"
			       : "\"pool\": \"rail0\"");
}

static int print_plan(const struct out *o, const struct rail_plan *p, const char *dir,
		      struct err *e)
{
	print_summary(o, p);
	out_line(o, OUT_PLAIN, "%s", "");
	if (ipam_print_rails(o, p, e))
		return -1;
	out_line(o, OUT_PLAIN, "%s", "");
	out_line(o, OUT_HEAD, "Subnets of rail 0; those of the other rails have the same offsets");
	if (print_leaves(o, p, e))
		return -1;
	out_line(o, OUT_PLAIN, "%s", "");
	print_next(o, p, dir);
	return 0;
}

static int rails_run(struct cmd_run *r, struct err *e)
{
	const char *dir = opt_get(&r->opts, "dir");
	struct rail_ask ask = { .count = 0 };
	struct rail_plan p;

	if (read_ask(r, &ask, e) || rail_plan_make(&ask, &p, e) || rails_check_pools(&p, e))
		return -1;
	if (dir && rails_write_dir(&p, dir, e))
		return -1;
	return r->out.json ? rails_print_json(r, &p, e) : print_plan(&r->out, &p, dir, e);
}

static const struct opt rails_opts[] = {
	{ "count", "N", "rails: NICs of each node", 0 },
	{ "nodes", "N", "nodes of the cluster, now or later", 0 },
	{ "supernet", "CIDR", "the network to divide: 10.0.0.0/12, fd00:1::/48", 0 },
	{ "leaf", "N", "nodes of a leaf group (default: 32)", 0 },
	{ "per-node", "N", "addresses for pods of a node on each rail (default: 16)", 0 },
	{ "block-size", "N", "addresses of a block (default: half of those of a node)", 0 },
	{ "label", "NAME", "the label of nodes that names their leaf group (default: leaf)", 0 },
	{ "no-labels", NULL, "let any node use the pools of any leaf group", 0 },
	{ "dir", "DIR", "write the pools of each rail to DIR/railN.json", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const rails_examples[] = {
	"railctl ipam pool rails --count 8 --nodes 1024 --supernet 10.0.0.0/12",
	"railctl ipam pool rails --count 8 --nodes 64 --supernet fd00::/48 --dir rails",
	NULL,
};

const struct cmd cmd_pool_rails = {
	.name = "rails",
	.summary = "plan the pools of a cluster's rails",
	.about = "It plans a rail-optimised fabric: NIC r of each node is on rail r, behind leaf "
		 "switch r of the node's leaf group. There is a pool for each rail and leaf "
		 "group, with gateway, routes and blocks. With several leaf groups a pool is for "
		 "the "
		 "nodes with the label of its leaf group: leaf=g0 and so on. The command changes "
		 "no store: apply the "
		 "files with `railctl cluster pool apply`. With --json it prints the pools alone. "
		 "Files that a person changed are not overwritten.",
	.opts = { rails_opts },
	.examples = rails_examples,
	.run = rails_run,
};
