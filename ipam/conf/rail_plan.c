/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_plan.c: computes an addressing plan for rails. All sizes are powers of two, so a rail is one
 * route in the spine and each subnet is one route in the leaf switches. Pure.
 */
#include "ipam/conf/rail_plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "ipam/conf/pool_blocks.h"

#define HOSTS_AT      2    /* offset of the first NIC, behind network and gateway */
#define V6_SUBNET_LEN 64   /* hosts and routers expect it of an IPv6 subnet (RFC 4291) */
#define METRIC        1000 /* The route to other rails has this metric and the number of the rail. */

static u128 round_up(u128 n, u128 step)
{
	return (n + step - 1) / step * step;
}

/* The logarithm of the smallest power of two that is at least n. */
static unsigned bits_for(u128 n)
{
	unsigned bits = 0;

	while (((u128)1 << bits) < n)
		bits++;
	return bits;
}

/* ---- the question ---- */

static int rail_plan_check_number(const char *what, uint64_t n, uint64_t max, struct err *e)
{
	if (n >= 1 && n <= max)
		return 0;
	return err_set(e, ERR_CONFIG, 0, "%s: %" PRIu64 " is not a number from 1 to %" PRIu64, what,
		       n, max);
}

static int check_ask(const struct rail_ask *a, struct err *e)
{
	struct ip_prefix net = { ip_network(a->supernet), a->supernet.len };
	char given[PREFIX_STR_LEN], right[PREFIX_STR_LEN];

	if (rail_plan_check_number("rails", a->count, RAIL_PLAN_COUNT_MAX, e) ||
	    rail_plan_check_number("nodes", a->nodes, RAIL_PLAN_NODES_MAX, e) ||
	    rail_plan_check_number("nodes of a leaf group", a->leaf, RAIL_PLAN_NODES_MAX, e) ||
	    rail_plan_check_number("addresses per node", a->per_node, RAIL_PLAN_PER_NODE_MAX, e) ||
	    rail_plan_check_number("block size", a->block, POOL_BLOCK_SIZE_MAX, e))
		return -1;
	if (a->block & (a->block - 1))
		return err_set(e, ERR_CONFIG, 0, "block size: %" PRIu64 " is not a power of two",
			       a->block);
	if (ip_equal(net.addr, a->supernet.addr))
		return 0;
	return err_set(e, ERR_CONFIG, 0, "supernet: %s has host bits set; write %s",
		       ip_format_prefix(a->supernet, given), ip_format_prefix(net, right));
}

static struct rail_ask with_defaults(const struct rail_ask *ask)
{
	struct rail_ask a = *ask;

	a.leaf = a.leaf ? a.leaf : RAIL_PLAN_LEAF;
	a.per_node = a.per_node ? a.per_node : RAIL_PLAN_PER_NODE;
	if (!a.block) {
		for (a.block = 1; a.block * 4 <= a.per_node && a.block < POOL_BLOCK_SIZE_MAX;)
			a.block *= 2;
	}
	return a;
}

/* ---- sizes ---- */

static int check_pools(const struct rail_plan *p, struct err *e)
{
	const struct rail_ask *a = &p->ask;
	/* at least 4, as there are few rails */
	uint64_t most = RAIL_PLAN_POOLS_MAX / a->count;

	if (p->groups <= most || most == 0)
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"%" PRIu64 " rails with %" PRIu64 " leaf groups are more than %d pools", a->count,
		p->groups, RAIL_PLAN_POOLS_MAX);
	return err_hint(e,
			"leaf groups of at least %" PRIu64 " nodes fit, or plan a part of the "
			"nodes in each supernet",
			(a->nodes + most - 1) / most);
}

/* Plan the contents of a subnet. Returns the logarithm of the part that is in use. */
static unsigned plan_subnet(struct rail_plan *p)
{
	const struct rail_ask *a = &p->ask;
	uint64_t nodes = a->nodes < a->leaf ? a->nodes : a->leaf;
	u128 broadcast = a->supernet.addr.family == IP_V4;
	unsigned bits;

	p->groups = (a->nodes + a->leaf - 1) / a->leaf;
	/* Each node keeps a block ahead. */
	p->blocks = nodes * ((a->per_node + a->block - 1) / a->block + 1);
	p->first_pod = round_up(HOSTS_AT + nodes, a->block);
	bits = bits_for(p->first_pod + (u128)p->blocks * a->block + broadcast);
	/* Each block is whole: the one with the broadcast address has no pods. */
	p->n_pods = (((u128)1 << bits) - broadcast - p->first_pod) / a->block * a->block;
	return bits;
}

static int refuse_supernet(const struct rail_plan *p, unsigned bits, struct err *e)
{
	const struct ip_prefix *net = &p->ask.supernet;
	unsigned all = ip_bits(net->addr.family);
	struct ip_prefix fits = { net->addr, (uint8_t)(all - bits) };
	char text[PREFIX_STR_LEN];

	err_set(e, ERR_CONFIG, 0,
		"supernet: %s is too small: %" PRIu64 " rails with %" PRIu64
		" leaf groups of %" PRIu64 " nodes need %s/%u",
		ip_format_prefix(*net, text), p->ask.count, p->groups, p->ask.leaf,
		bits > all ? "more than " : "a ", bits > all ? 0 : all - bits);
	if (bits > all)
		return err_hint(e, "plan fewer addresses per node, or an IPv6 supernet");
	fits.addr = ip_network(fits);
	return err_hint(e, "%s fits", ip_format_prefix(fits, text));
}

int rail_plan_make(const struct rail_ask *ask, struct rail_plan *out, struct err *e)
{
	struct rail_plan p = { .ask = with_defaults(ask) };
	unsigned all = ip_bits(ask->supernet.addr.family), free_bits = all - ask->supernet.len;

	if (check_ask(&p.ask, e))
		return -1;
	unsigned subnet = plan_subnet(&p);
	if (check_pools(&p, e))
		return -1;
	if (ask->supernet.addr.family == IP_V6)
		subnet = all - V6_SUBNET_LEN;
	unsigned rail = subnet + bits_for(p.groups), need = bits_for((u128)ask->count << rail);
	if (need > free_bits)
		return refuse_supernet(&p, need, e);
	/* Rails lie as far apart as the supernet allows: each can get more leaf groups. */
	p.rail_len = all - rail - (free_bits - need);
	p.subnet_len = all - subnet;
	*out = p;
	return 0;
}

/* ---- the answer ---- */

struct ip_prefix rail_plan_rail(const struct rail_plan *p, uint64_t rail)
{
	struct ip at = p->ask.supernet.addr;

	at.v += (u128)rail << (ip_bits(at.family) - p->rail_len);
	return (struct ip_prefix){ at, (uint8_t)p->rail_len };
}

static struct ip at_offset(struct ip_prefix net, u128 offset)
{
	return (struct ip){ net.addr.family, net.addr.v + offset };
}

struct rail_leaf rail_plan_leaf(const struct rail_plan *p, uint64_t rail, uint64_t group)
{
	struct ip_prefix net = { rail_plan_rail(p, rail).addr, (uint8_t)p->subnet_len };
	uint64_t first = group * p->ask.leaf, left = p->ask.nodes - first;
	uint64_t nodes = left < p->ask.leaf ? left : p->ask.leaf;

	net.addr.v += (u128)group << (ip_bits(net.addr.family) - p->subnet_len);
	return (struct rail_leaf){
		.subnet = net,
		.gateway = at_offset(net, 1),
		.hosts = { at_offset(net, HOSTS_AT), at_offset(net, HOSTS_AT + nodes - 1) },
		.pods = { at_offset(net, p->first_pod),
			  at_offset(net, p->first_pod + p->n_pods - 1) },
		.first_node = first,
		.n_nodes = nodes,
	};
}

static int rail_plan_add_nodes(const struct rail_plan *p, uint64_t group, struct json *pool)
{
	struct json *nodes = json_add_object(pool, "nodes");
	struct json *values = nodes ? json_add_array(nodes, p->ask.label) : NULL;
	char value[24];

	(void)snprintf(value, sizeof(value), "g%" PRIu64, group);
	return values ? json_push_str(values, value) : -1;
}

static int rail_plan_add_route(struct json *routes, struct ip_prefix dst, const char *gw,
			       int64_t metric)
{
	char text[PREFIX_STR_LEN];
	struct json *r = json_push_object(routes);

	if (!r || json_add_str(r, "dst", ip_format_prefix(dst, text)) ||
	    json_add_str(r, "gw", gw) || (metric && json_add_int(r, "priority", metric)))
		return -1;
	return 0;
}

int rail_plan_add_routes(const struct rail_plan *p, uint64_t rail, uint64_t group, struct json *obj)
{
	char gw[IP_STR_LEN];
	struct json *routes = json_add_array(obj, "routes");

	(void)ip_format(rail_plan_leaf(p, rail, group).gateway, gw);
	if (!routes || rail_plan_add_route(routes, rail_plan_rail(p, rail), gw, 0) ||
	    (p->ask.count > 1 &&
	     rail_plan_add_route(routes, p->ask.supernet, gw, METRIC + (int64_t)rail)))
		return -1;
	return 0;
}

static int rail_plan_add_pool(const struct rail_plan *p, uint64_t rail, uint64_t group,
			      struct json *pool)
{
	struct rail_leaf l = rail_plan_leaf(p, rail, group);
	char name[RAIL_PLAN_NAME_LEN], subnet[PREFIX_STR_LEN], gw[IP_STR_LEN];
	char first[IP_STR_LEN], last[IP_STR_LEN], range[2 * IP_STR_LEN];
	struct json *ranges;

	(void)snprintf(name, sizeof(name), "rail%u-g%u", (unsigned)rail, (unsigned)group);
	(void)snprintf(range, sizeof(range), "%s-%s", ip_format(l.pods.first, first),
		       ip_format(l.pods.last, last));
	if (json_add_str(pool, "name", name) ||
	    json_add_str(pool, "subnet", ip_format_prefix(l.subnet, subnet)) ||
	    !(ranges = json_add_array(pool, "ranges")) || json_push_str(ranges, range) ||
	    json_add_str(pool, "gateway", ip_format(l.gateway, gw)) ||
	    rail_plan_add_routes(p, rail, group, pool) ||
	    json_add_int(pool, "blockSize", (int64_t)p->ask.block) ||
	    json_add_int(pool, "warm", (int64_t)p->ask.block))
		return -1;
	return rail_plan_add_nodes(p, group, pool);
}

struct json *rail_plan_pools(const struct rail_plan *p, uint64_t rail)
{
	auto_json struct json *list = json_new_array();

	for (uint64_t g = 0; g < p->groups; g++) {
		struct json *pool = list ? json_push_object(list) : NULL;

		if (!pool || rail_plan_add_pool(p, rail, g, pool))
			return NULL;
	}
	return TAKE_PTR(list);
}
