/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_route.c: findings about the routes of rails, and the ways of their packets. */
#include <string.h>

#include "diag/inspect_priv.h"

/* ---- routes that are not there ---- */

static bool is_route_of(const struct inspect_rail *r, const struct route_spec *x)
{
	return x->kind == ROUTE_UNICAST && x->ifindex == r->link.ifindex && x->table == r->table;
}

static bool diag_has_route(const struct inspect *s, const struct inspect_rail *r,
			   enum ip_family family)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (is_route_of(r, &s->route[i]) && s->route[i].dst.addr.family == family)
			return true;
	return false;
}

static bool has_wanted(const struct inspect *s, const struct inspect_rail *r,
		       const struct route_spec *want)
{
	for (size_t i = 0; i < s->n_routes; i++) {
		const struct route_spec *x = &s->route[i];

		if (x->kind == ROUTE_UNICAST && x->ifindex == r->link.ifindex &&
		    x->table == want->table && ip_same_network(x->dst, want->dst) &&
		    (!want->gw.family || ip_equal(x->gw, want->gw)))
			return true;
	}
	return false;
}

static bool is_covered(const struct inspect_rail *r, struct ip gw)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (ip_in_prefix(r->addr[i].addr, gw))
			return true;
	return ip_is_link_local(gw);
}

/* The main table decides only for programs that bind no address. */
static void tell_missing_route(struct inspect_run *run, const struct inspect_rail *r,
			       const struct route_spec *want)
{
	const bool own = want->table != ROUTE_TABLE_MAIN;
	const bool via = want->gw.family != IP_NONE;
	struct finding *f =
		inspect_add(run, r, INSPECT_ROUTE_MISSING, own ? FINDING_FAIL : FINDING_WARN);
	char dst[PREFIX_STR_LEN], gw[IP_STR_LEN];

	finding_set_value(f, "table %u lacks the route to %s%s%s", want->table,
			  ip_format_prefix(want->dst, dst), via ? " by " : "",
			  via ? ip_format(want->gw, gw) : "");
	finding_set_reason(f, own ? "packets of the rail go there by the main table, "
				    "perhaps by another rail"
				  : "programs that bind no address do not find the rail");
	finding_set_remedy(f, "in the pod: ip %sroute %s %s%s%s dev %s table %u%s",
			   inspect_option(want->dst.addr), own ? "add" : "append", dst,
			   via ? " via " : "", via ? gw : "", r->ifname, want->table,
			   via && !is_covered(r, want->gw) ? " onlink" : "");
}

static void tell_empty_table(struct inspect_run *run, const struct inspect_rail *r,
			     enum ip_family family)
{
	struct finding *f = inspect_add(run, r, INSPECT_ROUTE_MISSING, FINDING_FAIL);

	finding_set_value(f, "table %u has no route of IPv%d by %s", r->table, (int)family,
			  r->ifname);
	finding_set_reason(f,
			   "packets with an address of %s leave by the main table, perhaps by "
			   "another rail",
			   r->ifname);
	finding_set_remedy(f, "restart the pod; a program of the pod set the interface down, or "
			      "removed the routes");
}

/* A table without a route of a family that the rail has an address of: one finding for all. */
static bool check_empty_table(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_addrs && r->n_noted; i++) {
		const enum ip_family family = r->addr[i].addr.addr.family;

		if (inspect_is_told(run, family) || diag_has_route(run->s, r, family))
			continue;
		tell_empty_table(run, r, family);
		inspect_tell(run, family);
		good = false;
	}
	return good;
}

/* Ports of a VRF have no routes in the main table. With the last address of a family the kernel
 * removes its routes: the address is reported. */
static bool check_wanted(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_wanted; i++) {
		const struct route_spec *want = &r->wanted[i];
		const enum ip_family family = want->dst.addr.family;

		if (!inspect_has_family(r, family) || has_wanted(run->s, r, want) ||
		    (want->table == r->table && !diag_has_route(run->s, r, family)) ||
		    (want->table == ROUTE_TABLE_MAIN && r->link.upper_ifindex))
			continue;
		tell_missing_route(run, r, want);
		if (want->table == r->table)
			inspect_tell(run, family);
		good = false;
	}
	return good;
}

/* The kernel makes a route to the network of each address. */
static bool check_connected(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_addrs && r->n_wanted && !r->link.upper_ifindex; i++) {
		struct route_spec want = { .dst = r->addr[i].addr, .table = ROUTE_TABLE_MAIN };

		want.dst.addr = ip_network(want.dst);
		if (r->addr[i].tentative || r->addr[i].dadfailed ||
		    want.dst.len == ip_bits(want.dst.addr.family) || has_wanted(run->s, r, &want))
			continue;
		tell_missing_route(run, r, &want);
		good = false;
	}
	return good;
}

/* ---- routes that should not be there ---- */

static void tell_wrong_route(struct inspect_run *run, const struct inspect_rail *r,
			     const struct route_spec *route)
{
	struct finding *f = inspect_add(run, r, INSPECT_ROUTE_WRONG, FINDING_FAIL);
	char text[PREFIX_STR_LEN], buf[INSPECT_NAME_LEN];
	const char *name = inspect_name_of(run->s, route->ifindex, buf);

	finding_set_value(f, "the route to %s in table %u is by %s",
			  ip_format_prefix(route->dst, text), r->table, name);
	finding_set_reason(f, "packets with an address of %s leave by %s", r->ifname, name);
	finding_set_remedy(f, "in the pod: ip %sroute del %s dev %s table %u",
			   inspect_option(route->dst.addr), text, name, r->table);
}

/* A guard behind the route itself, of a higher metric, forbids nothing while that is there. */
static bool is_guard(const struct inspect *s, const struct inspect_rail *r,
		     const struct route_spec *x)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (is_route_of(r, &s->route[i]) && ip_same_network(s->route[i].dst, x->dst) &&
		    s->route[i].priority < x->priority)
			return true;
	return false;
}

static bool check_forbidding(struct inspect_run *run, const struct inspect_rail *r,
			     const struct route_spec *x)
{
	char text[PREFIX_STR_LEN];
	struct finding *f;

	if (x->kind == ROUTE_OTHER || !r->n_noted || is_guard(run->s, r, x))
		return true;
	f = inspect_add(run, r, INSPECT_ROUTE_FORBIDS, FINDING_FAIL);
	finding_set_value(f, "table %u has a route of kind %s to %s", r->table,
			  route_kind_name(x->kind), ip_format_prefix(x->dst, text));
	finding_set_reason(f, x->kind == ROUTE_THROW
				      ? "packets of the rail go there by the main table, "
					"perhaps by another rail"
				      : "packets with an address of the rail do not get there");
	finding_set_remedy(f, "in the pod: ip %sroute del %s %s table %u",
			   inspect_option(x->dst.addr), route_kind_name(x->kind), text, r->table);
	inspect_tell(run, x->dst.addr.family);
	return false;
}

/* A duplicate table has routes of both rails: check_table() tells it. */
static bool check_one_route(struct inspect_run *run, const struct inspect_rail *r,
			    const struct route_spec *x)
{
	const struct inspect_rail *by = inspect_by_ifindex(run->s, x->ifindex);

	if (x->kind != ROUTE_UNICAST)
		return check_forbidding(run, r, x);
	/* Other projects put what they like into their tables. */
	if (x->ifindex == r->link.ifindex || (by && by->table == r->table) || !r->n_noted)
		return true;
	tell_wrong_route(run, r, x);
	inspect_tell(run, x->dst.addr.family);
	return false;
}

/* ---- routes of the main table by another rail ---- */

static bool is_network_of(const struct inspect_rail *r, struct ip_prefix net)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (ip_same_network(r->addr[i].addr, net))
			return true;
	for (size_t i = 0; i < r->n_wanted; i++)
		if (ip_same_network(r->wanted[i].dst, net))
			return true;
	return false;
}

/* A default route is everybody's. */
static bool takes_from(const struct inspect_rail *r, struct ip_prefix part)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (part.len > r->addr[i].addr.len && ip_in_prefix(r->addr[i].addr, part.addr))
			return true;
	for (size_t i = 0; i < r->n_wanted; i++)
		if (r->wanted[i].table == ROUTE_TABLE_MAIN && r->wanted[i].dst.len &&
		    part.len > r->wanted[i].dst.len && ip_in_prefix(r->wanted[i].dst, part.addr))
			return true;
	return false;
}

static bool check_taken(struct inspect_run *run, const struct inspect_rail *r,
			const struct route_spec *x)
{
	const struct inspect_rail *by = inspect_by_ifindex(run->s, x->ifindex);
	char text[PREFIX_STR_LEN];
	struct finding *f;

	if (!r->n_wanted || x->kind != ROUTE_UNICAST || !by || by == r || !by->n_wanted ||
	    is_network_of(by, x->dst) || !takes_from(r, x->dst))
		return true;
	f = inspect_add(run, r, INSPECT_ROUTE_TAKEN, FINDING_WARN);
	finding_set_value(f, "the route to %s in the main table is by %s",
			  ip_format_prefix(x->dst, text), by->ifname);
	finding_set_reason(f,
			   "programs that bind no address leave by %s, but the network is one "
			   "of %s",
			   by->ifname, r->ifname);
	finding_set_remedy(f, "in the pod: ip %sroute del %s dev %s", inspect_option(x->dst.addr),
			   text, by->ifname);
	return false;
}

void inspect_check_routes(struct inspect_run *run, const struct inspect_rail *r)
{
	size_t n = 0;
	bool good = true;

	/* The kernel removed its routes when it went down, and does not bring them back. */
	if (!inspect_is_up(r))
		return;
	for (size_t i = 0; i < run->s->n_routes; i++) {
		const struct route_spec *x = &run->s->route[i];

		if (x->table == ROUTE_TABLE_MAIN)
			good = check_taken(run, r, x) && good;
		if (x->table != r->table)
			continue;
		n++;
		good = check_one_route(run, r, x) && good;
	}
	good = check_empty_table(run, r) && good;
	good = check_wanted(run, r) && good;
	good = check_connected(run, r) && good;
	if (good)
		finding_set_value(inspect_ok(run, r, "route"), "%zu in table %u, all by %s", n,
				  r->table, r->ifname);
}

/* ---- ways ---- */

static const char *aim_text(const struct inspect_way *w)
{
	switch (w->aim) {
	case INSPECT_OWN_GATEWAY:
		return "gateway";
	case INSPECT_PEER:
		return "its network,";
	case INSPECT_ELSEWHERE:
		break;
	}
	return "other networks,";
}

static bool may_match(const struct rule_spec *rule, struct ip from)
{
	return rule->from.addr.family == from.family &&
	       (!rule->from.len || ip_in_prefix(rule->from, from));
}

/* The rule that led to this table before the one of the address was asked; NULL: none is found. */
static const struct rule_spec *earlier_rule(const struct inspect *s, const struct inspect_way *w,
					    bool conditional)
{
	const struct rule_spec *own = inspect_first_rule(s, w->from);

	for (size_t i = 0; i < s->n_rules && own && &s->rule[i] != own; i++)
		if (s->rule[i].conditional == conditional && s->rule[i].table == w->route.table &&
		    may_match(&s->rule[i], w->from))
			return &s->rule[i];
	return NULL;
}

static void tell_earlier_rule(struct inspect_run *run, const struct inspect_rail *r,
			      const struct inspect_way *w, const struct rule_spec *rule)
{
	struct finding *f = inspect_add(run, r, INSPECT_RULE_EARLIER, FINDING_FAIL);
	char from[IP_STR_LEN], all[PREFIX_STR_LEN], buf[INSPECT_NAME_LEN];

	(void)ip_format_prefix(rule->from, all);
	finding_set_value(f, "the rule from %s of priority %u leads to table %u before that of %s",
			  rule->from.len ? all : "all", rule->priority, rule->table,
			  ip_format(w->from, from));
	finding_set_reason(f, "packets with this address leave by %s",
			   inspect_name_of(run->s, w->route.ifindex, buf));
	finding_set_remedy(f, "in the pod: ip %srule del from %s lookup %u priority %u",
			   inspect_option(w->from), rule->from.len ? all : "all", rule->table,
			   rule->priority);
}

/* Rails without tables in one network: the main table has one way for both. */
static bool inspect_route_is_shared(const struct inspect *s, const struct inspect_way *w)
{
	const struct inspect_rail *by = inspect_by_ifindex(s, w->route.ifindex);

	for (size_t i = 0; by && i < by->n_addrs; i++)
		if (ip_in_prefix(by->addr[i].addr, w->to))
			return true;
	return false;
}

static void set_remedy(struct inspect_run *run, const struct inspect_rail *r,
		       const struct inspect_way *w, struct finding *f)
{
	const struct rule_spec *rule = earlier_rule(run->s, w, true);
	const char *option = inspect_option(w->from);

	if (!r->table)
		finding_set_remedy(f, "set \"routing\": \"rail\" in the configuration of the "
				      "network");
	else if (rule)
		finding_set_remedy(f, "in the pod, look at the rule of priority %u: ip %srule",
				   rule->priority, option);
	else
		finding_set_remedy(f, "in the pod, compare: ip %srule; ip %sroute show table %u",
				   option, option, r->table);
}

static void tell_wrong_way(struct inspect_run *run, const struct inspect_rail *r,
			   const struct inspect_way *w)
{
	const struct rule_spec *rule = r->table ? earlier_rule(run->s, w, false) : NULL;
	const bool shared = !r->table && inspect_route_is_shared(run->s, w);
	char from[IP_STR_LEN], to[IP_STR_LEN], buf[INSPECT_NAME_LEN];
	struct finding *f;

	if (rule) {
		tell_earlier_rule(run, r, w, rule);
		return;
	}
	f = inspect_add(run, r, shared ? INSPECT_WAY_SHARED : INSPECT_WAY_WRONG,
			r->n_noted ? FINDING_FAIL : FINDING_WARN);
	finding_set_value(f, "from %s to %s %s: by %s, table %u", ip_format(w->from, from),
			  aim_text(w), ip_format(w->to, to),
			  inspect_name_of(run->s, w->route.ifindex, buf), w->route.table);
	finding_set_reason(f, "answers come back by another interface than requests leave; a "
			      "switch or a peer with rp_filter drops them");
	set_remedy(run, r, w, f);
}

static void tell_no_way(struct inspect_run *run, const struct inspect_rail *r,
			const struct inspect_way *w)
{
	struct finding *f = inspect_add(run, r, INSPECT_WAY_NONE, FINDING_FAIL);
	char from[IP_STR_LEN], to[IP_STR_LEN];

	finding_set_value(f, "from %s to %s %s: %s", ip_format(w->from, from), aim_text(w),
			  ip_format(w->to, to), strerrordesc_np(w->errnum));
	finding_set_reason(f, "packets with this address do not get there");
	finding_set_remedy(f, "in the pod, compare: ip %srule; ip %sroute show table %u",
			   inspect_option(w->from), inspect_option(w->from),
			   r->table ? r->table : ROUTE_TABLE_MAIN);
}

/*
 * To an address of the namespace itself a packet takes no rail. One finding for each address is
 * enough, and none if its cause is reported already.
 */
void inspect_check_ways(struct inspect_run *run, const struct inspect_rail *r)
{
	struct ip last = { .family = IP_NONE };
	size_t n = 0;
	bool good = true;

	for (size_t i = 0; i < run->s->n_ways && inspect_has_carrier(r); i++) {
		const struct inspect_way *w = &run->s->way[i];

		if (&run->s->rail[w->rail] != r || w->route.table == ROUTE_TABLE_OWN_LAST ||
		    inspect_is_told(run, w->from.family) || ip_equal(w->from, last))
			continue;
		n++;
		if (!w->errnum && w->route.ifindex == r->link.ifindex)
			continue;
		good = false;
		last = w->from;
		if (w->errnum)
			tell_no_way(run, r, w);
		else
			tell_wrong_way(run, r, w);
	}
	if (good && n)
		finding_set_value(inspect_ok(run, r, "way"), "%zu asked for, all by %s", n,
				  r->ifname);
}
