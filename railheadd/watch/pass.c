/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.c: looks at every record of an attachment and at every entry of a VF. The functions that
 * railctl uses look once more under the lock, and undo the ones that are due. Removals from
 * partitions that failed are tried again. The settings of pods with a claim are written again.
 */
#include "railheadd/watch/pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric/sm.h"
#include "lib/base/hash.h"
#include "lib/sys/fs.h"
#include "railheadd/watch/leftover.h"
#include "railheadd/watch/verdict.h"
#include "plugins/prepared/prepared.h"
#include "plugins/stale.h"

#define BUSY_LOOKS    5
#define BUSY_PAUSE_NS 20000000
#define PARTITIONS_MS 60000

struct pass {
	struct ctx ctx;
	const struct waiting_due *due;
	struct nl *nl; /* for VFs */
};

static void pass_tell(const struct leftover *f)
{
	auto_free char *line = leftover_print(f);

	if (line)
		(void)fputs(line, stdout);
	(void)fflush(stdout);
}

/* ---- attachments ---- */

struct pod_text {
	char name[384], uid[64];
};

/* Only for people: a pod whose names cannot be read has none. */
static void pass_pod_of(const struct record *r, struct pod_text *out)
{
	const struct cni_pod pod = r->tree ? cni_args_pod(r->args) : (struct cni_pod){ .ns = "" };
	struct err ignored;

	out->name[0] = '\0';
	if (!r->tree ||
	    cni_args_get(r->args, "K8S_POD_UID", out->uid, sizeof(out->uid), &ignored) != 1)
		out->uid[0] = '\0';
	if (*pod.ns || *pod.name)
		(void)snprintf(out->name, sizeof(out->name), "%s/%s", pod.ns, pod.name);
}

/* False: nothing to report, because an ADD or DEL was quicker. */
static bool repair_record(const struct ctx *place, const struct record *r, struct leftover *f,
			  struct repair_view *v, struct err *why)
{
	const struct repair_opts how = { .others = stale_restorers, .mark = record_mark(r) };

	if (repair_one(place, &r->key, &how, v, why)) {
		f->outcome = LEFTOVER_FAILED;
		f->why = why->msg;
		return true;
	}
	f->outcome = LEFTOVER_REPAIRED;
	f->state = repair_state_name(v->state);
	return repair_is_stale(v->state);
}

/*
 * `railctl attachments list` has the lock of a stale attachment for a moment, a DEL for longer. An
 * attachment that is busy in one pass begins its grace period again in the next one.
 */
static int pass_examine(const struct ctx *place, const struct record *r, struct repair_view *v,
			struct err *why)
{
	const struct timespec pause = { .tv_nsec = BUSY_PAUSE_NS };
	int rc = repair_examine(place, r, v, why);

	for (int i = 0; rc == 0 && v->state == REPAIR_BUSY && i < BUSY_LOOKS; i++) {
		(void)nanosleep(&pause, NULL);
		rc = repair_examine(place, r, v, why);
	}
	return rc;
}

static int pass_look_at_record(const struct ctx *place, const struct record *r, void *arg)
{
	const struct pass *p = arg;
	struct repair_view v;
	char what[512], mark[17];
	struct pod_text pod;
	struct err why;

	/* A record that cannot be looked at now must not hide the others. */
	if (pass_examine(place, r, &v, &why)) {
		v.state = REPAIR_UNKNOWN;
		(void)snprintf(v.why, sizeof(v.why), "%.300s", why.msg);
	}
	const enum verdict verdict = verdict_of(v.state);
	struct leftover f = { .kind = place == &p->ctx ? LEFTOVER_ATTACHMENT : LEFTOVER_RDMA,
			      .outcome = verdict == VERDICT_STALE ? LEFTOVER_STALE : LEFTOVER_ALONE,
			      .what = what,
			      .mark = mark,
			      .state = repair_state_name(v.state),
			      .why = v.why,
			      .pod = pod.name,
			      .uid = pod.uid };

	if (verdict == VERDICT_NONE)
		return 0;
	(void)snprintf(what, sizeof(what), "%s %s %s", r->key.network, r->key.container,
		       r->key.ifname);
	(void)snprintf(mark, sizeof(mark), "%016" PRIx64, r->tree ? record_mark(r) : 0);
	pass_pod_of(r, &pod);
	if (verdict == VERDICT_STALE && waiting_is_due(p->due, &f) &&
	    !repair_record(place, r, &f, &v, &why))
		return 0;
	pass_tell(&f);
	return 0;
}

/* ---- interfaces that came back after the DEL of their attachment ---- */

static int pass_look_at_link(const struct link_info *link, void *arg)
{
	const struct pass *p = arg;
	const uint64_t number = hash_add_text((uint64_t)link->ifindex, link->alias);
	char mark[17];
	struct leftover f = { .kind = LEFTOVER_ATTACHMENT,
			      .outcome = LEFTOVER_STALE,
			      .what = link->alias,
			      .mark = mark,
			      .state = "interface-returned",
			      .why = "it came back from a network namespace that is gone",
			      .pod = "",
			      .uid = "" };

	(void)snprintf(mark, sizeof(mark), "%016" PRIx64, number);
	if (waiting_is_due(p->due, &f))
		f.outcome = LEFTOVER_REPAIRED;
	pass_tell(&f);
	return f.outcome == LEFTOVER_REPAIRED;
}

/* ---- VFs ---- */

static uint64_t mark_of_vf(const struct vf_entry *x)
{
	const struct record r = { .key = x->owner.key,
				  .plugin = "",
				  .kind = "",
				  .netns = "",
				  .netns_id = x->owner.netns_id,
				  .master = "",
				  .cni_path = "",
				  .args = "",
				  .created = (int64_t)(x->life & INT64_MAX) };

	return x->owned ? record_mark(&r) : x->life;
}

static int look_at_vf(const struct vf_entry *x, void *arg)
{
	const struct pass *p = arg;
	const struct manager m = { .ctx = &p->ctx, .nl = p->nl };
	struct vf_report r = { .outcome = VF_WAS_HEALTHY };
	char mark[17];
	struct err why;

	if (*x->boot && manager_gc(&m, x->vf, true, &r, &why))
		return 0; /* a plugin has its lock; the next pass sees it again */
	const enum verdict verdict = verdict_of_vf(x, &r);
	struct leftover f = { .kind = LEFTOVER_VF,
			      .outcome = verdict == VERDICT_STALE ? LEFTOVER_STALE : LEFTOVER_ALONE,
			      .what = x->vf,
			      .mark = mark,
			      .state = *x->boot ? "owner-gone" : "damaged",
			      .why = *x->boot ? r.why : "its entry is damaged: railctl vf repair",
			      .pod = "",
			      .uid = "" };

	if (verdict == VERDICT_NONE)
		return 0;
	(void)snprintf(mark, sizeof(mark), "%016" PRIx64, mark_of_vf(x));
	if (verdict == VERDICT_STALE && waiting_is_due(p->due, &f)) {
		f.outcome = LEFTOVER_REPAIRED;
		if (manager_gc(&m, x->vf, false, &r, &why)) {
			f.outcome = LEFTOVER_FAILED;
			f.why = why.msg;
		} else if (r.outcome != VF_REPAIRED) {
			return 0;
		}
	}
	pass_tell(&f);
	return 0;
}

/* ---- memberships of partitions ---- */

static void tell_partition(const struct sm_entry *x, const struct err *why, void *arg)
{
	const struct sm_who *who = &x->member.who;
	char what[PKEY_STR_LEN + GUID_STR_LEN], mark[17], pod[384] = "";
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN];
	const struct leftover f = { .kind = LEFTOVER_PARTITION,
				    .outcome = why ? LEFTOVER_FAILED : LEFTOVER_REPAIRED,
				    .what = what,
				    .mark = mark,
				    .state = "leaving",
				    .why = why ? why->msg : "its removal had failed before",
				    .pod = pod,
				    .uid = "" };

	(void)arg;
	/* A node without hooks: they were removed, or this container does not see them. */
	if (why && why->code == ERR_NOTFOUND)
		return;
	(void)snprintf(what, sizeof(what), "%s %s", pkey_format(x->member.pkey, pkey),
		       guid_format(x->member.guid, guid));
	(void)snprintf(mark, sizeof(mark), "%016" PRIx64, (uint64_t)x->since);
	if (who->pod_namespace && who->pod_name)
		(void)snprintf(pod, sizeof(pod), "%.63s/%.253s", who->pod_namespace, who->pod_name);
	pass_tell(&f);
}

/* ---- all ---- */

static int look_at_records(struct pass *p, struct err *e)
{
	return stale_each(&p->ctx, NULL, pass_look_at_record, p, e);
}

static int look_at_links(struct pass *p, struct err *e)
{
	return stale_links(&p->ctx, NULL, pass_look_at_link, p, e);
}

static int remove_masters(struct pass *p, struct err *e)
{
	(void)e;
	if (waiting_any_due(p->due))
		stale_tidy(&p->ctx);
	stale_masters(&p->ctx);
	return 0;
}

static int refresh_settings(struct pass *p, struct err *e)
{
	return prepared_refresh(&p->ctx, e);
}

static int look_at_vfs(struct pass *p, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	if (nl_open(&nl, e))
		return -1;
	p->nl = nl;
	return vf_state_each(&p->ctx, look_at_vf, p, e);
}

static int retry_partitions(struct pass *p, struct err *e)
{
	return sm_retry(&p->ctx, (struct sm_budget){ PARTITIONS_MS, true }, tell_partition, NULL,
			e);
}

/* A folder that cannot be read must not hold what is in others: all are tried, and the first error
 * counts. */
static int pass_run(struct pass *p, struct err *e)
{
	static int (*const steps[])(struct pass * p, struct err * e) = {
		look_at_records, look_at_links, remove_masters, look_at_vfs, refresh_settings,
		/* the last one, because a subnet manager that is away takes all of its time */
		retry_partitions
	};
	struct err why;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i](p, &why) && rc == 0) {
			*e = why;
			rc = -1;
		}
	return rc;
}

int pass_main(const struct waiting_due *due)
{
	struct pass p = { .due = due };
	struct err e;

	ctx_init(&p.ctx, "railheadd");
	if (pass_run(&p, &e)) {
		log_error(&p.ctx.log, "repair: %s%s%s", e.msg, *e.detail ? ": " : "", e.detail);
		return 1;
	}
	pass_tell(&(struct leftover){ LEFTOVER_END, LEFTOVER_ALONE, "", "", "", "", "", "" });
	return 0;
}
