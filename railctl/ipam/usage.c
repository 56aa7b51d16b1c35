/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c: `railctl ipam usage`: how full pools are, and whose leases they have. */
#include <stdio.h>
#include <string.h>

#include "railctl/ipam/ipam.h"

static const struct out_column usage_columns[] = {
	{ "WHERE", OUT_SHRINK }, { "LEASED", OUT_RIGHT }, { "AT REST", OUT_RIGHT },
	{ "SIZE", OUT_RIGHT },   { "USAGE", 0 },
};

/* A pool, or a network with ranges of its own. The size of such a network is not known. */
static int add_usage_row(const struct cmd_run *r, struct out_table *t, const struct json *o,
			 struct err *e)
{
	char used[CAPACITY_LEN], resting[CAPACITY_LEN], capacity[CAPACITY_LEN], gauge[GAUGE_LEN],
		where[320];
	const char *pool = json_text(o, "name");
	const struct json *number = json_get(json_get(o, "slice"), "number");
	const struct json *blocks = json_get(json_get(o, "blocks"), "granted");
	double share = *pool ? ctl_share(o) : -1;
	int len = snprintf(where, sizeof(where), "%s%s", *pool ? "pool " : "",
			   *pool ? pool : json_text(o, "network"));

	if (number && len > 0 && (size_t)len < sizeof(where))
		(void)snprintf(where + len, sizeof(where) - (size_t)len, ", slice %.0f",
			       json_num(number));
	if (blocks && len > 0 && (size_t)len < sizeof(where))
		(void)snprintf(where + len, sizeof(where) - (size_t)len, ", %.0f block%s",
			       json_num(blocks), json_num(blocks) == 1 ? "" : "s");
	const struct out_cell cells[] = {
		{ where, OUT_PLAIN },
		{ out_amount(json_num(json_get(o, "used")), used, sizeof(used)), OUT_PLAIN },
		{ out_amount(json_num(json_get(o, "resting")), resting, sizeof(resting)),
		  OUT_PLAIN },
		{ *pool ? ctl_pool_capacity(o, capacity) : NULL, OUT_PLAIN },
		ctl_gauge(r, share, 28, gauge),
	};
	return out_row(t, cells, e);
}

/* Pools, then networks, in one list. */
static int ipam_load_usage(struct cmd_run *r, const char *name, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *networks = NULL, *all = NULL;

	if (ctl_pools(r, name, &all, e))
		return -1;
	int rc = name ? 1 : ctl_open_ipam(r, false, &m, e);
	if (rc < 0 || (rc == 0 && admin_networks(&m, &networks, e)))
		return -1;
	json_each (network, networks) {
		if (json_push(all, json_dup(network)))
			return err_nomem(e);
	}
	for (size_t i = 0; i < json_len(all); i++)
		json_del(json_at_mut(all, i), "definition");
	*out = TAKE_PTR(all);
	return 0;
}

/* ---- by namespace ---- */

static const struct out_column namespace_columns[] = {
	{ "POOL", OUT_SHRINK },
	{ "NAMESPACE", OUT_SHRINK },
	{ "LEASED", OUT_RIGHT },
	{ "AT REST", OUT_RIGHT },
};

static int add_namespace_row(const struct cmd_run *r, struct out_table *t, const struct json *o,
			     struct err *e)
{
	char used[CAPACITY_LEN], resting[CAPACITY_LEN];
	const struct out_cell cells[] = {
		{ json_text(o, "pool"), OUT_PLAIN },
		{ json_text(o, "namespace"), OUT_PLAIN },
		{ out_amount(json_num(json_get(o, "used")), used, sizeof(used)), OUT_PLAIN },
		{ out_amount(json_num(json_get(o, "resting")), resting, sizeof(resting)),
		  OUT_PLAIN },
	};

	(void)r;
	return out_row(t, cells, e);
}

static int load_namespaces(struct cmd_run *r, const char *name, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *pools = NULL;

	/* a pool that does not exist is an error */
	if (name && ctl_pools(r, name, &pools, e))
		return -1;
	int rc = ctl_open_ipam(r, false, &m, e);
	if (rc == 0)
		return admin_namespaces(&m, name, out, e);
	*out = rc > 0 ? json_new_array() : NULL;
	return rc < 0 ? -1 : *out ? 0 : err_nomem(e);
}

/* ---- the command ---- */

static int usage_run(struct cmd_run *r, struct err *e)
{
	static const struct ctl_rows places = { usage_columns, ARRAY_SIZE(usage_columns),
						add_usage_row,
						"No pools, and no network with leases" };
	static const struct ctl_rows namespaces = { namespace_columns,
						    ARRAY_SIZE(namespace_columns),
						    add_namespace_row, "No leases of pools" };
	const char *name = r->opts.n_words ? r->opts.words[0] : NULL;
	bool by_namespace = opt_is_set(&r->opts, "by-namespace");
	auto_json struct json *list = NULL;

	if (by_namespace ? load_namespaces(r, name, &list, e) : ipam_load_usage(r, name, &list, e))
		return -1;
	return ctl_show_rows(r, by_namespace ? &namespaces : &places, list, e);
}

static const struct opt usage_opts[] = {
	{ "by-namespace", NULL, "count the leases of each namespace", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const usage_examples[] = {
	"railctl ipam usage",
	"railctl ipam usage rail0",
	"railctl ipam usage --by-namespace",
	NULL,
};

const struct cmd cmd_ipam_usage = {
	.name = "usage",
	.words = "[NAME]",
	.summary = "show how full pools are: addresses leased and resting",
	.about = "Networks with their own ranges instead of a pool are listed after the pools. A "
		 "shared pool has the addresses and blocks of this node there.",
	.opts = { usage_opts },
	.examples = usage_examples,
	.max_words = 1,
	.run = usage_run,
};
