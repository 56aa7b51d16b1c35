/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_check.c: findings about the rules, tables, routes and ways of rails. */
#include <stdio.h>
#include <string.h>

#include "cni/inspect/inspect_priv.h"
#include "cni/hostveth/hostveth.h"

struct finding *inspect_add(struct inspect_run *run, const struct inspect_rail *r, const char *id,
			    enum finding_state state)
{
	struct finding *f = findings_add(run->out, id, state);

	finding_set_subject(f, "%s%s%s", run->pod, *run->pod ? " " : "", r->ifname);
	return f;
}

static const char *family_option(struct ip a)
{
	return a.family == IP_V6 ? "-6 " : "";
}

/* The rail of an interface or table; NULL: none of the namespace. */
static const struct inspect_rail *by_ifindex(const struct inspect *s, int ifindex)
{
	for (size_t i = 0; i < s->n_rails; i++)
		if (s->rail[i].link.ifindex == ifindex)
			return &s->rail[i];
	return NULL;
}

static const struct inspect_rail *by_table(const struct inspect *s, uint32_t table)
{
	for (size_t i = 0; i < s->n_rails; i++)
		if (s->rail[i].table == table)
			return &s->rail[i];
	return NULL;
}

/* "net2", or "interface number 7" */
#define NAME_LEN 40
static const char *name_of(const struct inspect *s, int ifindex, char out[NAME_LEN])
{
	const struct inspect_rail *r = by_ifindex(s, ifindex);

	if (r)
		(void)snprintf(out, NAME_LEN, "%s", r->ifname);
	else
		(void)snprintf(out, NAME_LEN, "interface number %d", ifindex);
	return out;
}

/* ---- addresses ---- */

static bool has_addr(const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (ip_equal(r->addr[i].addr.addr, a))
			return true;
	return false;
}

static void check_addresses(struct inspect_run *run, const struct inspect_rail *r)
{
	char text[IP_STR_LEN];
	bool good = true;

	for (size_t i = 0; i < r->n_noted; i++) {
		struct finding *f;

		if (has_addr(r, r->noted[i]))
			continue;
		good = false;
		f = inspect_add(run, r, "address", FINDING_FAIL);
		finding_set_value(f, "%s is missing", ip_format(r->noted[i], text));
		finding_set_reason(f, "no peer reaches the pod by this address");
		finding_set_remedy(f, "find out which program of the pod removed it, and restart "
				      "the pod");
	}
	for (size_t i = 0; i < r->n_addrs; i++) {
		struct finding *f;

		if (!r->addr[i].dadfailed)
			continue;
		good = false;
		f = inspect_add(run, r, "address", FINDING_FAIL);
		finding_set_value(f, "%s is a duplicate", ip_format(r->addr[i].addr.addr, text));
		finding_set_reason(f, "another machine of the network has the address, so the "
				      "kernel does not use it");
		finding_set_remedy(f, "ask the pool who has it: railctl ipam who %s", text);
	}
	if (good)
		finding_set_value(inspect_add(run, r, "address", FINDING_OK), "%zu in use",
				  r->n_addrs);
}

/* ---- rules ---- */

/* The way to the node, which comes first, has routes for some destinations only. */
static bool is_to_node(const struct rule_spec *r)
{
	return r->table == HOSTVETH_TABLE && r->priority == HOSTVETH_PRIORITY;
}

/* The first rule that has exactly this address; NULL: none. */
static const struct rule_spec *first_rule(const struct inspect *s, struct ip a)
{
	for (size_t i = 0; i < s->n_rules; i++) {
		const struct rule_spec *r = &s->rule[i];

		if (!r->conditional && !is_to_node(r) && ip_equal(r->from.addr, a) &&
		    r->from.len == ip_bits(a.family))
			return r;
	}
	return NULL;
}

static bool is_noted(const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < r->n_noted; i++)
		if (ip_equal(r->noted[i], a))
			return true;
	return !r->n_noted;
}

/* An address that ADD did not give, of a router or of the pod itself, has no rule. */
static void tell_missing_rule(struct inspect_run *run, const struct inspect_rail *r, struct ip a)
{
	struct finding *f =
		inspect_add(run, r, "rule", is_noted(r, a) ? FINDING_FAIL : FINDING_WARN);
	char text[IP_STR_LEN];

	finding_set_value(f, "no rule from %s", ip_format(a, text));
	finding_set_reason(f, "packets with this address leave by the main table, perhaps by "
			      "another rail");
	finding_set_remedy(f, "in the pod: ip %srule add from %s lookup %u priority %d",
			   family_option(a), text, r->table, ROUTING_PRIORITY);
}

static void tell_wrong_rule(struct inspect_run *run, const struct inspect_rail *r,
			    const struct rule_spec *rule)
{
	const struct inspect_rail *other = by_table(run->s, rule->table);
	struct finding *f = inspect_add(run, r, "rule", FINDING_FAIL);
	char text[IP_STR_LEN];

	finding_set_value(f, "the rule from %s of priority %u leads to table %u, not %u",
			  ip_format(rule->from.addr, text), rule->priority, rule->table, r->table);
	if (other)
		finding_set_reason(f, "packets with this address leave by %s", other->ifname);
	else
		finding_set_reason(f, "packets with this address do not use the table of the rail");
	finding_set_remedy(f, "in the pod: ip %srule del from %s lookup %u priority %u",
			   family_option(rule->from.addr), text, rule->table, rule->priority);
}

static void check_rules(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_addrs; i++) {
		const struct ip a = r->addr[i].addr.addr;
		const struct rule_spec *rule = first_rule(run->s, a);

		if (rule && rule->table == r->table)
			continue;
		good = false;
		if (rule)
			tell_wrong_rule(run, r, rule);
		else
			tell_missing_rule(run, r, a);
	}
	if (good)
		finding_set_value(inspect_add(run, r, "rule", FINDING_OK), "%zu to table %u",
				  r->n_addrs, r->table);
}

/* ---- tables and their routes ---- */

/* Another rail has the same table; the first of them tells it. */
static void check_table(struct inspect_run *run, const struct inspect_rail *r)
{
	for (const struct inspect_rail *x = run->s->rail; x < r; x++) {
		struct finding *f;

		if (x->table != r->table)
			continue;
		f = inspect_add(run, r, "table", FINDING_FAIL);
		finding_set_value(f, "%u is also the table of %s", r->table, x->ifname);
		finding_set_reason(f, "packets of one rail leave by the other one");
		finding_set_remedy(f, "take \"table\" out of the configuration of one of them, and "
				      "restart the pod");
		return;
	}
	finding_set_value(inspect_add(run, r, "table", FINDING_OK), "%u", r->table);
}

static void tell_wrong_route(struct inspect_run *run, const struct inspect_rail *r,
			     const struct route_spec *route)
{
	struct finding *f = inspect_add(run, r, "route", FINDING_FAIL);
	char text[PREFIX_STR_LEN], name[NAME_LEN];

	(void)name_of(run->s, route->ifindex, name);
	finding_set_value(f, "the route to %s in table %u is by %s",
			  ip_format_prefix(route->dst, text), r->table, name);
	finding_set_reason(f, "packets with an address of %s leave by %s", r->ifname, name);
	finding_set_remedy(f, "in the pod: ip %sroute del %s dev %s table %u",
			   family_option(route->dst.addr), text, name, r->table);
}

static bool has_route(const struct inspect *s, const struct inspect_rail *r, enum ip_family family)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (s->route[i].table == r->table && s->route[i].ifindex == r->link.ifindex &&
		    s->route[i].dst.addr.family == family)
			return true;
	return false;
}

/* A table without a route of a family that the rail has an address of. */
static bool tell_empty_table(struct inspect_run *run, const struct inspect_rail *r)
{
	for (size_t i = 0; i < r->n_addrs; i++) {
		const enum ip_family family = r->addr[i].addr.addr.family;
		struct finding *f;

		if (has_route(run->s, r, family))
			continue;
		f = inspect_add(run, r, "route", FINDING_FAIL);
		finding_set_value(f, "table %u has no route of IPv%d by %s", r->table, (int)family,
				  r->ifname);
		finding_set_reason(f,
				   "packets with an address of %s leave by the main table, "
				   "perhaps by another rail",
				   r->ifname);
		finding_set_remedy(f, "restart the pod; a program of the pod set the interface "
				      "down, or removed the routes");
		return true;
	}
	return false;
}

/* A duplicate table has routes of both rails: check_table() tells it. */
static void check_routes(struct inspect_run *run, const struct inspect_rail *r)
{
	size_t n = 0;
	bool good = !tell_empty_table(run, r);

	for (size_t i = 0; i < run->s->n_routes; i++) {
		const struct route_spec *route = &run->s->route[i];
		const struct inspect_rail *by = by_ifindex(run->s, route->ifindex);

		if (route->table != r->table)
			continue;
		n++;
		if (route->ifindex == r->link.ifindex || (by && by->table == r->table))
			continue;
		tell_wrong_route(run, r, route);
		good = false;
	}
	if (good)
		finding_set_value(inspect_add(run, r, "route", FINDING_OK),
				  "%zu in table %u, all by %s", n, r->table, r->ifname);
}

/* ---- ways ---- */

/* Without a route of its own a rail has no way to other networks; the main table has one. */
static void tell_wrong_way(struct inspect_run *run, const struct inspect_rail *r,
			   const struct inspect_way *w)
{
	char from[IP_STR_LEN], to[IP_STR_LEN], name[NAME_LEN];
	bool certain = r->table && (w->own || w->route.table == r->table);
	struct finding *f = inspect_add(run, r, "way", certain ? FINDING_FAIL : FINDING_WARN);

	(void)name_of(run->s, w->route.ifindex, name);
	finding_set_value(f, "from %s to gateway %s: by %s, table %u", ip_format(w->from, from),
			  ip_format(w->to, to), name, w->route.table);
	finding_set_reason(f, "answers come back by another interface than requests leave; a "
			      "switch or a peer with rp_filter drops them");
	if (!r->table)
		finding_set_remedy(f, "set \"routing\": \"rail\" in the configuration of the "
				      "network");
	else
		finding_set_remedy(f, "in the pod, compare: ip %srule; ip %sroute show table %u",
				   family_option(w->from), family_option(w->from), r->table);
}

static void tell_no_way(struct inspect_run *run, const struct inspect_rail *r,
			const struct inspect_way *w)
{
	struct finding *f = inspect_add(run, r, "way", w->own ? FINDING_FAIL : FINDING_WARN);
	char from[IP_STR_LEN], to[IP_STR_LEN];

	finding_set_value(f, "from %s to gateway %s: %s", ip_format(w->from, from),
			  ip_format(w->to, to), strerrordesc_np(w->errnum));
	finding_set_reason(f, "packets with this address do not get there");
	finding_set_remedy(f, "in the pod, compare: ip %srule; ip %sroute show table %u",
			   family_option(w->from), family_option(w->from),
			   r->table ? r->table : ROUTE_TABLE_MAIN);
}

/* To an address of the namespace itself a packet takes no rail. */
static void check_ways(struct inspect_run *run, const struct inspect_rail *r)
{
	size_t n = 0;
	bool good = true;

	for (size_t i = 0; i < run->s->n_ways; i++) {
		const struct inspect_way *w = &run->s->way[i];

		if (&run->s->rail[w->rail] != r || w->route.table == ROUTE_TABLE_OWN_LAST)
			continue;
		n++;
		if (!w->errnum && w->route.ifindex == r->link.ifindex)
			continue;
		good = false;
		if (w->errnum)
			tell_no_way(run, r, w);
		else
			tell_wrong_way(run, r, w);
	}
	if (good && n)
		finding_set_value(inspect_add(run, r, "way", FINDING_OK),
				  "%zu to gateways, all by %s", n, r->ifname);
}

/* ---- all ---- */

static bool is_there(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f;

	if (r->link.ifindex) {
		f = inspect_add(run, r, "interface", FINDING_OK);
		finding_set_value(f, "%s", *r->link.kind ? r->link.kind : "a device");
		return true;
	}
	f = inspect_add(run, r, "interface", FINDING_FAIL);
	finding_set_value(f, "the namespace has no such interface");
	finding_set_reason(f, "the pod does not have this rail");
	finding_set_remedy(f, "restart the pod; railctl attachments list says more");
	return false;
}

int inspect_check(const struct inspect *s, const char *pod, struct findings *out, struct err *e)
{
	struct inspect_run run = { s, pod, out };

	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *r = &s->rail[i];

		if (!is_there(&run, r))
			continue;
		inspect_check_link(&run, r);
		check_addresses(&run, r);
		if (r->table) {
			check_rules(&run, r);
			check_table(&run, r);
			check_routes(&run, r);
		}
		check_ways(&run, r);
	}
	return findings_check(out, e);
}
