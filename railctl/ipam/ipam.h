/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.h: what the files of `railctl ipam` share. */
#ifndef RAILHEAD_RAILCTL_IPAM_IPAM_H
#define RAILHEAD_RAILCTL_IPAM_IPAM_H

#include "ipam/admin/admin.h"
#include "lib/cli/finding.h"
#include "lib/cli/list.h"

/* What railctl has beside a run of a command: cmd_run.own. */
struct ctl {
	const char *data_dir; /* --data-dir; NULL: the usual store. Borrowed */
};

extern const struct cmd cmd_ipam;
extern const struct cmd cmd_ipam_blocks, cmd_ipam_conflicts, cmd_ipam_import, cmd_ipam_slices,
	cmd_ipam_usage, cmd_ipam_verify, cmd_ipam_who;
extern const struct cmd cmd_lease_list, cmd_lease_release;
extern const struct cmd cmd_node_set, cmd_node_label, cmd_node_show, cmd_pool_apply,
	cmd_pool_import;
extern const struct cmd cmd_pool_add, cmd_pool_set, cmd_pool_list, cmd_pool_show, cmd_pool_delete;

/*
 * ctl_open_ipam - open the store of --data-dir, or the usual one; ipam_close() closes it. create:
 * make it if it does not exist. Returns 1, with *out unchanged, if it does not exist.
 */
int ctl_open_ipam(struct cmd_run *r, bool create, struct ipam *out, struct err *e) must_check;

/*
 * ctl_pools - the pools as admin_pools() describes them, or the one called name. A store that does
 * not exist has no pools. The caller owns *out.
 */
int ctl_pools(struct cmd_run *r, const char *name, struct json **out, struct err *e) must_check;

/* The line for a pool with slices on a node without a number. */
#define CTL_NO_NUMBER                                                                              \
	"This node has no number, so no address of it is assigned here yet: `railctl ipam node "   \
	"set NUMBER`."

/* ctl_no_pool - the error for a pool on a node that has no store. Returns -1. */
int ctl_no_pool(const char *name, struct err *e);

/* ctl_none - as out_none(), for a list of the store. */
void ctl_none(const struct cmd_run *r, const char *what);

/* ctl_no_store - the error of a check that has no store to look at. Returns -1. */
int ctl_no_store(const struct cmd_run *r, struct err *e);

/*
 * verify_find - the findings of `railctl ipam verify`, which repairs nothing here. conflicts_find -
 * those of `railctl ipam conflicts`. 1: there is no store to look at, as e says.
 */
int verify_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;
int conflicts_find(struct cmd_run *r, struct findings *out, struct err *e) must_check;

/* ctl_share - how full a pool of admin_pools() is, 0 to 1; negative if its size is not known. */
double ctl_share(const struct json *pool);

/* ctl_capacity - the number of its addresses, or "?". */
struct out_cell ctl_capacity(const struct cmd_run *r, const struct json *pool,
			     char buf[LIST_TEXT_LEN]);

/* ctl_gauge - "[###.....]  12%" of this width on a terminal, else "12%". */
struct out_cell ctl_gauge(const struct cmd_run *r, double share, unsigned width,
			  char buf[LIST_TEXT_LEN]);

/* ctl_show_rows - print a list as JSON, or as a table. `none`, and a period, is the line for an
 * empty list. */
int ctl_show_rows(const struct cmd_run *r, const struct list_column *columns,
		  const struct json *list, const char *none, struct err *e) must_check;

#endif
