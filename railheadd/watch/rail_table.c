/* SPDX-License-Identifier: Apache-2.0 */
/* rail_table.c: decodes a look, and remembers of each check what it needs for the next one. */
#include "railheadd/watch/rail_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/device/ib_port.h"

static const struct json_enum checks[] = {
	{ "device", RAIL_DEVICE }, { "port", RAIL_PORT }, { "link", RAIL_LINK },
	{ "rate", RAIL_RATE },     { "qos", RAIL_QOS },   { NULL, 0 },
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
	struct guid guid;
	uint32_t port, rate;
	bool bond;
	const char *dropped;
	const struct json *findings, *told;
};

static const struct json_field name_keys[] = {
	{ "pci", J_STRING, J_AT(struct rail_fields, pci), .flags = J_REQUIRED, .min = 1,
	  .max = PCI_STR_LEN - 1 },
	{ "device", J_STRING, J_AT(struct rail_fields, device), .flags = J_REQUIRED, .min = 1,
	  .max = RDMA_NAME_LEN - 1 },
	{ "port", J_U32, J_AT(struct rail_fields, port), .flags = J_REQUIRED },
	{ "guid", J_GUID, J_AT(struct rail_fields, guid) },
	{ "told", J_ARRAY, J_AT(struct rail_fields, told) },
	{ 0 },
};

static const struct json_field look_keys[] = {
	{ "rate", J_U32, J_AT(struct rail_fields, rate) },
	{ "bond", J_BOOL, J_AT(struct rail_fields, bond) },
	{ "dropped", J_STRING, J_AT(struct rail_fields, dropped) },
	{ "findings", J_ARRAY, J_AT(struct rail_fields, findings), .flags = J_REQUIRED },
	{ 0 },
};

struct finding_fields {
	int check, state;
	const char *value, *reason, *remedy;
};

#define TEXT(name)                                                                                 \
	{                                                                                          \
#name, J_STRING, J_AT(struct finding_fields, name)                                 \
	}

static const struct json_field finding_keys[] = {
	{ "check", J_ENUM, J_AT(struct finding_fields, check), .flags = J_REQUIRED,
	  .names = checks },
	{ "state", J_ENUM, J_AT(struct finding_fields, state), .flags = J_REQUIRED,
	  .names = states },
	TEXT(value),
	TEXT(reason),
	TEXT(remedy),
	{ 0 },
};

static void take_finding(struct rail_result seen[RAIL_CHECKS], const struct finding_fields *f)
{
	struct rail_result *x = &seen[f->check];
	enum finding_state state = (enum finding_state)f->state;

	/* Before the first finding of a check it is unknown, and its texts are empty. */
	if (x->looks && finding_worse(state, x->state) != state)
		return;
	*x = (struct rail_result){ .state = state, .looks = 1 };
	(void)snprintf(x->value, sizeof(x->value), "%s", f->value);
	(void)snprintf(x->reason, sizeof(x->reason), "%s", f->reason);
	(void)snprintf(x->remedy, sizeof(x->remedy), "%s", f->remedy);
}

static int decode_findings(const struct json *list, struct rail_result seen[RAIL_CHECKS],
			   struct err *e)
{
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		seen[i] = (struct rail_result){ .state = FINDING_UNKNOWN };
	json_each (o, list) {
		struct finding_fields f = { .value = "", .reason = "", .remedy = "" };

		if (json_decode(o, "findings", finding_keys, &f, e))
			return -1;
		take_finding(seen, &f);
	}
	return 0;
}

/* ---- checks that need the looks before ---- */

/* It is not bad any more, whatever it was, and people must hear of that if they heard of it. */
static void retire_result(struct rail_result *x, const char *why)
{
	bool known_as_bad = x->logged || x->told;

	x->state = FINDING_UNKNOWN;
	x->bad = false;
	x->looks = known_as_bad ? RAIL_LOOKS : 0;
	x->reason[0] = x->remedy[0] = '\0';
	(void)snprintf(x->value, sizeof(x->value), "%s", why);
}

/*
 * No file has the rate that a port could have, so it is compared with the looks before. The kernel
 * reads rate and state one after the other, and mlx5 has 40 Gbit/s for a port without a link: so
 * one look alone is not a measure.
 */
static void judge_rate(struct rail *r, const struct rail_fields *f,
		       struct rail_result seen[RAIL_CHECKS])
{
	struct rail_result *x = &seen[RAIL_RATE];
	uint32_t rate = seen[RAIL_PORT].state == FINDING_OK && !f->bond ? f->rate : 0;
	uint32_t both = rate < r->rate ? rate : r->rate;
	char now[IB_RATE_LEN], best[IB_RATE_LEN];

	r->rate = rate;
	if (f->bond) {
		r->best = 0;
		retire_result(&r->result[RAIL_RATE], "the port is that of a bond");
	}
	if (both > r->best)
		r->best = both;
	if (!rate || !r->best)
		return;
	x->state = rate < r->best ? FINDING_WARN : FINDING_OK;
	(void)ib_rate_text(rate, now);
	if (x->state == FINDING_OK) {
		(void)snprintf(x->value, sizeof(x->value), "%s Gbit/s", now);
		return;
	}
	(void)snprintf(x->value, sizeof(x->value), "the port runs at %s Gbit/s; it had %s", now,
		       ib_rate_text(r->best, best));
	(void)snprintf(x->reason, sizeof(x->reason), "it has lost speed or lanes");
	(void)snprintf(x->remedy, sizeof(x->remedy),
		       "check cable, transceiver and the port of the switch; if the rate is "
		       "intended, see RAILS in railheadd(8)");
}

/* Many cards have a second port, or all of them, without a cable. */
static void excuse_port(struct rail *r, struct rail_result seen[RAIL_CHECKS])
{
	struct rail_result *x = &seen[RAIL_PORT];
	bool excused = !r->was_active && (x->state == FINDING_WARN || x->state == FINDING_FAIL);

	(void)snprintf(r->inactive, sizeof(r->inactive), "%s", excused ? x->value : "");
	if (excused)
		x->state = FINDING_UNKNOWN;
}

/* ---- results ---- */

static void note_result(struct rail_result *x, const struct rail_result *seen)
{
	bool bad = seen->state == FINDING_WARN || seen->state == FINDING_FAIL;

	x->state = seen->state;
	/* Unknown is not well: the result of the look before stays. */
	if (seen->state == FINDING_UNKNOWN)
		return;
	if (bad != x->bad)
		x->looks = 0;
	x->bad = bad;
	if (x->looks < RAIL_LOOKS)
		x->looks++;
	memcpy(x->value, seen->value, sizeof(x->value));
	memcpy(x->reason, seen->reason, sizeof(x->reason));
	memcpy(x->remedy, seen->remedy, sizeof(x->remedy));
}

bool rail_is_settled(const struct rail_result *x)
{
	return x->looks >= RAIL_LOOKS;
}

static bool is_excepted(const struct rail_fields *f, const char *const *except)
{
	for (; *except; except++)
		if (strcmp(*except, f->device) == 0 || strcmp(*except, f->pci) == 0)
			return true;
	return false;
}

/* ---- which rail it is ---- */

static bool has_guid(const struct rail *r, struct guid guid)
{
	return guid_is_usable(guid) && guid_equal(r->guid, guid);
}

/* The GUID of a known rail is in this look, at whatever address. */
static bool rail_table_is_elsewhere(const struct rail *r, const struct json *look)
{
	json_each (o, look) {
		struct guid guid = GUID_ZERO;
		const char *text = json_str(json_get(o, "guid"));

		if (text && guid_parse(text, &guid) == 0 && has_guid(r, guid) &&
		    json_num(json_get(o, "port")) == r->port)
			return true;
	}
	return false;
}

/* look NULL: the file, in which each rail has an object of its own. */
static bool is_in_slot(const struct rail *r, const struct rail_fields *f, const struct json *look)
{
	if (strcmp(r->pci, f->pci) != 0)
		return false;
	return look ? !rail_table_is_elsewhere(r, look)
		    : !guid_is_usable(r->guid) && !guid_is_usable(f->guid);
}

/*
 * udev may rename a device at any time. The firmware may give a card another PCI address, and its
 * old address to another card. NULL: not known.
 */
static struct rail *find_rail(struct rail_table *t, const struct rail_fields *f,
			      const struct json *look)
{
	struct rail *in_slot = NULL;

	for (size_t i = 0; i < t->n; i++) {
		struct rail *r = &t->rail[i];

		if (r->port != f->port)
			continue;
		if (has_guid(r, f->guid))
			return r;
		if (is_in_slot(r, f, look))
			in_slot = r;
	}
	return in_slot;
}

/* Find it, or add it. */
static int name_rail(struct rail_table *t, const struct rail_fields *f, const struct json *look,
		     struct rail **out, struct err *e)
{
	struct rail *r = find_rail(t, f, look);

	if (!r) {
		if (ARRAY_GROW(t->rail, t->n, RAILS_MAX, "rails", e))
			return -1;
		r = &t->rail[t->n++];
		*r = (struct rail){ .port = f->port };
	}
	(void)snprintf(r->pci, sizeof(r->pci), "%s", f->pci);
	(void)snprintf(r->device, sizeof(r->device), "%s", f->device);
	if (guid_is_usable(f->guid))
		r->guid = f->guid;
	r->dropped = false;
	*out = r;
	return 0;
}

/* ---- a look ---- */

static void drop_rail(struct rail *r, const char *why)
{
	if (!r)
		return;
	r->dropped = true;
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		retire_result(&r->result[i], why);
}

/* One look while it is taken. */
struct taking {
	const struct json *look;
	const char *const *except;
};

static int watch_take_rail(struct rail_table *t, const struct json *o, const struct taking *a,
			   struct err *e)
{
	struct rail_result seen[RAIL_CHECKS];
	struct rail_fields f = { .rate = 0 };
	struct rail *r;

	if (json_decode(o, "rails", name_keys, &f, e) ||
	    json_decode(o, "rails", look_keys, &f, e) || decode_findings(f.findings, seen, e))
		return -1;
	if (f.dropped || is_excepted(&f, a->except)) {
		drop_rail(find_rail(t, &f, a->look),
			  f.dropped ? f.dropped : "it is in rails.except");
		return 0;
	}
	if (name_rail(t, &f, a->look, &r, e))
		return -1;
	judge_rate(r, &f, seen);
	excuse_port(r, seen);
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		note_result(&r->result[i], &seen[i]);
	r->was_active |= rail_is_settled(&r->result[RAIL_PORT]) && !r->result[RAIL_PORT].bad;
	return 0;
}

void rail_table_prune(struct rail_table *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		bool waits = false;

		for (size_t k = 0; k < RAIL_CHECKS; k++)
			waits |= t->rail[i].result[k].logged || t->rail[i].result[k].told;
		if (!t->rail[i].dropped || waits)
			t->rail[kept++] = t->rail[i];
	}
	t->n = kept;
}

int rail_table_take(struct rail_table *t, const struct json *look, const char *const *except,
		    struct err *e)
{
	if (json_type(look) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "rails: %s is not an array", json_type_name(look));
	json_each (o, look)
		if (watch_take_rail(t, o, &(struct taking){ look, except }, e))
			return -1;
	return 0;
}

/* ---- JSON ---- */

static const struct json_field rail_keys[] = {
	{ "device", J_CHARS, J_AT(struct rail, device) },
	{ "port", J_UINT, J_AT(struct rail, port) },
	{ "pci", J_CHARS, J_AT(struct rail, pci) },
	{ "guid", J_GUID, J_AT(struct rail, guid), .flags = J_OMIT },
	{ 0 },
};

static const struct json_field known_keys[] = {
	{ "best", J_UINT, J_AT(struct rail, best) },
	{ "active", J_BOOL, J_AT(struct rail, was_active) },
	{ 0 },
};

static const struct json_field result_keys[] = {
	{ "value", J_CHARS, J_AT(struct rail_result, value) },
	{ "reason", J_CHARS, J_AT(struct rail_result, reason) },
	{ "remedy", J_CHARS, J_AT(struct rail_result, remedy) },
	{ 0 },
};

static int add_known(const struct rail *r, struct json *o)
{
	struct json *told = json_add_array(o, "told");

	if (!told || json_encode(o, rail_keys, r) || json_encode(o, known_keys, r))
		return -1;
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		if (r->result[i].told && json_push_str(told, checks[i].name))
			return -1;
	return 0;
}

struct json *rail_table_known(const struct rail_table *t)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < t->n; i++) {
		struct json *o = t->rail[i].dropped ? NULL : json_push_object(list);

		if (!t->rail[i].dropped && (!o || add_known(&t->rail[i], o)))
			return NULL;
	}
	return TAKE_PTR(list);
}

static int load_rail(struct rail_table *t, const struct json *o, struct err *e)
{
	struct rail_fields f = { .rate = 0 };
	struct rail *r;

	if (json_decode(o, "rails", name_keys, &f, e) || name_rail(t, &f, NULL, &r, e) ||
	    json_decode(o, "rails", known_keys, r, e))
		return -1;
	/* A check of a later release is left out. */
	for (size_t i = 0; i < RAIL_CHECKS; i++)
		json_each (name, f.told)
			r->result[i].told |=
				json_str(name) && strcmp(json_str(name), checks[i].name) == 0;
	return 0;
}

int rail_table_load(struct rail_table *t, const struct json *known, struct err *e)
{
	if (json_type(known) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "rails: %s is not an array",
			       json_type_name(known));
	json_each (o, known) {
		if (load_rail(t, o, e)) {
			rail_table_clear(t);
			return -1;
		}
	}
	return 0;
}

static int add_result(const struct rail_result *x, enum rail_check check, struct json *list)
{
	struct json *o = json_push_object(list);

	return json_add_str(o, "check", checks[check].name) || json_encode(o, result_keys, x);
}

static int rail_table_add_rail(const struct rail *r, struct json *o)
{
	struct json *all = json_add_object(o, "checks"), *bad = json_add_array(o, "degraded");

	if (!all || !bad || json_encode(o, rail_keys, r) ||
	    (*r->inactive && json_add_str(o, "inactive", r->inactive)))
		return -1;
	for (size_t i = 0; i < RAIL_CHECKS; i++) {
		const struct rail_result *x = &r->result[i];

		if (json_add_str(all, checks[i].name, finding_state_name(x->state)) ||
		    (x->bad && add_result(x, (enum rail_check)i, bad)))
			return -1;
	}
	return 0;
}

int rail_table_add_status(const struct rail_table *t, struct json *obj)
{
	struct json *list = json_add_array(obj, "list");

	for (size_t i = 0; list && i < t->n; i++) {
		struct json *o = t->rail[i].dropped ? NULL : json_push_object(list);

		if (!t->rail[i].dropped && (!o || rail_table_add_rail(&t->rail[i], o)))
			return -1;
	}
	return list ? 0 : -1;
}
