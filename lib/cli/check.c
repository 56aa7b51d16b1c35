/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: lines, JSON and exit status of a command that prints findings. */
#include "lib/cli/check.h"

int check_report(struct cmd_run *r, const struct findings *all, int width, unsigned flags,
		 struct err *e)
{
	enum finding_state worst = findings_worst(all);

	if (worst == FINDING_FAIL || (worst != FINDING_OK && opt_is_set(&r->opts, "strict")) ||
	    (all->n && findings_count(all, FINDING_UNKNOWN) == all->n))
		r->status = CMD_FAILED;
	if (r->out.json) {
		auto_json struct json *o = findings_json(all, "findings");

		return o ? out_json(&r->out, o, e) : err_nomem(e);
	}
	findings_print(&r->out, all, width, flags);
	findings_print_counts(&r->out, all);
	return 0;
}
