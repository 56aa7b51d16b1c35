/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: `railctl cluster plan`: pools and groups of nodes for all rails of a cluster, by one
 * file. It changes nothing. */
#include "railctl/cluster/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSED 4 /* the exit status: the plan must not be applied */

static void plan_clear(struct plan *p)
{
	json_free(p->documents);
	cluster_cables_clear(&p->cables);
	json_free(p->there);
	free(p->pin);
	free(p->host);
	findings_clear(&p->findings);
}

/* ---- the plan ---- */

const struct fabric_node *plan_cables_of(const struct plan *p, const char *node)
{
	for (size_t i = 0; i < p->cables.n; i++)
		if (strcmp(p->cables.node[i].name, node) == 0)
			return &p->cables.node[i];
	return NULL;
}

static void plan_pin_node(struct plan *p, const char *name)
{
	const struct fabric_node *cables = plan_cables_of(p, name);

	if (plan_file_leaves(&p->file, name))
		return;
	p->pin[p->n_pins++] = (struct pin){
		.node = name,
		.label = pin_parse(plan_label_of(p, name)),
		.file = plan_file_group(&p->file, name),
		/* The file decides alone. */
		.cables = p->file.groups || !cables ? FABRIC_NO_GROUP : cables->group,
	};
}

/* An agent that has just begun has no object yet: so the second document, if there is one, says
 * which nodes there are. */
static int plan_pin_nodes(struct plan *p, bool *used, struct err *e)
{
	const struct json *labels = plan_labels(p);

	p->pin = calloc((labels ? json_len(labels) : json_len(p->cables.nodes)) + 1,
			sizeof(*p->pin));
	if (!p->pin)
		return err_nomem(e);
	json_each (node, labels)
		plan_pin_node(p, json_key(node));
	json_each (node, labels ? NULL : p->cables.nodes)
		plan_pin_node(p, json_text(node, "name"));
	if (!p->n_pins)
		return err_set(e, ERR_NOTFOUND, 0,
			       "no node is to plan: none has an agent, or all are left alone");
	return pin_groups(p->pin, p->n_pins, used, e);
}

/* Groups that have pools stay in the plan, also while they have no node. */
static int plan_number_groups(struct plan *p, struct err *e)
{
	auto_free bool *used = calloc(PIN_GROUPS_MAX, sizeof(*used));

	if (!used)
		return err_nomem(e);
	json_each (pool, json_get(p->there, "pools")) {
		const uint32_t group = cluster_pool_group(pool);

		if (group != PIN_NONE)
			used[group] = true;
	}
	if (plan_pin_nodes(p, used, e))
		return -1;
	for (uint32_t i = 0; i < PIN_GROUPS_MAX; i++)
		if (used[i])
			p->groups = i + 1;
	return 0;
}

/* The subnet of a group depends on its number, and not on how many nodes or groups there are. */
static int plan_addresses(struct plan *p, struct err *e)
{
	const struct plan_file *f = &p->file;
	struct rail_ask ask = {
		.count = f->rails,
		.leaf = f->nodes_per_group ? f->nodes_per_group : RAIL_PLAN_LEAF,
		.per_node = f->addresses_per_node,
		.block = f->block_size,
		.label = PLAN_LABEL,
	};

	if (ip_parse_prefix(f->supernet, &ask.supernet))
		return err_set(
			e, ERR_CONFIG, 0,
			"supernet: \"%.64s\" is not a network like 10.0.0.0/12 or fd00:1::/48",
			f->supernet);
	/* One group, if there is none yet: what is wrong is said now. */
	ask.nodes = ask.leaf * (p->groups ? p->groups : 1);
	return rail_plan_make(&ask, &p->made, e);
}

static int plan_make(struct cmd_run *r, struct plan *p, struct err *e)
{
	if (plan_file_read(r->opts.words[0], p, e) || cluster_cables_read(r, &p->cables, e) ||
	    agent_client_pools(&r->ctx, &p->there, e) || plan_number_groups(p, e) ||
	    plan_addresses(p, e) || plan_hosts(p, e) || plan_check(p, e))
		return -1;
	return findings_sort(&p->findings, e);
}

/* ---- objects of Kubernetes ---- */

static struct json *add_object(struct json *items, const char *version, const char *kind,
			       const char *name)
{
	struct json *o = json_push_object(items), *meta;

	if (!o || json_add_str(o, "apiVersion", version) || json_add_str(o, "kind", kind) ||
	    !(meta = json_add_object(o, "metadata")) || json_add_str(meta, "name", name))
		return NULL;
	return o;
}

static int add_pools(struct json *items, const struct plan *p, uint64_t rail)
{
	auto_json struct json *pools = rail_plan_pools(&p->made, rail);

	json_each (pool, pools) {
		struct json *o = add_object(items, "railhead.io/v1alpha1", "RailPool",
					    json_text(pool, "name"));
		struct json *spec = o ? json_dup(pool) : NULL;

		if (!spec)
			return -1;
		json_del(spec, "name");
		if (json_put(o, "spec", spec))
			return -1;
	}
	return pools ? 0 : -1;
}

static int add_label(struct json *items, const struct plan *p, size_t pin)
{
	const struct pin *x = &p->pin[pin];
	struct json *o = add_object(items, "v1", "Node", x->node);
	struct json *labels = o ? json_add_object(json_get_mut(o, "metadata"), "labels") : NULL;
	char name[PIN_NAME_LEN], number[24];

	if (!labels || json_add_str(labels, PLAN_LABEL, pin_name(x->group, name)))
		return -1;
	if (!p->host[pin].number)
		return 0;
	(void)snprintf(number, sizeof(number), "%" PRIu64, p->host[pin].number);
	return json_add_str(json_add_object(json_get_mut(o, "metadata"), "annotations"), PLAN_HOST,
			    number);
}

static int print_objects(const struct cmd_run *r, const struct plan *p, struct err *e)
{
	auto_json struct json *list = json_new_object();
	struct json *items;

	if (!list || json_add_str(list, "apiVersion", "v1") || json_add_str(list, "kind", "List") ||
	    !(items = json_add_array(list, "items")))
		return err_nomem(e);
	for (uint64_t i = 0; p->groups && i < p->file.rails; i++)
		if (add_pools(items, p, i))
			return err_nomem(e);
	for (size_t i = 0; i < p->n_pins; i++)
		if (p->pin[i].group != PIN_NONE && add_label(items, p, i))
			return err_nomem(e);
	return out_json(&r->out, list, e);
}

/* ---- what is shown ---- */

static struct json *plan_group_row(struct json *rows, const struct plan *p, uint32_t group)
{
	struct json *row = json_push_object(rows);
	char name[PIN_NAME_LEN], pool[RAIL_PLAN_NAME_LEN], first[PREFIX_STR_LEN],
		last[PREFIX_STR_LEN];
	size_t nodes = 0, labelled = 0;
	int64_t there = 0;

	for (size_t i = 0; i < p->n_pins; i++) {
		nodes += p->pin[i].group == group;
		labelled += p->pin[i].label == group;
	}
	for (uint32_t i = 0; i < p->file.rails; i++) {
		(void)snprintf(pool, sizeof(pool), "rail%u-%s", i, pin_name(group, name));
		there += plan_pool_find(p, pool) != NULL;
	}
	return !row || json_add_str(row, "group", pin_name(group, name)) ||
			       json_add_int(row, "nodes", (int64_t)nodes) ||
			       json_add_int(row, "newNodes", (int64_t)(nodes - labelled)) ||
			       json_add_int(row, "newPools", p->file.rails - there) ||
			       json_add_str(
				       row, "first",
				       ip_format_prefix(rail_plan_leaf(&p->made, 0, group).subnet,
							first)) ||
			       json_add_str(
				       row, "last",
				       ip_format_prefix(
					       rail_plan_leaf(&p->made, p->file.rails - 1, group)
						       .subnet,
					       last))
		       ? NULL
		       : row;
}

static struct json *plan_group_rows(const struct plan *p)
{
	auto_json struct json *rows = json_new_array();

	for (uint32_t i = 0; rows && i < p->groups; i++)
		if (!plan_group_row(rows, p, i))
			return NULL;
	return TAKE_PTR(rows);
}

static int plan_print_lines(const struct cmd_run *r, const struct plan *p, const struct json *rows,
			    struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "GROUP", 0, "group" },
		{ .title = "NODES", OUT_RIGHT, "nodes" },
		{ .title = "NEW NODES", OUT_RIGHT, "newNodes" },
		{ .title = "NEW POOLS", OUT_RIGHT, "newPools" },
		{ .title = "SUBNET OF RAIL 0", OUT_SHRINK, "first" },
		{ .title = "OF THE LAST RAIL", OUT_SHRINK, "last" },
		{ .title = NULL },
	};
	const struct out *o = &r->out;

	out_pair(o, "Label", "%s", PLAN_LABEL);
	out_pair(o, "Gateways", "the first address of each subnet: the leaf");
	out_pair(o, "NICs", "the next %llu addresses, one for each node: no pod gets one",
		 (unsigned long long)p->made.ask.leaf);
	out_pair(o, "Pods", "%llu addresses for each node and rail, in blocks of %llu",
		 (unsigned long long)p->made.ask.per_node, (unsigned long long)p->made.ask.block);
	if (list_print(r, columns, rows, e))
		return -1;
	findings_print(o, &p->findings, 12, 0);
	findings_print_counts(o, &p->findings);
	return 0;
}

static int add_plan_nodes(struct json *list, const struct plan *p)
{
	for (size_t i = 0; list && i < p->n_pins; i++) {
		const struct pin *x = &p->pin[i];
		struct json *o = json_push_object(list);
		char name[PIN_NAME_LEN];

		if (!o || json_add_str(o, "node", x->node) ||
		    (x->group != PIN_NONE && json_add_str(o, "group", pin_name(x->group, name))) ||
		    json_add_bool(o, "labelled", x->label != PIN_NONE) ||
		    (p->host[i].number && json_add_int(o, "number", (int64_t)p->host[i].number)))
			return -1;
	}
	return list ? 0 : -1;
}

static int plan_print_json(const struct cmd_run *r, const struct plan *p, struct json *rows,
			   struct err *e)
{
	auto_json struct json *o = findings_json(&p->findings, "findings");

	if (json_put(o, "groups", rows) || add_plan_nodes(json_add_array(o, "nodes"), p))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int plan_run(struct cmd_run *r, struct err *e)
{
	auto_clean(plan_clear) struct plan p = { .groups = 0 };
	auto_json struct json *rows = NULL;
	enum finding_state worst;

	if (plan_make(r, &p, e))
		return -1;
	worst = findings_worst(&p.findings);
	r->status = worst == FINDING_OK ? CMD_OK : worst == FINDING_FAIL ? REFUSED : CMD_FAILED;
	if (opt_is_set(&r->opts, "objects") || opt_is_set(&r->opts, "format")) {
		if (worst != FINDING_FAIL)
			return opt_is_set(&r->opts, "format") ? plan_print_nics(r, &p, e)
							      : print_objects(r, &p, e);
		err_set(e, ERR_STATE, 0, "%.200s: %.300s", p.findings.item[0].subject,
			p.findings.item[0].reason);
		return err_hint(e, "the plan without this option shows all that is wrong");
	}
	rows = plan_group_rows(&p);
	if (!rows)
		return err_nomem(e);
	return r->out.json ? plan_print_json(r, &p, TAKE_PTR(rows), e)
			   : plan_print_lines(r, &p, rows, e);
}

static const struct opt plan_opts[] = {
	{ "objects", NULL, "print the objects for `kubectl apply`: pools, and labels of nodes", 0 },
	{ "format", "FORMAT", "netplan or networkd: print addresses of NICs", 0 },
	{ "node", "NODE", "of --format: only of this node", 0 },
	CLUSTER_OPT_IBNETDISCOVER,
	{ NULL, NULL, NULL, 0 },
};

static const char *const plan_examples[] = { "railctl cluster plan fabric.yaml",
					     "railctl cluster plan --objects fabric.yaml",
					     "railctl cluster plan --format netplan fabric.yaml",
					     NULL };

const struct cmd cmd_cluster_plan = {
	.name = "plan",
	.words = "FILE",
	.summary = "plan the pools of all rails, and the group of each node, by one file",
	.about =
		"FILE is YAML or JSON: supernet, rails, and more keys of railctl(8). A group of "
		"nodes is behind the same leaves, and has a subnet and a pool for each rail. The "
		"label of a node says its group; without a label the file says it, and without "
		"that the cables do, as in `railctl cluster fabric`. A plan changes nothing. It "
		"never moves a node, and never changes a pool that the cluster has.\n\n"
		"Exit status 1: a node is left out or its cables are not as planned; 4: the plan "
		"is refused, because it shrinks or moves something. `kubectl rail apply` makes it.",
	.opts = { plan_opts },
	.examples = plan_examples,
	.min_words = 1,
	.max_words = 1,
	.run = plan_run,
};
