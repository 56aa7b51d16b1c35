/* SPDX-License-Identifier: Apache-2.0 */
/* qos_set.c: `railctl rdma qos set`: set QoS of one card now, and save it for boot. */
#include <errno.h>
#include <stdio.h>

#include "lib/sys/fs.h"
#include "lib/cli/dropin.h"
#include "railctl/device/qos.h"

/* ---- what is wanted ---- */

static const struct {
	const char *option;
	enum qos_setting of;
} words[] = {
	{ "trust", QOS_TRUST },
	{ "dscp", QOS_DSCP },
	{ "queues", QOS_PRIORITY_QUEUES },
	{ "bandwidth", QOS_QUEUE_BANDWIDTH },
	{ "priority-buffers", QOS_PRIORITY_BUFFERS },
	{ "buffers", QOS_BUFFER_BYTES },
	{ "pfc", QOS_PFC },
	{ "storm", QOS_STORM },
	{ "ecn", QOS_ECN },
	{ "cnp", QOS_CNP },
	{ "tc", QOS_TC },
};

static int take_words(struct cmd_run *r, struct qos_profile *p, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *text = opt_get(&r->opts, words[i].option);

		if (text && qos_parse(words[i].of, text, p))
			return cmd_usage(r, e, "--%s \"%.64s\" is not %s", words[i].option, text,
					 qos_form(words[i].of));
	}
	return 0;
}

static int qos_set_take_options(struct cmd_run *r, const char **pf, struct qos_profile *p,
				struct err *e)
{
	*pf = opt_get(&r->opts, "pf");
	if (!*pf)
		return cmd_usage(r, e, "say which card: --pf NAME");
	p->lossy = opt_is_set(&r->opts, "lossy");
	if (take_words(r, p, e) || qos_check_profile(p, e))
		return -1;
	if (!p->has && !p->lossy)
		return cmd_usage(r, e, "say what to set: --trust, --pfc, --ecn, --tc and others");
	if (p->lossy && !opt_is_set(&r->opts, "save"))
		return cmd_usage(r, e, "--lossy goes with --save");
	if (opt_is_set(&r->opts, "dir") && !opt_is_set(&r->opts, "save"))
		return cmd_usage(r, e, "--dir goes with --save");
	return 0;
}

/* ---- for the next boot ---- */

static int read_saved(int dir, const char *name, struct qos_file *out, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = fs_read_trusted_at(dir, name, DROPIN_MAX, &text, &why);

	if (len >= 0)
		return qos_file_decode(text, (size_t)len, name, out, e);
	if (why.errnum == ENOENT)
		return 0;
	return err_pass(e, &why);
}

/* Replace the file, because it holds all settings of the card. */
static int save_profile(struct cmd_run *r, const char *pf, const struct qos_profile *p,
			struct err *e)
{
	const char *dir;
	struct qos_file f = { .want = { .has = 0 } };
	char name[PCI_STR_LEN + sizeof(DROPIN_SUFFIX)];

	if (dropin_dir(r, QOS_DIR, &dir, e))
		return -1;
	auto_fd int fd = fs_open_dir(dir, true, e);
	(void)snprintf(name, sizeof(name), "%.*s" DROPIN_SUFFIX, PCI_STR_LEN - 1, pf);
	if (fd < 0 || read_saved(fd, name, &f, e))
		return -1;
	(void)snprintf(f.pf, sizeof(f.pf), "%.*s", PCI_STR_LEN - 1, pf);
	qos_overlay(&f.want, p);
	if (qos_check_profile(&f.want, e))
		return err_wrap(e, "%s", name);

	auto_free char *text = qos_file_print(&f);

	if (!text)
		return err_nomem(e);
	if (fs_replace_at(fd, name, text, true, e))
		return err_wrap(e, "%s", dir);
	if (!r->out.json)
		out_line(&r->out, OUT_GOOD, "saved %s/%s", dir, name);
	return 0;
}

/* ---- what became of it ---- */

static void report_change(const struct cmd_run *r, const struct qos_port *p,
			  const struct qos_profile *want, unsigned changed)
{
	char text[QOS_TEXT_LEN];

	for (unsigned i = 0; i < QOS_CM; i++) {
		unsigned bits = QOS_BIT(i) | (i == QOS_TC ? QOS_BIT(QOS_CM) : 0);

		if (want->has & QOS_BIT(i))
			out_line(&r->out, changed & bits ? OUT_GOOD : OUT_PLAIN, "%s: %s %s%s",
				 p->netdev, qos_name((enum qos_setting)i),
				 qos_text((enum qos_setting)i, want, text),
				 changed & bits ? "" : ", as it was");
	}
}

static int report_change_json(const struct cmd_run *r, const struct qos_port *p,
			      const struct qos_profile *want, unsigned changed, struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *list;

	if (!o || json_add_str(o, "pf", p->netdev) || qos_add_json(o, want))
		return err_nomem(e);
	list = json_add_array(o, "changed");
	for (unsigned i = 0; list && i < QOS_N; i++) {
		if ((changed & QOS_BIT(i)) && json_push_str(list, qos_name((enum qos_setting)i)))
			return err_nomem(e);
	}
	return list ? out_json(&r->out, o, e) : err_nomem(e);
}

static int qos_set_run(struct cmd_run *r, struct err *e)
{
	struct qos_profile want = { .has = 0 };
	auto_nl struct nl *nl = NULL;
	struct qos_port port;
	const char *pf;
	unsigned changed;

	if (qos_set_take_options(r, &pf, &want, e) || qos_find(&r->ctx, pf, &port, e) ||
	    nl_open(&nl, e))
		return -1;

	const struct qos_work w = { &r->ctx, nl, &port };

	if (qos_set(&w, &want, &changed, e))
		return -1;
	if (!r->out.json)
		report_change(r, &port, &want, changed);
	if (opt_is_set(&r->opts, "save") && save_profile(r, pf, &want, e))
		return -1;
	return r->out.json ? report_change_json(r, &port, &want, changed, e) : 0;
}

static const struct opt options[] = {
	{ "pf", "NAME", "the card: an interface or a PCI address", 0 },
	{ "trust", "dscp|pcp", "the source of a packet's priority: its DSCP or its VLAN tag", 0 },
	{ "dscp", "MAP", "priorities of DSCP values, as 26=3,48-55=6; others have none", 0 },
	{ "queues", "LIST", "the queue of each priority, as 0,1,2,3,4,5,6,7", 0 },
	{ "bandwidth", "LIST", "of each queue: a percentage, strict or vendor", 0 },
	{ "priority-buffers", "LIST", "the receive buffer of each priority", 0 },
	{ "buffers", "LIST", "bytes of each receive buffer", 0 },
	{ "pfc", "LIST", "priorities that pause instead of dropping, as 3 or 3,5; none", 0 },
	{ "storm", "TIME", "end of a pause storm: milliseconds, auto, off", 0 },
	{ "ecn", "LIST", "priorities whose congestion is notified; none", 0 },
	{ "cnp", "DSCP/PRIO", "of congestion notifications, as 48/6", 0 },
	{ "tc", "N", "traffic class of programs without a choice, 0 to 255", 0 },
	{ "lossy", NULL, "the fabric has no PFC: with --save, nothing warns of it", 0 },
	{ "save", NULL, "for the next boot too, in a file of " QOS_DIR, 0 },
	{ "dir", "DIR", "folder for --save", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rdma qos set --pf ens3f0 --trust dscp --pfc 3 --ecn 3 --tc 106 --save",
	NULL,
};

const struct cmd rdma_qos_set_cmd = {
	.name = "set",
	.summary = "set the quality of service of a card",
	.about =
		"Either all settings are made or none: if the driver refuses one, the earlier ones "
		"are restored. With trust dscp every eight DSCP values have a priority. DSCP 26 "
		"has priority 3, and its traffic class is 106 (4 * 26, and 2 for ECN). Priorities "
		"that are not in a list lose their setting. The switch needs the same settings.",
	.opts = { options },
	.examples = examples,
	.run = qos_set_run,
};
