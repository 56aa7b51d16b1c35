/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_check.c: `railctl rdma check`. */
#include <errno.h>
#include <time.h>

#include "railctl/rdma/rdma.h"
#include "railctl/rdma/rdma_pod.h"
#include "rdma/doctor/doctor.h"

static enum out_style style_of(enum finding_state s)
{
	static const enum out_style styles[] = {
		[FINDING_OK] = OUT_GOOD,
		[FINDING_WARN] = OUT_WARN,
		[FINDING_FAIL] = OUT_BAD,
		[FINDING_UNKNOWN] = OUT_FAINT,
	};

	return styles[s];
}

static void show_finding(const struct ctl *r, const struct finding *f)
{
	out_line(&r->out, style_of(f->state), "%-7s  %-13s  %s%s%s", finding_state_name(f->state),
		 f->check, f->subject, *f->subject ? ": " : "", f->evidence);
	if (*f->consequence)
		out_line(&r->out, OUT_PLAIN, "         %-13s  so: %s", "", f->consequence);
	if (*f->remedy)
		out_line(&r->out, OUT_PLAIN, "         %-13s  do: %s", "", f->remedy);
}

static int count_state(const struct findings *all, enum finding_state s)
{
	int n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->finding[i].state == s;
	return n;
}

static int show_findings_json(const struct ctl *r, const struct findings *all, struct err *e)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < all->n; i++) {
		const struct finding *f = &all->finding[i];
		struct json *o = json_push_object(list);

		if (!o || json_add_str(o, "check", f->check) ||
		    (*f->subject && json_add_str(o, "subject", f->subject)) ||
		    json_add_str(o, "result", finding_state_name(f->state)) ||
		    json_add_str(o, "evidence", f->evidence) ||
		    (*f->consequence && json_add_str(o, "consequence", f->consequence)) ||
		    (*f->remedy && json_add_str(o, "remedy", f->remedy)))
			return err_nomem(e);
	}
	return list ? out_json(&r->out, list, e) : err_nomem(e);
}

static int report_findings(struct ctl *r, const struct findings *all, struct err *e)
{
	enum finding_state worst = findings_worst(all);

	if (worst == FINDING_FAIL || (worst != FINDING_OK && opt_is_set(&r->opts, "strict")))
		r->status = CTL_FAILED;
	if (r->out.json)
		return show_findings_json(r, all, e);
	for (size_t i = 0; i < all->n; i++)
		show_finding(r, &all->finding[i]);
	out_line(&r->out, OUT_HEAD, "%d ok, %d warned, %d failed, %d unknown",
		 count_state(all, FINDING_OK), count_state(all, FINDING_WARN),
		 count_state(all, FINDING_FAIL), count_state(all, FINDING_UNKNOWN));
	return 0;
}

static void wait_ms(int64_t ms, void *arg)
{
	struct timespec left = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	(void)arg;
	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

#define INTERVAL_S 1

static int take_interval(struct ctl *r, int64_t *ms, struct err *e)
{
	const char *text = opt_get(&r->opts, "interval");
	uint64_t seconds = INTERVAL_S;

	if (text && parse_u64(text, 0, 3600, &seconds))
		return cmd_usage(r, e, "--interval \"%.64s\" is no number from 0 to 3600", text);
	*ms = (int64_t)seconds * 1000;
	return 0;
}

static int check_run(struct ctl *r, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_rails struct rails rails = { 0 };
	auto_probe_data struct probe_data facts = { 0 };
	auto_findings struct findings found = { 0 };
	struct probe_view view = { .ctx = &r->ctx, .wait = wait_ms };
	char host[RDMA_POD_SYSFS_LEN];
	auto_fd int fd = -1;

	if (take_interval(r, &view.watch_ms, e) || rdma_pod_host_sysfs(r, &fd, host, e))
		return -1;
	view.host_sysfs = *host ? host : NULL;
	if (rdma_pod_read(r, &view.pid, &v, e) || rails_find(&v, &rails, e) ||
	    probe_data_read(&view, &v, &rails, &facts, e) || doctor_examine(&facts, &found, e))
		return -1;
	return report_findings(r, &found, e);
}

static const struct opt options[] = {
	RDMA_OPT_NETNS,
	{ "interval", "SECONDS", "how long counters are watched; default 1, 0: read once", 0 },
	{ "strict", NULL, "exit status 1 also when a finding is a warning or unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rdma check",
	"railctl rdma check --netns /run/netns/pod1 --json",
	"railctl rdma check --interval 3",
	NULL,
};

const struct cmd rdma_check_cmd = {
	.name = "check",
	.summary = "find errors of RDMA in a pod, and say what to do",
	.about = "Each line is ok, warn, fail or unknown, with the evidence, the effect (so) and "
		 "the remedy (do). The exit status is 1 when a check fails. Counters are read "
		 "twice, and their difference is judged. The command sees most in the pod. On the "
		 "host, use --netns /proc/PID/ns/net of a process of the pod: then it also sees "
		 "the character devices and limits of that process.",
	.opts = options,
	.examples = examples,
	.run = check_run,
};
