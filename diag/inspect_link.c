/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_link.c: findings about the interface of a rail: MTU, MAC, carrier and gateways. */
#include <string.h>

#include "diag/inspect_priv.h"

/* ---- MTU ---- */

/* A configuration may ask for a smaller MTU than that of the master. */
static bool check_master_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	const uint32_t mtu = r->link.mtu;
	struct finding *f;

	if (!r->master_mtu || mtu == r->master_mtu || (mtu < r->master_mtu && mtu == r->want_mtu))
		return true;
	/* A VF, which has no interface below, may have more than its PF, if the card allows it. */
	f = inspect_add(run, r, INSPECT_MTU_MASTER,
			mtu > r->master_mtu && r->lower_ifindex ? FINDING_FAIL : FINDING_WARN);
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
		f = inspect_add(run, r, INSPECT_MTU_ROUTE, FINDING_WARN);
		finding_set_value(f, "%u, but the route to %s has %u", r->link.mtu,
				  ip_format_prefix(route->dst, text), route->mtu);
		finding_set_reason(f, "the interface sends no packet as large as the route says");
		finding_set_remedy(f, "in the pod: ip link set %s mtu %u, if the master allows it",
				   r->ifname, route->mtu);
	}
	return good;
}

/* The IPAM, or whoever made a rail without a record, gave the route this MTU. */
static bool is_wanted_mtu(const struct inspect_run *run, const struct inspect_rail *r, uint32_t mtu)
{
	for (size_t i = 0; i < r->n_wanted; i++)
		if (r->wanted[i].mtu == mtu)
			return true;
	for (size_t i = 0; i < run->s->n_routes && !r->n_wanted; i++)
		if (run->s->route[i].ifindex == r->link.ifindex && run->s->route[i].mtu == mtu)
			return true;
	return false;
}

static bool check_way_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	char text[IP_STR_LEN];
	bool good = true;

	for (size_t i = 0; i < run->s->n_ways; i++) {
		const struct inspect_way *w = &run->s->way[i];
		struct finding *f;

		if (&run->s->rail[w->rail] != r || w->errnum || !w->route.mtu ||
		    w->route.ifindex != r->link.ifindex || w->route.mtu >= r->link.mtu ||
		    is_wanted_mtu(run, r, w->route.mtu))
			continue;
		good = false;
		f = inspect_add(run, r, INSPECT_MTU_PATH, FINDING_WARN);
		finding_set_value(f, "%u, but the way to %s%s has %u", r->link.mtu,
				  w->aim == INSPECT_OWN_GATEWAY ? "gateway " : "",
				  ip_format(w->to, text), w->route.mtu);
		finding_set_reason(f, "RDMA does not discover the MTU of a path: its large packets "
				      "are lost");
		finding_set_remedy(f, "give switch and interface the same MTU; \"mtu\" in the "
				      "configuration of the network sets that of the interface");
	}
	return good;
}

static void inspect_link_check_mtu(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = check_master_mtu(run, r);

	good = check_route_mtu(run, r) && good;
	good = check_way_mtu(run, r) && good;
	if (good)
		finding_set_value(inspect_ok(run, r, "mtu"), "%u", r->link.mtu);
}

/* ---- MAC ---- */

static void inspect_link_tell_duplicate(struct inspect_run *run, const struct inspect_rail *r,
					const char *whose)
{
	struct finding *f = inspect_add(run, r, INSPECT_MAC_DUPLICATE, FINDING_FAIL);
	char hw[HW_ADDR_STR_LEN];

	finding_set_value(f, "%s is also that of %s", hw_addr_format(r->link.addr, hw), whose);
	finding_set_reason(f, "a switch sends the packets of one to the other");
	finding_set_remedy(f, "give one of them another address; \"mac\" in the configuration or "
			      "the pod's annotation sets it");
}

/* Several ipvlans of one card have its address, and so have VLANs of one card: in other networks.
 */
static bool is_twin(const struct inspect_rail *r, const struct inspect_rail *x)
{
	if (!hw_addr_equal(r->link.addr, x->link.addr) || !x->link.ifindex ||
	    (r->link.lower_ifindex && r->link.lower_ifindex == x->link.lower_ifindex))
		return false;
	for (size_t i = 0; i < r->n_addrs; i++)
		for (size_t k = 0; k < x->n_addrs; k++)
			if (ip_same_network(r->addr[i].addr, x->addr[k].addr))
				return true;
	return false;
}

static bool inspect_link_has_addr(const struct inspect *s, struct ip a)
{
	for (size_t i = 0; i < s->n_rails; i++)
		for (size_t k = 0; k < s->rail[i].n_addrs; k++)
			if (ip_equal(s->rail[i].addr[k].addr.addr, a))
				return true;
	return false;
}

/* A neighbour that has the rail's own address. Ipvlans of one card share theirs with pods. */
static bool check_neighbours(struct inspect_run *run, const struct inspect_rail *r)
{
	char text[IP_STR_LEN];

	for (size_t i = 0; i < r->n_neighs && strcmp(r->link.kind, "ipvlan") != 0; i++) {
		const struct neigh_info *n = &r->neigh[i];

		if (n->state != NEIGH_KNOWN || !hw_addr_equal(n->hw, r->link.addr) ||
		    inspect_link_has_addr(run->s, n->addr))
			continue;
		inspect_link_tell_duplicate(run, r, ip_format(n->addr, text));
		return false;
	}
	return true;
}

static void check_mac(struct inspect_run *run, const struct inspect_rail *r)
{
	char is[HW_ADDR_STR_LEN], want[HW_ADDR_STR_LEN];
	bool good = true;

	if (r->want_mac.len && !hw_addr_equal(r->want_mac, r->link.addr)) {
		struct finding *f = inspect_add(run, r, INSPECT_MAC_CHANGED, FINDING_WARN);

		good = false;
		finding_set_value(f, "%s, but macPrefix makes %s", hw_addr_format(r->link.addr, is),
				  hw_addr_format(r->want_mac, want));
		finding_set_reason(f, "peers and switches that know the pod by it do not find it");
		finding_set_remedy(f, "in the pod: ip link set %s address %s", r->ifname, want);
	}
	for (const struct inspect_rail *x = run->s->rail; x < r && good; x++) {
		if (!is_twin(r, x))
			continue;
		good = false;
		inspect_link_tell_duplicate(run, r, x->ifname);
	}
	good = good && check_neighbours(run, r);
	if (good)
		finding_set_value(inspect_ok(run, r, "mac"), "%s",
				  hw_addr_format(r->link.addr, is));
}

/* ---- carrier ---- */

static size_t routes_by(const struct inspect *s, const struct inspect_rail *r)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_routes; i++)
		n += s->route[i].ifindex == r->link.ifindex;
	return n;
}

/* Where its packets go while its routes do not count; NULL: nowhere, or it is not known. */
static const char *detour(const struct inspect_run *run, const struct inspect_rail *r,
			  char out[INSPECT_NAME_LEN])
{
	for (size_t i = 0; i < run->s->n_ways; i++) {
		const struct inspect_way *w = &run->s->way[i];

		if (&run->s->rail[w->rail] == r && !w->errnum && w->route.ifindex &&
		    w->route.ifindex != r->link.ifindex && w->route.table != ROUTE_TABLE_OWN_LAST)
			return inspect_name_of(run->s, w->route.ifindex, out);
	}
	return NULL;
}

static void tell_down(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f = inspect_add(run, r, INSPECT_CARRIER_DOWN, FINDING_FAIL);

	finding_set_value(f, "the interface is down, %zu routes by it", routes_by(run->s, r));
	finding_set_reason(f, "no packet leaves or arrives by this rail");
	finding_set_remedy(f,
			   "in the pod: ip link set %s up; its routes do not come back: restart "
			   "the pod",
			   r->ifname);
}

static void tell_lost(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f = inspect_add(run, r, INSPECT_CARRIER_LOST, FINDING_FAIL);
	char buf[INSPECT_NAME_LEN];
	const char *by = detour(run, r, buf);

	finding_set_value(f, "no carrier, %zu routes by it", routes_by(run->s, r));
	if (r->setting[INSPECT_LINKDOWN] == 0)
		finding_set_reason(f, "ignore_routes_with_linkdown is 0: packets take these "
				      "routes, and are lost");
	else if (by)
		finding_set_reason(f, "packets with its addresses leave by %s meanwhile", by);
	else
		finding_set_reason(f, "no packet leaves or arrives by this rail");
	if (*r->master)
		finding_set_remedy(f, "look at master %s on the node, its cable and its switch",
				   r->master);
	else
		finding_set_remedy(f, "look at the device below it, its cable and its switch");
}

static void check_carrier(struct inspect_run *run, const struct inspect_rail *r)
{
	if (!inspect_is_up(r))
		tell_down(run, r);
	else if (!inspect_has_carrier(r))
		tell_lost(run, r);
	else
		finding_set_value(inspect_ok(run, r, "carrier"), "up");
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
	(void)ip_format(gw, text);
	if (n->state == NEIGH_FAILED) {
		f = inspect_add(run, r, INSPECT_GATEWAY_SILENT, FINDING_WARN);
		finding_set_value(f, "%s did not answer when it was last asked", text);
		finding_set_reason(f, "packets to other networks were lost, and may be now");
		finding_set_remedy(f, "ping it; if it is silent, look at the "
				      "switch or router of this rail, and whether the "
				      "pool has the right gateway");
		return;
	}
	f = self ? inspect_add(run, r, INSPECT_GATEWAY_SELF, FINDING_FAIL)
		 : inspect_ok(run, r, "gateway");
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
	check_mac(run, r);
	inspect_link_check_mtu(run, r);
	if (inspect_has_carrier(r))
		check_gateways(run, r);
}
