/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: lines, JSON and exit status of a command that prints findings. */
#include "lib/cli/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct finding_exit statuses = { .fail = CMD_FAILED, .strict = CMD_FAILED };

static const struct finding_key keys[] = {
	{ "check", FINDING_ID, false },        { "code", FINDING_CODE, false },
	{ "subject", FINDING_SUBJECT, false }, { "result", FINDING_STATE, false },
	{ "evidence", FINDING_VALUE, false },  { "consequence", FINDING_REASON, false },
	{ "remedy", FINDING_REMEDY, false },   { NULL, FINDING_ID, false },
};

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Consequence and remedy are alike; the evidence may differ. */
static bool concludes_alike(const struct finding *a, const struct finding *b)
{
	return a->state == b->state && same_text(a->id, b->id) && same_text(a->code, b->code) &&
	       same_text(a->reason, b->reason) && same_text(a->remedy, b->remedy);
}

/* Subjects with the same evidence share a line, and "more" follows: then the conclusion is not
 * said. */
static void check_print_line(const struct out *o, const struct finding *f, const char *subjects,
			     bool more, int width)
{
	struct finding line = *f;

	if (more)
		line.reason = line.remedy = NULL;
	finding_print(o, &line, width, subjects);
}

/* The findings of all rails that conclude alike: a line for each evidence, the conclusion once. */
static void print_group(const struct out *o, const struct findings *all, size_t first,
			bool *printed, int width)
{
	const struct finding *last = &all->item[first];
	char subjects[512];

	(void)snprintf(subjects, sizeof(subjects), "%s", last->subject ? last->subject : "");
	for (size_t i = first + 1; i < all->n; i++) {
		const struct finding *f = &all->item[i];

		if (printed[i] || !concludes_alike(f, last))
			continue;
		const bool same =
			same_text(f->value, last->value) && same_text(f->path, last->path);
		const size_t used = same ? strlen(subjects) : 0;

		if (!same)
			check_print_line(o, last, *subjects ? subjects : NULL, true, width);
		(void)snprintf(subjects + used, sizeof(subjects) - used, "%s%s", same ? ", " : "",
			       f->subject ? f->subject : "");
		last = f;
		printed[i] = true;
	}
	check_print_line(o, last, *subjects ? subjects : NULL, false, width);
}

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

	auto_free bool *printed = calloc(all->n + 1, sizeof(*printed));

	if (!printed)
		return err_nomem(e);
	for (size_t i = 0; i < all->n; i++) {
		if (all->item[i].state == FINDING_OK) {
			if (with_ok)
				finding_print(&r->out, &all->item[i], width, NULL);
		} else if (!printed[i]) {
			print_group(&r->out, all, i, printed, width);
		}
	}
	findings_print_counts(&r->out, all);
	return 0;
}
