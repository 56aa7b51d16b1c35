/* SPDX-License-Identifier: Apache-2.0 */
/* qos_apply.c: `railctl rdma qos apply` and `check`: set QoS as the files in qos.d say, or see
 * whether it still is. */
#include <stdio.h>

#include "lib/cli/dropin.h"
#include "railctl/device/qos.h"

struct apply {
	struct dropin_work w;
	struct nl *nl;
	bool only_look;
};

/* The result of one file. */
struct outcome {
	struct qos_file f;
	struct qos_port port;
	unsigned bits;       /* QOS_BIT of settings that were not as wanted */
	struct qos_state is; /* of only_look */
};

static void rdma_apply_clear(struct apply *a)
{
	dropin_work_clear(&a->w);
}

/* At boot the driver of a card may load after this command starts; its RDMA device comes last. */
static int qos_apply_wait_for(const struct apply *a, const struct qos_file *f, struct qos_port *out,
			      struct err *e)
{
	struct err why;

	for (;;) {
		bool found = qos_find(&a->w.run->ctx, f->pf, out, &why) == 0;

		if (found && (*out->rdma || !(f->want.has & QOS_BIT(QOS_TC))))
			return 0;
		if ((!found && why.code != ERR_NOTFOUND) || !dropin_nap(&a->w.d))
			return found ? 0 : err_pass(e, &why);
	}
}

static int look_or_set(const struct apply *a, struct outcome *o, struct err *e)
{
	const struct qos_work w = { &a->w.run->ctx, a->nl, &o->port };

	if (!a->only_look)
		return qos_set(&w, &o->f.want, &o->bits, e);
	if (qos_read(w.ctx, w.nl, w.port, &o->is, e))
		return -1;
	o->bits = qos_differing(&o->is, &o->f.want);
	return 0;
}

static int apply_profile(const struct apply *a, const char *name, struct outcome *o, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = dropin_read(&a->w.d, name, &text, e);

	if (len < 0 || qos_file_decode(text, (size_t)len, name, &o->f, e))
		return -1;
	return qos_apply_wait_for(a, &o->f, &o->port, e) ||
			       dropin_claim(&a->w, o->port.netdev, name, e) || look_or_set(a, o, e)
		       ? err_wrap(e, "%s", name)
		       : 0;
}

/* ---- what became of it ---- */

static const char *word_of(const struct apply *a, const struct outcome *o, bool failed)
{
	if (failed)
		return "failed";
	if (a->only_look)
		return o->bits ? "differs" : "as-wanted";
	return o->bits ? "set" : "left-alone";
}

/* How a card is set; "unknown" with the reason if it does not tell. */
static void qos_apply_describe(const struct outcome *o, enum qos_setting s, char *out, size_t size)
{
	char text[QOS_TEXT_LEN], np[QOS_LIST_LEN], rp[QOS_LIST_LEN];

	if (s == QOS_ECN && (o->is.known & QOS_BIT(s)) && o->is.ecn_np != o->is.ecn_rp)
		(void)snprintf(out, size, "%s to notify and %s to obey", qos_list(o->is.ecn_np, np),
			       qos_list(o->is.ecn_rp, rp));
	else
		(void)snprintf(out, size, "%s", qos_state_text(s, &o->is, text));
}

static int add_differences(struct json *to, const struct outcome *o)
{
	struct json *list = json_add_array(to, "differing");
	char is[QOS_TEXT_LEN + QOS_WHY_LEN], want[QOS_TEXT_LEN];

	for (unsigned i = 0; list && i < QOS_N; i++) {
		struct json *one;

		if (!(o->bits & QOS_BIT(i)))
			continue;
		one = json_push_object(list);
		qos_apply_describe(o, (enum qos_setting)i, is, sizeof(is));
		if (!one || json_add_str(one, "setting", qos_name((enum qos_setting)i)) ||
		    json_add_str(one, "is", is) ||
		    json_add_str(one, "wanted", qos_text((enum qos_setting)i, &o->f.want, want)))
			return -1;
	}
	return list ? 0 : -1;
}

static int report_file_json(const struct apply *a, const char *name, const struct outcome *done,
			    const struct err *why)
{
	struct json *o = json_push_object(a->w.array);

	if (!o || json_add_str(o, "file", name) || json_add_str(o, "action", word_of(a, done, why)))
		return -1;
	if (why)
		return json_add_str(o, "error", why->msg);
	return json_add_str(o, "pf", done->f.pf) || qos_add_json(o, &done->f.want) ||
			       (a->only_look && add_differences(o, done))
		       ? -1
		       : 0;
}

static void print_differences(const struct apply *a, const struct outcome *o)
{
	char is[QOS_TEXT_LEN + QOS_WHY_LEN], want[QOS_TEXT_LEN];

	for (unsigned i = 0; a->only_look && i < QOS_N; i++) {
		if (!(o->bits & QOS_BIT(i)))
			continue;
		qos_apply_describe(o, (enum qos_setting)i, is, sizeof(is));
		out_line(&a->w.run->out, OUT_PLAIN, "  %s is %s, and not %s",
			 qos_name((enum qos_setting)i), is,
			 qos_text((enum qos_setting)i, &o->f.want, want));
	}
}

static int rdma_apply_file(const char *name, void *arg, struct err *e)
{
	struct apply *a = arg;
	struct outcome o = { .bits = 0 };
	struct err why;
	char line[OUT_ERROR_LEN];
	bool failed = apply_profile(a, name, &o, &why), bad = failed || (a->only_look && o.bits);

	a->w.failed += failed;
	a->w.done += !failed;
	if (bad)
		a->w.run->status = CMD_FAILED;
	if (a->w.array)
		return report_file_json(a, name, &o, failed ? &why : NULL) ? err_nomem(e) : 0;
	out_line(&a->w.run->out, bad ? OUT_BAD : OUT_GOOD, "%s %s%s%s", word_of(a, &o, failed),
		 failed ? out_error(&why, line) : name, failed ? "" : ": ", o.f.pf);
	if (!failed)
		print_differences(a, &o);
	(void)fflush(a->w.run->out.to);
	return 0;
}

static int follow_files(struct cmd_run *r, bool only_look, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	auto_clean(rdma_apply_clear) struct apply a = { .w.d.fd = -1, .only_look = only_look };

	if (dropin_begin(r, QOS_DIR, &a.w, e) || nl_open(&nl, e))
		return -1;
	a.nl = nl;
	a.w.check = only_look;
	return dropin_each(&a.w.d, rdma_apply_file, &a, e) || dropin_end(&a.w, e) ? -1 : 0;
}

static int apply_run(struct cmd_run *r, struct err *e)
{
	return follow_files(r, false, e);
}

static int qos_apply_check_run(struct cmd_run *r, struct err *e)
{
	return follow_files(r, true, e);
}

static const struct opt options[] = {
	DROPIN_OPT_DIR(QOS_DIR),
	DROPIN_OPT_WAIT,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl rdma qos apply --wait 30", NULL };

const struct cmd rdma_qos_apply_cmd = {
	.name = "apply",
	.summary = "apply the files of " QOS_DIR,
	.about = "Each file is about one card: {\"pf\": \"ens3f0\", \"trust\": \"dscp\", \"pfc\": "
		 "[3]}; see railhead-qos.d(5). railhead-qos.service runs this at boot. If a file "
		 "is wrong or cannot be applied, the other files are still applied, and the exit "
		 "status is 1. Settings that are as wanted are left alone, so it may run again "
		 "after a driver came back.",
	.opts = { options },
	.examples = examples,
	.run = apply_run,
};

static const struct opt check_options[] = {
	DROPIN_OPT_DIR(QOS_DIR),
	{ NULL, NULL, NULL, 0 },
};

static const char *const check_examples[] = { "railctl rdma qos check || railctl rdma qos apply",
					      NULL };

const struct cmd rdma_qos_check_cmd = {
	.name = "check",
	.summary = "see whether the cards are still set as the files of " QOS_DIR " say",
	.about =
		"A card loses its settings when its driver is bound again, or when its firmware is "
		"reset or updated. DCBX and other tools change them, too. The exit status is 1 if "
		"a card differs, if a file is wrong, or if there is none. Nothing is changed; "
		"railctl rdma qos apply "
		"sets them again.",
	.opts = { check_options },
	.examples = check_examples,
	.run = qos_apply_check_run,
};
