/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply.c: `railctl ipam pool apply`: pools from a file, for a configuration management that
 * runs it again and again on every node.
 */
#include "railctl/ipam/ipam.h"

#define POOLS_MAX 1024 /* of one file */

struct apply {
	struct json *tree;        /* the file; owned */
	struct json *defs;        /* definitions without "name", in an array; owned */
	struct admin_pool *pools; /* owned */
	size_t n;
};

static void ipam_apply_clear(struct apply *a)
{
	json_free(a->tree);
	json_free(a->defs);
	free(a->pools);
}

/* {"name", keys...}, or an element of `pool list --json`: {"name", "definition", ...}. */
static int apply_add_pool(struct apply *a, const struct json *item, bool force, struct err *e)
{
	const char *name = json_str(json_get(item, "name"));
	const struct json *given = json_get(item, "definition");

	if (!name)
		return err_set(e, ERR_CONFIG, 0,
			       "pool %zu: must be an object with \"name\" and the keys of a pool",
			       a->n + 1);
	struct json *def = json_dup(given ? given : item);
	if (def && !given)
		json_del(def, "name");
	if (json_push(a->defs, def))
		return err_nomem(e);
	a->pools[a->n++] = (struct admin_pool){
		.name = name, .definition = def, .apply = true, .refuse_whole = true, .force = force
	};
	return 0;
}

static int apply_load_pools(struct apply *a, bool force, struct err *e)
{
	bool list = json_type(a->tree) == JSON_ARRAY;
	size_t n = list ? json_len(a->tree) : 1;

	if (n > POOLS_MAX)
		return err_set(e, ERR_CONFIG, 0, "more than %d pools", POOLS_MAX);
	a->defs = json_new_array();
	a->pools = calloc(n + 1, sizeof(*a->pools));
	if (!a->defs || !a->pools)
		return err_nomem(e);
	if (!list)
		return apply_add_pool(a, a->tree, force, e);
	json_each (item, a->tree) {
		if (apply_add_pool(a, item, force, e))
			return -1;
	}
	return 0;
}

/* ---- the report ---- */

static const char *const words[] = { "added", "changed", "unchanged" };

static void apply_print_pool(const struct cmd_run *r, const struct admin_pool *p)
{
	out_line(&r->out, OUT_PLAIN, "Pool %s %s.", p->name, words[p->done]);
	if (p->outside)
		out_line(&r->out, OUT_WARN,
			 "%llu leased address%s outside of it now: kept until released.",
			 (unsigned long long)p->outside, p->outside == 1 ? " is" : "es are");
	if (p->no_number)
		out_line(&r->out, OUT_WARN, CTL_NO_NUMBER);
}

static int apply_report(const struct cmd_run *r, const struct apply *a, struct err *e)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; i < a->n && !r->out.json; i++)
		apply_print_pool(r, &a->pools[i]);
	if (!r->out.json)
		return 0;
	for (size_t i = 0; i < a->n; i++) {
		const struct admin_pool *p = &a->pools[i];
		struct json *o = list ? json_push_object(list) : NULL;

		if (!o || json_add_str(o, "name", p->name) ||
		    json_add_str(o, "result", words[p->done]) ||
		    json_add_int(o, "leasesOutside", (int64_t)p->outside) ||
		    json_add_bool(o, "nodeHasNumber", !p->no_number))
			return err_nomem(e);
	}
	return list ? out_json(&r->out, list, e) : err_nomem(e);
}

static int pool_apply(struct cmd_run *r, struct err *e)
{
	auto_clean(ipam_apply_clear) struct apply a = { .n = 0 };
	auto_ipam struct ipam m = { .store = NULL };
	const char *path = r->opts.words[0];

	if (cmd_read_json(&(struct cmd_input){ .path = path, .what = "" }, "pools", &a.tree, e))
		return -1;
	if (apply_load_pools(&a, opt_is_set(&r->opts, "force"), e))
		return err_wrap(e, "%.256s", path);
	if (ctl_open_ipam(r, true, &m, e) || admin_pools_put(&m, a.pools, a.n, e))
		return -1;
	ipam_close(&m);
	return apply_report(r, &a, e);
}

static const struct opt apply_opts[] = {
	{ "force", NULL, "keep leases outside of a pool; no other node has leases in new slices",
	  0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const apply_examples[] = {
	"railctl ipam pool apply rails.json",
	"railctl ipam pool apply - < rails.json",
	NULL,
};

const struct cmd cmd_pool_apply = {
	.name = "apply",
	.words = "FILE",
	.summary = "add or change the pools of a file, all or none",
	.about = "FILE has one pool, or an array of pools: the keys of a definition and \"name\". "
		 "The elements of `pool list --json` are accepted as well. Other pools stay. "
		 "With \"slice\" one file serves all nodes. A change is refused if a leased "
		 "address would be in the slice of another node, also with --force. Without "
		 "--force it is refused if a lease would be outside of its pool. The same holds "
		 "if slices begin, move or end, and this node gets addresses that it did not "
		 "have.",
	.opts = { apply_opts },
	.examples = apply_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_apply,
};
