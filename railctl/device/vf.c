/* SPDX-License-Identifier: Apache-2.0 */
/* vf.c: the group `railctl vf`, and the report on each VF that its commands share. */
#include "railctl/device/vf.h"

#include <stdio.h>

static void vf_print_line(void *arg, const char *line)
{
	const struct cmd_run *r = arg;

	out_line(&r->out, OUT_PLAIN, "%s", line);
	(void)fflush(r->out.to);
}

struct manager ctl_manager(struct cmd_run *r, struct nl *nl)
{
	return (struct manager){ &r->ctx, nl, r->out.json ? NULL : vf_print_line, r };
}

int ctl_vf(struct cmd_run *r, const char *word, char out[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(word, &a) == 0) {
		pci_format(a, out);
		return 0;
	}
	if (pci_of_netdev(r->ctx.sysfs, word, out, e) == 0)
		return 0;
	err_hint(e, "name a VF by its PCI address or its interface: \"railctl vf list\"");
	return err_wrap(e, "VF \"%.64s\"", word);
}

int ctl_count(struct cmd_run *r, uint32_t *out, struct err *e)
{
	const char *text = opt_get(&r->opts, "count");
	uint64_t n;

	if (!text)
		return cmd_usage(r, e, "say how many VFs: --count N");
	if (parse_u64(text, 0, 65535, &n))
		return cmd_usage(r, e, "--count \"%.64s\" is not a number from 0 to 65535", text);
	*out = (uint32_t)n;
	return 0;
}

/* ---- the report on each VF ---- */

enum word { DONE, WOULD, WELL, LEFT, FAILED };

static enum word outcome_word(struct vf_work *w, const struct vf_report *report,
			      const struct err *why)
{
	if (why) {
		w->failed++;
		return FAILED;
	}
	switch (report->outcome) {
	case VF_WAS_HEALTHY:
		w->well++;
		return WELL;
	case VF_REPAIRED:
		w->done++;
		return DONE;
	case VF_WOULD_REPAIR:
		w->left++;
		return WOULD;
	case VF_SKIPPED:
		w->left++;
		return LEFT;
	}
	return FAILED;
}

static int vf_report_json(const struct vf_work *w, const char *vf, const char *action,
			  const char *text, struct err *e)
{
	struct json *o = json_push_object(w->array);

	if (!o || json_add_str(o, "pciAddress", vf) || json_add_str(o, "action", action) ||
	    json_add_str(o, "why", text))
		return err_nomem(e);
	return 0;
}

int vf_work_report(struct vf_work *w, const char *vf, const struct vf_report *report,
		   const struct err *why, struct err *e)
{
	static const enum out_style styles[] = {
		[DONE] = OUT_GOOD,  [WOULD] = OUT_WARN, [WELL] = OUT_PLAIN,
		[LEFT] = OUT_PLAIN, [FAILED] = OUT_BAD,
	};
	const struct out *o = &w->run->out;
	enum word word = outcome_word(w, report, why);
	const char *text = why ? why->msg : report->why;
	char action[32], line[OUT_ERROR_LEN];

	if (word == DONE || word == WOULD)
		(void)snprintf(action, sizeof(action), "%s%s", word == WOULD ? "would-be-" : "",
			       w->verb);
	else
		(void)snprintf(action, sizeof(action), "%s",
			       word == WELL   ? "well"
			       : word == LEFT ? "left-alone"
					      : "failed");
	if (word == FAILED || word == WOULD || (word == LEFT && w->named))
		w->run->status = CMD_FAILED;
	if (w->array)
		return vf_report_json(w, vf, action, text, e);
	if (why)
		text = out_error(why, line);
	if (word != WELL || w->named)
		out_line(o, styles[word], "%s %s%s%s", action, vf, *text ? ": " : "", text);
	(void)fflush(o->to);
	return 0;
}

int vf_work_end(struct vf_work *w, struct err *e)
{
	if (w->array)
		return out_json(&w->run->out, w->array, e);
	out_line(&w->run->out, OUT_PLAIN, "%u %s, %u well, %u left alone, %u failed%s", w->done,
		 w->verb, w->well, w->left, w->failed,
		 opt_is_set(&w->run->opts, "dry-run") ? " (dry run: nothing was changed)" : "");
	return 0;
}

static const struct cmd *const commands[] = {
	&cmd_vf_list,  &cmd_vf_create, &cmd_vf_bind, &cmd_vf_repair,
	&cmd_vf_adopt, &cmd_vf_apply,  NULL,
};

const struct cmd cmd_vf = {
	.name = "vf",
	.summary = "virtual functions of SR-IOV NICs: list, create, apply, bind, repair, adopt",
	.sub = commands,
};
