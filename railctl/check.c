/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: `railctl check`: all diagnoses of this node, one after the other. */
#include "railctl/check.h"

#include <stdio.h>
#include <string.h>

#include "railctl/attachments/rails.h"
#include "railctl/cluster/cluster.h"
#include "railctl/device/rdma.h"
#include "railctl/ipam/ipam.h"
#include "railctl/topo/topo.h"

#define ID_WIDTH 14

static int find_rails(struct cmd_run *r, struct findings *out, struct err *e)
{
	int rc = rails_check_find(r, out, e);

	if (rc || out->n != 1 || strcmp(out->item[0].code, "namespace-empty") != 0)
		return rc;
	err_set(e, ERR_NOTFOUND, 0, "%s", out->item[0].value);
	findings_clear(out);
	return 1;
}

/* find returns 1 if there is nothing to check here; then e says why. */
static const struct {
	const char *name;
	int (*find)(struct cmd_run *r, struct findings *out, struct err *e);
} diagnosis[DIAGNOSES] = {
	{ "cluster status", cluster_status_find }, { "ipam verify", verify_find },
	{ "ipam conflicts", conflicts_find },      { "rails check", find_rails },
	{ "rdma check", rdma_check_find },         { "topo check", topo_check_find },
	{ "cluster fabric", cluster_fabric_find },
};

static void add_not_done(struct diagnosis *d, const struct err *why)
{
	struct finding *f = findings_add(&d->found, "check", FINDING_UNKNOWN);
	char text[OUT_ERROR_LEN];

	f->code = "not-done";
	finding_set_subject(f, "%s", d->name);
	finding_set_value(f, "%s", out_error(why, text));
	finding_set_reason(f, "this diagnosis could not be done");
	finding_set_remedy(f, "railctl %s", d->name);
}

int diagnoses_run(struct cmd_run *r, struct diagnoses *d, struct err *e)
{
	for (size_t i = 0; i < DIAGNOSES; i++) {
		struct diagnosis *one = &d->of[i];
		struct err why = { 0 };
		int rc = diagnosis[i].find(r, &one->found, &why);

		one->name = diagnosis[i].name;
		if (rc < 0 && why.code == ERR_NOMEM)
			return err_pass(e, &why);
		if (rc > 0)
			(void)snprintf(one->none, sizeof(one->none), "%s", why.msg);
		if (rc < 0)
			add_not_done(one, &why);
		if (findings_check(&one->found, e) || findings_sort(&one->found, e))
			return -1;
	}
	return 0;
}

void diagnoses_clear(struct diagnoses *d)
{
	for (size_t i = 0; i < DIAGNOSES; i++)
		findings_clear(&d->of[i].found);
}

size_t diagnoses_count(const struct diagnoses *d, enum finding_state s)
{
	size_t n = 0;

	for (size_t i = 0; i < DIAGNOSES; i++)
		n += findings_count(&d->of[i].found, s);
	return n;
}

enum finding_state diagnoses_state(const struct diagnoses *d)
{
	enum finding_state worst = FINDING_OK;
	bool any = false;

	for (size_t i = 0; i < DIAGNOSES; i++) {
		any = any || !*d->of[i].none;
		worst = finding_worse(worst, findings_worst(&d->of[i].found));
	}
	return any ? worst : FINDING_UNKNOWN;
}

int diagnoses_status(const struct cmd_run *r, const struct diagnoses *d)
{
	enum finding_state worst = diagnoses_state(d);

	if (worst == FINDING_FAIL || (worst == FINDING_WARN && opt_is_set(&r->opts, "strict")))
		return CMD_FAILED;
	return worst == FINDING_UNKNOWN || diagnoses_count(d, FINDING_UNKNOWN) ? CHECK_UNKNOWN
									       : CMD_OK;
}

char *diagnoses_counts(const struct diagnoses *d, char out[DIAGNOSES_COUNTS_LEN])
{
	(void)snprintf(out, DIAGNOSES_COUNTS_LEN, "%zu ok, %zu warned, %zu failed, %zu unknown",
		       diagnoses_count(d, FINDING_OK), diagnoses_count(d, FINDING_WARN),
		       diagnoses_count(d, FINDING_FAIL), diagnoses_count(d, FINDING_UNKNOWN));
	return out;
}

/* ---- JSON ---- */

static int add_diagnosis(struct json *list, struct json *findings, const struct diagnosis *d)
{
	auto_json struct json *found = findings_json(&d->found, "findings");
	struct json *o = json_push_object(list);

	if (!found || !o || json_add_str(o, "name", d->name) ||
	    json_add_str(o, "state",
			 *d->none ? "none" : finding_state_name(findings_worst(&d->found))) ||
	    json_add_or_null(o, "reason", *d->none ? d->none : NULL))
		return -1;
	json_each (f, json_get(found, "findings")) {
		struct json *copy = json_dup(f);

		if (!copy || json_add_str(copy, "diagnosis", d->name)) {
			json_free(copy);
			return -1;
		}
		if (json_push(findings, copy))
			return -1;
	}
	return 0;
}

struct json *diagnoses_json(const struct diagnoses *d)
{
	auto_json struct json *o = json_new_object(), *findings = json_new_array();
	struct json *list;

	if (!o || !findings || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(diagnoses_state(d))) ||
	    !(list = json_add_array(o, "diagnoses")))
		return NULL;
	for (size_t i = 0; i < DIAGNOSES; i++)
		if (add_diagnosis(list, findings, &d->of[i]))
			return NULL;
	return json_put(o, "findings", TAKE_PTR(findings)) ? NULL : TAKE_PTR(o);
}

/* ---- the command ---- */

static void print_diagnosis(const struct cmd_run *r, const struct diagnosis *d)
{
	const enum finding_state worst = findings_worst(&d->found);
	const bool all = opt_is_set(&r->opts, "all");

	if (*d->none) {
		out_line(&r->out, OUT_FAINT, "%-14s  none: %s", d->name, d->none);
		return;
	}
	out_line(&r->out, OUT_HEAD, "%-14s  %s", d->name, finding_state_name(worst));
	findings_print(&r->out, &d->found, ID_WIDTH, all ? FINDINGS_OK : 0);
}

static int check_run(struct cmd_run *r, struct err *e)
{
	auto_diagnoses struct diagnoses d = { 0 };
	char counts[DIAGNOSES_COUNTS_LEN];

	if (diagnoses_run(r, &d, e))
		return -1;
	r->status = diagnoses_status(r, &d);
	if (r->out.json) {
		auto_json struct json *o = diagnoses_json(&d);

		return o ? out_json(&r->out, o, e) : err_nomem(e);
	}
	for (size_t i = 0; i < DIAGNOSES; i++)
		print_diagnosis(r, &d.of[i]);
	out_line(&r->out, OUT_HEAD, "%s", diagnoses_counts(&d, counts));
	return 0;
}

static const struct opt options[] = {
	{ "all", NULL, "print also what is ok", 0 },
	{ "strict", NULL, "exit status 1 also when a finding is a warning", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl check",
	"railctl check --all",
	"railctl check --strict --json",
	NULL,
};

const struct cmd cmd_check = {
	.name = "check",
	.summary = "run all diagnoses of this node, or of the pod in which it runs",
	.about = "The diagnoses are those of \"cluster status\", \"ipam verify\", \"ipam "
		 "conflicts\", \"rails check\", \"rdma check\", \"topo check\" and \"cluster "
		 "fabric\". Each line is warn, fail or unknown, with the evidence, the effect (so) "
		 "and the remedy (do). A diagnosis that could not be done is unknown. One that has "
		 "nothing to look at here says why: a pod has no store, for example. The exit "
		 "status is 1 if a finding fails, 3 if none does and something is unknown, also "
		 "if there was nothing to check. Nothing is changed.",
	.opts = { options },
	.examples = examples,
	.run = check_run,
};
