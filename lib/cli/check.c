/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: lines, JSON and exit status of a command that prints findings. */
#include "lib/cli/check.h"

static const struct finding_exit statuses = { .fail = CMD_FAILED, .strict = CMD_FAILED };

static const struct finding_key keys[] = {
	{ "check", FINDING_ID, false },        { "code", FINDING_CODE, false },
	{ "subject", FINDING_SUBJECT, false }, { "result", FINDING_STATE, false },
	{ "evidence", FINDING_VALUE, false },  { "consequence", FINDING_REASON, false },
	{ "remedy", FINDING_REMEDY, false },   { NULL, FINDING_ID, false },
};

int check_report(struct cmd_run *r, const struct findings *all, int width, bool with_ok,
		 struct err *e)
{
	r->status =
		finding_exit_status(&statuses, findings_worst(all), opt_is_set(&r->opts, "strict"));
	if (findings_count(all, FINDING_UNKNOWN) == all->n)
		r->status = CMD_FAILED;
	if (r->out.json) {
		auto_json struct json *list = findings_json(all, keys);

		return list ? out_json(&r->out, list, e) : err_nomem(e);
	}
	for (size_t i = 0; i < all->n; i++)
		if (with_ok || all->item[i].state != FINDING_OK)
			finding_print(&r->out, &all->item[i], width, NULL);
	findings_print_counts(&r->out, all);
	return 0;
}
