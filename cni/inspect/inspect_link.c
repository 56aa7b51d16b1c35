/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_link.c: findings about the interface of a rail: ARP, MTU, carrier and gateways. */
#include <net/if.h>

#include "cni/inspect/inspect_priv.h"

/* ---- ARP ---- */

static bool has_v4(const struct inspect_rail *r)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (r->addr[i].addr.addr.family == IP_V4)
			return true;
	return false;
}

/* Another rail with IPv4; in_net: one with an address in a network of r. */
static const struct inspect_rail *neighbour_of(const struct inspect *s,
					       const struct inspect_rail *r, bool in_net)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *x = &s->rail[i];

		if (x == r || !x->link.ifindex)
			continue;
		for (size_t k = 0; k < x->n_addrs; k++) {
			const struct ip a = x->addr[k].addr.addr;

			if (a.family == IP_V4 && !in_net)
				return x;
			for (size_t n = 0; a.family == IP_V4 && n < r->n_addrs; n++)
				if (ip_in_prefix(r->addr[n].addr, a))
					return x;
		}
	}
	return NULL;
}

/* 1 and 2 answer for own addresses alone; others for any address of the pod, 8 for none. */
static bool is_good(enum inspect_setting s, int v)
{
	switch (s) {
	case INSPECT_ARP_IGNORE:
		return v == 1 || v == 2;
	case INSPECT_ARP_ANNOUNCE:
		return v == 2;
	case INSPECT_RP_FILTER:
		return v != 1;
	case INSPECT_LINKDOWN:
	case INSPECT_SETTINGS:
		break;
	}
	return true;
}

static const char *effect(enum inspect_setting s)
{
	if (s == INSPECT_ARP_IGNORE)
		return "the interface answers ARP for the addresses of other rails (with 8: for "
		       "none), and packets arrive by the wrong rail";
	if (s == INSPECT_ARP_ANNOUNCE)
		return "ARP requests carry the address of another rail, and peers learn the wrong "
		       "way to it";
	return "packets whose way back is another interface are dropped (RFC 3704, strict)";
}

/* In a network of its own, only a peer with a wrong route asks for the address of another rail. */
static enum finding_state setting_state(const struct inspect_run *run, const struct inspect_rail *r,
					enum inspect_setting s)
{
	if (r->setting[s] < 0)
		return FINDING_UNKNOWN;
	return s != INSPECT_RP_FILTER && neighbour_of(run->s, r, true) ? FINDING_FAIL
								       : FINDING_WARN;
}

static void check_arp(struct inspect_run *run, const struct inspect_rail *r)
{
	static const int wanted[] = {
		[INSPECT_ARP_IGNORE] = 1, [INSPECT_ARP_ANNOUNCE] = 2, [INSPECT_RP_FILTER] = 2
	};
	bool good = true;

	for (int i = INSPECT_ARP_IGNORE; i <= INSPECT_RP_FILTER; i++) {
		const enum inspect_setting s = (enum inspect_setting)i;
		struct finding *f;

		if (r->setting[i] >= 0 && is_good(s, r->setting[i]))
			continue;
		good = false;
		f = inspect_add(run, r, "arp", setting_state(run, r, s));
		if (r->setting[i] < 0)
			finding_set_value(f, "%s cannot be read", inspect_setting_name(s));
		else
			finding_set_value(f, "%s is %d, should be %d", inspect_setting_name(s),
					  r->setting[i], wanted[i]);
		finding_set_reason(f, "%s", effect(s));
		finding_set_remedy(f,
				   "in the pod: sysctl -w net.ipv4.conf.%s.%s=%d; the larger of "
				   "this and net.ipv4.conf.all counts",
				   r->ifname, inspect_setting_name(s), wanted[i]);
	}
	if (good)
		finding_set_value(inspect_add(run, r, "arp", FINDING_OK),
				  "arp_ignore %d, arp_announce %d, rp_filter %d",
				  r->setting[INSPECT_ARP_IGNORE], r->setting[INSPECT_ARP_ANNOUNCE],
				  r->setting[INSPECT_RP_FILTER]);
}

/* ---- MTU ---- */

/* A configuration may ask for a smaller MTU than that of the master. */
static bool check_master_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	const uint32_t mtu = r->link.mtu;
	struct finding *f;

	if (!r->master_mtu || mtu == r->master_mtu || (mtu < r->master_mtu && mtu == r->want_mtu))
		return true;
	f = inspect_add(run, r, "mtu", mtu > r->master_mtu ? FINDING_FAIL : FINDING_WARN);
	finding_set_value(f, "%u, but master %s has %u", mtu, r->master, r->master_mtu);
	if (mtu > r->master_mtu)
		finding_set_reason(f, "large packets are lost");
	else
		finding_set_reason(f, "packets are smaller than the network allows");
	finding_set_remedy(f,
			   "in the pod: ip link set %s mtu %u; or set \"mtu\" in the "
			   "configuration of the network",
			   r->ifname, r->master_mtu);
	return false;
}

static bool check_route_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	char text[PREFIX_STR_LEN];
	bool good = true;

	for (size_t i = 0; i < run->s->n_routes; i++) {
		const struct route_spec *route = &run->s->route[i];
		struct finding *f;

		if (route->ifindex != r->link.ifindex || route->mtu <= r->link.mtu)
			continue;
		good = false;
		f = inspect_add(run, r, "mtu", FINDING_WARN);
		finding_set_value(f, "%u, but the route to %s has %u", r->link.mtu,
				  ip_format_prefix(route->dst, text), route->mtu);
		finding_set_reason(f, "the interface sends no packet as large as the route says");
		finding_set_remedy(f, "in the pod: ip link set %s mtu %u, if the master allows it",
				   r->ifname, route->mtu);
	}
	return good;
}

static bool check_way_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	char text[IP_STR_LEN];
	bool good = true;

	for (size_t i = 0; i < run->s->n_ways; i++) {
		const struct inspect_way *w = &run->s->way[i];
		struct finding *f;

		if (&run->s->rail[w->rail] != r || !w->own || w->errnum || !w->route.mtu ||
		    w->route.ifindex != r->link.ifindex || w->route.mtu >= r->link.mtu)
			continue;
		good = false;
		f = inspect_add(run, r, "mtu", FINDING_WARN);
		finding_set_value(f, "%u, but the way to gateway %s has %u", r->link.mtu,
				  ip_format(w->to, text), w->route.mtu);
		finding_set_reason(f, "RDMA does not discover the MTU of a path: its large packets "
				      "are lost");
		finding_set_remedy(f, "give switch and interface the same MTU; \"mtu\" in the "
				      "configuration of the network sets that of the interface");
	}
	return good;
}

static void check_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = check_master_mtu(run, r);

	good = check_route_mtu(run, r) && good;
	good = check_way_mtu(run, r) && good;
	if (good)
		finding_set_value(inspect_add(run, r, "mtu", FINDING_OK), "%u", r->link.mtu);
}

/* ---- carrier ---- */

static size_t routes_by(const struct inspect *s, const struct inspect_rail *r)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_routes; i++)
		n += s->route[i].ifindex == r->link.ifindex;
	return n;
}

static void check_carrier(struct inspect_run *run, const struct inspect_rail *r)
{
	bool up = r->link.flags & IFF_UP;
	struct finding *f;

	if (up && r->link.flags & IFF_RUNNING) {
		f = inspect_add(run, r, "carrier", FINDING_OK);
		finding_set_value(f, "up");
		return;
	}
	f = inspect_add(run, r, "carrier", FINDING_FAIL);
	finding_set_value(f, "%s, %zu routes by it", up ? "no carrier" : "the interface is down",
			  routes_by(run->s, r));
	if (up && r->setting[INSPECT_LINKDOWN] == 0)
		finding_set_reason(f, "ignore_routes_with_linkdown is 0: packets take these "
				      "routes, and are lost");
	else
		finding_set_reason(f, "no packet leaves or arrives by this rail");
	if (!up)
		finding_set_remedy(f,
				   "in the pod: ip link set %s up; its routes do not come back: "
				   "restart the pod",
				   r->ifname);
	else if (*r->master)
		finding_set_remedy(f, "look at master %s on the node, its cable and its switch",
				   r->master);
	else
		finding_set_remedy(f, "look at the device below it, its cable and its switch");
}

/* ---- gateways ---- */

static const struct neigh_info *neigh_of(const struct inspect_rail *r, struct ip a)
{
	for (size_t i = 0; i < r->n_neighs; i++)
		if (ip_equal(r->neigh[i].addr, a))
			return &r->neigh[i];
	return NULL;
}

/* The rail of the same pod with this hardware address; NULL: none. */
static const struct inspect_rail *rail_of_hw(const struct inspect *s, struct hw_addr hw)
{
	for (size_t i = 0; i < s->n_rails; i++)
		if (hw_addr_equal(s->rail[i].link.addr, hw))
			return &s->rail[i];
	return NULL;
}

static void check_gateway(struct inspect_run *run, const struct inspect_rail *r, struct ip gw)
{
	const struct neigh_info *n = neigh_of(r, gw);
	char text[IP_STR_LEN], hw[HW_ADDR_STR_LEN];
	const struct inspect_rail *self;
	struct finding *f;

	if (!n || n->state == NEIGH_ASKED)
		return;
	self = rail_of_hw(run->s, n->hw);
	f = inspect_add(run, r, "gateway",
			n->state == NEIGH_FAILED ? FINDING_WARN
			: self                   ? FINDING_FAIL
						 : FINDING_OK);
	(void)ip_format(gw, text);
	if (n->state == NEIGH_FAILED) {
		finding_set_value(f, "%s did not answer when it was last asked", text);
		finding_set_reason(f, "packets to other networks were lost, and may be now");
		finding_set_remedy(f, "ping it; if it is silent, look at the "
				      "switch or router of this rail, and whether the "
				      "pool has the right gateway");
		return;
	}
	finding_set_value(f, "%s is %s", text, hw_addr_format(n->hw, hw));
	if (!self)
		return;
	finding_set_reason(f, "this is the address of %s in the pod itself", self->ifname);
	finding_set_remedy(f, "give the gateway an address that no pod has");
}

/* A gateway of several routes counts once. */
static void check_gateways(struct inspect_run *run, const struct inspect_rail *r)
{
	const struct inspect *s = run->s;

	for (size_t i = 0; i < s->n_routes; i++) {
		bool seen = false;

		if (!inspect_is_gateway(r, &s->route[i]))
			continue;
		for (size_t k = 0; k < i && !seen; k++)
			seen = inspect_is_gateway(r, &s->route[k]) &&
			       ip_equal(s->route[k].gw, s->route[i].gw);
		if (!seen)
			check_gateway(run, r, s->route[i].gw);
	}
}

void inspect_check_link(struct inspect_run *run, const struct inspect_rail *r)
{
	check_carrier(run, r);
	check_mtu(run, r);
	if (r->table && has_v4(r) && neighbour_of(run->s, r, false))
		check_arp(run, r);
	check_gateways(run, r);
}
