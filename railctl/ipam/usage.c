/* SPDX-License-Identifier: Apache-2.0 */
/* usage.c: `railctl ipam usage`: how full pools are, and whose leases they have. */
#include <stdio.h>

#include "railctl/ipam/ipam.h"

/* A pool, or a network with ranges of its own. The size of such a network is not known. */
static struct out_cell usage_where(const struct cmd_run *r, const struct json *o,
				   char buf[LIST_TEXT_LEN])
{
	const char *pool = json_text(o, "name");
	const struct json *number = json_get(json_get(o, "slice"), "number");
	const struct json *blocks = json_get(json_get(o, "blocks"), "granted");
	char slice[48] = "", granted[48] = "";

	(void)r;
	if (number)
		(void)snprintf(slice, sizeof(slice), ", slice %.0f", json_num(number));
	if (blocks)
		(void)snprintf(granted, sizeof(granted), ", %.0f block%s", json_num(blocks),
			       json_num(blocks) == 1 ? "" : "s");
	(void)snprintf(buf, LIST_TEXT_LEN, "%s%s%s%s", *pool ? "pool " : "",
		       *pool ? pool : json_text(o, "network"), slice, granted);
	return (struct out_cell){ buf, OUT_PLAIN };
}

static struct out_cell usage_size(const struct cmd_run *r, const struct json *o,
				  char buf[LIST_TEXT_LEN])
{
	return *json_text(o, "name") ? ctl_capacity(r, o, buf)
				     : (struct out_cell){ NULL, OUT_PLAIN };
}

static struct out_cell usage_share(const struct cmd_run *r, const struct json *o,
				   char buf[LIST_TEXT_LEN])
{
	return ctl_gauge(r, *json_text(o, "name") ? ctl_share(o) : -1, 28, buf);
}

static const struct list_column places[] = {
	{ .title = "WHERE", OUT_SHRINK, .cell = usage_where },
	{ .title = "LEASED", OUT_RIGHT, "used" },
	{ .title = "AT REST", OUT_RIGHT, "resting" },
	{ .title = "SIZE", OUT_RIGHT, .cell = usage_size },
	{ .title = "USAGE", .cell = usage_share },
	{ .title = NULL },
};

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

static const struct list_column namespaces[] = {
	{ .title = "POOL", OUT_SHRINK, "pool" },
	{ .title = "NAMESPACE", OUT_SHRINK, "namespace" },
	{ .title = "LEASED", OUT_RIGHT, "used" },
	{ .title = "AT REST", OUT_RIGHT, "resting" },
	{ .title = NULL },
};

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
	const char *name = r->opts.n_words ? r->opts.words[0] : NULL;
	bool by_namespace = opt_is_set(&r->opts, "by-namespace");
	auto_json struct json *list = NULL;

	if (by_namespace ? load_namespaces(r, name, &list, e) : ipam_load_usage(r, name, &list, e))
		return -1;
	return by_namespace
		       ? ctl_show_rows(r, namespaces, list, "No leases of pools", e)
		       : ctl_show_rows(r, places, list, "No pools, and no network with leases", e);
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
