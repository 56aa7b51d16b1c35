/* SPDX-License-Identifier: Apache-2.0 */
/* topology.c: `railctl cluster topology`: groups of nodes that are cabled alike, for schedulers. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/blocks.h"
#include "fabric/pin.h"
#include "railctl/cluster/fabric.h"

/* The label of topograph for the switch that is nearest to a node. */
#define TIER_0 "fabric.topograph.run/tier-0"
#define TIER_1 "fabric.topograph.run/tier-1" /* of the switches above that */

struct topology {
	struct cluster_cables cables;
	size_t *block; /* owned; of each group, as fabric_blocks() */
};

static void topology_clear(struct topology *t)
{
	cluster_cables_clear(&t->cables);
	free(t->block);
}

static bool has_blocks(const struct topology *t)
{
	return t->cables.groups.n && t->block[0] != FABRIC_NO_GROUP;
}

/* "b3": the least number of its groups, so it stays as long as these. */
static const char *block_name(const struct topology *t, size_t group, char out[PIN_NAME_LEN])
{
	uint32_t least = PIN_NONE;

	for (size_t i = 0; i < t->cables.groups.n; i++)
		if (t->block[i] == t->block[group] && t->cables.number[i] < least)
			least = t->cables.number[i];
	(void)pin_name(least, out);
	out[0] = 'b';
	return out;
}

static int topology_read(struct cmd_run *r, struct topology *t, struct err *e)
{
	auto_intent struct intent file = { .n = 0 };
	auto_json struct json *labels = NULL;

	if (!opt_is_set(&r->opts, "labels"))
		return cmd_usage(r, e,
				 "--labels is missing: \"kubectl rail topology\" has it; if no "
				 "node is labelled, the file is {}");
	if (cluster_labels_read(r, &labels, e) || cluster_cables_read(r, &t->cables, e) ||
	    cluster_cables_name(r, &t->cables, labels, e) || cluster_topology_read(r, &file, e))
		return -1;
	t->block = calloc(t->cables.groups.n + 1, sizeof(*t->block));
	return !t->block || fabric_blocks(&t->cables.groups, t->cables.node, t->cables.n,
					  file.n ? &file : &t->cables.links.trunks, t->block)
		       ? err_nomem(e)
		       : 0;
}

/* Slurm and a shell read the names of nodes. */
static int check_names(const struct topology *v, struct err *e)
{
	for (const struct fabric_node *n = v->cables.node; n < v->cables.node + v->cables.n; n++) {
		const char *c = n->name;

		while (isalnum((unsigned char)*c) || (c > n->name && *c && strchr("._-", *c)))
			c++;
		if (*c || c == n->name)
			return err_set(e, ERR_CONFIG, 0, "\"%.256s\" is not the name of a node",
				       n->name);
	}
	return 0;
}

/* "BEFORE n1,n2,n3" of one group; nothing, if no node is in it. */
static void print_nodes(const struct cmd_run *r, const struct topology *v, size_t group,
			const char *before)
{
	const char *separator = before;

	for (const struct fabric_node *n = v->cables.node; n < v->cables.node + v->cables.n; n++) {
		if (n->group != group)
			continue;
		fprintf(r->out.to, "%s%s", separator, n->name);
		separator = ",";
	}
	if (separator != before)
		fputc('\n', r->out.to);
}

static void print_group(const struct cmd_run *r, const struct fabric_group *g, const char *name)
{
	for (const struct fabric_place *p = g->place; p < g->place + g->n_places; p++)
		if (p->leaf)
			out_line(&r->out, OUT_PLAIN, "# %s: rail %u is on %s", name, p->rail,
				 p->leaf_name);
}

/* What is below a switch: the groups of a block; of FABRIC_NO_GROUP all blocks, or groups. */
static void print_below(const struct cmd_run *r, const struct topology *v, size_t block)
{
	const bool blocks = block == FABRIC_NO_GROUP && has_blocks(v);
	const char *before = " Switches=";
	char name[PIN_NAME_LEN];

	for (size_t i = 0; i < v->cables.groups.n; i++) {
		if (v->block[i] != (blocks ? i : block))
			continue;
		fprintf(r->out.to, "%s%s", before,
			blocks ? block_name(v, i, name) : pin_name(v->cables.number[i], name));
		before = ",";
	}
	fputc('\n', r->out.to);
}

/* A switch for each group and block, and one above them. Slurm does not use a node without one. */
static void print_slurm(const struct cmd_run *r, const struct topology *v)
{
	char name[PIN_NAME_LEN], line[PIN_NAME_LEN + 32];

	out_line(&r->out, OUT_PLAIN, "# topology.conf for TopologyPlugin=topology/tree");
	for (size_t i = 0; i < v->cables.groups.n; i++) {
		print_group(r, &v->cables.groups.group[i], pin_name(v->cables.number[i], name));
		(void)snprintf(line, sizeof(line), "SwitchName=%s Nodes=", name);
		print_nodes(r, v, i, line);
	}
	for (size_t i = 0; i < v->cables.groups.n; i++) {
		if (v->block[i] != i)
			continue;
		fprintf(r->out.to, "SwitchName=%s", block_name(v, i, name));
		print_below(r, v, i);
	}
	fputs("SwitchName=fabric", r->out.to);
	print_below(r, v, FABRIC_NO_GROUP);
}

static void print_labels(const struct cmd_run *r, const struct topology *v)
{
	char name[PIN_NAME_LEN], block[PIN_NAME_LEN];

	for (const struct fabric_node *n = v->cables.node; n < v->cables.node + v->cables.n; n++)
		if (n->group != FABRIC_NO_GROUP)
			out_line(&r->out, OUT_PLAIN,
				 "kubectl label node %s --overwrite " TIER_0 "=%s%s%s", n->name,
				 pin_name(v->cables.number[n->group], name),
				 has_blocks(v) ? " " TIER_1 "=" : "",
				 has_blocks(v) ? block_name(v, n->group, block) : "");
}

#define LABELS_FIRST "# Nodes need their labels first: kubectl rail topology --format labels\n"

static void print_kueue(const struct cmd_run *r, const struct topology *v)
{
	fprintf(r->out.to,
		LABELS_FIRST "apiVersion: kueue.x-k8s.io/v1beta2\n"
			     "kind: Topology\n"
			     "metadata:\n"
			     "  name: railhead\n"
			     "spec:\n"
			     "  levels:\n"
			     "%s"
			     "  - nodeLabel: " TIER_0 "\n"
			     "  - nodeLabel: kubernetes.io/hostname\n",
		has_blocks(v) ? "  - nodeLabel: " TIER_1 "\n" : "");
}

/* The object of Volcano's chart, if its release is called volcano. The name of a topology has at
 * most 20 characters. */
static void print_volcano(const struct cmd_run *r, const struct topology *v)
{
	fprintf(r->out.to,
		LABELS_FIRST "# Other sources of the present ConfigMap are not in this one.\n"
			     "apiVersion: v1\n"
			     "kind: ConfigMap\n"
			     "metadata:\n"
			     "  name: volcano-controller-configmap\n"
			     "  namespace: volcano-system\n"
			     "data:\n"
			     "  volcano-controller.conf: |\n"
			     "    networkTopologyDiscovery:\n"
			     "    - source: label\n"
			     "      enabled: true\n"
			     "      config:\n"
			     "        networkTopologyTypes:\n"
			     "          railhead:\n"
			     "%s"
			     "          - nodeLabel: " TIER_0 "\n"
			     "          - nodeLabel: kubernetes.io/hostname\n",
		has_blocks(v) ? "          - nodeLabel: " TIER_1 "\n" : "");
}

/* ---- JSON ---- */

static int add_nodes(struct json *list, const struct topology *v, size_t group)
{
	for (const struct fabric_node *n = v->cables.node; list && n < v->cables.node + v->cables.n;
	     n++)
		if (n->group == group && json_push_str(list, n->name))
			return -1;
	return list ? 0 : -1;
}

static struct json *topology_json(const struct topology *v)
{
	auto_json struct json *o = json_new_object();
	struct json *groups;
	char name[PIN_NAME_LEN];

	if (!o || json_add_int(o, "version", 1) || !(groups = json_add_array(o, "groups")) ||
	    add_nodes(json_add_array(o, "undecided"), v, FABRIC_NO_GROUP))
		return NULL;
	for (size_t i = 0; i < v->cables.groups.n; i++) {
		struct json *g = json_push_object(groups);

		if (!g || json_add_str(g, "name", pin_name(v->cables.number[i], name)) ||
		    (has_blocks(v) && json_add_str(g, "block", block_name(v, i, name))) ||
		    add_nodes(json_add_array(g, "nodes"), v, i))
			return NULL;
	}
	return TAKE_PTR(o);
}

/* ---- the command ---- */

typedef void (*topology_print_fn)(const struct cmd_run *r, const struct topology *v);

static topology_print_fn format_of(const struct cmd_run *r)
{
	static const struct {
		const char *name;
		topology_print_fn print;
	} formats[] = { { "slurm", print_slurm },
			{ "labels", print_labels },
			{ "kueue", print_kueue },
			{ "volcano", print_volcano } };
	const char *format = opt_get(&r->opts, "format");

	for (size_t i = 0; format && i < ARRAY_SIZE(formats); i++)
		if (strcmp(formats[i].name, format) == 0)
			return formats[i].print;
	return NULL;
}

static int run_topology(struct cmd_run *r, struct err *e)
{
	auto_clean(topology_clear) struct topology v = { .block = NULL };
	topology_print_fn print = format_of(r);

	if (!print && !r->out.json)
		return cmd_usage(r, e, "--format is slurm, kueue, volcano or labels");
	if (topology_read(r, &v, e) || check_names(&v, e))
		return -1;
	if (r->out.json) {
		auto_json struct json *o = topology_json(&v);

		return o ? out_json(&r->out, o, e) : err_nomem(e);
	}
	if (!v.cables.groups.n) {
		err_set(e, ERR_NOTFOUND, 0,
			"no group is known: fewer than %d nodes are cabled alike",
			FABRIC_GROUP_MIN);
		return v.cables.n ? -1 : err_hint(e, "no agent listens: \"fabric\" of agent.json");
	}
	print(r, &v);
	print_nodes(r, &v, FABRIC_NO_GROUP, "# in no group: ");
	return 0;
}

static const struct opt options[] = {
	CLUSTER_OPT_LABELS,
	{ "topology", "FILE", "cables, also of switches: they join groups to blocks", 0 },
	{ "format", "FORMAT", "slurm, kueue, volcano, or labels: commands that label the nodes",
	  0 },
	CLUSTER_OPT_IBNETDISCOVER,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl cluster topology --labels labels.json --format slurm",
	"railctl cluster topology --labels labels.json --format labels",
	"railctl cluster topology --labels labels.json --json", NULL
};

const struct cmd cmd_cluster_topology = {
	.name = "topology",
	.summary = "print which nodes are cabled alike, for Slurm, Kueue or Volcano",
	.about = "The groups are those of \"railctl cluster fabric\". Slurm gets a switch for each "
		 "group, and one above them. A file of cables that has the switches above the "
		 "leaves joins groups to blocks, a level between. Kueue and Volcano read labels of "
		 "nodes: first label "
		 "the nodes with the commands of --format labels. A node that is in no group has "
		 "no switch and no label; a comment names it. JSON has the groups. Nothing is "
		 "changed.",
	.opts = { options },
	.examples = examples,
	.run = run_topology,
};
