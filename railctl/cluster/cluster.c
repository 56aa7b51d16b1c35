/* SPDX-License-Identifier: Apache-2.0 */
/* cluster.c: `railctl cluster`, and its command `status`. */
#include "railctl/cluster/cluster.h"

#include <stdio.h>
#include <string.h>

static void line(const struct cmd_run *r, const char *what, const char *text)
{
	out_line(&r->out, OUT_PLAIN, "%-8s %s", what, text ? text : "-");
}

/* A pool gives nothing while another one is in its way. */
static struct out_cell cluster_state_of(const struct json *p)
{
	if (json_true(json_get(p, "deleted")))
		return (struct out_cell){ "deleted", OUT_WARN };
	if (json_get(p, "conflict"))
		return (struct out_cell){ "conflict", OUT_WARN };
	if (json_get(p, "refused"))
		return (struct out_cell){ "refused", OUT_BAD };
	if (json_get(p, "waits"))
		return (struct out_cell){ "waiting", OUT_WARN };
	if (json_true(json_get(p, "elsewhere")))
		return (struct out_cell){ "other nodes", OUT_PLAIN };
	return (struct out_cell){ "ok", OUT_GOOD };
}

static void print_waits(const struct cmd_run *r, const struct json *pools)
{
	json_each (p, pools) {
		const char *why = json_str(json_get(p, "waits"));
		const char *refused = json_str(json_get(p, "refused"));

		if (why)
			out_line(&r->out, OUT_WARN, "pool %s waits: %s",
				 json_str(json_get(p, "name")), why);
		if (refused)
			out_line(&r->out, OUT_BAD, "generation %.0f is refused, and %s: %s",
				 json_num(json_get(p, "generation")),
				 json_get(p, "spare") ? "the old definition still holds"
						      : "the pool is not used",
				 refused);
	}
}

static int cluster_print_pools(const struct cmd_run *r, const struct json *pools, struct err *e)
{
	static const struct list_column columns[] = {
		{ .title = "POOL", 0, "name" },
		{ .title = "FREE HERE", OUT_RIGHT, "spare" },
		{ .title = "STATE", 0, .word = cluster_state_of },
		{ .title = "UID", OUT_SPARE, "uid", OUT_FAINT },
		{ .title = NULL },
	};

	if (list_print(r, columns, pools, e))
		return -1;
	print_waits(r, pools);
	return 0;
}

static void print_repair(const struct cmd_run *r, const struct json *n)
{
	double done = 0;
	char text[160];

	if (!json_get(n, "passes")) {
		line(r, "repair", "off");
		return;
	}
	json_each (kind, json_get(n, "repaired"))
		done += json_num(kind);
	(void)snprintf(text, sizeof(text), "%.0f repaired, %.0f waiting, %.0f left alone", done,
		       json_num(json_get(n, "waitingCount")), json_num(json_get(n, "leftCount")));
	line(r, "repair", text);
	json_each (x, json_get(n, "left"))
		out_line(&r->out, OUT_WARN, "         %s %s: %s", json_str(json_get(x, "kind")),
			 json_str(json_get(x, "what")), json_str(json_get(x, "why")));
}

/* Nothing, if railhead-install did not put plugins into the folder. */
static void print_plugins(const struct cmd_run *r, const struct json *n)
{
	static const struct {
		const char *member, *what;
	} others[] = { { "overwritten", "overwritten by another project" },
		       { "missing", "missing" },
		       { "otherBuild", "of another build" } };
	const char *error = json_str(json_get(n, "error"));

	if (error)
		out_line(&r->out, OUT_BAD, "%-8s not known: %s", "plugins", error);
	if (json_get(n, "intact"))
		out_line(&r->out, OUT_PLAIN, "%-8s %.0f in %s", "plugins",
			 json_num(json_get(n, "intact")), json_str(json_get(n, "folder")));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		json_each (x, json_get(n, others[i].member))
			out_line(&r->out, OUT_WARN, "         %s: %s", json_str(x), others[i].what);
	}
}

/* Nothing, if there are none and the look did not fail. */
static void print_rails(const struct cmd_run *r, const struct json *n)
{
	const struct json *list = json_get(n, "list");
	const char *error = json_str(json_get(n, "error"));

	if (error)
		out_line(&r->out, OUT_BAD, "%-8s not known: %s", "rails", error);
	else if (json_len(list))
		out_line(&r->out, OUT_PLAIN, "%-8s %zu", "rails", json_len(list));
	json_each (rail, list) {
		json_each (x, json_get(rail, "degraded")) {
			out_line(&r->out, OUT_WARN, "         %s:%.0f (%s): %s: %s",
				 json_text(rail, "device"), json_num(json_get(rail, "port")),
				 json_text(rail, "pci"), json_text(x, "check"),
				 json_text(x, "value"));
			out_line(&r->out, OUT_WARN, "         first: %s", json_text(x, "remedy"));
		}
	}
}

/* Nothing, if no pod is suspect, and all was looked at. */
static void print_transport(const struct cmd_run *r, const struct json *n)
{
	const char *error = json_str(json_get(n, "error"));

	if (error)
		out_line(&r->out, OUT_BAD, "%-8s not known: %s", "rdma", error);
	if (json_get(n, "leftOut"))
		out_line(&r->out, OUT_WARN, "%-8s %.0f attachments of more pods are not looked at",
			 "rdma", json_num(json_get(n, "leftOut")));
	json_each (x, json_get(n, "pods")) {
		if (json_get(x, "missed"))
			out_line(&r->out, OUT_WARN,
				 "%-8s pod %s/%s: its bytes are not known, it has %s", "rdma",
				 json_text(x, "namespace"), json_text(x, "pod"),
				 json_text(x, "missed"));
		if (strcmp(json_text(x, "state"), "suspect") != 0)
			continue;
		out_line(&r->out, OUT_WARN, "%-8s pod %s/%s does not seem to use it", "rdma",
			 json_text(x, "namespace"), json_text(x, "pod"));
		if (*json_text(x, "cause"))
			out_line(&r->out, OUT_WARN, "         likely cause: %s",
				 json_text(x, "cause"));
	}
}

/* Nothing, if the agent does not listen. */
static void print_neighbours(const struct cmd_run *r, const struct json *n)
{
	const char *error = json_str(json_get(n, "error"));

	if (error)
		out_line(&r->out, OUT_BAD, "%-8s not known: %s", "fabric", error);
	json_each (x, json_get(n, "list")) {
		const char *state = json_text(x, "state");
		const struct json *other = json_get(x, "other");

		if (!json_get(x, "port")) {
			out_line(&r->out, strcmp(state, "infiniband") == 0 ? OUT_PLAIN : OUT_WARN,
				 "%-8s rail %.0f (%s): %s", "fabric", json_num(json_get(x, "rail")),
				 json_text(x, "interface"), state);
			continue;
		}
		out_line(&r->out, strcmp(state, "heard") == 0 ? OUT_PLAIN : OUT_WARN,
			 "%-8s rail %.0f (%s): port %s of %s, %s, %.0f s ago", "fabric",
			 json_num(json_get(x, "rail")), json_text(x, "interface"),
			 json_text(x, "portName"),
			 json_text_or(x, "system", json_text(x, "chassis")), state,
			 json_num(json_get(x, "age")));
		if (other)
			out_line(&r->out, OUT_WARN, "         another sender: port %s of %s (%s)",
				 json_text(other, "portName"),
				 json_text_or(other, "system", json_text(other, "chassis")),
				 json_text(other, "chassis"));
	}
}

static void print_devices(const struct cmd_run *r, const struct json *n)
{
	const char *error = json_str(json_get(n, "error"));

	if (error)
		out_line(&r->out, OUT_BAD, "%-8s not known: %s", "devices", error);
	json_each (x, json_get(n, "resources")) {
		double healthy = json_num(json_get(x, "healthy"));
		double all = healthy + json_num(json_get(x, "unhealthy"));
		bool served = json_true(json_get(x, "registered"));

		out_line(&r->out, served && healthy == all ? OUT_PLAIN : OUT_WARN,
			 "%-8s %s: %.0f of %.0f healthy, %s%s%s", "devices", json_text(x, "name"),
			 healthy, all, served ? "registered" : "not registered with the kubelet",
			 *json_text(x, "error") ? ": " : "", json_text(x, "error"));
	}
}

/* Advice about the line above. */
static void print_advice(const struct cmd_run *r, const struct json *text)
{
	if (json_str(text))
		out_line(&r->out, OUT_WARN, "%-8s %s", "", json_str(text));
}

/* It may be repaired by now: only the next call of this kind can tell. */
static void print_refusal(const struct cmd_run *r, const struct json *s)
{
	const char *refused = json_str(json_get(s, "refused"));
	const char *why = json_str(json_get(s, "why"));

	/* The line about the contact has said it. */
	if (!refused || (why && strcmp(why, refused) == 0))
		return;
	out_line(&r->out, OUT_BAD, "%-8s %.0f s ago: %s", "refused",
		 json_num(json_get(s, "refusedSeconds")), refused);
	print_advice(r, json_get(s, "refusedDetail"));
}

/* Without them no pool is used that this node did not use before. */
static void cluster_print_reserved(const struct cmd_run *r, const struct json *n)
{
	const char *why = json_str(json_get(n, "why"));

	if (!n)
		return;
	if (!json_true(json_get(n, "known")))
		out_line(&r->out, OUT_BAD, "%-8s not known, so new pools wait: %s", "reserved",
			 why ? why : "the cluster store has not said it yet");
	else
		out_line(&r->out, why ? OUT_WARN : OUT_PLAIN, "%-8s %.0f ranges%s%s", "reserved",
			 json_num(json_get(n, "ranges")), why ? ", not the newest: " : "",
			 why ? why : "");
}

static int print_status(const struct cmd_run *r, const struct json *s, struct err *e)
{
	bool contact = json_true(json_get(s, "contact"));
	const char *store = json_str(json_get(s, "store"));

	line(r, "node", json_str(json_get(s, "node")));
	line(r, "agent", json_str(json_get(s, "version")));
	line(r, "store", store);
	if (store && strcmp(store, "none") != 0)
		out_line(&r->out, contact ? OUT_GOOD : OUT_BAD, "%-8s %s for %.0f s%s%s", "contact",
			 contact ? "yes" : "no", json_num(json_get(s, "contactSeconds")),
			 contact ? "" : ": ", contact ? "" : json_str(json_get(s, "why")));
	print_advice(r, json_get(s, "whyDetail"));
	print_refusal(r, s);
	line(r, "health", json_str(json_get(s, "health")));
	cluster_print_reserved(r, json_get(s, "reserved"));
	print_repair(r, json_get(s, "repair"));
	print_plugins(r, json_get(s, "plugins"));
	print_rails(r, json_get(s, "rails"));
	print_transport(r, json_get(s, "transport"));
	print_neighbours(r, json_get(s, "neighbours"));
	print_devices(r, json_get(s, "devicePlugin"));
	return cluster_print_pools(r, json_get(s, "pools"), e);
}

static int status(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;

	if (agent_client_call(&r->ctx, &(struct agent_call){ "status", NULL }, CLUSTER_WAIT_MS,
			      &answer, e))
		return -1;
	const char *health = json_text(answer, "health");

	if (opt_is_set(&r->opts, "ready") && strcmp(health, "ok") != 0 &&
	    strcmp(json_text(answer, "store"), "none") != 0)
		return err_set(e, ERR_UNAVAILABLE, 0, "the health of the agent is %s", health);
	return r->out.json ? out_json(&r->out, answer, e) : print_status(r, answer, e);
}

static const struct opt status_opts[] = {
	{ "ready", NULL, "fail if there is a cluster store and the health is not ok", 0 },
	{ 0 },
};

static const char *const status_examples[] = { "railctl cluster status", NULL };

static const struct cmd cmd_status = {
	.name = "status",
	.summary = "show the node agent, its cluster store and the shared pools",
	.about = "Health \"unconfirmed\" means that this node assigns no address of a shared pool: "
		 "the agent has not reached the cluster store since the boot, or since the fence "
		 "passed. \"cut-off\": the store does not answer now, and pods get addresses of "
		 "the blocks that the node has. \"frozen\": the cluster store was restored, and "
		 "nothing is claimed or "
		 "returned for a while. \"twin\": another machine has the name of this node.",
	.examples = status_examples,
	.opts = { status_opts },
	.run = status,
};

static const struct cmd *const pool_commands[] = {
	&cmd_cluster_pool_list, &cmd_cluster_pool_apply,  &cmd_cluster_pool_show,
	&cmd_cluster_pool_open, &cmd_cluster_pool_delete, NULL
};

static const struct cmd cmd_pool = {
	.name = "pool",
	.summary = "shared pools: list, apply, show, open, delete",
	.sub = pool_commands,
};

static const struct cmd *const node_commands[] = { &cmd_cluster_node_list, &cmd_cluster_node_forget,
						   NULL };

static const struct cmd cmd_node = {
	.name = "node",
	.summary = "the nodes of the cluster: list, forget",
	.sub = node_commands,
};

static const struct cmd *const commands[] = { &cmd_status,
					      &cmd_pool,
					      &cmd_node,
					      &cmd_cluster_fabric,
					      &cmd_cluster_topology,
					      &cmd_cluster_plan,
					      &cmd_cluster_report,
					      &cmd_cluster_reserved,
					      NULL };

const struct cmd cmd_cluster = {
	.name = "cluster",
	.summary = "shared pools of all nodes, through the node agent",
	.sub = commands,
};
