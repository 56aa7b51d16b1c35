/* SPDX-License-Identifier: Apache-2.0 */
/* repair.c: `railctl attachments repair`: undo what stale attachments left. */
#include <stdio.h>
#include <string.h>

#include "railctl/attachments/attachments.h"
#include "lib/cli/cmd.h"
#include "plugins/rdma/taken.h"
#include "plugins/stale.h"

struct repair {
	const struct cmd_run *run;
	struct json *array;             /* NULL: text, as it goes */
	const struct record_key *one;   /* the only one to repair; NULL: all */
	char container[CNI_ID_MAX + 1]; /* buffer of one->container */
	bool dry_run, force;
	unsigned repaired, healthy, left, broken;
	struct err *e;
	int rc;
};

enum outcome { REPAIRED, WOULD_REPAIR, LEFT_ALONE, FAILED };

static const char *const outcome_names[] = {
	[REPAIRED] = "repaired",
	[WOULD_REPAIR] = "would-repair",
	[LEFT_ALONE] = "left-alone",
	[FAILED] = "failed",
};

static void count_outcome(struct repair *x, enum outcome outcome, enum repair_state state)
{
	if (outcome == REPAIRED || outcome == WOULD_REPAIR)
		x->repaired++;
	else if (state == REPAIR_HEALTHY)
		x->healthy++;
	else
		x->left++;
	/* A record that is in use right now is not broken, nor is what a pod did to its interface.
	 */
	if (outcome == FAILED || outcome == WOULD_REPAIR || state == REPAIR_UNKNOWN ||
	    state == REPAIR_PARTLY_GONE ||
	    (outcome == LEFT_ALONE && repair_needs_force(state) && state != REPAIR_LINK_RENAMED))
		x->broken++;
}

static int repair_report_json(struct repair *x, const struct record *r, const struct repair_view *v,
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

static void report_text(const struct repair *x, const struct record *r, const struct repair_view *v,
			enum outcome outcome, const struct err *why)
{
	static const enum out_style styles[] = {
		[REPAIRED] = OUT_GOOD,
		[WOULD_REPAIR] = OUT_WARN,
		[LEFT_ALONE] = OUT_WARN,
		[FAILED] = OUT_BAD,
	};
	const struct out *o = &x->run->out;
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
	else if (v->state == REPAIR_PARTLY_GONE)
		out_line(o, OUT_PLAIN,
			 "  the pod uses the others, so that --force does not undo it either: "
			 "delete "
			 "the pod to have a new one with all of them");
	else if (outcome == LEFT_ALONE && repair_needs_force(v->state))
		out_line(o, OUT_PLAIN,
			 "  its address may be in use; if you know that it is not: railctl "
			 "attachments repair --force %s %s %s",
			 r->key.network, r->key.container, r->key.ifname);
	else if (outcome == REPAIRED && *ipam)
		out_line(o, OUT_PLAIN, "  its addresses were released by %s", ipam);
	(void)fflush(o->to);
}

static bool would_undo(const struct repair *x, enum repair_state s)
{
	return repair_is_stale(s) || (x->force && repair_needs_force(s));
}

static int repair_or_look(const struct repair *x, const struct ctx *ctx, const struct record *r,
			  struct repair_view *v, struct err *e)
{
	const struct repair_opts how = { .others = stale_restorers, .force = x->force };

	/* Most are healthy: they are reported without taking their lock. */
	if (repair_examine(ctx, r, v, e))
		return -1;
	if (x->dry_run || !would_undo(x, v->state))
		return 0;
	return repair_one(ctx, &r->key, &how, v, e);
}

static int repair_each(const struct ctx *place, const struct record *r, void *arg)
{
	struct repair *x = arg;
	struct repair_view v = { .state = REPAIR_UNKNOWN };
	enum outcome outcome = LEFT_ALONE;
	struct err why;
	int rc;

	if (x->one && (strcmp(r->key.container, x->one->container) != 0 ||
		       strcmp(r->key.ifname, x->one->ifname) != 0))
		return 0;
	rc = repair_or_look(x, place, r, &v, &why);
	if (rc == 0 && v.state == REPAIR_GONE)
		return 0;
	if (rc)
		outcome = FAILED;
	else if (would_undo(x, v.state))
		outcome = x->dry_run ? WOULD_REPAIR : REPAIRED;
	count_outcome(x, outcome, v.state);
	if (x->array)
		return x->rc = repair_report_json(x, r, &v, outcome, rc ? &why : NULL);
	if (v.state != REPAIR_HEALTHY)
		report_text(x, r, &v, outcome, rc ? &why : NULL);
	return 0;
}

/* An interface that came back after the DEL of its attachment: it has no owner. */
static int repair_link(const struct link_info *link, void *arg)
{
	struct repair *x = arg;
	enum outcome outcome = x->dry_run ? WOULD_REPAIR : REPAIRED;
	struct json *o = x->array ? json_push_object(x->array) : NULL;

	if (x->array && (!o || json_add_str(o, "interface", link->name) ||
			 json_add_str(o, "alias", link->alias) ||
			 json_add_str(o, "state", "interface-returned") ||
			 json_add_str(o, "action", outcome_names[outcome])))
		x->rc = err_nomem(x->e);
	count_outcome(x, outcome, REPAIR_LINK_GONE);
	if (!x->array)
		out_line(&x->run->out, x->dry_run ? OUT_WARN : OUT_GOOD,
			 "%s interface %s: it came back from a network namespace that is gone, and "
			 "no attachment has its alias %s",
			 outcome_names[outcome], link->name, link->alias);
	return !x->dry_run && !x->rc;
}

/* The record of an interface, or one of the rdma plugin whose interface has no record. */
static int find_record(struct cmd_run *r, struct record_key *one, char container[CNI_ID_MAX + 1],
		       struct err *e)
{
	struct record_place place;
	struct err why, ignored;

	if (attachments_find(r, &r->ctx, one, container, &why) == 0)
		return 0;
	if (why.code == ERR_NOTFOUND && rdma_place(&r->ctx, &place, &ignored) == 0 &&
	    attachments_find(r, &place.ctx, one, container, &ignored) == 0)
		return 0;
	return err_pass(e, &why);
}

/* The attachment that the command line names. --force is for one attachment only. */
static int choose_attachment(struct cmd_run *r, struct repair *x, struct record_key *one,
			     const char **network, struct err *e)
{
	const char *const *words = r->opts.words;

	if (r->opts.n_words == 0 && x->force)
		return cmd_usage(
			r, e, "--force is for one attachment: give its NETWORK CONTAINER IFNAME");
	if (r->opts.n_words == 0)
		return 0;
	if (r->opts.n_words != 3 || *network)
		return cmd_usage(
			r, e, "give NETWORK CONTAINER IFNAME of one attachment, or none of them%s",
			*network ? ", without --network" : "");
	*one = (struct record_key){ words[0], words[1], words[2] };
	if (find_record(r, one, x->container, e))
		return -1;
	x->one = one;
	*network = one->network;
	return 0;
}

static int repair_run(struct cmd_run *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	struct record_key one;
	struct repair x = {
		.run = r,
		.array = array,
		.dry_run = opt_is_set(&r->opts, "dry-run"),
		.force = opt_is_set(&r->opts, "force"),
		.e = e,
	};
	const char *network;
	int rc;

	if (attachments_network(r, &network, e) || choose_attachment(r, &x, &one, &network, e))
		return -1;
	if (r->out.json && !array)
		return err_nomem(e);
	rc = stale_each(&r->ctx, network, repair_each, &x, e);
	if (rc == 0 && x.rc == 0 && !x.one)
		rc = stale_links(&r->ctx, network, repair_link, &x, e);
	/* What could not be read does not hold the masters: they know their own users. */
	if (!x.dry_run) {
		stale_tidy(&r->ctx);
		stale_masters(&r->ctx);
	}
	if (rc || x.rc)
		return -1;
	if (x.broken)
		r->status = CMD_FAILED;
	if (array)
		return out_json(&r->out, array, e);
	out_line(&r->out, OUT_PLAIN, "%u %s, %u healthy, %u left alone%s", x.repaired,
		 x.dry_run ? "would be repaired" : "repaired", x.healthy, x.left,
		 x.dry_run ? " (dry run: nothing was changed)" : "");
	if (!x.repaired && !x.healthy && !x.left)
		out_none(&r->out, "No attachments", r->ctx.run_dir, "attachments");
	return 0;
}

static const struct opt opts[] = {
	{ "network", "NAME", "only attachments of this network", 0 },
	{ "dry-run", NULL, "change nothing; print the actions", 0 },
	{ "force", NULL, "undo this one attachment although it may be in use", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl attachments repair --dry-run",
	"railctl attachments repair",
	"railctl attachments repair --force rail0-net 4f5e6d net1",
	NULL,
};

const struct cmd cmd_attachments_repair = {
	.name = "repair",
	.words = "[NETWORK CONTAINER IFNAME]",
	.max_words = 3,
	.summary = "remove attachments for which no DEL will come",
	.about = "An attachment is stale in these cases: it is from an earlier boot, its network "
		 "namespace is proved gone, its ADD or DEL did not complete, or its record is "
		 "damaged. The "
		 "command removes the interface, the IPAM plugin releases the addresses, and the "
		 "record is removed. It also removes IPoIB interfaces that the kernel handed back "
		 "to this host after their DEL. While the namespace exists, or may exist, the "
		 "address may be "
		 "in use: such an attachment is reported, and undone only with --force. Run it on "
		 "the host, as root, in the process and mount namespaces of process 1. Exit status "
		 "1: an attachment needs attention.",
	.opts = { opts },
	.examples = examples,
	.run = repair_run,
};
