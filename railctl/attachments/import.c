/* SPDX-License-Identifier: Apache-2.0 */
/* import.c: `railctl attachments import`: take over the attachments of a peer plugin.
 */
#include <stdio.h>

#include "railctl/attachments/attachments.h"
#include "lib/cli/cmd.h"
#include "plugins/rdma/peer.h"
#include "sriov/claim/peer.h"

struct import {
	struct cmd_run *run;
	struct json *array; /* NULL: text, as it goes */
	bool dry_run;
	unsigned done, ours, left;
	struct err *e;
	int rc;
};

/* One attachment of a peer plugin. */
struct item {
	const char *plugin, *network, *container, *ifname, *device, *netns;
};

enum outcome { IMPORTED, WOULD_IMPORT, IS_OURS, LEFT };

static const char *const names[] = { [IMPORTED] = "imported",
				     [WOULD_IMPORT] = "would-import",
				     [IS_OURS] = "is-ours",
				     [LEFT] = "left-alone" };

static int report_item_json(const struct import *x, const struct item *i, enum outcome o,
			    const char *why)
{
	struct json *j = json_push_object(x->array);

	if (!j || json_add_str(j, "plugin", i->plugin) || json_add_str(j, "network", i->network) ||
	    json_add_str(j, "container", i->container) || json_add_str(j, "ifname", i->ifname) ||
	    json_add_str(j, "device", i->device) || json_add_str(j, "netns", i->netns) ||
	    json_add_str(j, "action", names[o]) || json_add_str(j, "why", why))
		return err_nomem(x->e);
	return 0;
}

static int report_item(struct import *x, const struct item *i, int rc, const struct err *why)
{
	static const enum out_style styles[] = { [IMPORTED] = OUT_GOOD,
						 [WOULD_IMPORT] = OUT_WARN,
						 [IS_OURS] = OUT_PLAIN,
						 [LEFT] = OUT_WARN };
	const struct out *o = &x->run->out;
	enum outcome outcome = rc == 0 ? (x->dry_run ? WOULD_IMPORT : IMPORTED)
				       : (why->code == ERR_BUSY ? IS_OURS : LEFT);
	char id[OUT_ID_LEN];

	x->done += outcome == IMPORTED;
	x->ours += outcome == IS_OURS;
	x->left += outcome == LEFT || outcome == WOULD_IMPORT;
	if (outcome == LEFT || outcome == WOULD_IMPORT)
		x->run->status = CMD_FAILED;
	if (x->array)
		return x->rc = report_item_json(x, i, outcome, rc ? why->msg : "");
	out_line(o, styles[outcome], "%s %s %s %s %s (%s)%s%s", names[outcome], i->plugin,
		 *i->network ? i->network : "?", *i->container ? out_id(o, i->container, id) : "?",
		 *i->ifname ? i->ifname : "?", *i->device ? i->device : "?", rc ? ": " : "",
		 rc ? why->msg : "");
	(void)fflush(o->to);
	return 0;
}

static int import_vf(const struct peer *p, void *arg)
{
	struct import *x = arg;
	const struct item i = { "sriov", p->network, p->container, p->ifname, p->vf, p->netns };
	struct err why;
	int rc = 0;

	if (!*p->vf)
		rc = err_set(&why, ERR_STATE, 0, "%s/sriov/%.128s cannot be read as sriov-cni's",
			     x->run->ctx.cni_dir, p->file);
	else if (x->dry_run)
		rc = peer_may_import(&x->run->ctx, p, &why);
	else
		rc = peer_import(&x->run->ctx, p, &why);
	return report_item(x, &i, rc, &why);
}

/* The files of rdma-cni do not name the network namespace. Those of sriov-cni or our records do. */
static void find_netns(const struct ctx *ctx, const struct rdma_peer *p, char out[PATH_MAX])
{
	const struct record_key key = { p->network, p->container, p->ifname };
	auto_record struct record r = { 0 };
	auto_peer struct peer other = { .file = "" };
	struct err ignored;

	out[0] = '\0';
	if (id_valid(p->network) && id_valid(p->container) && !ifname_problem(p->ifname) &&
	    record_read(ctx, &key, &r, &ignored) == 0)
		(void)snprintf(out, PATH_MAX, "%s", r.netns);
	else if (peer_find(ctx, p->container, p->ifname, &other, &ignored) == 0)
		(void)snprintf(out, PATH_MAX, "%s", other.netns);
}

static int import_rdma(const struct rdma_peer *p, void *arg)
{
	struct import *x = arg;
	char netns[PATH_MAX];
	const struct item i = { "rdma", p->network, p->container, p->ifname, p->bus, netns };
	struct err why;
	int rc = 0;

	find_netns(&x->run->ctx, p, netns);
	if (!id_valid(p->network) || !id_valid(p->container) || ifname_problem(p->ifname))
		rc = err_set(&why, ERR_STATE, 0, "it does not say of which attachment it is");
	else if (!x->dry_run)
		rc = rdma_peer_import(&x->run->ctx, p, netns, &why);
	return report_item(x, &i, rc, &why);
}

static int attachments_import_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	struct import x = {
		.run = r, .array = array, .dry_run = opt_is_set(&r->opts, "dry-run"), .e = e
	};

	if (r->out.json && !array)
		return err_nomem(e);
	if (peer_each(&r->ctx, import_vf, &x, e) || x.rc ||
	    rdma_peer_each(&r->ctx, import_rdma, &x, e) || x.rc)
		return -1;
	if (array)
		return out_json(&r->out, array, e);
	out_line(&r->out, OUT_PLAIN, "%u imported, %u are railhead's already, %u left alone%s",
		 x.done, x.ours, x.left, x.dry_run ? " (dry run: nothing was changed)" : "");
	return 0;
}

static const struct opt opts[] = {
	{ "dry-run", NULL, "change nothing; print the attachments", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl attachments import --dry-run",
	"railctl attachments import",
	NULL,
};

const struct cmd cmd_attachments_import = {
	.name = "import",
	.summary = "import the attachments of sriov-cni and rdma-cni",
	.about = "Those plugins keep files in /var/lib/cni/sriov and /var/lib/cni/rdma. The "
		 "attachments of living pods there become attachments of railhead: list, CHECK, GC "
		 "and repair know them afterwards. Without the import DEL also restores their VFs "
		 "and RDMA devices, and none of their VFs is free. The files stay until that DEL. "
		 "Exit status 1: an attachment needs attention.",
	.opts = { opts },
	.examples = examples,
	.run = attachments_import_run,
};
