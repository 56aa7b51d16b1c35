/* SPDX-License-Identifier: Apache-2.0 */
/* node.c: `railctl ipam node set`, `node label`, `node show`, and `railctl ipam slices`. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "ipam/admin/node.h"
#include "ipam/lease/cluster_labels.h"
#include "ipam/conf/labels.h"
#include "ipam/conf/node_file.h"
#include "lib/base/parse.h"
#include "railctl/ipam/ipam.h"

static const char *hostname(struct utsname *names)
{
	return uname(names) == 0 ? names->nodename : "";
}

/* ---- show ---- */

static int node_add_number(struct json *o, const struct node_number *n, struct err *e)
{
	if (json_add_int(o, "number", n->number) ||
	    json_add_str(o, "from", n->pattern ? "hostnamePattern" : "number") ||
	    json_add_str(o, "hostnamePattern", n->pattern))
		return err_nomem(e);
	return 0;
}

/* file: the labels in node.json, which override those of the Node in Kubernetes. */
static void print_labels(const struct cmd_run *r, const struct json *labels,
			 const struct json *cluster, const struct json *file)
{
	const char *name = "Labels";

	json_each (item, labels) {
		bool there = json_get(cluster, json_key(item)) && !json_get(file, json_key(item));

		out_pair(&r->out, name, "%s=%s%s", json_key(item), json_str(item),
			 there ? " (Node in Kubernetes)" : "");
		name = "";
	}
}

/* *out NULL: no agent of this node has seen a Node. */
static int load_cluster_labels(struct cmd_run *r, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	int rc = ctl_open_ipam(r, false, &m, e);

	*out = NULL;
	if (rc)
		return rc < 0 ? -1 : 0;
	return cluster_labels_get(&m, out, e);
}

static int node_show(struct cmd_run *r, struct err *e)
{
	auto_node_file struct node_file f = { .tree = NULL };
	auto_json struct json *o = json_new_object(), *labels = NULL, *cluster = NULL;
	struct utsname names;
	const char *node = hostname(&names);
	char path[512];
	int rc = node_file_load(&r->ctx, node, &f, e);

	if (rc < 0 || load_cluster_labels(r, &cluster, e) ||
	    node_labels_load(&r->ctx, node, cluster, &labels, e))
		return -1;
	(void)snprintf(path, sizeof(path), "%s/" NODE_FILE, r->ctx.etc_dir);
	if (r->out.json) {
		if (!o || json_add_str(o, "node", node) || json_add_str(o, "file", path) ||
		    json_add_copy(o, "labels", labels) ||
		    (cluster && json_add_copy(o, "clusterLabels", cluster)))
			return err_nomem(e);
		return rc == 0 && node_add_number(o, &f.number, e) ? -1 : out_json(&r->out, o, e);
	}
	out_pair(&r->out, "Node", "%s", node);
	if (rc)
		out_pair(&r->out, "Number", "none: set one with `railctl ipam node set NUMBER`");
	else
		out_pair(&r->out, "Number", "%u", f.number.number);
	if (!rc && f.number.pattern)
		out_pair(&r->out, "Pattern", "%s", f.number.pattern);
	print_labels(r, labels, cluster, f.labels);
	out_pair(&r->out, "File", "%s", path);
	return 0;
}

static const char *const node_show_examples[] = { "railctl ipam node show --json", NULL };

const struct cmd cmd_node_show = {
	.name = "show",
	.summary = "show the number and the labels of this node",
	.about = "With --json there is no member \"number\" if the node has none. The label "
		 "kubernetes.io/hostname is the name of the node, unless the file says otherwise. "
		 "With Kubernetes the node also has the labels of its Node, as the agent saw them "
		 "last. A label in the file overrides that of the Node.",
	.examples = node_show_examples,
	.run = node_show,
};

/* ---- set ---- */

/* The object for node.json: of NUMBER or of the pattern. */
static int make_file(struct cmd_run *r, struct json *o, struct err *e)
{
	const char *pattern = opt_get(&r->opts, "hostname-pattern");
	uint64_t number;

	if (!pattern == !r->opts.n_words)
		return cmd_usage(r, e, "say NUMBER or --hostname-pattern, one of the two");
	if (pattern)
		return json_add_str(o, "hostnamePattern", pattern) ? err_nomem(e) : 0;
	if (parse_u64(r->opts.words[0], 0, UINT32_MAX, &number))
		return cmd_usage(r, e, "\"%.64s\" is not a number from 0 to %u", r->opts.words[0],
				 UINT32_MAX);
	return json_add_int(o, "number", (int64_t)number) ? err_nomem(e) : 0;
}

static int node_set(struct cmd_run *r, struct err *e)
{
	auto_json struct json *file = json_new_object();
	auto_ipam struct ipam m = { .store = NULL };
	struct admin_node n = { file, opt_is_set(&r->opts, "force"), 0 };

	if (!file)
		return err_nomem(e);
	if (make_file(r, file, e) || ctl_open_ipam(r, true, &m, e) || admin_node_set(&m, &n, e))
		return -1;
	ipam_close(&m);
	if (r->out.json)
		return node_show(r, e);
	out_line(&r->out, OUT_PLAIN, "This node has the number %u.", n.number);
	return 0;
}

static const struct opt node_set_opts[] = {
	{ "hostname-pattern", "PATTERN", "find the number in the host name: 'gpu-(\\d+)'", 0 },
	{ "force", NULL, "also if a pool has no slice for the number: it is of no use here", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const node_set_examples[] = {
	"railctl ipam node set 17",
	"railctl ipam node set --hostname-pattern 'gpu-(\\d+)'",
	NULL,
};

const struct cmd cmd_node_set = {
	.name = "set",
	.words = "[NUMBER]",
	.summary = "set the number of this node, for pools with slices",
	.about = "Each node needs a number of its own, from 0. It selects the slice of each pool "
		 "that has slices. The number is written to /etc/railhead/node.json. A change is "
		 "refused if leased addresses would then be in the slice of another node, also "
		 "with --force. The labels in the file stay.",
	.opts = { node_set_opts },
	.examples = node_set_examples,
	.max_words = 1,
	.run = node_set,
};

/* ---- label ---- */

/* NAME=VALUE, or NAME- for a label that goes. */
static int add_change(struct cmd_run *r, const char *word, struct json *changes, struct err *e)
{
	auto_free char *name = strdup(word);
	char *end = name ? strchr(name, '=') : NULL;
	size_t len = strlen(word);
	bool gone = !end && len && word[len - 1] == '-';

	if (!name)
		return err_nomem(e);
	if (!end && !gone)
		return cmd_usage(r, e, "\"%.100s\" is neither NAME=VALUE nor NAME-", word);
	if (gone)
		end = name + len - 1;
	*end = '\0';
	if (!label_is_name(name))
		return cmd_usage(r, e, "\"%.100s\" is not the name of a label", name);
	if (json_get(changes, name))
		return cmd_usage(r, e, "label %.100s is there twice", name);
	if (gone ? json_add_null(changes, name) : json_add_str(changes, name, end + 1))
		return err_nomem(e);
	return 0;
}

static int node_label(struct cmd_run *r, struct err *e)
{
	auto_json struct json *changes = json_new_object();
	auto_ipam struct ipam m = { .store = NULL };

	if (!changes)
		return err_nomem(e);
	for (size_t i = 0; i < r->opts.n_words; i++) {
		if (add_change(r, r->opts.words[i], changes, e))
			return -1;
	}
	if (ctl_open_ipam(r, true, &m, e) || admin_node_label(&m, changes, e))
		return -1;
	ipam_close(&m);
	return node_show(r, e);
}

static const char *const node_label_examples[] = {
	"railctl ipam node label leaf=g3 example.org/rack=7",
	"railctl ipam node label leaf-",
	NULL,
};

const struct cmd cmd_node_label = {
	.name = "label",
	.words = "LABEL...",
	.summary = "set or remove labels of this node, for pools that are for some nodes only",
	.about = "A pool with \"nodes\" gives addresses only to nodes with these labels. LABEL is "
		 "NAME=VALUE, or NAME- for a label that goes. The labels are written to "
		 "/etc/railhead/node.json. Pods keep "
		 "their addresses.",
	.examples = node_label_examples,
	.min_words = 1,
	.max_words = 64,
	.run = node_label,
};

/* ---- slices ---- */

/* The JSON has a number, or digits as text if the number is too large. */
static struct out_cell slice_size(const struct cmd_run *r, const struct json *n,
				  char buf[LIST_TEXT_LEN])
{
	double size = json_str(n) ? strtod(json_str(n), NULL) : json_num(n);

	(void)r;
	return (struct out_cell){ out_amount(size, buf, LIST_TEXT_LEN), OUT_PLAIN };
}

static int print_slices(const struct cmd_run *r, const struct json *pool, struct json *list,
			struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "NUMBER", OUT_RIGHT, "number" },
		{ .title = "FIRST", OUT_SHRINK, "first" },
		{ .title = "LAST", OUT_SHRINK, "last" },
		{ .title = "ADDRESSES", OUT_RIGHT, "addresses", .cell = slice_size },
		{ .title = "NODE", 0, "node" },
		{ .title = NULL },
	};
	const struct json *own = json_get(json_get(pool, "slice"), "number");

	for (size_t i = 0; own && i < json_len(list); i++) {
		struct json *o = json_at_mut(list, i);

		if (json_same(json_get(o, "number"), own) && json_add_str(o, "node", "this node"))
			return err_nomem(e);
	}
	return list_print(r, columns, list, e);
}

static int slices_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *pools = NULL, *list = NULL;
	const char *nodes = opt_get(&r->opts, "nodes");
	struct admin_slices s = { .name = r->opts.words[0] };

	if (nodes && parse_u64(nodes, 1, UINT32_MAX, &s.n))
		return cmd_usage(r, e, "--nodes: \"%.64s\" is not a number from 1", nodes);
	if (ctl_pools(r, s.name, &pools, e))
		return -1;
	s.definition = json_get(json_first(pools), "definition");
	if (!s.definition)
		return err_set(e, ERR_STORE, 0, "the definition of pool %.100s cannot be read: %s",
			       s.name, json_text(json_first(pools), "error"));
	if (admin_slices(&s, &list, e))
		return -1;
	return r->out.json ? out_json(&r->out, list, e)
			   : print_slices(r, json_first(pools), list, e);
}

static const struct opt slices_opts[] = {
	{ "nodes", "N", "the slices of the nodes 0 to N-1 (default: all slices)", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const slices_examples[] = {
	"railctl ipam slices rail0 --nodes 1024",
	"railctl ipam slices rail0 --json",
	NULL,
};

const struct cmd cmd_ipam_slices = {
	.name = "slices",
	.words = "POOL",
	.summary = "print which addresses of a pool each node number has",
	.about = "ADDRESSES counts those that can be assigned: without the network's own, the "
		 "broadcast address, the gateway, excludes, and addresses outside of the ranges. "
		 "A table has at most 65536 slices.",
	.opts = { slices_opts },
	.examples = slices_examples,
	.min_words = 1,
	.max_words = 1,
	.run = slices_run,
};

/* ---- blocks ---- */

/* "10.0.0.7 to n2", or which node lends the address; nothing for most blocks. */
static struct out_cell block_loans(const struct cmd_run *r, const struct json *block,
				   char buf[LIST_TEXT_LEN])
{
	size_t len = 0;

	(void)r;
	*buf = '\0';
	json_each (l, json_get(block, "lent")) {
		if (len < LIST_TEXT_LEN)
			len += (size_t)snprintf(
				buf + len, LIST_TEXT_LEN - len, "%s%s to %s%s", len ? ", " : "",
				json_text(l, "address"), json_text(l, "node"),
				json_true(json_get(l, "taken")) ? "" : " (offered)");
	}
	if (json_true(json_get(block, "loan")))
		(void)snprintf(buf, LIST_TEXT_LEN, "by %s",
			       json_text_or(block, "lender", "another node"));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static const struct list_column block_columns[] = {
	{ .title = "POOL", OUT_SHRINK, "pool" },
	{ .title = "FIRST", OUT_SHRINK, "first" },
	{ .title = "LAST", OUT_SHRINK, "last" },
	{ .title = "STATE", 0, "state" },
	{ .title = "ASSIGNS", 0, "assigns" },
	{ .title = "ADDRESSES", OUT_RIGHT, "addresses" },
	{ .title = "LEASED", OUT_RIGHT, "used" },
	{ .title = "LENT", OUT_SHRINK, .cell = block_loans },
	{ .title = NULL },
};

static int blocks_run(struct cmd_run *r, struct err *e)
{
	const char *pool = r->opts.n_words ? r->opts.words[0] : NULL;
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *list = NULL;
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc < 0 || (rc == 0 && admin_blocks(&m, pool, &list, e)))
		return -1;
	if (rc && pool)
		return ctl_no_pool(pool, e);
	if (!list && !(list = json_new_array()))
		return err_nomem(e);
	return ctl_show_rows(r, block_columns, list, "This node has no blocks", e);
}

static const char *const blocks_examples[] = {
	"railctl ipam blocks",
	"railctl ipam blocks rail0 --json",
	NULL,
};

const struct cmd cmd_ipam_blocks = {
	.name = "blocks",
	.words = "[POOL]",
	.summary = "list the blocks of shared pools that this node has",
	.about = "ASSIGNS says whether a pod can get an address of the block now: it is granted, "
		 "and the node agent confirmed it in this boot. ADDRESSES counts those that can be "
		 "assigned. LENT shows the addresses of the block that this node lends; "
		 "the other node has not taken one yet that is \"(offered)\". A row with \"by\" "
		 "and a node is the loan of one address to this node.",
	.examples = blocks_examples,
	.max_words = 1,
	.run = blocks_run,
};
