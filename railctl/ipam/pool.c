/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c: `railctl ipam pool add`, `set` and `delete`. */
#include <string.h>

#include "ipam/conf/pool.h"
#include "railctl/ipam/ipam.h"
#include "railctl/ipam/pool_def.h"

/* host-local keeps the first address for a gateway, whereabouts does not. */
static void tell_of_first(const struct out *o, const struct admin_pool *p)
{
	const char *subnet = json_str(json_get(p->definition, "subnet"));
	struct ip_prefix net;
	char text[IP_STR_LEN];
	struct source s;
	struct err e;

	if (json_get(p->definition, "gateway") || !subnet || ip_parse_prefix(subnet, &net) ||
	    pool_decode(p->name, p->definition, &s, &e))
		return;
	net.addr.v++;
	if (ranges_contain(&s.usable, net.addr) && !source_has_guids(&s))
		out_line(o, OUT_PLAIN,
			 "It has no gateway, so a pod may get %s: --gateway or --reserved keeps it "
			 "free.",
			 ip_format(net.addr, text));
	source_clear(&s);
}

/* The pool as the store has it now. */
static int report_done(struct cmd_run *r, const struct admin_pool *p, struct err *e)
{
	auto_json struct json *pools = NULL;
	char buf[LIST_TEXT_LEN];

	if (ctl_pools(r, p->name, &pools, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, json_first(pools), e);
	const char *capacity = ctl_capacity(r, json_first(pools), buf).text;

	if (p->no_number)
		out_line(&r->out, OUT_PLAIN, "Pool %s %s.", p->name,
			 p->replace ? "changed" : "added");
	else
		out_line(&r->out, OUT_PLAIN, "Pool %s %s: %s address%s%s.", p->name,
			 p->replace ? "changed" : "added", capacity,
			 strcmp(capacity, "1") == 0 ? "" : "es",
			 json_get(json_first(pools), "slice") ? " for this node" : "");
	tell_of_first(&r->out, p);
	if (p->outside)
		out_line(&r->out, OUT_WARN,
			 "%llu leased address%s outside of it now: kept until released.",
			 (unsigned long long)p->outside, p->outside == 1 ? " is" : "es are");
	if (p->no_number)
		out_line(&r->out, OUT_WARN, CTL_NO_NUMBER);
	return 0;
}

/* Change the definition as the options say, and store the pool with it. */
static int put_pool(struct cmd_run *r, struct admin_pool *p, struct json *def, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };

	if (pool_def_apply(&r->opts, def, e))
		return -1;
	p->definition = def;
	int rc = ctl_open_ipam(r, !p->replace, &m, e);
	if (rc > 0)
		return ctl_no_pool(p->name, e);
	if (rc < 0 || admin_pool_put(&m, p, e))
		return -1;
	ipam_close(&m);
	return report_done(r, p, e);
}

/* ---- add ---- */

static int pool_read_file(struct cmd_run *r, const char *path, struct json **out, struct err *e)
{
	if (pool_def_given(&r->opts))
		return cmd_usage(r, e,
				 "--file holds the whole definition: no other option of one "
				 "can be given with it");
	return cmd_read_json(&(struct cmd_input){ .path = path, .what = "--file " },
			     "pool definition", out, e);
}

static int pool_add(struct cmd_run *r, struct err *e)
{
	auto_json struct json *def = NULL;
	const char *file = opt_get(&r->opts, "file");
	struct admin_pool p = { .name = r->opts.words[0], .refuse_whole = true };

	if (!file && !opt_is_set(&r->opts, "subnet") && !opt_is_set(&r->opts, "guids"))
		return cmd_usage(r, e, "a pool needs --subnet CIDR, --guids A-B, or --file FILE");
	if (file && pool_read_file(r, file, &def, e))
		return -1;
	if (!file)
		def = json_new_object();
	return def ? put_pool(r, &p, def, e) : err_nomem(e);
}

static const char *const add_examples[] = {
	"railctl ipam pool add rail1 --subnet 10.2.0.0/16 --range 10.2.1.0/24",
	"railctl ipam pool add rail1 --subnet 10.2.0.0/24 --this-node-only",
	"railctl ipam pool add rail1 --subnet 10.2.0.0/16 --slice /28",
	"railctl ipam pool add v6 --subnet fd00:2::/64 --range fd00:2::1:0/112",
	"railctl ipam pool add ib0 --guids 0200:0000:0000:0000-0200:0000:0000:ffff",
	"railctl ipam pool add rail1 --file pool.json",
	NULL,
};

const struct cmd cmd_pool_add = {
	.name = "add",
	.words = "NAME",
	.summary = "make a pool",
	.about = "A network uses it with \"pool\": \"NAME\" in its ipam section. Each node has its "
		 "own pools, and does not know the leases of other nodes: --range sets the "
		 "addresses of this node, --slice gives each node number a part. Released "
		 "addresses rest before they are assigned again. "
		 "The address that rested longest is assigned first, and a resting one only if no "
		 "other is left.",
	.opts = { pool_add_opts },
	.examples = add_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_add,
};

/* ---- set ---- */

static int pool_set(struct cmd_run *r, struct err *e)
{
	auto_json struct json *pools = NULL, *def = NULL;
	struct admin_pool p = { .name = r->opts.words[0],
				.replace = true,
				.refuse_whole = opt_is_set(&r->opts, "no-range") ||
						opt_is_set(&r->opts, "no-slice") ||
						opt_is_set(&r->opts, "no-this-node-only"),
				.force = opt_is_set(&r->opts, "force") };

	if (!pool_def_given(&r->opts))
		return cmd_usage(
			r, e, "say what to change, as in \"railctl ipam pool set %.64s --sticky\"",
			p.name);
	if (ctl_pools(r, p.name, &pools, e))
		return -1;
	def = json_dup(json_get(json_first(pools), "definition"));
	if (!def)
		return err_set(e, ERR_STORE, 0, "the definition of pool %.100s cannot be read: %s",
			       p.name, json_text(json_first(pools), "error"));
	return put_pool(r, &p, def, e);
}

static const char *const set_examples[] = {
	"railctl ipam pool set rail0 --sticky --cooldown 300",
	"railctl ipam pool set rail0 --namespace team-a --namespace team-b",
	"railctl ipam pool set rail0 --no-namespace --no-quota",
	NULL,
};

const struct cmd cmd_pool_set = {
	.name = "set",
	.words = "NAME",
	.summary = "change a pool",
	.about = "Values without an option stay unchanged; a list replaces the whole old list. "
		 "Leases stay, even if the pool does not contain their addresses any more.",
	.opts = { pool_set_opts },
	.examples = set_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_set,
};

/* ---- delete ---- */

static int report_deleted(struct cmd_run *r, const char *name, uint64_t leases, struct err *e)
{
	auto_json struct json *o = NULL;

	if (!r->out.json) {
		out_line(&r->out, OUT_PLAIN, "Pool %s deleted%s.", name,
			 leases ? " together with its leases" : "");
		return 0;
	}
	o = json_new_object();
	if (!o || json_add_str(o, "name", name) ||
	    json_add_int(o, "releasedLeases", (int64_t)leases))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static int pool_delete(struct cmd_run *r, struct err *e)
{
	const struct admin_delete d = { r->opts.words[0], opt_is_set(&r->opts, "force") };
	auto_json struct json *pools = NULL;
	auto_ipam struct ipam m = { .store = NULL };

	if (ctl_pools(r, d.name, &pools, e))
		return -1;
	uint64_t leases = (uint64_t)json_num(json_get(json_first(pools), "used"));
	int rc = ctl_open_ipam(r, false, &m, e);
	if (rc > 0)
		return ctl_no_pool(d.name, e);
	if (rc < 0 || admin_pool_delete(&m, &d, NULL, e))
		return -1;
	return report_deleted(r, d.name, leases, e);
}

static const struct opt delete_opts[] = {
	{ "force", NULL, "delete it together with its leases", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const delete_examples[] = { "railctl ipam pool delete rail0 --force", NULL };

const struct cmd cmd_pool_delete = {
	.name = "delete",
	.words = "NAME",
	.summary = "delete a pool without leases",
	.about = "With --force its leases are removed too. Containers keep the addresses on their "
		 "interfaces, and the addresses can be assigned again if the pool is made again.",
	.opts = { delete_opts },
	.examples = delete_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_delete,
};
