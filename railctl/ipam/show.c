/* SPDX-License-Identifier: Apache-2.0 */
/* show.c: `railctl ipam pool list`, `pool show` and `usage`. */
#include <string.h>

#include "ipam/conf/labels.h"
#include "lib/base/guid.h"
#include "lib/base/text.h"
#include "railctl/ipam/ipam.h"

#define GAUGE_WIDTH 20 /* in the list */

/* ---- list ---- */

static struct out_cell show_usage(const struct cmd_run *r, const struct json *pool,
				  char buf[LIST_TEXT_LEN])
{
	return json_get(pool, "error") ? (struct out_cell){ "unreadable", OUT_BAD }
				       : ctl_gauge(r, ctl_share(pool), GAUGE_WIDTH, buf);
}

static const struct list_column list_columns[] = {
	{ .title = "NAME", OUT_SHRINK, "name" },
	{ .title = "SUBNET", OUT_SHRINK, "definition.subnet" },
	{ .title = "FROM", OUT_SPARE, "from" },
	{ .title = "LEASED", OUT_RIGHT, "used" },
	{ .title = "SIZE", OUT_RIGHT, .cell = ctl_capacity },
	{ .title = "USAGE", .cell = show_usage },
	{ .title = NULL },
};

static int pool_list(struct cmd_run *r, struct err *e)
{
	auto_json struct json *pools = NULL;

	if (ctl_pools(r, NULL, &pools, e))
		return -1;
	return ctl_show_rows(r, list_columns, pools, "No pools", e);
}

static const char *const list_examples[] = { "railctl ipam pool list", NULL };

const struct cmd cmd_pool_list = {
	.name = "list",
	.summary = "list the pools and how full each is on this node",
	.about = "SIZE of a shared pool is the number of addresses in the blocks of this node. "
		 "Those that it borrows count, and those that it lends do not. `railctl cluster "
		 "pool "
		 "list` shows what all nodes have.",
	.examples = list_examples,
	.run = pool_list,
};

/* ---- show ---- */

/* The elements of a list on one line: "a, b"; routes as "dst via gw". */
static char *join_list(const struct json *list)
{
	auto_text struct text text = { 0 };
	const char *comma = "";

	json_each (item, list) {
		const char *gw = json_text(item, "gw"), *dst = json_text(item, "dst");

		text_addf(&text, "%s%s%s%s", comma, json_str(item) ? json_str(item) : dst,
			  *gw ? " via " : "", gw);
		comma = ", ";
	}
	return text_take(&text);
}

/* A number, or "team-a 5, others 10". */
static char *quota_text(const struct json *quota)
{
	auto_text struct text text = { 0 };
	const char *comma = "";

	if (json_type(quota) == JSON_NUMBER)
		text_addf(&text, "%.0f for each namespace", json_num(quota));
	json_each (item, quota) {
		const char *ns = json_key(item);
		text_addf(&text, "%s%s %.0f", comma, strcmp(ns, "*") ? ns : "others",
			  json_num(item));
		comma = ", ";
	}
	return text_take(&text);
}

static int show_lists(const struct out *o, const struct json *def, struct err *e)
{
	static const struct {
		const char *title, *key, *none;
	} lists[] = {
		{ "Ranges", "ranges", "the whole subnet" },
		{ "Excluded", "excludes", "none" },
		{ "Reserved", "reserved", "none" },
		{ "Routes", "routes", "none" },
		{ "Namespaces", "namespaces", "all" },
		{ "May request", "fixedNamespaces", "all" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct json *list = json_get(def, lists[i].key);
		auto_free char *text = join_list(list);
		if (!text)
			return err_nomem(e);
		bool nobody = list && strstr(lists[i].key, "amespaces");
		const char *none = nobody ? "none" : lists[i].none;

		out_pair(o, lists[i].title, "%s", json_len(list) ? text : none);
	}
	return 0;
}

/* Definition and addresses: "/28 each; number 17: 10.1.1.16-10.1.1.31". */
static void show_slice(const struct out *o, const struct json *pool)
{
	const struct json *def = json_get(json_get(pool, "definition"), "slice");
	const struct json *own = json_get(pool, "slice"), *prefix = json_get(def, "prefix");
	const char *problem = json_text(own, "error");
	double outside = json_num(json_get(own, "leasesOutside"));
	double others = json_num(json_get(own, "leasesInOtherSlices"));

	if (!def)
		return;
	if (prefix)
		out_pair(o, "Slices", "/%.0f", json_num(prefix));
	else
		out_pair(o, "Slices", "%.0f addresses each", json_num(json_get(def, "size")));
	if (*problem)
		out_pair(o, "Own slice", "none: %s", problem);
	else if (own)
		out_pair(o, "Own slice", "%.0f: %s-%s", json_num(json_get(own, "number")),
			 json_text(own, "first"), json_text(own, "last"));
	if (outside > 0)
		out_pair(o, "Outside", "%.0f leased address%s in no slice", outside,
			 outside > 1 ? "es are" : " is");
	if (others > 0)
		out_pair(o, "Overlap", "%.0f leased address%s in the slice of another node", others,
			 others > 1 ? "es are" : " is");
}

/* A pool that begins to be shared. */
static void show_state(const struct out *o, const struct json *pool)
{
	const char *state = json_text(json_get(pool, "definition"), "state");
	const char *name = json_text(pool, "name");

	if (strcmp(state, "adopting") == 0)
		out_pair(o, "State", "adopting: `railctl cluster pool open %s` opens it", name);
}

/* "16 addresses each; 3 on this node". */
static void show_blocks(const struct out *o, const struct json *pool)
{
	const struct json *size = json_get(json_get(pool, "definition"), "blockSize");
	const struct json *def = json_get(pool, "definition"), *own = json_get(pool, "blocks");
	const struct json *warm = json_get(def, "warm"), *idle = json_get(def, "idle");

	if (!size)
		return;
	out_pair(o, "Blocks", "%.0f address%s each; warm %.0f, idle %.0f s, fence %s",
		 json_num(size), json_num(size) > 1 ? "es" : "", json_num(warm ? warm : size),
		 idle ? json_num(idle) : 600.0,
		 *json_text(def, "fence") ? json_text(def, "fence") : "off");
	show_state(o, pool);
	if (own && !json_get(own, "uid"))
		out_pair(o, "Own blocks", "none: the node agent does not know this pool");
	else if (own)
		out_pair(o, "Own blocks",
			 "%.0f granted, %.0f others; addresses lent %.0f, borrowed %.0f",
			 json_num(json_get(own, "granted")), json_num(json_get(own, "others")),
			 json_num(json_get(own, "lent")), json_num(json_get(own, "borrowed")));
}

/* Which nodes assign addresses, and what the whole cluster reserves. */
static int show_cluster(const struct out *o, const struct json *pool, struct err *e)
{
	const struct json *nodes = json_get(json_get(pool, "definition"), "nodes");
	const struct json *reserved = json_get(pool, "clusterReserved");
	auto_text struct text labels = { 0 };
	auto_free char *ranges = join_list(reserved);
	struct err why;

	if (!ranges)
		return err_nomem(e);
	if (nodes && selector_check(nodes, "nodes", &why) == 0) {
		selector_print(nodes, &labels);
		if (labels.failed)
			return err_nomem(e);
		out_pair(o, "Nodes", "%s", labels.s ? labels.s : "all");
	}
	if (json_len(reserved))
		out_pair(o, "Also reserved", "%s, in all pools of the cluster", ranges);
	return 0;
}

/* GIDs are the addresses of the pool; people know the GUIDs. */
static void show_guids(const struct out *o, const struct json *def)
{
	char first[GUID_STR_LEN], last[GUID_STR_LEN];
	struct ip_prefix net;

	if (ip_parse_prefix(json_text(def, "subnet"), &net) || !guid_is_network(net))
		return;
	out_pair(o, "GUIDs", "in %s to %s", guid_format(guid_of_gid(ip_network(net)), first),
		 guid_format(guid_of_gid(ip_last(net)), last));
}

static int show_rules(const struct out *o, const struct json *def, struct err *e)
{
	const struct json *quota = json_get(def, "quota"), *cooldown = json_get(def, "cooldown");
	const char *gateway = json_text(def, "gateway");
	auto_free char *quotas = quota ? quota_text(quota) : strdup("none");

	if (!quotas)
		return err_nomem(e);
	out_pair(o, "Subnet", "%s", json_text(def, "subnet"));
	show_guids(o, def);
	out_pair(o, "Gateway", "%s", *gateway ? gateway : "none");
	if (show_lists(o, def, e))
		return -1;
	out_pair(o, "Quota", "%s", quotas);
	out_pair(o, "Sticky", "%s", json_true(json_get(def, "sticky")) ? "yes" : "no");
	out_pair(o, "Cooldown", "%.0f s%s", cooldown ? json_num(cooldown) : 60.0,
		 json_true(json_get(def, "strictCooldown")) ? ", strict" : "");
	return 0;
}

/* "cluster, generation 3" */
static void show_from(const struct out *o, const struct json *pool)
{
	const struct json *generation = json_get(pool, "generation");

	if (generation)
		out_pair(o, "From", "the cluster, generation %.0f", json_num(generation));
	else
		out_pair(o, "From", "this node");
}

static int ipam_show_text(const struct cmd_run *r, const struct json *pool, struct err *e)
{
	const struct out *o = &r->out;
	char used[LIST_TEXT_LEN], size[LIST_TEXT_LEN];
	const char *problem = json_text(pool, "error");
	double share = ctl_share(pool);

	out_pair(o, "Pool", "%s", json_text(pool, "name"));
	show_from(o, pool);
	if (*problem)
		out_pair(o, "Unreadable", "%s", problem);
	if (show_rules(o, json_get(pool, "definition"), e))
		return -1;
	if (show_cluster(o, pool, e))
		return -1;
	show_slice(o, pool);
	show_blocks(o, pool);
	out_pair(o, "Leased", "%s of %s",
		 out_amount(json_num(json_get(pool, "used")), used, sizeof(used)),
		 ctl_capacity(r, pool, size).text);
	out_pair(o, "At rest", "%s",
		 out_amount(json_num(json_get(pool, "resting")), used, sizeof(used)));
	if (share >= 0)
		out_pair(o, "Usage", "%s", ctl_gauge(r, share, 32, size).text);
	return 0;
}

static int pool_show(struct cmd_run *r, struct err *e)
{
	auto_json struct json *pools = NULL;

	if (ctl_pools(r, r->opts.words[0], &pools, e))
		return -1;
	if (r->out.json)
		return out_json(&r->out, json_first(pools), e);
	return ipam_show_text(r, json_first(pools), e);
}

static const char *const show_examples[] = {
	"railctl ipam pool show rail0",
	"railctl ipam pool show rail0 --json",
	NULL,
};

const struct cmd cmd_pool_show = {
	.name = "show",
	.words = "NAME",
	.summary = "show the definition and the usage of a pool",
	.about = "With --json the member \"definition\" has the form that `pool add --file` reads.",
	.examples = show_examples,
	.min_words = 1,
	.max_words = 1,
	.run = pool_show,
};
