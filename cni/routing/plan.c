/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: which routes and rules the interface of a rail gets. */
#include "cni/routing/routing.h"

#include <stdlib.h>

static const struct cni_ip *with_gateway(const struct cni_result *r, enum ip_family f)
{
	for (size_t i = 0; i < r->n_ips; i++)
		if (r->ips[i].gateway.family == f)
			return &r->ips[i];
	return NULL;
}

struct route_spec routing_route(const struct cni_result *r, const struct cni_route *x, int ifindex)
{
	struct route_spec spec = {
		.dst = x->dst,
		.gw = x->gw,
		.ifindex = ifindex,
		.mtu = x->mtu,
		.advmss = x->advmss,
		.priority = x->priority,
		.table = x->table > 0 ? (uint32_t)x->table : 0,
		.scope = x->scope,
	};
	const struct cni_ip *own = with_gateway(r, x->dst.addr.family);

	/* A route of scope link or host has no next hop, whatever gateway the subnet has. */
	if (!spec.gw.family && x->scope <= 0 && own)
		spec.gw = own->gateway;
	return spec;
}

bool routing_keeps_main(const struct routing_conf *c, const struct cni_route *x)
{
	return !c->rail || c->is_default || x->dst.len > 0 || x->table > 0;
}

struct rule_spec routing_rule(struct ip addr, uint32_t table)
{
	return (struct rule_spec){
		.from = { .addr = addr, .len = (uint8_t)ip_bits(addr.family) },
		.table = table,
		.priority = ROUTING_PRIORITY,
	};
}

/* ---- the table of the rail ---- */

/* Neighbours answer from link-local addresses, too: their network is not behind the gateway. */
static void add_link_local(struct routing_plan *p, const struct routing_place *at)
{
	static const struct ip_prefix net = { .addr = { IP_V6, (u128)0xfe80 << 112 }, .len = 64 };

	p->route[p->n_routes++] = (struct route_spec){
		.dst = net, .ifindex = at->ifindex, .table = at->table, .scope = -1
	};
}

static void add_connected(struct routing_plan *p, const struct cni_ip *x,
			  const struct routing_place *at)
{
	const struct ip_prefix net = { .addr = ip_network(x->address), .len = x->address.len };

	p->route[p->n_routes++] = (struct route_spec){
		.dst = net, .ifindex = at->ifindex, .table = at->table, .scope = -1
	};
}

/* By the gateway of x, which may be on the link without an address that covers it. */
static void add_by_gateway(struct routing_plan *p, const struct cni_ip *x,
			   const struct route_spec *to)
{
	struct route_spec *r = &p->route[p->n_routes++];

	*r = *to;
	r->gw = x->gateway;
	r->scope = -1;
	r->onlink = !ip_in_prefix(x->address, x->gateway) && !ip_is_link_local(x->gateway);
}

static bool has_default(const struct cni_result *r, enum ip_family f)
{
	for (size_t i = 0; i < r->n_routes; i++) {
		const struct cni_route *x = &r->routes[i];

		if (!x->dst.len && x->dst.addr.family == f && x->table <= 0)
			return true;
	}
	return false;
}

/* A family without a default route of the IPAM has one by its gateway. */
static void add_defaults(struct routing_plan *p, const struct cni_result *r,
			 const struct routing_place *at)
{
	static const enum ip_family families[] = { IP_V4, IP_V6 };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		const struct cni_ip *x = with_gateway(r, families[i]);
		struct route_spec to = { .dst.addr.family = families[i],
					 .ifindex = at->ifindex,
					 .table = at->table };

		if (x && !has_default(r, families[i]))
			add_by_gateway(p, x, &to);
	}
}

/* The IPAM's routes but those for a table that it names. */
static void plan_add_copies(struct routing_plan *p, const struct cni_result *r,
			    const struct routing_place *at)
{
	for (size_t i = 0; i < r->n_routes; i++) {
		struct route_spec spec = routing_route(r, &r->routes[i], at->ifindex);

		if (spec.table)
			continue;
		spec.table = at->table;
		p->route[p->n_routes++] = spec;
	}
}

/* ---- the main table ---- */

static int add_supernets(const struct routing_conf *c, const struct cni_result *r, int ifindex,
			 struct routing_plan *p, struct err *e)
{
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; i < c->n_supernets; i++) {
		const struct ip_prefix *net = &c->supernet[i];
		const struct cni_ip *x = with_gateway(r, net->addr.family);
		struct route_spec to = { .dst = *net, .ifindex = ifindex };

		if (!x)
			return err_set(e, ERR_CONFIG, 0,
				       "routing.supernets: %s needs a gateway, and the IPAM gave "
				       "none of its family",
				       ip_format_prefix(*net, text));
		add_by_gateway(p, x, &to);
	}
	return 0;
}

/* ---- all ---- */

int routing_plan(const struct routing_conf *c, const struct cni_result *r,
		 const struct routing_place *at, struct routing_plan *out, struct err *e)
{
	/* one of each address, two defaults, link-local, supernets, and the IPAM's routes */
	size_t most = r->n_ips + 3 + c->n_supernets + r->n_routes;
	bool v6 = false;

	*out = (struct routing_plan){ .route = calloc(most, sizeof(*out->route)),
				      .rule = calloc(r->n_ips + 1, sizeof(*out->rule)) };
	if (!out->route || !out->rule)
		return err_nomem(e);
	for (size_t i = 0; i < r->n_ips; i++) {
		out->rule[out->n_rules++] = routing_rule(r->ips[i].address.addr, at->table);
		add_connected(out, &r->ips[i], at);
		v6 |= r->ips[i].address.addr.family == IP_V6;
	}
	if (v6)
		add_link_local(out, at);
	add_defaults(out, r, at);
	plan_add_copies(out, r, at);
	return add_supernets(c, r, at->ifindex, out, e);
}

void routing_plan_clear(struct routing_plan *p)
{
	free(p->route);
	free(p->rule);
	*p = (struct routing_plan){ .n_routes = 0 };
}
