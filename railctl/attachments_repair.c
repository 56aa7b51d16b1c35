/* SPDX-License-Identifier: Apache-2.0 */
/* attachments_repair.c: `railctl attachments repair`. */
#include <stdio.h>

#include "railctl/attachments.h"
#include "railctl/cmd.h"
#include "rdma/restore.h"
#include "sriov/restore.h"

struct repair {
	const struct rail *rail;
	const struct ctx *ctx; /* whose records */
	struct json *array;    /* NULL: text, as it goes */
	bool dry_run;
	unsigned repaired, healthy, left, broken;
	struct err *e;
	int rc;
};

/* Plugins that move devices know how to bring them back. */
static const struct attach_restorer restorers[] = { { "sriov", sriov_restore },
						    { "rdma", rdma_restore_placed },
						    { 0 } };

enum outcome { REPAIRED, WOULD_REPAIR, LEFT_ALONE, FAILED };

static const char *const outcome_names[] = {
	[REPAIRED] = "repaired",
	[WOULD_REPAIR] = "would-repair",
	[LEFT_ALONE] = "left-alone",
	[FAILED] = "failed",
};

static void count(struct repair *x, enum outcome outcome, enum repair_state state)
{
	if (outcome == REPAIRED)
		x->repaired++;
	else if (state == REPAIR_HEALTHY)
		x->healthy++;
	else
		x->left++;
	/* A record that is in use right now is not broken. */
	if (outcome == FAILED || outcome == WOULD_REPAIR || state == REPAIR_UNKNOWN)
		x->broken++;
}

static int tell_json(struct repair *x, const struct record *r, const struct repair_view *v,
		     enum outcome outcome, const struct err *why)
{
	struct json *o = json_push_object(x->array);

	if (attachments_add_json(o, r, v, x->e))
		return -1;
	if (json_add_str(o, "action", outcome_names[outcome]) ||
	    (why && json_add_str(o, "error", why->msg)))
		return err_nomem(x->e);
	return 0;
}

static void tell_text(const struct repair *x, const struct record *r, const struct repair_view *v,
		      enum outcome outcome, const struct err *why)
{
	static const enum out_style styles[] = {
		[REPAIRED] = OUT_GOOD,
		[WOULD_REPAIR] = OUT_WARN,
		[LEFT_ALONE] = OUT_WARN,
		[FAILED] = OUT_BAD,
	};
	const struct out *o = &x->rail->out;
	const char *ipam = r->tree ? repair_ipam_type(r) : "";
	char id[OUT_ID_LEN], line[OUT_ERROR_LEN];

	out_line(o, styles[outcome], "%s %s %s %s: %s", outcome_names[outcome], r->key.network,
		 out_id(o, r->key.container, id), r->key.ifname, v->why);
	if (why)
		out_line(o, OUT_PLAIN, "  %s", out_error(why, line));
	else if (v->state == REPAIR_DAMAGED)
		out_line(o, OUT_PLAIN,
			 "  only the record %s: its address, if it has one, stays "
			 "leased until DEL or \"railctl ipam lease release\"",
			 outcome == REPAIRED ? "was removed" : "would be removed");
	else if (outcome == REPAIRED && *ipam)
		out_line(o, OUT_PLAIN, "  its addresses were released by %s", ipam);
	(void)fflush(o->to);
}

static int repair_or_look(const struct repair *x, const struct record *r, struct repair_view *v,
			  struct err *e)
{
	const struct ctx *ctx = x->ctx;

	/* Most are healthy: those are told without taking their lock. */
	if (repair_look(ctx, r, v, e))
		return -1;
	if (x->dry_run || !repair_is_stale(v->state))
		return 0;
	return repair_one(ctx, &r->key, restorers, v, e);
}

static int repair_each(const struct record *r, void *arg)
{
	struct repair *x = arg;
	struct repair_view v = { .state = REPAIR_UNKNOWN };
	enum outcome outcome = LEFT_ALONE;
	struct err why;
	int rc = repair_or_look(x, r, &v, &why);

	if (rc == 0 && v.state == REPAIR_GONE)
		return 0;
	if (rc)
		outcome = FAILED;
	else if (repair_is_stale(v.state))
		outcome = x->dry_run ? WOULD_REPAIR : REPAIRED;
	count(x, outcome, v.state);
	if (x->array)
		return x->rc = tell_json(x, r, &v, outcome, rc ? &why : NULL);
	if (v.state != REPAIR_HEALTHY)
		tell_text(x, r, &v, outcome, rc ? &why : NULL);
	return 0;
}

/* As DEL goes through a chain: what was done last is undone first. */
static int repair_all(struct repair *x, const char *network, struct err *e)
{
	struct rdma_place place;

	if (rdma_place(&x->rail->ctx, &place, e))
		return -1;
	const struct ctx *const each[] = { &place.ctx, &x->rail->ctx };
	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		x->ctx = each[i];
		if (record_each(x->ctx, network, repair_each, x, e) || x->rc)
			return -1;
		if (!x->dry_run)
			record_tidy(x->ctx);
	}
	return 0;
}

static int repair(struct rail *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	struct repair x = {
		.rail = r, .array = array, .dry_run = opt_is_set(&r->opts, "dry-run"), .e = e
	};
	const char *network;

	if (attachments_network(r, &network, e))
		return -1;
	if (r->out.json && !array)
		return err_nomem(e);
	if (repair_all(&x, network, e))
		return -1;
	if (x.broken)
		r->status = RAIL_FAILED;
	if (array)
		return out_json(&r->out, array, e);
	out_line(&r->out, OUT_PLAIN, "%u repaired, %u healthy, %u left alone%s", x.repaired,
		 x.healthy, x.left, x.dry_run ? " (dry run: nothing was changed)" : "");
	return 0;
}

static const struct opt opts[] = {
	{ "network", "NAME", "only those of this network", 0 },
	{ "dry-run", NULL, "change nothing, only say what would be done", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl attachments repair --dry-run",
	"railctl attachments repair",
	NULL,
};

const struct cmd cmd_attachments_repair = {
	.name = "repair",
	.summary = "clean up attachments that no DEL will come for",
	.about =
		"An attachment is stale when its network namespace or its boot has gone, when its "
		"interface has gone from a living namespace, when its ADD was killed before it was "
		"done, or when its record is damaged. What is left of it is undone, its addresses "
		"are "
		"released by the IPAM that gave them, and its record is removed. Healthy "
		"attachments, and "
		"those that a plugin works on, are never touched. Exit status 1: something is "
		"left that "
		"needs a look.",
	.opts = opts,
	.examples = examples,
	.run = repair,
};
