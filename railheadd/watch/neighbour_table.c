/* SPDX-License-Identifier: Apache-2.0 */
/* neighbour_table.c: looks, frames and what the agent remembers, put together. */
#include "railheadd/watch/neighbour_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/cli/out.h"

void neighbour_table_clear(struct neighbour_table *t)
{
	free(t->port);
	free(t->mac);
	*t = (struct neighbour_table){ .n = 0 };
}

static bool is_before(const struct neighbour_port *a, const struct neighbour_port *b)
{
	return a->rail != b->rail ? a->rail < b->rail : strcmp(a->ifname, b->ifname) < 0;
}

/* By insertion: they are few, and qsort() would allocate memory for their size. */
static void sort_ports(struct neighbour_table *t)
{
	for (size_t i = 1; i < t->n; i++) {
		for (size_t k = i; k && is_before(&t->port[k], &t->port[k - 1]); k--) {
			struct neighbour_port p = t->port[k];

			t->port[k] = t->port[k - 1];
			t->port[k - 1] = p;
		}
	}
}

static int compare_macs(const void *a, const void *b)
{
	return memcmp(a, b, MAC_LEN);
}

/* ---- looks ---- */

struct look_port {
	char ifname[IFNAME_LEN];
	uint32_t rail;
	int ifindex;
	uint32_t downs;
	bool switched;
	struct neighbour_facts facts;
};

#define FACT_KEYS(type)                                                                            \
	{ "bond", J_CHARS, J_AT(type, facts.bond), .flags = J_OMIT },                              \
		{ "guid", J_CHARS, J_AT(type, facts.guid), .flags = J_OMIT },                      \
		{ "mbps", J_U32, J_AT(type, facts.mbps), .flags = J_OMIT },                        \
		{ "mtu", J_U32, J_AT(type, facts.mtu), .flags = J_OMIT },                          \
		{ "addresses", J_CHARS, J_AT(type, facts.addresses), .flags = J_OMIT },            \
		{ "by", J_CHARS, J_AT(type, facts.by), .flags = J_OMIT },                          \
		{ "hca", J_CHARS, J_AT(type, facts.hca), .flags = J_OMIT },                        \
		{ "pci", J_CHARS, J_AT(type, facts.pci), .flags = J_OMIT },                        \
		{ "rdma", J_CHARS, J_AT(type, facts.rdma), .flags = J_OMIT },                      \
	{                                                                                          \
		"gpus", J_CHARS, J_AT(type, facts.gpus), .flags = J_OMIT                           \
	}

static const struct json_field port_keys[] = {
	{ "rail", J_U32, J_AT(struct look_port, rail), .flags = J_REQUIRED },
	{ "interface", J_CHARS, J_AT(struct look_port, ifname), .flags = J_REQUIRED, .min = 1 },
	{ "index", J_UINT, J_AT(struct look_port, ifindex), .flags = J_REQUIRED, .min = 1,
	  .max = INT32_MAX },
	{ "downs", J_U32, J_AT(struct look_port, downs) },
	{ "switch", J_BOOL, J_AT(struct look_port, switched) },
	FACT_KEYS(struct look_port),
	{ 0 },
};

static struct neighbour_port *find_port(const struct neighbour_table *t, const char *ifname)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->port[i].ifname, ifname) == 0)
			return &t->port[i];
	return NULL;
}

static struct neighbour_port *add_port(struct neighbour_table *t, const char *ifname, struct err *e)
{
	if (ARRAY_GROW(t->port, t->n, NEIGHBOUR_PORTS_MAX, "interfaces of rails", e))
		return NULL;
	t->port[t->n] = (struct neighbour_port){ .ifindex = 0 };
	(void)strncpy(t->port[t->n].ifname, ifname, IFNAME_LEN - 1);
	return &t->port[t->n++];
}

static int take_port(struct neighbour_table *t, const struct json *o, struct err *e)
{
	struct look_port l = { .downs = 0 };
	struct neighbour_port *p;

	if (json_decode(o, "ports", port_keys, &l, e))
		return -1;
	p = find_port(t, l.ifname);
	if (!p)
		p = add_port(t, l.ifname, e);
	if (!p)
		return -1;
	/* Another interface of that name may have another cable. */
	if (p->ifindex && (p->ifindex != l.ifindex || p->downs != l.downs))
		neighbour_lose(&p->of);
	p->rail = l.rail;
	p->ifindex = l.ifindex;
	p->downs = l.downs;
	p->switched = l.switched;
	p->facts = l.facts;
	p->present = true;
	return 0;
}

static int take_mac(struct neighbour_table *t, const struct json *o, struct err *e)
{
	uint8_t mac[MAC_LEN];

	if (!json_str(o) || parse_mac(json_str(o), mac))
		return err_set(e, ERR_DECODE, 0, "macs: an entry is not a MAC address");
	if (ARRAY_GROW(t->mac, t->n_macs, NEIGHBOUR_MACS_MAX, "addresses of this host", e))
		return -1;
	memcpy(t->mac[t->n_macs++], mac, MAC_LEN);
	return 0;
}

static int copy_ports(const struct neighbour_table *t, struct neighbour_table *out, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		struct neighbour_port *p = add_port(out, t->port[i].ifname, e);

		if (!p)
			return -1;
		*p = t->port[i];
		p->present = false;
	}
	return 0;
}

int neighbour_table_take(struct neighbour_table *t, const struct json *look, struct err *e)
{
	auto_clean(neighbour_table_clear) struct neighbour_table next = { .n = 0 };
	struct neighbour_table old = *t;

	if (json_type(json_get(look, "ports")) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "ports: not an array");
	if (copy_ports(t, &next, e))
		return -1;
	json_each (o, json_get(look, "ports"))
		if (take_port(&next, o, e))
			return -1;
	json_each (o, json_get(look, "macs"))
		if (take_mac(&next, o, e))
			return -1;
	sort_ports(&next);
	if (next.n_macs)
		qsort(next.mac, next.n_macs, sizeof(*next.mac), compare_macs);
	*t = next;
	next = old; /* freed below */
	return 0;
}

/* ---- frames ---- */

int neighbour_table_hear(const struct neighbour_table *t, struct neighbour_port *p,
			 struct neighbour_data frame, enum neighbour_news *news, struct err *e)
{
	struct lldp_frame f;

	if (lldp_parse(frame.at, frame.size, &f, e))
		return -1;
	if (t->n_macs && bsearch(f.source, t->mac, t->n_macs, MAC_LEN, compare_macs))
		return 1;
	*news = neighbour_hear(&p->of, &f, frame.now);
	/* Not by the frame of another sender, which changes nothing. */
	if (p->of.held.at == frame.now)
		p->silent = 0;
	return 0;
}

/* ---- the memory, and the status ---- */

/* A neighbour as it is written. */
struct row {
	uint32_t rail;
	char ifname[IFNAME_LEN];
	int64_t heard; /* seconds since 1970, in the memory */
	int64_t age;   /* seconds, in the status */
	const char *state, *guid;
	const char *chassis, *port, *port_name, *system_name;
	uint32_t ttl;
};

#define ROW_KEYS                                                                                   \
	{ "rail", J_U32, J_AT(struct row, rail), .flags = J_REQUIRED },                            \
	{                                                                                          \
		"interface", J_CHARS, J_AT(struct row, ifname), .flags = J_REQUIRED, .min = 1      \
	}
#define FRAME_KEYS(flag)                                                                           \
	{ "chassis",     J_STRING, J_AT(struct row, chassis),                                      \
	  .flags = flag, .min = 1, .max = LLDP_ID_LEN - 1 },                                       \
		{ "port",        J_STRING, J_AT(struct row, port),                                 \
		  .flags = flag, .min = 1, .max = LLDP_ID_LEN - 1 },                               \
		{ "portName",    J_STRING, J_AT(struct row, port_name),                            \
		  .flags = flag, .min = 1, .max = LLDP_ID_LEN - 1 },                               \
	{                                                                                          \
		"system", J_STRING, J_AT(struct row, system_name), .max = LLDP_VALUE_MAX           \
	}

static const struct json_field memory_keys[] = {
	ROW_KEYS,
	FRAME_KEYS(J_REQUIRED),
	{ "ttl", J_U32, J_AT(struct row, ttl), .flags = J_REQUIRED, .min = 1, .max = UINT16_MAX },
	{ "heard", J_I64, J_AT(struct row, heard), .flags = J_REQUIRED, .max = INT64_C(1) << 40 },
	{ 0 },
};

static const struct json_field status_keys[] = {
	ROW_KEYS,
	{ "state", J_STRING, J_AT(struct row, state) },
	{ "guid", J_STRING, J_AT(struct row, guid) },
	FRAME_KEYS(0),
	{ "age", J_I64, J_AT(struct row, age), .flags = J_OMIT },
	{ 0 },
};
static const struct json_field other_keys[] = { FRAME_KEYS(0), { 0 } };

static struct row row_of(const struct neighbour_port *p, const struct lldp_frame *f)
{
	struct row r = { .rail = p->rail };

	(void)strcpy(r.ifname, p->ifname);
	if (!f)
		return r;
	r.chassis = f->chassis;
	r.port = f->port;
	r.port_name = f->port_name;
	r.system_name = *f->system_name ? f->system_name : NULL;
	r.ttl = f->ttl;
	return r;
}

static int64_t heard_at(const struct neighbour_port *p, struct neighbour_clock c)
{
	return p->silent ? p->silent : c.wall - (c.now - p->of.held.at) / 1000;
}

struct json *neighbour_table_known(const struct neighbour_table *t, struct neighbour_clock c)
{
	auto_json struct json *list = json_new_array();

	for (const struct neighbour_port *p = t->port; list && p < t->port + t->n; p++) {
		struct row r = row_of(p, &p->of.held.frame);

		r.heard = heard_at(p, c);
		if (p->of.known && json_encode(json_push_object(list), memory_keys, &r))
			return NULL;
	}
	return TAKE_PTR(list);
}

static void copy_text(char *out, size_t size, const char *text)
{
	if (text)
		(void)strncpy(out, text, size - 1);
}

static int load_row(struct neighbour_table *t, const struct json *o, struct neighbour_clock c,
		    struct err *e)
{
	struct row r = { .ttl = 0 };
	struct neighbour_port *p;

	if (json_decode(o, "neighbours", memory_keys, &r, e))
		return -1;
	p = find_port(t, r.ifname);
	if (!p)
		p = add_port(t, r.ifname, e);
	if (!p)
		return -1;

	struct lldp_frame *f = &p->of.held.frame;

	p->rail = r.rail;
	p->of.known = true;
	f->ttl = (uint16_t)r.ttl;
	copy_text(f->chassis, sizeof(f->chassis), r.chassis);
	copy_text(f->port, sizeof(f->port), r.port);
	copy_text(f->port_name, sizeof(f->port_name), r.port_name);
	copy_text(f->system_name, sizeof(f->system_name), r.system_name);
	/* A wall clock may have been set back. */
	p->of.held.at = c.now - (r.heard < c.wall ? (c.wall - r.heard) * 1000 : 0);
	/* The same text as before the restart. */
	p->silent = neighbour_is_overdue(&p->of, c.now) ? r.heard : 0;
	return 0;
}

int neighbour_table_load(struct neighbour_table *t, const struct json *known,
			 struct neighbour_clock c, struct err *e)
{
	json_each (o, known) {
		if (load_row(t, o, c, e)) {
			neighbour_table_clear(t);
			return -1;
		}
	}
	return 0;
}

static int add_port_status(const struct neighbour_port *p, int64_t now, struct json *o)
{
	struct row r = row_of(p, p->of.known ? &p->of.held.frame : NULL);
	enum neighbour_state state = neighbour_state(&p->of, now);

	r.guid = *p->facts.guid ? p->facts.guid : NULL;
	r.state = !p->present ? "missing" : r.guid ? "infiniband" : neighbour_state_name(state);
	r.age = p->of.known ? (now - p->of.held.at) / 1000 : 0;
	if (json_encode(o, status_keys, &r))
		return -1;
	if (state != NEIGHBOUR_CONTESTED)
		return 0;
	r = row_of(p, &p->of.other.frame);
	return json_encode(json_add_object(o, "other"), other_keys, &r);
}

int neighbour_table_add_status(const struct neighbour_table *t, int64_t now, struct json *obj)
{
	struct json *list = json_add_array(obj, "list");

	for (size_t i = 0; list && i < t->n; i++)
		if (add_port_status(&t->port[i], now, json_push_object(list)))
			return -1;
	return list ? 0 : -1;
}

/* ---- for the cluster ---- */

struct rail_row {
	uint32_t rail;
	char ifname[IFNAME_LEN];
	struct neighbour_facts facts;
	char chassis[NEIGHBOUR_TEXT_MAX + 1], port[NEIGHBOUR_TEXT_MAX + 1];
	char port_name[NEIGHBOUR_TEXT_MAX + 1], system_name[NEIGHBOUR_TEXT_MAX + 1];
	char last_heard[OUT_TIME_LEN];
	bool contested;
};

#define RAIL_TEXT(name, member)                                                                    \
	{                                                                                          \
		name, J_CHARS, J_AT(struct rail_row, member), .flags = J_OMIT                      \
	}

static const struct json_field rail_keys[] = {
	{ "rail", J_U32, J_AT(struct rail_row, rail) },
	{ "interface", J_CHARS, J_AT(struct rail_row, ifname) },
	FACT_KEYS(struct rail_row),
	RAIL_TEXT("chassis", chassis),
	RAIL_TEXT("port", port),
	RAIL_TEXT("portName", port_name),
	RAIL_TEXT("system", system_name),
	RAIL_TEXT("lastHeard", last_heard),
	{ "contested", J_BOOL, J_AT(struct rail_row, contested), .flags = J_OMIT },
	{ 0 },
};

static void cut_text(char out[NEIGHBOUR_TEXT_MAX + 1], const char *text)
{
	(void)snprintf(out, NEIGHBOUR_TEXT_MAX + 1, "%.*s", NEIGHBOUR_TEXT_MAX, text);
}

/* In this order keys go until the object is small: others say nearly the same, until addresses. */
static int keep_small(struct json *rail)
{
	static const char *const spare[] = { "port",   "pci",      "gpus",
					     "system", "portName", "addresses" };
	bool cut = false;

	for (size_t i = 0;; i++) {
		auto_free char *text = json_print(rail, false);

		if (!text)
			return -1;
		if (strlen(text) + sizeof(",\"cut\":true") <= NEIGHBOUR_RAIL_BYTES ||
		    i == ARRAY_SIZE(spare))
			return cut && json_add_bool(rail, "cut", true) ? -1 : 0;
		cut = cut || json_get(rail, spare[i]);
		json_del(rail, spare[i]);
	}
}

struct json *neighbour_table_rails(struct neighbour_table *t, struct neighbour_clock c)
{
	auto_json struct json *list = json_new_array();

	for (struct neighbour_port *p = t->port; list && p < t->port + t->n; p++) {
		const struct lldp_frame *f = &p->of.held.frame;
		struct rail_row r = { .rail = p->rail, .facts = p->facts };
		struct json *o;

		if (!p->present)
			continue;
		memcpy(r.ifname, p->ifname, sizeof(r.ifname));
		r.contested = neighbour_state(&p->of, c.now) == NEIGHBOUR_CONTESTED;
		p->silent = p->of.known && neighbour_is_overdue(&p->of, c.now) ? heard_at(p, c) : 0;
		if (p->silent)
			(void)out_time(p->silent * INT64_C(1000000000), r.last_heard);
		cut_text(r.chassis, f->chassis);
		cut_text(r.port, f->port);
		cut_text(r.port_name, f->port_name);
		cut_text(r.system_name, f->system_name);
		o = json_push_object(list);
		if (json_encode(o, rail_keys, &r) || keep_small(o))
			return NULL;
	}
	return TAKE_PTR(list);
}
