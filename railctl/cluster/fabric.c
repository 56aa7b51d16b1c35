/* SPDX-License-Identifier: Apache-2.0 */
/* fabric.c: `railctl cluster fabric`: to which leaf each rail is cabled, and which cables are not
 * where those of the other nodes are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "fabric/intent.h"
#include "fabric/pin.h"
#include "ipam/conf/rail_plan.h"
#include "railctl/cluster/fabric.h"

#define FILE_MAX ((size_t)16 << 20)

void cluster_cables_clear(struct cluster_cables *c)
{
	json_free(c->nodes);
	json_free(c->names);
	free(c->node);
	free(c->port);
	free(c->number);
	ib_links_clear(&c->links);
	fabric_groups_clear(&c->groups);
}

/* ---- what the agents say ---- */

static int take_page(struct cluster_cables *c, const struct json *answer, struct err *e)
{
	json_each (node, json_get(answer, "nodes"))
		if (json_push(c->nodes, json_dup(node)))
			return err_nomem(e);
	return 0;
}

/* An answer has room for some hundred nodes. */
static int read_nodes(const struct cmd_run *r, struct cluster_cables *c, struct err *e)
{
	auto_free char *from = NULL;
	const char *last = "";
	bool more;

	c->nodes = json_new_array();
	if (!c->nodes)
		return err_nomem(e);
	do {
		auto_json struct json *args = json_new_object(), *answer = NULL;
		const struct json *tail = NULL;

		if (!args || json_add_str(args, "after", last) ||
		    (from && json_add_str(args, "from", from)))
			return err_nomem(e);
		if (agent_client_call(&r->ctx, &(struct agent_call){ "fabric", args },
				      CLUSTER_WAIT_MS, &answer, e) ||
		    take_page(c, answer, e))
			return -1;
		more = json_num(json_get(answer, "more")) > 0;
		free(from);
		from = json_str(json_get(answer, "from")) ? strdup(json_text(answer, "from"))
							  : NULL;
		json_each (node, c->nodes)
			tail = node;
		if (more && (!tail || strcmp(json_text(tail, "name"), last) == 0))
			return err_set(e, ERR_DECODE, 0, "the agent repeats its answer");
		last = json_text(tail, "name");
	} while (more);
	return 0;
}

static uint32_t number_of(const struct json *o, const char *key)
{
	double v = json_num(json_get(o, key));

	return v > 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

static struct fabric_port port_from(const struct json *rail)
{
	const char *chassis = json_str(json_get(rail, "chassis"));

	return (struct fabric_port){
		.rail = number_of(rail, "rail"),
		.interface = json_text(rail, "interface"),
		.bond = json_text(rail, "bond"),
		.leaf = chassis,
		.system = json_text_or(rail, "system", chassis ? chassis : ""),
		.port = json_text_or(rail, "portName", json_text(rail, "port")),
		.guid = json_text(rail, "guid"),
		.mbps = number_of(rail, "mbps"),
		.mtu = number_of(rail, "mtu"),
		.last_heard = json_str(json_get(rail, "lastHeard")),
		.contested = json_true(json_get(rail, "contested")),
		.addresses = json_text(rail, "addresses"),
		.cut = json_true(json_get(rail, "cut")),
		.by = json_text(rail, "by"),
		.hca = json_str(json_get(rail, "hca")),
		.pci = json_str(json_get(rail, "pci")),
		.rdma = json_str(json_get(rail, "rdma")),
		.gpus = json_str(json_get(rail, "gpus")),
		.degraded = json_str(json_get(rail, "degraded")),
	};
}

static int read_links(const struct cmd_run *r, struct cluster_cables *c, struct err *e)
{
	const char *path = opt_get(&r->opts, "ibnetdiscover");
	const struct cmd_input in = { .path = path, .what = "--ibnetdiscover: ", .max = FILE_MAX };
	auto_free char *text = NULL;
	size_t len;

	if (!path)
		return 0;
	if (cmd_read(&in, &text, &len, e))
		return -1;
	return ib_links_read(text, len, &c->links, e) ? err_wrap(e, "--ibnetdiscover: %.200s", path)
						      : 0;
}

static void take_link(const struct ib_links *links, struct fabric_port *x)
{
	const struct ib_link *l = NULL;
	struct guid guid;

	if (*x->guid && guid_parse(x->guid, &guid) == 0)
		l = ib_links_find(links, guid);
	if (!l)
		return;
	x->leaf = l->leaf;
	x->system = l->leaf_name;
	x->port = l->port;
	x->last_heard = NULL;
}

/* The agent sorts them by rail and interface. */
static int add_ports(struct cluster_cables *c, const struct json *node, struct err *e)
{
	struct fabric_node *n = &c->node[c->n++];

	*n = (struct fabric_node){ .name = json_text(node, "name") };
	json_each (rail, json_get(node, "rails")) {
		struct fabric_port *x;

		if (n->n == FABRIC_PORTS_MAX)
			return err_set(e, ERR_CONFIG, 0, "node %s: more than %d interfaces",
				       n->name, FABRIC_PORTS_MAX);
		x = &c->port[c->n_ports];
		*x = port_from(rail);
		take_link(&c->links, x);
		if (n->n && x[-1].rail == x->rail)
			x->member = x[-1].member + 1;
		n->port = x - n->n;
		n->n++;
		c->n_ports++;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct fabric_port *x = *(struct fabric_port *const *)a;
	const struct fabric_port *y = *(struct fabric_port *const *)b;
	int rc = strcmp(x->system, y->system);

	return rc ? rc : strcmp(x->leaf, y->leaf);
}

/* So many ports have the name of the first one. */
static size_t count_named(struct fabric_port *const *port, size_t n)
{
	size_t i = 1;

	while (i < n && strcmp(port[0]->system, port[i]->system) == 0)
		i++;
	return i;
}

/* "leaf-1 (mac 50:6b:4b:00:00:01)"; NULL: no memory. */
static const char *name_with_chassis(struct cluster_cables *c, const struct fabric_port *x)
{
	auto_text struct text t = { 0 };

	if (json_get(c->names, x->leaf))
		return json_str(json_get(c->names, x->leaf));
	text_addf(&t, "%s (%s)", x->system, x->leaf);
	return t.failed || json_add_str(c->names, x->leaf, t.s)
		       ? NULL
		       : json_str(json_get(c->names, x->leaf));
}

static int name_leaves(struct cluster_cables *c, struct err *e)
{
	auto_free struct fabric_port **port = calloc(c->n_ports + 1, sizeof(struct fabric_port *));
	size_t n = 0;

	c->names = json_new_object();
	if (!port || !c->names)
		return err_nomem(e);
	for (size_t i = 0; i < c->n_ports; i++)
		if (c->port[i].leaf)
			port[n++] = &c->port[i];
	if (n)
		qsort(port, n, sizeof(struct fabric_port *), compare_names);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + count_named(port + i, n - i);
		const bool unique = strcmp(port[i]->leaf, port[end - 1]->leaf) == 0;

		for (size_t k = i; k < end; k++) {
			port[k]->leaf_name =
				unique ? port[k]->system : name_with_chassis(c, port[k]);
			if (!port[k]->leaf_name)
				return err_nomem(e);
		}
	}
	return 0;
}

/* Nodes whose agents do not listen are not compared. */
int cluster_cables_read(const struct cmd_run *r, struct cluster_cables *c, struct err *e)
{
	size_t nodes = 0, ports = 0;

	if (read_links(r, c, e) || read_nodes(r, c, e))
		return -1;
	json_each (node, c->nodes) {
		nodes += json_get(node, "rails") != NULL;
		ports += json_len(json_get(node, "rails"));
	}
	c->node = calloc(nodes + 1, sizeof(*c->node));
	c->port = calloc(ports + 1, sizeof(*c->port));
	if (!c->node || !c->port)
		return err_nomem(e);
	json_each (node, c->nodes)
		if (json_get(node, "rails") && add_ports(c, node, e))
			return -1;
	if (name_leaves(c, e))
		return -1;
	return fabric_group(c->node, c->n, &c->groups, e);
}

uint32_t cluster_pool_group(const struct json *pool)
{
	const char *name = json_text(pool, "name"), *dash = strchr(name, '-');
	uint64_t rail;
	char number[8];

	if (strncmp(name, "rail", 4) != 0 || !dash || json_true(json_get(pool, "deleted")) ||
	    dash - name - 4 >= (ptrdiff_t)sizeof(number))
		return PIN_NONE;
	(void)snprintf(number, sizeof(number), "%.*s", (int)(dash - name - 4), name + 4);
	return parse_u64(number, 0, RAIL_PLAN_COUNT_MAX - 1, &rail) ? PIN_NONE
								    : pin_parse(dash + 1);
}

/* Also of nodes that do not listen, and of pools without a node: no other group gets their name. */
static void reserve_numbers(const struct json *labels, const struct json *pools, bool *used)
{
	json_each (label, labels)
		if (pin_parse(json_str(label)) != PIN_NONE)
			used[pin_parse(json_str(label))] = true;
	json_each (pool, json_get(pools, "pools")) {
		const uint32_t group = cluster_pool_group(pool);

		if (group != PIN_NONE)
			used[group] = true;
	}
}

int cluster_cables_number(struct cluster_cables *c, const struct json *labels,
			  const struct json *pools, struct err *e)
{
	auto_free struct pin *pin = calloc(c->n + 1, sizeof(*pin));
	auto_free bool *used = calloc(PIN_GROUPS_MAX, sizeof(*used));

	c->number = calloc(c->groups.n + 1, sizeof(*c->number));
	if (!pin || !used || !c->number)
		return err_nomem(e);
	reserve_numbers(labels, pools, used);
	for (size_t i = 0; i < c->n; i++)
		pin[i] = (struct pin){ .node = c->node[i].name,
				       .label = pin_parse(json_text(labels, c->node[i].name)),
				       .file = PIN_NONE,
				       .cables = c->node[i].group };
	if (pin_groups(pin, c->n, used, e))
		return -1;
	for (size_t i = 0; i < c->n; i++)
		if (c->node[i].group != FABRIC_NO_GROUP)
			c->number[c->node[i].group] = pin[i].seen;
	return 0;
}

int cluster_cables_name(const struct cmd_run *r, struct cluster_cables *c,
			const struct json *labels, struct err *e)
{
	auto_json struct json *pools = NULL;

	return agent_client_pools(&r->ctx, &pools, e) || cluster_cables_number(c, labels, pools, e)
		       ? -1
		       : 0;
}

int cluster_labels_read(const struct cmd_run *r, struct json **out, struct err *e)
{
	const struct cmd_input in = { opt_get(&r->opts, "labels"), "--labels ", 0 };

	return in.path ? cmd_read_json(&in, "labels", out, e) : 0;
}

/* ---- with findings ---- */

struct fabric_cmd {
	struct cluster_cables cables;
	struct findings findings;
};

static void fabric_cmd_clear(struct fabric_cmd *c)
{
	cluster_cables_clear(&c->cables);
	findings_clear(&c->findings);
}

/* Findings of fabric_check() that do not compare leaves with those of other nodes. */
static int keep_own_findings(struct findings *from, struct findings *out, struct err *e)
{
	static const char *const codes[] = { "rate", "mtu", "contested", "degraded" };

	for (struct finding *f = from->item; f < from->item + from->n; f++) {
		bool kept = false;

		for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
			kept = kept || strcmp(f->code, codes[i]) == 0;
		if (kept)
			findings_move(out, f);
	}
	return findings_check(out, e);
}

int cluster_topology_read(const struct cmd_run *r, struct intent *out, struct err *e)
{
	const char *path = opt_get(&r->opts, "topology");
	const struct cmd_input in = { .path = path, .what = "--topology: ", .max = FILE_MAX };
	auto_free char *text = NULL;
	size_t len;

	if (!path)
		return 0;
	if (cmd_read(&in, &text, &len, e))
		return -1;
	return intent_read(text, len, out, e) ? err_wrap(e, "--topology: %.200s", path) : 0;
}

/* A file says where each cable belongs, so there is no majority to ask. */
int cluster_cables_check(const struct cmd_run *r, const struct cluster_cables *c,
			 struct findings *out, struct err *e)
{
	auto_findings struct findings all = { .n = 0 };
	auto_intent struct intent t = { .n = 0 };

	if (cluster_topology_read(r, &t, e))
		return -1;
	if (!t.n)
		return fabric_check(c->node, c->n, &c->groups, out, e);
	return fabric_check(c->node, c->n, &c->groups, &all, e) ||
			       keep_own_findings(&all, out, e) ||
			       intent_check(&t, c->node, c->n, out, e)
		       ? -1
		       : 0;
}

static int read_fabric(const struct cmd_run *r, struct fabric_cmd *c, struct err *e)
{
	if (cluster_cables_read(r, &c->cables, e))
		return -1;
	if (!c->cables.n) {
		err_set(e, ERR_NOTFOUND, 0, "no node says how its rails are cabled");
		return err_hint(e, "set \"fabric\": {} in agent.json, or fabric.enabled of the "
				   "chart");
	}
	return cluster_cables_check(r, &c->cables, &c->findings, e);
}

/* ---- of one node ---- */

bool cluster_is_about(const struct finding *f, const char *node)
{
	size_t len = strlen(node);

	return f->subject && strncmp(f->subject, node, len) == 0 &&
	       (f->subject[len] == '\0' || f->subject[len] == ' ');
}

int cluster_fabric_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_clean(fabric_cmd_clear) struct fabric_cmd c = { .findings = { .n = 0 } };
	auto_json struct json *s = NULL;
	int rc = cluster_agent_status(r, &s, e);

	if (rc)
		return rc;
	if (json_type(json_get(s, "neighbours")) != JSON_OBJECT) {
		err_set(e, ERR_NOTFOUND, 0, "the agent does not listen for LLDP");
		return 1;
	}
	if (read_fabric(r, &c, e))
		return -1;
	/* A degraded rail is a finding of `cluster status` already. */
	for (size_t i = 0; i < c.findings.n; i++)
		if (cluster_is_about(&c.findings.item[i], json_text(s, "node")) &&
		    strcmp(c.findings.item[i].code, "degraded") != 0)
			findings_move(out, &c.findings.item[i]);
	return findings_check(out, e);
}

/* ---- what is shown ---- */

static bool is_asked(const struct cmd_run *r, const char *name)
{
	for (size_t i = 0; i < r->opts.n_words; i++)
		if (strcmp(r->opts.words[i], name) == 0)
			return true;
	return r->opts.n_words == 0;
}

/* Without labels nothing says the names of groups: "#1" is no name. */
static const char *group_name(const struct cluster_cables *c, size_t group, char out[PIN_NAME_LEN])
{
	if (group == FABRIC_NO_GROUP || c->number)
		return pin_name(group == FABRIC_NO_GROUP ? PIN_NONE : c->number[group], out);
	(void)snprintf(out, PIN_NAME_LEN, "#%u", (unsigned)(group + 1));
	return out;
}

static int add_row(struct json *rows, const struct cluster_cables *c, const struct fabric_node *n,
		   const struct fabric_port *x)
{
	struct json *o = json_push_object(rows);
	char name[PIN_NAME_LEN];

	return !o || json_add_str(o, "node", n->name) ||
			       json_add_str(o, "group", group_name(c, n->group, name)) ||
			       json_add_int(o, "rail", x->rail) ||
			       json_add_str(o, "interface", x->interface) ||
			       (x->leaf && (json_add_str(o, "leaf", x->leaf_name) ||
					    json_add_str(o, "port", x->port) ||
					    json_add_str(o, "chassis", x->leaf))) ||
			       (x->mbps && json_add_int(o, "mbps", x->mbps)) ||
			       (x->mtu && json_add_int(o, "mtu", x->mtu)) ||
			       (*x->addresses && json_add_str(o, "addresses", x->addresses)) ||
			       (*x->by && json_add_str(o, "by", x->by)) ||
			       (x->last_heard && json_add_str(o, "lastHeard", x->last_heard)) ||
			       (*x->guid && json_add_str(o, "guid", x->guid)) ||
			       (x->contested && json_add_bool(o, "contested", true)) ||
			       (x->hca && json_add_str(o, "hca", x->hca)) ||
			       (x->pci && json_add_str(o, "pci", x->pci)) ||
			       (x->rdma && json_add_str(o, "rdma", x->rdma)) ||
			       (x->gpus && json_add_str(o, "gpus", x->gpus)) ||
			       (x->degraded && json_add_str(o, "degraded", x->degraded))
		       ? -1
		       : 0;
}

static struct json *fabric_rows(const struct cmd_run *r, const struct cluster_cables *c)
{
	auto_json struct json *rows = json_new_array();

	for (const struct fabric_node *n = c->node; rows && n < c->node + c->n; n++)
		for (size_t i = 0; i < n->n && is_asked(r, n->name); i++)
			if (add_row(rows, c, n, &n->port[i]))
				return NULL;
	return TAKE_PTR(rows);
}

/* Of LLDP alone: a file of ibnetdiscover says no time, and a port of InfiniBand has a GUID. */
static struct out_cell age_cell(const struct cmd_run *r, const struct json *row,
				char buf[LIST_TEXT_LEN])
{
	const struct json *time = json_get(row, "lastHeard");

	if (time || json_get(row, "guid") || !json_get(row, "leaf"))
		return list_age(r, time, buf);
	return (struct out_cell){ "heard", OUT_PLAIN };
}

static int show_lines(const struct cmd_run *r, const struct fabric_cmd *c, const struct json *rows,
		      struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "NODE", 0, "node" },
		{ .title = "GROUP", 0, "group" },
		{ .title = "RAIL", OUT_RIGHT, "rail" },
		{ .title = "INTERFACE", 0, "interface" },
		{ .title = "LEAF", 0, "leaf" },
		{ .title = "PORT", 0, "port" },
		{ .title = "AGE", OUT_RIGHT, NULL, .cell = age_cell },
		{ .title = "MBIT/S", OUT_RIGHT, "mbps" },
		{ .title = "MTU", OUT_RIGHT, "mtu" },
		{ .title = "HCA", OUT_SPARE, "hca" },
		{ .title = "CHASSIS", OUT_SPARE, "chassis", OUT_FAINT },
		{ .title = NULL },
	};

	if (list_print(r, columns, rows, e))
		return -1;
	if (!c->cables.number)
		out_line(&r->out, OUT_FAINT,
			 "#1 is the largest group. kubectl rail fabric has the "
			 "names of groups, from labels.");
	findings_print(&r->out, &c->findings, 12, 0);
	findings_print_counts(&r->out, &c->findings);
	return 0;
}

static int add_fabric_groups(struct json *list, const struct cluster_cables *c)
{
	for (size_t i = 0; list && i < c->groups.n; i++) {
		const struct fabric_group *g = &c->groups.group[i];
		struct json *o = json_push_object(list), *leaves;
		char name[PIN_NAME_LEN];

		if (!o || json_add_str(o, "name", group_name(c, i, name)) ||
		    json_add_int(o, "nodes", (int64_t)g->n))
			return -1;
		leaves = json_add_array(o, "leaves");
		for (size_t k = 0; leaves && k < g->n_places; k++) {
			struct json *leaf = json_push_object(leaves);

			if (json_add_int(leaf, "rail", g->place[k].rail) ||
			    json_add_str(leaf, "leaf", g->place[k].leaf_name) ||
			    json_add_str(leaf, "chassis", g->place[k].leaf))
				return -1;
		}
		if (!leaves)
			return -1;
	}
	return list ? 0 : -1;
}

static int show_json(const struct cmd_run *r, const struct fabric_cmd *c, struct json *rows,
		     struct err *e)
{
	auto_json struct json *o = findings_json(&c->findings, "findings");

	if (json_put(o, "rails", rows) ||
	    add_fabric_groups(json_add_array(o, "groups"), &c->cables))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int run_fabric(struct cmd_run *r, struct err *e)
{
	auto_clean(fabric_cmd_clear) struct fabric_cmd c = { .findings = { .n = 0 } };
	auto_json struct json *rows = NULL, *labels = NULL;

	if (cluster_labels_read(r, &labels, e) || read_fabric(r, &c, e) ||
	    (json_type(labels) == JSON_OBJECT && cluster_cables_name(r, &c.cables, labels, e)))
		return -1;
	rows = fabric_rows(r, &c.cables);
	if (!rows || findings_sort(&c.findings, e))
		return err_nomem(e);
	if (findings_worst(&c.findings) != FINDING_OK)
		r->status = CMD_FAILED;
	return r->out.json ? show_json(r, &c, TAKE_PTR(rows), e) : show_lines(r, &c, rows, e);
}

static const struct opt fabric_opts[] = {
	CLUSTER_OPT_TOPOLOGY,
	CLUSTER_OPT_IBNETDISCOVER,
	CLUSTER_OPT_LABELS,
	{ NULL, NULL, NULL, 0 },
};

static const char *const fabric_examples[] = { "railctl cluster fabric",
					       "railctl cluster fabric gpu-17",
					       "railctl cluster fabric --json", NULL };

const struct cmd cmd_cluster_fabric = {
	.name = "fabric",
	.words = "[NODE...]",
	.summary = "show to which leaf each rail is cabled, and cables that are wrong",
	.about = "Agents that listen for LLDP say it. Nodes form a group if three quarters of the "
		 "leaves that are known are the same; a group has at least three nodes. Then a "
		 "node is compared with most nodes of its group: a crossed cable, another leaf, a "
		 "missing rail, a slower link, a smaller MTU. Of fewer nodes nothing can be said. "
		 "Exit status 1 if there is a finding, also if it is unknown.",
	.opts = { fabric_opts },
	.examples = fabric_examples,
	.max_words = 64,
	.run = run_fabric,
};
