/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_qos_apply.c: `railctl rdma qos apply`: set QoS at boot as the files in qos.d say. */
#include <stdio.h>
#include <string.h>

#include "railctl/dropin/dropin.h"
#include "railctl/rdma/rdma_qos.h"

struct apply {
	struct dropin_work w;
	struct nl *nl;
};

static void apply_clear(struct apply *a)
{
	dropin_work_clear(&a->w);
}

/* At boot the driver of a card may load after this command starts; its RDMA device comes last. */
static int wait_for(const struct apply *a, const struct qos_file *f, struct qos_port *out,
		    struct err *e)
{
	struct err why;

	for (;;) {
		bool found = qos_find(&a->w.run->ctx, f->pf, out, &why) == 0;

		if (found && (*out->rdma || !(f->want.has & QOS_BIT(QOS_TC))))
			return 0;
		if ((!found && why.code != ERR_NOTFOUND) || !dropin_nap(&a->w.d)) {
			if (found)
				return 0;
			*e = why;
			return -1;
		}
	}
}

static int apply_profile(const struct apply *a, const char *name, struct qos_file *f,
			 unsigned *changed, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = dropin_read(&a->w.d, name, &text, e);
	struct qos_port port;

	if (len < 0 || qos_file_decode(text, (size_t)len, name, f, e))
		return -1;

	const struct qos_work w = { &a->w.run->ctx, a->nl, &port };

	return wait_for(a, f, &port, e) || dropin_claim(&a->w, port.netdev, name, e) ||
			       qos_set(&w, &f->want, changed, e)
		       ? err_wrap(e, "%s", name)
		       : 0;
}

static int report_file_json(const struct apply *a, const char *name, const struct qos_file *f,
			    const char *action, const struct err *why)
{
	struct json *o = json_push_object(a->w.array);

	if (!o || json_add_str(o, "file", name) || json_add_str(o, "action", action) ||
	    (why ? json_add_str(o, "error", why->msg)
		 : json_add_str(o, "pf", f->pf) || qos_add_json(o, &f->want)))
		return -1;
	return 0;
}

static int apply_file(const char *name, void *arg, struct err *e)
{
	struct apply *a = arg;
	struct qos_file f = { .pf = "" };
	struct err why;
	char line[OUT_ERROR_LEN];
	unsigned changed = 0;
	bool failed = apply_profile(a, name, &f, &changed, &why);
	const char *action = failed ? "failed" : changed ? "set" : "left-alone";

	a->w.failed += failed;
	a->w.done += !failed;
	if (a->w.array)
		return report_file_json(a, name, &f, action, failed ? &why : NULL) ? err_nomem(e)
										   : 0;
	out_line(&a->w.run->out, failed ? OUT_BAD : OUT_GOOD, "%s %s%s%s", action,
		 failed ? out_error(&why, line) : name, failed ? "" : ": ", f.pf);
	(void)fflush(a->w.run->out.to);
	return 0;
}

static int apply_run(struct cmd_run *r, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	auto_clean(apply_clear) struct apply a = { .w.d.fd = -1 };

	if (dropin_begin(r, QOS_DIR, &a.w, e) || nl_open(&nl, e))
		return -1;
	a.nl = nl;
	return dropin_each(&a.w.d, apply_file, &a, e) || dropin_end(&a.w, e) ? -1 : 0;
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
		 "status is 1.",
	.opts = { options },
	.examples = examples,
	.run = apply_run,
};
