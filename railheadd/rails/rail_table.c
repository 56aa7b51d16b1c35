/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table.c: decodes a look, and remembers of each check what it needs for the next one. */
#include "railheadd/rails/rail_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"

static const struct json_enum checks[] = {
	{ "device", RAIL_DEVICE }, { "port", RAIL_PORT }, { "link", RAIL_LINK },
	{ "rate", RAIL_RATE },     { NULL, 0 },
};

static const struct json_enum states[] = {
	{ "ok", FINDING_OK },
	{ "warn", FINDING_WARN },
	{ "fail", FINDING_FAIL },
	{ "unknown", FINDING_UNKNOWN },
	{ NULL, 0 },
};

const char *rail_check_name(enum rail_check c)
{
	return checks[c].name;
}

void rail_table_clear(struct rail_table *t)
{
	free(t->rail);
	*t = (struct rail_table){ 0 };
}

/* ---- decode ---- */

struct rail_fields {
	const char *pci, *device;
	uint32_t port, rate;
	const struct json *findings;
};

static const struct json_field rail_keys[] = {
	{ .key = "pci",
	  .kind = J_STRING,
	  .offset = offsetof(struct rail_fields, pci),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = PCI_STR_LEN - 1 },
	{ .key = "device",
	  .kind = J_STRING,
	  .offset = offsetof(struct rail_fields, device),
	  .flags = J_REQUIRED,
	  .min = 1,
	  .max = RDMA_NAME_LEN - 1 },
	{ .key = "port",
	  .kind = J_U32,
	  .offset = offsetof(struct rail_fields, port),
	  .flags = J_REQUIRED },
	{ .key = "rate", .kind = J_U32, .offset = offsetof(struct rail_fields, rate) },
	{ .key = "findings",
	  .kind = J_ARRAY,
	  .offset = offsetof(struct rail_fields, findings),
	  .flags = J_REQUIRED },
	{ .key = NULL },
};

struct finding_fields {
	int check, state;
	const char *value, *reason, *remedy;
};

#define TEXT(name)                                                                                 \
	{                                                                                          \
		.key = #name, .kind = J_STRING, .offset = offsetof(struct finding_fields, name)    \
	}

static const struct json_field finding_keys[] = {
	{ .key = "check",
	  .kind = J_ENUM,
	  .offset = offsetof(struct finding_fields, check),
	  .flags = J_REQUIRED,
	  .names = checks },
	{ .key = "state",
	  .kind = J_ENUM,
	  .offset = offsetof(struct finding_fields, state),
	  .flags = J_REQUIRED,
	  .names = states },
	TEXT(value),
	TEXT(reason),
	TEXT(remedy),
	{ .key = NULL },
};

static void take_finding(struct rail_fact seen[RAIL_CHECKS], const struct finding_fields *f)
{
	struct rail_fact *x = &seen[f->check];
	enum finding_state state = (enum finding_state)f->state;

	/* Before the first finding of a check it is unknown, and its texts are empty. */
	if (x->looks && finding_worse(state, x->state) != state)
		return;
	*x = (struct rail_fact){ .state = state, .looks = 1 };
	(void)snprintf(x->value, sizeof(x->value), "%s", f->value);
	(void)snprintf(x->reason, sizeof(x->reason), "%s", f->reason);
	(void)snprintf(x->remedy, sizeof(x->remedy), "%s", f->remedy);
}

static int decode_findings(const struct json *list, struct rail_fact seen[RAIL_CHECKS],
			   struct err *e)
{
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		seen[i] = (struct rail_fact){ .state = FINDING_UNKNOWN };
	json_each (o, list) {
		struct finding_fields f = { .value = "", .reason = "", .remedy = "" };

		if (json_decode(o, "findings", finding_keys, &f, e))
			return -1;
		take_finding(seen, &f);
	}
	return 0;
}

/* ---- the rate ---- */

/* No file has the rate that a port could have, so it is compared with the looks before. */
static void judge_rate(struct rail *r, uint32_t rate, struct rail_fact seen[RAIL_CHECKS])
{
	struct rail_fact *x = &seen[RAIL_RATE];

	if (seen[RAIL_PORT].state != FINDING_OK || !rate)
		return;
	if (rate > r->best)
		r->best = rate;
	x->state = rate < r->best ? FINDING_WARN : FINDING_OK;
	if (x->state == FINDING_OK) {
		(void)snprintf(x->value, sizeof(x->value), "%.3g Gbit/s", rate / 1000.0);
		return;
	}
	(void)snprintf(x->value, sizeof(x->value), "the port runs at %.3g Gbit/s; it had %.3g",
		       rate / 1000.0, r->best / 1000.0);
	(void)snprintf(x->reason, sizeof(x->reason), "it has lost speed or lanes");
	(void)snprintf(x->remedy, sizeof(x->remedy),
		       "check cable, transceiver and the port of the switch; if the rate is "
		       "intended, restart railheadd");
}

/* ---- a look ---- */

static void note(struct rail_fact *f, const struct rail_fact *seen)
{
	bool bad = seen->state == FINDING_WARN || seen->state == FINDING_FAIL;

	f->state = seen->state;
	/* Unknown is not well: the result of the look before stays. */
	if (seen->state == FINDING_UNKNOWN)
		return;
	if (bad != f->bad)
		f->looks = 0;
	f->bad = bad;
	if (f->looks < RAIL_LOOKS)
		f->looks++;
	memcpy(f->value, seen->value, sizeof(f->value));
	memcpy(f->reason, seen->reason, sizeof(f->reason));
	memcpy(f->remedy, seen->remedy, sizeof(f->remedy));
}

bool rail_is_settled(const struct rail_fact *f)
{
	return f->looks >= RAIL_LOOKS;
}

static bool is_excepted(const struct rail_fields *f, const char *const *except)
{
	for (; *except; except++)
		if (strcmp(*except, f->device) == 0 || strcmp(*except, f->pci) == 0)
			return true;
	return false;
}

/* udev may rename a device at any time; the function and the port identify it. */
static int find_rail(struct rail_table *t, const struct rail_fields *f, struct rail **out,
		     struct err *e)
{
	size_t i = 0;

	while (i < t->n && (strcmp(t->rail[i].pci, f->pci) != 0 || t->rail[i].port != f->port))
		i++;
	if (i == t->n) {
		if (ARRAY_GROW(t->rail, t->n, RAILS_MAX, "rails", e))
			return -1;
		t->rail[t->n++] = (struct rail){ .port = f->port };
		(void)snprintf(t->rail[i].pci, sizeof(t->rail[i].pci), "%s", f->pci);
	}
	(void)snprintf(t->rail[i].device, sizeof(t->rail[i].device), "%s", f->device);
	*out = &t->rail[i];
	return 0;
}

static int take_rail(struct rail_table *t, const struct json *o, const char *const *except,
		     struct err *e)
{
	struct rail_fact seen[RAIL_CHECKS];
	struct rail_fields f = { .rate = 0 };
	struct rail *r;

	if (json_decode(o, "rails", rail_keys, &f, e) || decode_findings(f.findings, seen, e))
		return -1;
	if (is_excepted(&f, except))
		return 0;
	if (find_rail(t, &f, &r, e))
		return -1;
	judge_rate(r, f.rate, seen);
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		note(&r->fact[i], &seen[i]);
	return 0;
}

int rail_table_take(struct rail_table *t, const struct json *look, const char *const *except,
		    struct err *e)
{
	if (json_type(look) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "rails: %s is not an array", json_type_name(look));
	json_each (o, look)
		if (take_rail(t, o, except, e))
			return -1;
	return 0;
}

/* ---- JSON ---- */

static int add_name(const struct rail *r, struct json *o)
{
	return json_add_str(o, "device", r->device) || json_add_int(o, "port", r->port) ||
			       json_add_str(o, "pci", r->pci)
		       ? -1
		       : 0;
}

struct json *rail_table_known(const struct rail_table *t)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < t->n; i++) {
		struct json *o = json_push_object(list);

		if (!o || add_name(&t->rail[i], o))
			return NULL;
	}
	return TAKE_PTR(list);
}

static int add_fact(const struct rail_fact *f, enum rail_check check, struct json *list)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "check", checks[check].name) ||
			       json_add_str(o, "value", f->value) ||
			       json_add_str(o, "reason", f->reason) ||
			       json_add_str(o, "remedy", f->remedy)
		       ? -1
		       : 0;
}

static int add_rail(const struct rail *r, struct json *o)
{
	struct json *all = json_add_object(o, "checks"), *bad = json_add_array(o, "degraded");

	if (!all || !bad || add_name(r, o))
		return -1;
	for (size_t i = 0; i < RAIL_CHECKS; i++) {
		const struct rail_fact *f = &r->fact[i];

		if (json_add_str(all, checks[i].name, finding_state_name(f->state)) ||
		    (f->bad && add_fact(f, (enum rail_check)i, bad)))
			return -1;
	}
	return 0;
}

int rail_table_add_status(const struct rail_table *t, struct json *obj)
{
	struct json *list = json_add_array(obj, "list");

	for (size_t i = 0; list && i < t->n; i++) {
		struct json *o = json_push_object(list);

		if (!o || add_rail(&t->rail[i], o))
			return -1;
	}
	return list ? 0 : -1;
}
