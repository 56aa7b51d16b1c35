/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: names of a pair, the routes on both sides, and the note for the record. */
#include <stdio.h>
#include <stdlib.h>

#include "cni/hostveth/hostveth.h"
#include "cni/hostveth/priv.h"
#include "lib/base/array.h"
#include "lib/base/hash.h"

/* ---- names ---- */

static struct hw_addr mac_of(const char *side, const char *container)
{
	uint64_t h = hash_add_text(hash_add_text(HASH_START, side), container);
	uint8_t byte[MAC_LEN] = { 2 }; /* unicast, of local administration */

	for (size_t i = 1; i < MAC_LEN; i++)
		byte[i] = (uint8_t)(h >> 8 * i);
	return hw_addr_make(byte, MAC_LEN);
}

/* "veth" first: programs that choose an address of the node skip such interfaces (Calico does). */
struct hostveth_id hostveth_id(const char *container, unsigned attempt)
{
	struct hostveth_id id = { .node_mac = mac_of("node ", container),
				  .pod_mac = mac_of("pod ", container) };
	uint64_t h = hash_add(hash_add_text(HASH_START, container), &attempt, sizeof(attempt));

	(void)snprintf(id.name, sizeof(id.name), "veth%011llx", (unsigned long long)(h >> 20));
	return id;
}

/* ---- routes ---- */

/*
 * The link-local gateways are labels for MAC addresses: no interface has them. The node's addresses
 * on the pair are the same on each pair; the one of IPv6 is of a range of its own (RFC 4193).
 */
const struct hostveth_family hostveth_families[2] = {
	{ .node = { IP_V4, 0xa9fe7101 },
	  .pod_gw = { IP_V4, 0xa9fe7102 },
	  .node_gw = { IP_V4, 0xa9fe7101 },
	  .onlink = true },
	{ .node = { IP_V6, (u128)0xfd5b8c2e9d410000 << 64 | 1 },
	  .pod_gw = { IP_V6, (u128)0xfe80 << 112 | 2 },
	  .node_gw = { IP_V6, (u128)0xfe80 << 112 | 1 } },
};

static const struct cni_ip *plan_first_of(const struct cni_result *r, enum ip_family f)
{
	for (size_t i = 0; i < r->n_ips; i++)
		if (r->ips[i].address.addr.family == f)
			return &r->ips[i];
	return NULL;
}

bool hostveth_has_family(const struct cni_result *r, enum ip_family f)
{
	return plan_first_of(r, f) != NULL;
}

static struct ip_prefix host_of(struct ip a)
{
	return (struct ip_prefix){ .addr = a, .len = (uint8_t)ip_bits(a.family) };
}

static struct route_spec route_by_node(struct ip_prefix dst, struct ip src, uint32_t metric)
{
	const struct hostveth_family *f = &hostveth_families[dst.addr.family == IP_V6];

	return (struct route_spec){ .dst = dst,
				    .gw = f->node_gw,
				    .src = src,
				    .priority = metric,
				    .table = HOSTVETH_TABLE,
				    .scope = -1,
				    .onlink = f->onlink };
}

bool hostveth_counts(const struct addr_info *a)
{
	return !a->given && !a->dadfailed;
}

struct route_spec hostveth_route_to(struct ip to, struct ip src, uint32_t metric)
{
	return route_by_node(host_of(to), src, metric);
}

/* To the node, or by it, from the first address of r. */
static void plan_add_pod(struct routing_plan *p, struct ip_prefix dst, const struct cni_result *r,
			 const struct hostveth_place *at)
{
	const struct cni_ip *own = plan_first_of(r, dst.addr.family);

	if (!own)
		return;
	p->route[p->n_routes] = route_by_node(dst, own->address.addr, at->metric);
	p->route[p->n_routes++].ifindex = at->pod_ifindex;
}

static void plan_add_node(struct routing_plan *p, struct ip addr, int ifindex)
{
	const struct hostveth_family *f = &hostveth_families[addr.family == IP_V6];

	p->route[p->n_routes++] = (struct route_spec){ .dst = host_of(addr),
						       .gw = f->pod_gw,
						       .src = f->node,
						       .ifindex = ifindex,
						       .scope = -1,
						       .onlink = f->onlink };
}

/* With IPv4 a sender without an address looks for a way from 0.0.0.0. */
struct rule_spec hostveth_rule_of(struct ip addr)
{
	return (struct rule_spec){ .from = host_of(addr),
				   .table = HOSTVETH_TABLE,
				   .priority = HOSTVETH_PRIORITY,
				   .chosen = addr.family == IP_V6 };
}

static void add_rules(struct routing_plan *p, const struct cni_result *r)
{
	for (size_t i = 0; i < r->n_ips; i++)
		p->rule[p->n_rules++] = hostveth_rule_of(r->ips[i].address.addr);
	if (hostveth_has_family(r, IP_V4))
		p->rule[p->n_rules++] = hostveth_rule_of((struct ip){ .family = IP_V4 });
}

/* ---- ranges without the networks of the rails ---- */

struct nets {
	struct ip_prefix *net; /* owned */
	size_t n;
};

static void nets_clear(struct nets *l)
{
	free(l->net);
}
#define auto_nets auto_clean(nets_clear)

static int push_net(struct nets *l, struct ip_prefix net)
{
	struct err why; /* callers know that only memory can be missing */

	return ARRAY_PUSH(l->net, l->n, SIZE_MAX, "networks", net, &why);
}

static bool plan_is_inside(struct ip_prefix net, struct ip_prefix range)
{
	return net.len > range.len && ip_in_prefix(range, net.addr);
}

/* Networks of the addresses, unless they have room for one, and of the routes. */
static int list_nets_inside(const struct hostveth_conf *c, const struct cni_result *r,
			    struct nets *out)
{
	for (size_t i = 0; i < r->n_ips + r->n_routes; i++) {
		const struct ip_prefix net =
			i < r->n_ips ? r->ips[i].address : r->routes[i - r->n_ips].dst;
		bool inside = false;

		for (size_t k = 0; k < c->n_routes; k++)
			inside |= plan_is_inside(net, c->route[k]);
		if (inside && (i >= r->n_ips || net.len < ip_bits(net.addr.family)) &&
		    push_net(out, net))
			return -1;
	}
	return 0;
}

/* 1: a network has all of part; 0: a part of it; -1: none of it. */
static int cover(const struct nets *nets, struct ip_prefix range, struct ip_prefix part)
{
	int rc = -1;

	for (size_t i = 0; i < nets->n; i++) {
		if (!plan_is_inside(nets->net[i], range))
			continue;
		if (nets->net[i].len <= part.len && ip_in_prefix(nets->net[i], part.addr))
			return 1;
		if (plan_is_inside(nets->net[i], part))
			rc = 0;
	}
	return rc;
}

/* A part with a network inside is halved until each part is all of a network or none of it. */
static int plan_add_range(struct nets *out, const struct nets *nets, struct ip_prefix range)
{
	auto_nets struct nets todo = { 0 };

	if (push_net(&todo, (struct ip_prefix){ ip_network(range), range.len }))
		return -1;
	while (todo.n) {
		struct ip_prefix part = todo.net[--todo.n];
		int covered = cover(nets, range, part);

		if (covered < 0 && push_net(out, part))
			return -1;
		if (covered)
			continue;
		part.len++;

		struct ip_prefix lower = part;

		part.addr.v |= (u128)1 << (ip_bits(part.addr.family) - part.len);
		if (push_net(&todo, part) || push_net(&todo, lower))
			return -1;
	}
	return 0;
}

static int list_ranges(const struct hostveth_conf *c, const struct cni_result *r, struct nets *out)
{
	auto_nets struct nets nets = { 0 };

	if (list_nets_inside(c, r, &nets))
		return -1;
	for (size_t i = 0; i < c->n_routes; i++)
		if (plan_add_range(out, &nets, c->route[i]))
			return -1;
	return 0;
}

int hostveth_plan(const struct hostveth_conf *c, const struct cni_result *r,
		  const struct hostveth_node *node, const struct hostveth_place *at,
		  struct hostveth_plans *out)
{
	struct routing_plan *pod = &out->pod, *on_node = &out->node;
	auto_nets struct nets ranges = { 0 };
	int rc = list_ranges(c, r, &ranges);

	*out = (struct hostveth_plans){
		.node.route = calloc(r->n_ips + 1, sizeof(*on_node->route)),
		.pod.route = calloc(ranges.n + node->n + 2, sizeof(*pod->route)),
		.pod.rule = calloc(r->n_ips + 2, sizeof(*pod->rule)),
	};
	if (rc || !on_node->route || !pod->route || !pod->rule)
		return -1;
	for (size_t i = 0; i < r->n_ips; i++)
		plan_add_node(on_node, r->ips[i].address.addr, at->node_ifindex);
	add_rules(pod, r);
	for (size_t i = 0; i < ARRAY_SIZE(hostveth_families); i++)
		plan_add_pod(pod, host_of(hostveth_families[i].node), r, at);
	for (size_t i = 0; i < node->n; i++)
		plan_add_pod(pod, host_of(node->addr[i]), r, at);
	for (size_t i = 0; i < ranges.n; i++)
		plan_add_pod(pod, ranges.net[i], r, at);
	return 0;
}

void hostveth_plans_clear(struct hostveth_plans *p)
{
	routing_plan_clear(&p->node);
	routing_plan_clear(&p->pod);
}

/* ---- what a record says ---- */

static int note_networks(struct json *o, const struct hostveth_conf *c, const struct cni_result *r)
{
	auto_nets struct nets nets = { 0 };
	struct json *list = NULL;
	char text[PREFIX_STR_LEN];

	if (list_nets_inside(c, r, &nets))
		return -1;
	for (size_t i = 0; i < nets.n; i++) {
		list = list ? list : json_add_array(o, "networks");
		if (!list || json_push_str(list, ip_format_prefix(nets.net[i], text)))
			return -1;
	}
	return 0;
}

struct json *hostveth_note(const char *name, uint32_t metric, const struct hostveth_conf *c,
			   const struct cni_result *r)
{
	auto_json struct json *o = json_new_object();
	struct json *list = o ? json_add_array(o, "addresses") : NULL;
	char text[IP_STR_LEN];

	if (!list || json_add_str(o, "veth", name) || json_add_int(o, "metric", metric) ||
	    (c && note_networks(o, c, r)))
		return NULL;
	for (size_t i = 0; i < r->n_ips; i++)
		if (json_push_str(list, ip_format(r->ips[i].address.addr, text)))
			return NULL;
	return TAKE_PTR(o);
}

uint32_t hostveth_noted_metric(const struct json *note)
{
	double metric = json_num(json_get(note, "metric"));

	return metric >= 1 && metric <= UINT32_MAX ? (uint32_t)metric : 0;
}

int hostveth_noted_ips(const struct json *note, struct cni_result *out, struct err *e)
{
	json_each (it, json_get(note, "addresses")) {
		const char *text = json_str(it);
		struct cni_ip x = { .interface = -1 };

		if (!text || ip_parse(text, &x.address.addr))
			continue;
		x.address.len = (uint8_t)ip_bits(x.address.addr.family);
		if (cni_result_add_ip(out, &x, e))
			return -1;
	}
	json_each (it, json_get(note, "networks")) {
		const char *text = json_str(it);
		struct cni_route x = { .table = -1, .scope = -1 };

		if (text && ip_parse_prefix(text, &x.dst) == 0 && cni_result_add_route(out, &x, e))
			return -1;
	}
	return 0;
}

const char *hostveth_noted_name(const struct json *note)
{
	const char *name = json_str(json_get(note, "veth"));

	return name && !ifname_problem(name) ? name : NULL;
}
