/* SPDX-License-Identifier: Apache-2.0 */
/* note.c: which rules and routes an interface has, for its record. Pure. */
#include "cni/routing/routing.h"

/* ---- writing ---- */

static int add_from(struct json *from, const struct cni_result *r)
{
	char text[IP_STR_LEN];

	for (size_t i = 0; from && i < r->n_ips; i++)
		if (json_push_str(from, ip_format(r->ips[i].address.addr, text)))
			return -1;
	return from ? 0 : -1;
}

static int note_add_route(struct json *list, const struct route_spec *x)
{
	char dst[PREFIX_STR_LEN], gw[IP_STR_LEN];
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "dst", ip_format_prefix(x->dst, dst)) ||
			       (x->gw.family && json_add_str(o, "gw", ip_format(x->gw, gw))) ||
			       json_add_int(o, "table", x->table ? x->table : ROUTE_TABLE_MAIN) ||
			       (x->mtu && json_add_int(o, "mtu", x->mtu))
		       ? -1
		       : 0;
}

/* A plan that fails has a part of its routes: the ADD fails soon by the same error. */
static int note_add_routes(struct json *list, const struct routing_conf *c,
			   const struct cni_result *r, uint32_t table)
{
	const struct routing_place at = { .table = table };
	auto_routing_plan struct routing_plan p = { 0 };
	struct err e = { 0 };

	if (!list || (routing_plan(c, r, &at, &p, &e) && e.code == ERR_NOMEM))
		return -1;
	for (size_t i = 0; i < p.n_routes; i++)
		if (note_add_route(list, &p.route[i]))
			return -1;
	for (size_t i = 0; i < r->n_routes; i++) {
		const struct route_spec x = routing_route(r, &r->routes[i], 0);

		if (routing_keeps_main(c, &r->routes[i]) && note_add_route(list, &x))
			return -1;
	}
	return 0;
}

struct json *routing_note(const struct routing_conf *c, const struct cni_result *r, uint32_t table)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_int(o, "table", table) || add_from(json_add_array(o, "from"), r) ||
	    note_add_routes(json_add_array(o, "routes"), c, r, table))
		return NULL;
	return TAKE_PTR(o);
}

/* ---- reading ---- */

static uint32_t note_number_of(const struct json *o, const char *key)
{
	double n = json_num(json_get(o, key));

	return n >= 1 && n <= UINT32_MAX ? (uint32_t)n : 0;
}

uint32_t routing_noted_table(const struct json *note)
{
	return note_number_of(note, "table");
}

int routing_noted_route(const struct json *member, struct route_spec *out)
{
	const char *dst = json_str(json_get(member, "dst")), *gw = json_str(json_get(member, "gw"));
	struct route_spec r = { .table = note_number_of(member, "table"),
				.mtu = note_number_of(member, "mtu") };

	if (!dst || ip_parse_prefix(dst, &r.dst) || (gw && ip_parse(gw, &r.gw)) || !r.table)
		return -1;
	*out = r;
	return 0;
}
