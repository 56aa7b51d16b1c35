/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_way.c: the packets whose way the kernel is asked for. Pure. */
#include "diag/inspect.h"
#include "lib/base/array.h"

#define WAYS_MAX  16384
#define PARTS_MAX 16 /* asked for: of a network, and routes of a table */
#define TRIES     8

bool inspect_is_gateway(const struct inspect_rail *r, const struct route_spec *route)
{
	return route->ifindex == r->link.ifindex && r->link.ifindex && route->gw.family &&
	       route->table == (r->table ? r->table : ROUTE_TABLE_MAIN);
}

/* ---- an address of a network ---- */

static bool is_of_a_rail(const struct inspect *s, struct ip a)
{
	for (size_t i = 0; i < s->n_rails; i++)
		for (size_t k = 0; k < s->rail[i].n_addrs; k++)
			if (ip_equal(s->rail[i].addr[k].addr.addr, a))
				return true;
	return false;
}

/* Of all networks an address of those for documentation (RFC 5737, RFC 3849). */
static struct ip anywhere(enum ip_family family)
{
	return family == IP_V4 ? (struct ip){ IP_V4, 0xc0000201 }
			       : (struct ip){ IP_V6, ((u128)0x20010db8 << 96) + 1 };
}

/* false: each that was tried is a rail's. The last one of IPv4 is for broadcasts. */
static bool address_in(const struct inspect *s, struct ip_prefix net, struct ip *out)
{
	const unsigned bits = ip_bits(net.addr.family);
	struct ip a = net.len ? ip_last(net) : anywhere(net.addr.family);

	if (net.len && net.addr.family == IP_V4 && bits - net.len > 1)
		a.v--;
	for (int i = 0; i < TRIES && ip_in_prefix(net, a); i++, a.v--) {
		if (is_of_a_rail(s, a))
			continue;
		*out = a;
		return true;
	}
	return false;
}

/* ---- ways ---- */

static bool inspect_way_is_known(const struct inspect *s, const struct inspect_way *w)
{
	for (size_t i = 0; i < s->n_ways; i++) {
		const struct inspect_way *x = &s->way[i];

		if (x->rail == w->rail && ip_equal(x->from, w->from) && ip_equal(x->to, w->to))
			return true;
	}
	return false;
}

/* A link-local gateway has no way without a link. */
static int add_way(struct inspect *s, struct inspect_way w, enum inspect_aim aim, struct ip to,
		   struct err *e)
{
	w.aim = aim;
	w.to = to;
	if (to.family != w.from.family || ip_is_link_local(to) || inspect_way_is_known(s, &w))
		return 0;
	return ARRAY_PUSH(s->way, s->n_ways, WAYS_MAX, "ways", w, e);
}

static int to_network(struct inspect *s, struct inspect_way w, enum inspect_aim aim,
		      struct ip_prefix net, struct err *e)
{
	struct ip to;

	return net.addr.family == w.from.family && address_in(s, net, &to)
		       ? add_way(s, w, aim, to, e)
		       : 0;
}

static int to_gateways(struct inspect *s, struct inspect_way w, struct err *e)
{
	const struct inspect_rail *r = &s->rail[w.rail];

	for (size_t i = 0; i < s->n_routes; i++)
		if (inspect_is_gateway(r, &s->route[i]) &&
		    add_way(s, w, INSPECT_OWN_GATEWAY, s->route[i].gw, e))
			return -1;
	return 0;
}

static bool is_part_of(struct ip_prefix net, struct ip_prefix part)
{
	return net.addr.family == part.addr.family && part.len > net.len &&
	       ip_in_prefix(net, part.addr);
}

/* Its own network, and parts of it that are another rail's. Without a table of its own also those
 * that have a route. */
static int to_peers(struct inspect *s, struct inspect_way w, struct ip_prefix net, struct err *e)
{
	const struct inspect_rail *r = &s->rail[w.rail];
	size_t parts = 0;

	if (net.len == ip_bits(net.addr.family))
		return 0;
	if (to_network(s, w, INSPECT_PEER, net, e))
		return -1;
	for (size_t i = 0; i < s->n_rails; i++)
		for (size_t k = 0; k < s->rail[i].n_addrs; k++)
			if (is_part_of(net, s->rail[i].addr[k].addr) &&
			    to_network(s, w, INSPECT_PEER, s->rail[i].addr[k].addr, e))
				return -1;
	for (size_t i = 0; i < s->n_routes && !r->table && parts < PARTS_MAX; i++) {
		const struct route_spec *x = &s->route[i];

		if (x->table != ROUTE_TABLE_MAIN || !is_part_of(net, x->dst))
			continue;
		parts++;
		if (to_network(s, w, INSPECT_PEER, x->dst, e))
			return -1;
	}
	return 0;
}

static bool is_own_way(const struct inspect_rail *r, const struct route_spec *x)
{
	return r->table && x->table == r->table && x->ifindex == r->link.ifindex;
}

static bool covers(const struct inspect *s, const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (is_own_way(r, &s->route[i]) && ip_in_prefix(s->route[i].dst, a))
			return true;
	return false;
}

/* To the networks of its routes, and to the gateways of other rails if it has a route to them: a
 * rail of one network only has none, and may leave them to others. Tables of other projects, too.
 */
static int to_elsewhere(struct inspect *s, struct inspect_way w, struct err *e)
{
	const struct inspect_rail *r = &s->rail[w.rail];
	size_t parts = 0;

	for (size_t i = 0; i < s->n_routes && r->n_noted && parts < PARTS_MAX; i++) {
		const struct route_spec *x = &s->route[i];

		if (!is_own_way(r, x) || !x->gw.family)
			continue;
		parts++;
		if (to_network(s, w, INSPECT_ELSEWHERE, x->dst, e))
			return -1;
	}
	for (size_t k = 0; k < s->n_rails; k++)
		for (size_t i = 0; i < s->n_routes && r->n_noted; i++)
			if (inspect_is_gateway(&s->rail[k], &s->route[i]) &&
			    covers(s, r, s->route[i].gw) &&
			    add_way(s, w, INSPECT_ELSEWHERE, s->route[i].gw, e))
				return -1;
	return 0;
}

/* Routes of a VRF are asked for by its interface, which no rail's rule does. */
int inspect_find_ways(struct inspect *s, struct err *e)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *r = &s->rail[i];

		for (size_t k = 0; k < r->n_addrs && !r->link.upper_ifindex; k++) {
			const struct inspect_way w = { .rail = i, .from = r->addr[k].addr.addr };

			if (r->addr[k].tentative || r->addr[k].dadfailed)
				continue;
			if (to_gateways(s, w, e) || to_peers(s, w, r->addr[k].addr, e) ||
			    to_elsewhere(s, w, e))
				return -1;
		}
	}
	return 0;
}
