// SPDX-License-Identifier: Apache-2.0
/* findings.c: findings as lines, and the exit status that follows from them. */
#include <stdio.h>
#include <string.h>

#include "railctl/topo/topo.h"

/* 1 and 2 are CMD_FAILED and CMD_USAGE. */
static const struct finding_exit statuses = { .fail = 4, .warn = 3, .strict = 3 };

int topo_status(enum finding_state worst, bool strict)
{
	return finding_exit_status(&statuses, worst, strict);
}

/* ---- lines ---- */

#define LINE_LEN 1200
#define NAME_LEN 100 /* bytes that one more subject may need */
#define ID_WIDTH 16

static bool findings_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Findings with the same reason and remedy become one entry. */
static bool is_same_finding(const struct finding *a, const struct finding *b)
{
	return a->state == b->state && !strcmp(a->id, b->id) &&
	       findings_same_text(a->value, b->value) && findings_same_text(a->reason, b->reason) &&
	       findings_same_text(a->remedy, b->remedy);
}

static bool is_first(const struct findings *all, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_same_finding(&all->item[i], &all->item[at]))
			return false;
	return true;
}

/* The subjects of all findings in one entry: "GPU 0 mlx5_0, GPU 1 mlx5_1". */
static void put_subjects(const struct findings *all, size_t first, char line[LINE_LEN])
{
	size_t len = 0;

	*line = '\0';
	for (size_t i = first; i < all->n; i++) {
		const char *subject = all->item[i].subject;

		if (!is_same_finding(&all->item[i], &all->item[first]))
			continue;
		if (len > LINE_LEN - NAME_LEN) {
			(void)snprintf(line + len, LINE_LEN - len, ", ...");
			break;
		}
		len += (size_t)snprintf(line + len, LINE_LEN - len, "%s%.90s", len ? ", " : "",
					subject ? subject : "");
	}
}

void topo_show_findings(const struct cmd_run *r, const struct findings *all, bool each)
{
	char line[LINE_LEN];

	for (size_t i = 0; i < all->n; i++) {
		if (each) {
			finding_print(&r->out, &all->item[i], ID_WIDTH, NULL);
		} else if (is_first(all, i)) {
			put_subjects(all, i, line);
			finding_print(&r->out, &all->item[i], ID_WIDTH, line);
		}
	}
}

/* ---- JSON ---- */

static const struct finding_key keys[] = {
	{ "check", FINDING_ID, false },
	{ "state", FINDING_STATE, false },
	{ "subject", FINDING_SUBJECT, true },
	{ "value", FINDING_VALUE, true },
	{ "consequence", FINDING_REASON, true },
	{ "remedy", FINDING_REMEDY, true },
	{ NULL, 0, false },
};

struct json *topo_differences_json(const struct findings *all, const char *key)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(findings_worst(all))) ||
	    json_put(o, key, findings_json(all, keys)))
		return NULL;
	return TAKE_PTR(o);
}
