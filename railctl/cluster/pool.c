/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: `railctl cluster pool`: definitions that all nodes share. */
#include <string.h>

#include "railctl/cluster/cluster.h"

/* {"name", keys...} */
static struct json *args_of(const struct json *pool, const char *name)
{
	auto_json struct json *args = json_new_object();
	struct json *def = json_dup(pool);

	if (def)
		json_del(def, "name");
	if (!args || json_put(args, "definition", def) || json_add_str(args, "pool", name))
		return NULL;

	struct json *out = args;

	args = NULL;
	return out;
}

static int pool_put_one(struct cmd_run *r, const struct json *pool, struct json *report,
			struct err *e)
{
	const char *name = json_str(json_get(pool, "name"));
	auto_json struct json *args = NULL, *answer = NULL;
	const char *word;

	if (!name)
		return err_set(e, ERR_CONFIG, 0,
			       "each pool must be an object with \"name\" and the keys of a pool");
	args = args_of(pool, name);
	if (!args)
		return err_nomem(e);
	if (agent_client_call(&r->ctx, &(struct agent_call){ "pool-put", args }, CLUSTER_WAIT_MS,
			      &answer, e))
		return -1;
	word = json_true(json_get(answer, "created")) ? "added" : "changed";
	if (!r->out.json)
		out_line(&r->out, OUT_PLAIN, "Shared pool %s %s.", name, word);

	struct json *o = json_push_object(report);

	if (!o || json_add_str(o, "name", name) || json_add_str(o, "result", word))
		return err_nomem(e);
	return cluster_wait(r, name, o, e);
}

static int cluster_pool_apply(struct cmd_run *r, struct err *e)
{
	auto_json struct json *tree = NULL, *report = json_new_array();
	unsigned seconds;

	if (!report)
		return err_nomem(e);
	if (cluster_wait_option(r, &seconds, e) ||
	    cmd_read_json(&(struct cmd_input){ .path = r->opts.words[0], .what = "" }, "pools",
			  &tree, e))
		return -1;
	if (json_type(tree) != JSON_ARRAY && pool_put_one(r, tree, report, e))
		return -1;
	for (const struct json *p = json_type(tree) == JSON_ARRAY ? json_first(tree) : NULL; p;
	     p = json_next(p)) {
		if (pool_put_one(r, p, report, e))
			return -1;
	}
	return r->out.json ? out_json(&r->out, report, e) : 0;
}

static const struct opt apply_opts[] = {
	{ "wait", "SECONDS",
	  "wait until all nodes have taken it over, and name those that have not", 0 },
	{ 0 },
};

static const char *const apply_examples[] = { "railctl cluster pool apply rails.json",
					      "railctl cluster pool apply --wait 60 rails.json",
					      NULL };

const struct cmd cmd_cluster_pool_apply = {
	.name = "apply",
	.words = "FILE",
	.summary = "add or change the shared pools of a file, one after the other",
	.about = "FILE has one pool, or an array of pools: the keys of a definition, \"name\" and "
		 "\"blockSize\". subnet and blockSize of a pool never change. It stops at the "
		 "first error.\n\n"
		 "A change of ranges, excludes or reserved counts on a node once the node has "
		 "taken it over. With --wait the command fails if a node has not done so in time.",
	.examples = apply_examples,
	.opts = { apply_opts },
	.min_words = 1,
	.max_words = 1,
	.run = cluster_pool_apply,
};

static int delete_pool(struct cmd_run *r, struct err *e)
{
	auto_json struct json *args = json_new_object(), *answer = NULL;
	const char *name = r->opts.words[0];

	if (!args || json_add_str(args, "pool", name))
		return err_nomem(e);
	if (agent_client_call(&r->ctx, &(struct agent_call){ "pool-remove", args }, CLUSTER_WAIT_MS,
			      &answer, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, args, e);
	out_line(&r->out, OUT_PLAIN,
		 "Shared pool %s deleted: no node claims blocks of it any more.", name);
	return 0;
}

static const char *const delete_examples[] = { "railctl cluster pool delete rail0", NULL };

const struct cmd cmd_cluster_pool_delete = {
	.name = "delete",
	.words = "NAME",
	.summary = "delete a shared pool; pods keep their addresses",
	.about = "Nodes that have leases of the pool keep its definition until the last one is "
		 "released.",
	.examples = delete_examples,
	.min_words = 1,
	.max_words = 1,
	.run = delete_pool,
};
