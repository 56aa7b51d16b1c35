/* SPDX-License-Identifier: Apache-2.0 */
/* status.c: `railctl status`: this node on one screen, as lines, fields or JSON. */
#include "railctl/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/version.h"
#include "lib/device/pci.h"
#include "railctl/cluster/cluster.h"
#include "railctl/ipam/ipam.h"
#include "railctl/check.h"
#include "railctl/topo/topo.h"
#include "topo/read/rail_list.h"

#define WORST_MAX 5 /* findings that are shown */

/* ---- what is known; null: it is not ---- */

/* The degraded rails, each with the PCI address of its card. Owned by the caller; NULL: no agent
 * says them. */
static struct json *degraded_of(const struct json *agent)
{
	const struct json *rails = json_get(agent, "rails");
	auto_json struct json *list = json_new_array();

	if (json_type(rails) != JSON_OBJECT || json_get(rails, "error"))
		return NULL;
	json_each (rail, json_get(rails, "list"))
		if (list && json_len(json_get(rail, "degraded")) && json_push(list, json_dup(rail)))
			return NULL;
	return TAKE_PTR(list);
}

static int add_agent(struct cmd_run *r, struct json *o, struct json **degraded)
{
	static const char *const keys[] = { "node", "version", "store", "health", "contact" };
	auto_json struct json *s = NULL;
	struct json *a = json_add_object(o, "agent");
	struct err why;
	bool up = cluster_agent_status(r, &s, &why) == 0;

	*degraded = up ? degraded_of(s) : NULL;
	if (!a || json_add_bool(a, "up", up) || (!up && json_add_str(a, "reason", why.msg)))
		return -1;
	/* Without a cluster store there is neither health nor contact. */
	const size_t n = strcmp(json_text(s, "store"), "none") == 0 ? 3 : ARRAY_SIZE(keys);

	for (size_t i = 0; up && i < n; i++)
		if (json_get(s, keys[i]) && json_add_copy(a, keys[i], json_get(s, keys[i])))
			return -1;
	return 0;
}

static int add_pools(struct cmd_run *r, struct json *o)
{
	static const char *const keys[] = { "name", "used", "capacity" };
	auto_json struct json *pools = NULL;
	struct json *list;
	struct err why;

	if (ctl_pools(r, NULL, &pools, &why))
		return json_add_null(o, "pools");
	list = json_add_array(o, "pools");
	json_each (pool, pools) {
		struct json *p = json_push_object(list);

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			if (!p || (json_get(pool, keys[i]) &&
				   json_add_copy(p, keys[i], json_get(pool, keys[i]))))
				return -1;
	}
	return list ? 0 : -1;
}

/* The numbers of the degraded rails whose interfaces are those of their cards: no bond is. */
static int add_numbers(const struct cmd_run *r, struct json *o, const struct rail_list *list,
		       const struct json *degraded)
{
	struct json *numbers = json_add_array(o, "degradedRails");
	char ifname[IFNAME_LEN];
	struct err ignored;

	json_each (rail, degraded) {
		if (pci_pf_netdev(r->ctx.sysfs, json_text(rail, "pci"), ifname, &ignored))
			continue;
		for (size_t i = 0; i < list->n; i++)
			if (strcmp(list->rail[i].ifname, ifname) == 0 &&
			    json_push_int(numbers, list->rail[i].number))
				return -1;
	}
	return numbers ? 0 : -1;
}

static int add_devices(struct cmd_run *r, struct json *o, const struct json *degraded)
{
	auto_topo struct topo t = { 0 };
	struct rail_list list;
	struct json *rails;
	struct err why;

	if (topo_load(r, 0, &t, &why) ? json_add_null(o, "gpus")
				      : json_add_int(o, "gpus", (int64_t)t.m.n_gpus))
		return -1;
	if (rail_list_load(&r->ctx, &list, &why))
		return json_add_null(o, "rails");
	rails = json_add_object(o, "rails");
	return !rails || json_add_int(rails, "count", (int64_t)(list.n + list.n_dead)) ||
			       json_add_int(rails, "missing", (int64_t)list.n_dead) ||
			       (!degraded ? json_add_null(rails, "degraded")
					  : json_add_int(rails, "degraded",
							 (int64_t)json_len(degraded)) ||
						    add_numbers(r, rails, &list, degraded))
		       ? -1
		       : 0;
}

static int add_counts(struct json *o, const struct diagnoses *d)
{
	struct json *counts = json_add_object(o, "counts");

	for (int s = FINDING_OK; s <= FINDING_UNKNOWN; s++)
		if (!counts || json_add_int(counts, finding_state_name((enum finding_state)s),
					    (int64_t)diagnoses_count(d, (enum finding_state)s)))
			return -1;
	return 0;
}

/* All findings that are not ok, worst first. Their texts are those of d; free() the array. */
static int worst_findings(const struct diagnoses *d, struct findings *out, struct err *e)
{
	size_t n = 0;

	for (size_t i = 0; i < DIAGNOSES; i++)
		n += d->of[i].found.n;
	out->item = calloc(n + 1, sizeof(*out->item));
	if (!out->item)
		return err_nomem(e);
	for (size_t i = 0; i < DIAGNOSES; i++)
		for (size_t k = 0; k < d->of[i].found.n; k++)
			if (d->of[i].found.item[k].state != FINDING_OK)
				out->item[out->n++] = d->of[i].found.item[k];
	return findings_sort(out, e);
}

static const char *what_next(const struct json *o, const struct findings *worst)
{
	if (worst->n && worst->item[0].remedy)
		return worst->item[0].remedy;
	if (worst->n)
		return "railctl check";
	return json_len(json_get(o, "pools")) ? "nothing is to be done"
					      : "make a pool: railctl ipam pool add, or railctl "
						"cluster pool apply";
}

static struct json *status_load(struct cmd_run *r, const struct diagnoses *d,
				const struct findings *worst)
{
	auto_json struct json *o = diagnoses_json(d), *degraded = NULL;

	return !o || json_add_str(o, "railctl", RAILHEAD_VERSION) || add_agent(r, o, &degraded) ||
			       add_pools(r, o) || add_devices(r, o, degraded) || add_counts(o, d) ||
			       json_add_str(o, "next", what_next(o, worst))
		       ? NULL
		       : TAKE_PTR(o);
}

/* ---- lines ---- */

static void print_agent(const struct out *o, const struct json *status)
{
	const struct json *a = json_get(status, "agent");
	const char *version = json_text(a, "version"), *store = json_text(a, "store");

	if (!json_true(json_get(a, "up"))) {
		out_pair(o, "agent", "not up: %s", json_text(a, "reason"));
		return;
	}
	out_pair(o, "node", "%s", json_text(a, "node"));
	out_pair(o, "agent", "%s%s%s%s%s", version, json_get(a, "health") ? ", health " : "",
		 json_text(a, "health"),
		 strcmp(version, RAILHEAD_VERSION) != 0 ? "; railctl is " : "",
		 strcmp(version, RAILHEAD_VERSION) != 0 ? RAILHEAD_VERSION : "");
	out_pair(o, "store", "%s%s", store,
		 strcmp(store, "none") == 0          ? ""
		 : json_true(json_get(a, "contact")) ? ", with contact"
						     : ", without contact");
}

static void status_print_pools(const struct out *o, const struct json *pools)
{
	const struct json *fullest = NULL;
	char percent[8];

	if (!pools) {
		out_pair(o, "pools", "not known");
		return;
	}
	json_each (p, pools)
		if (!fullest || ctl_share(p) > ctl_share(fullest))
			fullest = p;
	if (!fullest || ctl_share(fullest) < 0)
		out_pair(o, "pools", "%zu", json_len(pools));
	else
		out_pair(o, "pools", "%zu, the fullest on this node is %s: %s", json_len(pools),
			 json_text(fullest, "name"),
			 out_percent(ctl_share(fullest), percent, sizeof(percent)));
}

static void print_devices(const struct out *o, const struct json *status)
{
	const struct json *rails = json_get(status, "rails"), *gpus = json_get(status, "gpus");
	const struct json *degraded = json_get(rails, "degraded");

	if (!rails)
		out_pair(o, "rails", "not known");
	else if (degraded)
		out_pair(o, "rails", "%.0f, %.0f missing, %.0f degraded",
			 json_num(json_get(rails, "count")), json_num(json_get(rails, "missing")),
			 json_num(degraded));
	else
		out_pair(o, "rails", "%.0f, %.0f missing", json_num(json_get(rails, "count")),
			 json_num(json_get(rails, "missing")));
	if (gpus)
		out_pair(o, "gpus", "%.0f", json_num(gpus));
	else
		out_pair(o, "gpus", "not known");
}

static void print_lines(const struct out *o, const struct json *status, const struct diagnoses *d,
			struct findings *worst)
{
	const size_t all = worst->n;
	char counts[DIAGNOSES_COUNTS_LEN];

	print_agent(o, status);
	status_print_pools(o, json_get(status, "pools"));
	print_devices(o, status);
	out_pair(o, "findings", "%s", diagnoses_counts(d, counts));
	worst->n = all < WORST_MAX ? all : WORST_MAX;
	findings_print(o, worst, 14, 0);
	if (all > WORST_MAX)
		out_line(o, OUT_PLAIN, "railctl check shows %zu more", all - WORST_MAX);
	out_pair(o, "next", "%s", json_text(status, "next"));
}

/* ---- fields, for scripts ---- */

static void print_field(const struct out *o, const char *name, const struct json *n)
{
	char text[JSON_SHOW_LEN];

	if (json_str(n))
		out_line(o, OUT_PLAIN, "%s=%s", name, json_str(n));
	else
		out_line(o, OUT_PLAIN, "%s=%s", name, n ? json_show(n, text) : "-");
}

/* "degraded-rails=0 3" */
static void print_numbers(const struct out *o, const char *name, const struct json *list)
{
	char text[256] = "";
	size_t len = 0;

	json_each (n, list)
		if (len < sizeof(text) - 8)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%.0f",
						len ? " " : "", json_num(n));
	if (len)
		out_line(o, OUT_PLAIN, "%s=%s", name, text);
}

static void print_fields(const struct out *o, const struct json *status,
			 const struct findings *worst)
{
	const struct json *a = json_get(status, "agent"), *rails = json_get(status, "rails");

	print_field(o, "state", json_get(status, "state"));
	print_field(o, "version", json_get(a, "version"));
	print_field(o, "health", json_get(a, "health"));
	print_field(o, "gpus", json_get(status, "gpus"));
	print_field(o, "rails", json_get(rails, "count"));
	print_field(o, "degraded", json_get(rails, "degraded"));
	print_numbers(o, "degraded-rails", json_get(rails, "degradedRails"));
	json_each (n, json_get(status, "counts"))
		print_field(o, json_key(n), n);
	for (const struct finding *f = worst->item; f < worst->item + worst->n; f++) {
		out_line(o, OUT_PLAIN, "finding=%s %s %s%s%s", finding_state_name(f->state),
			 f->code ? f->code : f->id, f->subject ? f->subject : "",
			 f->subject ? ": " : "", f->value ? f->value : "");
		if (f->remedy)
			out_line(o, OUT_PLAIN, "remedy=%s", f->remedy);
	}
}

/* ---- the command ---- */

static int status_run(struct cmd_run *r, struct err *e)
{
	auto_diagnoses struct diagnoses d = { 0 };
	auto_json struct json *o = NULL;
	struct findings worst = { 0 };
	int rc = diagnoses_run(r, &d, e) || worst_findings(&d, &worst, e) ? -1 : 0;

	if (!rc && !(o = status_load(r, &d, &worst)))
		rc = err_nomem(e);
	if (!rc) {
		r->status = diagnoses_status(r, &d);
		if (r->out.json)
			rc = out_json(&r->out, o, e);
		else if (opt_is_set(&r->opts, "fields"))
			print_fields(&r->out, o, &worst);
		else
			print_lines(&r->out, o, &d, &worst);
	}
	free(worst.item);
	return rc;
}

static const struct opt options[] = {
	{ "fields", NULL, "lines NAME=VALUE, for scripts", 0 },
	{ "strict", NULL, "exit status 1 also when a finding is a warning", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl status", "railctl status --json",
					"railctl status --fields", NULL };

const struct cmd cmd_status = {
	.name = "status",
	.summary = "show this node on one screen: agent, pools, rails, findings, what to do",
	.about = "The findings are those of \"railctl check\", the worst first, and so is the exit "
		 "status. The last line says what to do first. Nothing is changed.",
	.opts = { options },
	.examples = examples,
	.run = status_run,
};
