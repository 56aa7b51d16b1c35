/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.c: the groups of `railctl ipam`, and the access to the store that its commands share. */
#include "railctl/ipam/ipam.h"

#include <limits.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "ipam/alloc/crash_handler.h"
#include "ipam/conf/pool.h"

int ctl_open_ipam(struct cmd_run *r, bool create, struct ipam *out, struct err *e)
{
	const struct ctl *ctl = r->own;
	char dir[PATH_MAX];

	if (ipam_dir(&r->ctx, ctl->data_dir, dir, sizeof(dir), e) ||
	    crash_handler_install_text("railctl", dir, e))
		return -1;
	if (ipam_open(&r->ctx, dir, create, out, e) == 0)
		return 0;
	return e->code == ERR_NOTFOUND ? 1 : -1;
}

static const char *store_dir(const struct cmd_run *r, char dir[PATH_MAX])
{
	const struct ctl *ctl = r->own;
	struct err why;

	return ipam_dir(&r->ctx, ctl->data_dir, dir, PATH_MAX, &why) ? "" : dir;
}

void ctl_none(const struct cmd_run *r, const char *what)
{
	char dir[PATH_MAX];

	out_none(&r->out, what, store_dir(r, dir), NULL);
}

int ctl_no_store(const struct cmd_run *r, struct err *e)
{
	char dir[PATH_MAX];

	err_set(e, ERR_NOTFOUND, 0, "nothing was checked: there is no store in %s",
		store_dir(r, dir));
	return err_hint(e, "this node has no pools yet, or this is a container without its "
			   "folders");
}

int ctl_no_pool(const char *name, struct err *e)
{
	struct utsname names;

	return pool_missing(name, uname(&names) == 0 ? names.nodename : "", e);
}

int ctl_pools(struct cmd_run *r, const char *name, struct json **out, struct err *e)
{
	auto_ipam struct ipam m = { .store = NULL };
	int rc = ctl_open_ipam(r, false, &m, e);

	if (rc < 0)
		return -1;
	if (rc == 0)
		return admin_pools(&m, name, out, e);
	if (name)
		return ctl_no_pool(name, e);
	*out = json_new_array();
	return *out ? 0 : err_nomem(e);
}

/* ---- how full ---- */

/* The JSON has a number, or digits as text if the number is too large. -1: neither. */
static double capacity_of(const struct json *pool)
{
	const struct json *n = json_get(pool, "capacity");

	if (!n)
		return -1;
	return json_type(n) == JSON_STRING ? strtod(json_str(n), NULL) : json_num(n);
}

struct out_cell ctl_capacity(const struct cmd_run *r, const struct json *pool,
			     char buf[LIST_TEXT_LEN])
{
	double n = capacity_of(pool);

	(void)r;
	return (struct out_cell){ n < 0 ? "?" : out_amount(n, buf, LIST_TEXT_LEN), OUT_PLAIN };
}

double ctl_share(const struct json *pool)
{
	double n = capacity_of(pool), used = json_num(json_get(pool, "used"));

	if (n < 0)
		return -1;
	/* After a change of its definition a pool may have more leases than addresses. */
	return used < n ? used / n : used > 0 ? 1 : 0;
}

struct out_cell ctl_gauge(const struct cmd_run *r, double share, unsigned width,
			  char buf[LIST_TEXT_LEN])
{
	char percent[8], bar[OUT_BAR_MAX];

	if (share < 0)
		return (struct out_cell){ NULL, OUT_PLAIN };
	(void)out_percent(share, percent, sizeof(percent));
	(void)snprintf(buf, LIST_TEXT_LEN, r->out.terminal ? "%s %4s" : "%s%s",
		       r->out.terminal ? out_bar(share, width - 5, bar) : "", percent);
	return (struct out_cell){ buf, share >= 0.95  ? OUT_BAD
				       : share >= 0.8 ? OUT_WARN
						      : OUT_GOOD };
}

int ctl_show_rows(const struct cmd_run *r, const struct list_column *columns,
		  const struct json *list, const char *none, struct err *e)
{
	if (r->out.json)
		return out_json(&r->out, list, e);
	if (json_len(list))
		return list_print(r, columns, list, e);
	ctl_none(r, none);
	return 0;
}

/* ---- the groups ---- */

static const struct cmd *const pool_commands[] = {
	&cmd_pool_add,  &cmd_pool_apply,  &cmd_pool_set,    &cmd_pool_list,
	&cmd_pool_show, &cmd_pool_delete, &cmd_pool_import, NULL,
};

static const struct cmd cmd_pool = {
	.name = "pool",
	.summary = "named pools of addresses: add, apply, set, list, show, delete, import",
	.sub = pool_commands,
};

static const struct cmd *const lease_commands[] = { &cmd_lease_list, &cmd_lease_release, NULL };

static const struct cmd cmd_lease = {
	.name = "lease",
	.summary = "addresses of containers: list, release",
	.sub = lease_commands,
};

static const struct cmd *const node_commands[] = { &cmd_node_set, &cmd_node_label, &cmd_node_show,
						   NULL };

static const struct cmd cmd_node = {
	.name = "node",
	.summary = "number and labels of this node: set, label, show",
	.sub = node_commands,
};

static const struct cmd *const commands[] = {
	&cmd_pool,
	&cmd_node,
	&cmd_ipam_slices,
	&cmd_ipam_blocks,
	&cmd_lease,
	&cmd_ipam_usage,
	&cmd_ipam_who,
	&cmd_ipam_conflicts,
	&cmd_ipam_verify,
	&cmd_ipam_import,
	NULL,
};

const struct cmd cmd_ipam = {
	.name = "ipam",
	.summary = "pools of addresses and their leases",
	.sub = commands,
};
