/* SPDX-License-Identifier: Apache-2.0 */
/* reserved.c: `railctl cluster reserved`: addresses that no pool of any node assigns. */
#include "railctl/cluster/cluster.h"

/* words -> {key: [...]} */
static int reserved_add_words(const struct cmd_run *r, struct json *args, const char *key)
{
	struct json *list = json_add_array(args, key);

	for (size_t i = 0; list && i < r->opts.n_words; i++) {
		if (json_push_str(list, r->opts.words[i]))
			return -1;
	}
	return list ? 0 : -1;
}

static int reserved_ask(struct cmd_run *r, const char *key, struct json **answer, struct err *e)
{
	auto_json struct json *args = json_new_object();

	if (!args || (key && reserved_add_words(r, args, key)))
		return err_nomem(e);
	return agent_client_call(&r->ctx, &(struct agent_call){ "reserved", args }, CLUSTER_WAIT_MS,
				 answer, e);
}

static int cluster_reserved_change(struct cmd_run *r, const char *key, const char *done,
				   struct err *e)
{
	auto_json struct json *answer = NULL;
	unsigned ignored;

	/* A wrong option changes nothing. */
	if (cluster_wait_option(r, &ignored, e) || reserved_ask(r, key, &answer, e))
		return -1;
	if (!r->out.json)
		out_line(&r->out, OUT_PLAIN, "%s",
			 json_true(json_get(answer, "changed")) ? done : "Nothing has changed.");
	if (cluster_wait(r, NULL, answer, e))
		return -1;
	return r->out.json ? out_json(&r->out, answer, e) : 0;
}

static const struct opt change_opts[] = {
	{ "wait", "SECONDS",
	  "wait until all nodes have taken them over, and name those that have not", 0 },
	{ 0 },
};

/* ---- show ---- */

static int reserved_show(struct cmd_run *r, struct err *e)
{
	auto_json struct json *answer = NULL;
	const struct json *ranges;

	if (reserved_ask(r, NULL, &answer, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, answer, e);
	ranges = json_get(answer, "ranges");
	if (!json_len(ranges))
		out_line(&r->out, OUT_PLAIN, "The cluster reserves no addresses.");
	json_each (range, ranges)
		out_line(&r->out, OUT_PLAIN, "%s", json_str(range));
	return 0;
}

static const char *const show_examples[] = { "railctl cluster reserved show", NULL };

static const struct cmd cmd_show = {
	.name = "show",
	.summary = "show the addresses that no pool of the cluster assigns",
	.about = "`railctl ipam conflicts` on a node names its pods that have such an address.",
	.examples = show_examples,
	.run = reserved_show,
};

/* ---- add and remove ---- */

static int reserved_add(struct cmd_run *r, struct err *e)
{
	return cluster_reserved_change(
		r, "add",
		"Reserved. Nodes assign these addresses no more; pods that have one keep it.", e);
}

static const char *const add_examples[] = {
	"railctl cluster reserved add 10.1.0.10",
	"railctl cluster reserved add 10.1.0.10-10.1.0.19 10.2.0.0/28",
	"railctl cluster reserved add --wait 60 10.1.0.10",
	NULL,
};

static const struct cmd cmd_add = {
	.name = "add",
	.words = "RANGE...",
	.summary = "reserve addresses in all pools of the cluster",
	.about =
		"RANGE is an address, \"first-last\" or \"network/len\"; a network has all its "
		"addresses. It may be outside of all pools. It counts for shared pools. A pod that "
		"has such an address keeps it, and `railctl ipam conflicts` on its node names "
		"it.\n\n"
		"Each node takes the change over by itself. With --wait the command fails if a "
		"node has not done so in time.",
	.examples = add_examples,
	.opts = { change_opts },
	.min_words = 1,
	.max_words = CLUSTER_RANGES_MAX,
	.run = reserved_add,
};

static int remove_ranges(struct cmd_run *r, struct err *e)
{
	return cluster_reserved_change(
		r, "remove", "Not reserved any more. Pools may assign these addresses.", e);
}

static const char *const remove_examples[] = {
	"railctl cluster reserved remove 10.1.0.12",
	"railctl cluster reserved remove --wait 60 10.1.0.12",
	NULL,
};

static const struct cmd cmd_remove = {
	.name = "remove",
	.words = "RANGE...",
	.summary = "do not reserve these addresses any more",
	.about = "RANGE may be a part of a range that was added. Addresses that a pool itself "
		 "reserves "
		 "or excludes stay so.",
	.examples = remove_examples,
	.opts = { change_opts },
	.min_words = 1,
	.max_words = CLUSTER_RANGES_MAX,
	.run = remove_ranges,
};

static const struct cmd *const commands[] = { &cmd_show, &cmd_add, &cmd_remove, NULL };

const struct cmd cmd_cluster_reserved = {
	.name = "reserved",
	.summary = "addresses that no pool of any node assigns: show, add, remove",
	.sub = commands,
};
