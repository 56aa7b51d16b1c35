/* SPDX-License-Identifier: Apache-2.0 */
/* attachments.c: `railctl attachments list` and `show`: the records, and the state of each. */
#include <stdio.h>
#include <string.h>

#include "railctl/attachments/attachments.h"
#include "cni/uplink/demand.h"
#include "cni/hostveth/hostveth.h"
#include "lib/cli/list.h"
#include "plugins/prepared/prepared.h"
#include "plugins/rdma/restore.h"
#include "sriov/claim/taken.h"

static enum out_style state_style(enum repair_state s)
{
	if (s == REPAIR_HEALTHY)
		return OUT_GOOD;
	return repair_is_stale(s) || s == REPAIR_UNKNOWN || s == REPAIR_NETNS_UNKNOWN ? OUT_BAD
										      : OUT_WARN;
}

int attachments_add_json(struct json *o, const struct record *r, const struct repair_view *v,
			 struct err *e)
{
	char created[OUT_TIME_LEN];

	if (!o || json_add_str(o, "network", r->key.network) ||
	    json_add_str(o, "container", r->key.container) ||
	    json_add_str(o, "ifname", r->key.ifname) ||
	    json_add_str(o, "state", repair_state_name(v->state)) || json_add_str(o, "why", v->why))
		return err_nomem(e);
	if (!r->tree)
		return 0;
	const struct cni_pod pod = cni_args_pod(r->args);

	if (json_add_known(o, "namespace", pod.ns) || json_add_known(o, "pod", pod.name) ||
	    json_add_str(o, "plugin", r->plugin) || json_add_str(o, "kind", r->kind) ||
	    json_add_str(o, "master", r->master) || json_add_str(o, "netns", r->netns) ||
	    json_add_str(o, "ipam", repair_ipam_type(r)) || json_add_str(o, "boot", r->boot) ||
	    json_add_str(o, "created", out_time(r->created, created)) ||
	    json_add_str(o, "rdma", record_rdma(r)))
		return err_nomem(e);
	return 0;
}

int attachments_network(struct cmd_run *r, const char **out, struct err *e)
{
	*out = opt_get(&r->opts, "network");
	if (*out && !id_valid(*out))
		return cmd_usage(r, e, "--network \"%.64s\" cannot be the name of a network", *out);
	return 0;
}

const char *attachments_claim(const struct ctx *ctx, const struct record *r,
			      char out[PREPARED_NAME_LEN])
{
	char uid[CNI_POD_UID_LEN];
	struct err ignored;

	out[0] = '\0';
	if (strcmp(r->key.network, PREPARED_NETWORK) != 0 || !r->tree ||
	    cni_args_get(r->args, "K8S_POD_UID", uid, sizeof(uid), &ignored) != 1)
		return "";
	return prepared_claim_name(ctx, uid, r->key.container, out);
}

/* ---- list ---- */

static struct out_cell attachments_pod(const struct cmd_run *r, const struct json *n,
				       char buf[LIST_TEXT_LEN])
{
	const char *ns = json_text(n, "namespace");

	(void)r;
	(void)snprintf(buf, LIST_TEXT_LEN, "%s%s%s", ns, *ns ? "/" : "", json_text(n, "pod"));
	return (struct out_cell){ buf, OUT_PLAIN };
}

static struct out_cell state_word(const struct json *n)
{
	const char *name = json_str(n);

	for (int s = 0; name && s <= REPAIR_DAMAGED; s++)
		if (strcmp(name, repair_state_name((enum repair_state)s)) == 0)
			return (struct out_cell){ name, state_style((enum repair_state)s) };
	return (struct out_cell){ name, OUT_BAD };
}

static const struct list_column columns[] = {
	{ .title = "NETWORK", OUT_SHRINK, "network" },
	{ .title = "CONTAINER", OUT_SHRINK | OUT_ID, "container" },
	{ .title = "IFNAME", 0, "ifname" },
	{ .title = "PLUGIN", 0, "plugin" },
	{ .title = "MASTER", OUT_SHRINK, "master" },
	{ .title = "POD", OUT_SHRINK | OUT_SPARE, .cell = attachments_pod },
	{ .title = "AGE", OUT_RIGHT, "created", .cell = list_age },
	{ .title = "STATE", 0, "state", .word = state_word },
	{ .title = NULL },
};

struct listing {
	const struct cmd_run *run;
	const struct ctx *ctx;            /* where the records are */
	const struct demand_losses *lost; /* of masters on demand */
	struct json *array;
	struct err *e;
	int rc;
};

static int add_object(struct listing *l, const struct record *r, const struct repair_view *v)
{
	struct json *o = json_push_object(l->array);
	char claim[PREPARED_NAME_LEN];

	return attachments_add_json(o, r, v, l->e) ||
			       json_add_known(o, "claim", attachments_claim(l->ctx, r, claim)) ||
			       (r->tree && masters_add_lost(o, l->lost, r->master, l->e))
		       ? -1
		       : 0;
}

static int attachments_list_one(const struct record *r, void *arg)
{
	struct listing *l = arg;
	struct repair_view v;
	struct err why;

	/* A record that cannot be examined must not hide the others. */
	if (repair_examine(l->ctx, r, &v, &why)) {
		v.state = REPAIR_UNKNOWN;
		(void)snprintf(v.why, sizeof(v.why), "%.300s", why.msg);
	}
	if (v.state == REPAIR_GONE)
		return 0;
	return l->rc = add_object(l, r, &v);
}

/* The rdma plugin keeps its records in a folder of its own. */
static int list_all(struct listing *l, const char *network, struct err *e)
{
	struct record_place place;

	if (rdma_place(&l->run->ctx, &place, e))
		return -1;
	const struct ctx *const each[] = { &l->run->ctx, &place.ctx };
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		l->ctx = each[i];
		if (record_each(l->ctx, network, attachments_list_one, l, e) || l->rc)
			return -1;
	}
	return 0;
}

static int attachments_list(struct cmd_run *r, struct err *e)
{
	auto_json struct json *array = json_new_array();
	auto_demand_losses struct demand_losses lost = { .n = 0 };
	const char *network;

	if (!array)
		return err_nomem(e);
	if (attachments_network(r, &network, e) || demand_find_lost(&r->ctx, &lost, e))
		return -1;

	struct listing l = { .run = r, .lost = &lost, .array = array, .e = e };

	if (list_all(&l, network, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, array, e);
	if (json_len(array) && list_print(r, columns, array, e))
		return -1;
	if (!json_len(array) && network)
		out_line(&r->out, OUT_PLAIN, "No attachments of network %s.", network);
	else if (!json_len(array))
		out_none(&r->out, "No attachments", r->ctx.run_dir, "attachments");
	masters_list_lost(&r->out, &lost);
	return 0;
}

/* ---- show ---- */

#define CANDIDATES 8

/* The attachments whose container id begins with the given text. */
struct search {
	const char *container, *ifname;
	char found[CANDIDATES][CNI_ID_MAX + 1];
	size_t n;
	bool exact;
};

static int attachments_consider_record(const struct record *r, void *arg)
{
	struct search *s = arg;

	if (strcmp(r->key.ifname, s->ifname) != 0 ||
	    strncmp(r->key.container, s->container, strlen(s->container)) != 0)
		return 0;
	if (s->n < CANDIDATES)
		(void)snprintf(s->found[s->n], sizeof(s->found[0]), "%s", r->key.container);
	s->n++;
	if (strcmp(r->key.container, s->container) == 0)
		s->exact = true;
	return 0;
}

static int pick_one(const struct search *s, const struct record_key *key, struct err *e)
{
	if (s->n == 0) {
		err_set(e, ERR_NOTFOUND, 0, "network %s has no attachment %s of container %s",
			key->network, key->ifname, key->container);
		return err_hint(e, "\"railctl attachments list\" shows all");
	}
	if (s->n > 1 && !s->exact) {
		err_set(e, ERR_CONFIG, 0, "%zu containers begin with \"%.64s\"", s->n,
			key->container);
		for (size_t i = 0; i < s->n && i < CANDIDATES; i++)
			err_hint(e, "%s", s->found[i]);
		return -1;
	}
	return 0;
}

int attachments_find(struct cmd_run *r, const struct ctx *ctx, struct record_key *key,
		     char container[CNI_ID_MAX + 1], struct err *e)
{
	struct search s = { .container = key->container, .ifname = key->ifname };

	if (!id_valid(key->network) || ifname_problem(key->ifname))
		return cmd_usage(r, e,
				 "\"%.64s\" and \"%.64s\" cannot be a network and an interface",
				 key->network, key->ifname);
	if (record_each(ctx, key->network, attachments_consider_record, &s, e) ||
	    pick_one(&s, key, e))
		return -1;
	(void)snprintf(container, CNI_ID_MAX + 1, "%s", s.exact ? key->container : s.found[0]);
	key->container = container;
	return 0;
}

static int add_lost(const struct cmd_run *r, struct json *o, const struct record *x, struct err *e)
{
	auto_demand_losses struct demand_losses lost = { .n = 0 };

	return x->tree && (demand_find_lost(&r->ctx, &lost, e) ||
			   masters_add_lost(o, &lost, x->master, e))
		       ? -1
		       : 0;
}

static int show_record_json(const struct cmd_run *r, const struct record *x,
			    const struct repair_view *v, struct err *e)
{
	auto_json struct json *o = json_new_object();
	char claim[PREPARED_NAME_LEN];

	if (attachments_add_json(o, x, v, e) || add_lost(r, o, x, e))
		return -1;
	if (json_add_known(o, "claim", attachments_claim(&r->ctx, x, claim)))
		return err_nomem(e);
	if (x->tree &&
	    (json_add_int(o, "netnsInode", (int64_t)x->netns_id.ino) ||
	     json_add_int(o, "netnsCookie", (int64_t)x->netns_id.cookie) ||
	     json_add_int(o, "ifindex", x->ifindex) ||
	     (x->routing && json_add_copy(o, "routing", x->routing)) ||
	     (x->parts && json_add_copy(o, "parts", x->parts)) ||
	     (x->host && json_add_copy(o, "host", x->host)) ||
	     json_add_str(o, "cniPath", x->cni_path) || json_add_str(o, "args", x->args) ||
	     (x->config && json_add_copy(o, "config", x->config)) ||
	     (x->device && json_add_copy(o, "device", x->device))))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int show_trees(const struct cmd_run *r, const struct record *x, struct err *e)
{
	const struct {
		const char *title;
		const struct json *tree;
	} trees[] = { { "Configuration", x->config }, { "Device before", x->device } };

	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		if (!trees[i].tree)
			continue;
		out_line(&r->out, OUT_HEAD, "%s:", trees[i].title);
		if (out_json(&r->out, trees[i].tree, e))
			return -1;
	}
	return 0;
}

/* One line for each interface of an ADD that made several. */
static void show_parts(const struct out *o, const struct record *x)
{
	struct record part;
	char table[48];

	for (size_t i = 0; x->parts && i < record_parts(x); i++) {
		record_part(x, i, &part);

		const uint32_t number = routing_noted_table(part.routing);

		*table = '\0';
		if (number)
			(void)snprintf(table, sizeof(table), ", routing table %u", number);
		out_pair(o, part.key.ifname, "on %s%s%s%s%s%s", part.master,
			 sriov_device_vf(&part) ? ", VF " : "",
			 sriov_device_vf(&part) ? sriov_device_vf(&part) : "",
			 record_rdma(&part) ? ", RDMA device " : "",
			 record_rdma(&part) ? record_rdma(&part) : "", table);
	}
}

/* The keys of cni/engine that the network gives; their values are in the configuration. */
static void show_tuning(const struct out *o, const struct record *x)
{
	static const char *const keys[] = { "sysctl", "txQueueLen", "macPrefix",
					    "gso",    "gro",        "rings" };
	char text[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(keys) && used < sizeof(text); i++) {
		if (json_get(x->config, keys[i]))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "", keys[i]);
	}
	if (used)
		out_pair(o, "Tuned by", "%s", text);
}

static int show_master(const struct cmd_run *r, const struct record *x, struct err *e)
{
	const size_t users = demand_users(&r->ctx, x->master);
	auto_demand_losses struct demand_losses lost = { .n = 0 };

	if (!users) {
		out_pair(&r->out, "Master", "%s", *x->master ? x->master : "-");
		return 0;
	}
	out_pair(&r->out, "Master", "%s, made on demand, users: %zu", x->master, users);
	if (demand_find_lost(&r->ctx, &lost, e))
		return -1;
	masters_show_lost(&r->out, &lost, x->master);
	return 0;
}

static int show_record_text(const struct cmd_run *r, const struct record *x,
			    const struct repair_view *v, struct err *e)
{
	const struct cni_pod pod = x->tree ? cni_args_pod(x->args) : (struct cni_pod){ .ns = "" };
	char created[OUT_TIME_LEN], claim[PREPARED_NAME_LEN];
	const struct out *o = &r->out;

	out_pair(o, "Network", "%s", x->key.network);
	out_pair(o, "Container", "%s", x->key.container);
	out_pair(o, "Interface", "%s", x->key.ifname);
	out_pair(o, "State", "%s%s%s", repair_state_name(v->state), *v->why ? ": " : "", v->why);
	if (!x->tree)
		return 0;
	if (*pod.name)
		out_pair(o, "Pod", "%s/%s", pod.ns, pod.name);
	if (*attachments_claim(&r->ctx, x, claim))
		out_pair(o, "Claim", "%s", claim);
	out_pair(o, "Plugin", "%s", x->plugin);
	if (show_master(r, x, e))
		return -1;
	show_parts(o, x);
	if (routing_noted_table(x->routing))
		out_pair(o, "Routing table", "%u, rules of priority %d",
			 routing_noted_table(x->routing), ROUTING_PRIORITY);
	if (hostveth_noted_name(x->host))
		out_pair(o, "Veth to the node", "%s", hostveth_noted_name(x->host));
	show_tuning(o, x);
	if (record_rdma(x))
		out_pair(o, "RDMA device", "%s", record_rdma(x));
	out_pair(o, "Namespace", "%s", x->netns);
	out_pair(o, "IPAM", "%s", *repair_ipam_type(x) ? repair_ipam_type(x) : "none");
	out_pair(o, "Created", "%s", out_time(x->created, created));
	out_pair(o, "Boot", "%s", x->boot);
	return show_trees(r, x, e);
}

static int attachments_show(struct cmd_run *r, struct err *e)
{
	struct record_key key = { r->opts.words[0], r->opts.words[1], r->opts.words[2] };
	char container[CNI_ID_MAX + 1];
	auto_record struct record x = { 0 };
	struct repair_view v;
	struct err damage;

	if (attachments_find(r, &r->ctx, &key, container, e))
		return -1;
	if (record_read(&r->ctx, &key, &x, &damage))
		x = (struct record){ .key = key };
	if (repair_examine(&r->ctx, &x, &v, e))
		return -1;
	return r->out.json ? show_record_json(r, &x, &v, e) : show_record_text(r, &x, &v, e);
}

/* ---- the commands ---- */

static const struct opt list_opts[] = {
	{ "network", "NAME", "only attachments of this network", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const list_examples[] = {
	"railctl attachments list",
	"railctl attachments list --network rail0-net --json",
	NULL,
};

static const struct cmd cmd_list = {
	.name = "list",
	.summary = "list the interfaces that plugins attached to containers",
	.about = "STATE is one of these. healthy. busy: a command of it is running. netns-gone, "
		 "netns-replaced, unfinished, earlier-boot, damaged: repair removes it. "
		 "interface-renamed, interface-gone, interface-replaced, netns-moved, "
		 "netns-unknown: its address may be in use, and only repair --force removes it. "
		 "partly-gone: a part of its interfaces is lost, and the pod uses the others. "
		 "unknown: the state cannot be found out.",
	.opts = { list_opts },
	.examples = list_examples,
	.run = attachments_list,
};

static const char *const show_examples[] = {
	"railctl attachments show rail0-net 4f5e6d net1",
	NULL,
};

static const struct cmd cmd_show = {
	.name = "show",
	.words = "NETWORK CONTAINER IFNAME",
	.summary = "show the record of one attachment",
	.about = "The beginning of the container's id is enough if it is unique.",
	.examples = show_examples,
	.min_words = 3,
	.max_words = 3,
	.run = attachments_show,
};

static const struct cmd *const commands[] = { &cmd_list, &cmd_show, &cmd_attachments_repair, NULL };

const struct cmd cmd_attachments = {
	.name = "attachments",
	.summary = "interfaces in containers: list, show, repair",
	.sub = commands,
};
