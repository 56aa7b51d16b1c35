/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvipam.c: IPPool and CIDRPool of nvidia-k8s-ipam. The nodes of a CIDRPool have a network
 * each, with its own gateway, so each allocated network becomes a pool.
 */
#include <stdio.h>

#include "ipam/peers/pools_priv.h"

static int exclude(const struct peer *p, struct json *pool)
{
	json_each (item, json_get(p->spec, "exclusions")) {
		struct ip_range r;

		if (ip_parse(peer_text(item, "startIP"), &r.first) ||
		    ip_parse(peer_text(item, "endIP"), &r.last) || ip_cmp(r.first, r.last) > 0 ||
		    r.first.family != r.last.family) {
			if (peer_note(p, "exclusions", "\"%.64s\" to \"%.64s\" is not a range",
				      peer_text(item, "startIP"), peer_text(item, "endIP")))
				return -1;
			continue;
		}
		if (peer_mask(p, pool, "excludes", r) < 0)
			return -1;
	}
	return 0;
}

/* Destinations go through the gateway of the pool. */
static int nvipam_add_routes(const struct peer *p, struct json *pool)
{
	struct ip_prefix net;

	json_each (route, json_get(p->spec, "routes")) {
		if (peer_route(p, pool, peer_text(route, "dst"), ""))
			return -1;
	}
	if (!json_true(json_get(p->spec, "defaultGateway")) ||
	    ip_parse_prefix(peer_text(pool, "subnet"), &net))
		return 0;
	return peer_route(p, pool, net.addr.family == IP_V4 ? "0.0.0.0/0" : "::/0", "");
}

/* ---- IPPool ---- */

static const struct peer_key pool_keys[] = {
	{ "subnet", NULL },         { "perNodeBlockSize", NULL },
	{ "exclusions", NULL },     { "gateway", NULL },
	{ "defaultGateway", NULL }, { "routes", NULL },
	{ "nodeSelector", NULL },   { NULL, NULL },
};

int peer_nv_pool(const struct peer *p, const struct json *status)
{
	double block = json_num(json_get(p->spec, "perNodeBlockSize"));
	struct peer_pool from = { p->name, peer_text(p->spec, "subnet"),
				  block >= 1 && block <= 1e9 ? (uint64_t)block : 0 };
	size_t nodes = json_len(json_get(status, "allocations"));
	struct json *pool;

	if (peer_notes(p, p->spec, pool_keys) || peer_pool(p, &from, &pool))
		return -1;
	if (!pool)
		return 0;
	if (nodes &&
	    peer_note(p, "status.allocations",
		      "%zu nodes have ranges of it: nodes claim blocks of their own instead",
		      nodes))
		return -1;
	return peer_gateway(p, pool, peer_text(p->spec, "gateway")) || exclude(p, pool) ||
			       nvipam_add_routes(p, pool) || peer_nv_nodes(p, NULL, pool)
		       ? -1
		       : 0;
}

/* ---- CIDRPool ---- */

static const struct peer_key cidr_keys[] = {
	{ "cidr", NULL },
	{ "gatewayIndex", NULL },
	{ "perNodeNetworkPrefix", NULL },
	{ "exclusions", NULL },
	{ "perNodeExclusions", NULL },
	{ "staticAllocations", NULL },
	{ "defaultGateway", NULL },
	{ "routes", NULL },
	{ "nodeSelector", NULL },
	{ NULL, NULL },
};

static struct ip at_index(struct ip_prefix net, const struct json *index)
{
	struct ip a = ip_network(net);
	double n = json_num(index);

	a.v += n > 0 && n < 1e9 ? (u128)n : 0;
	return a;
}

/* perNodeExclusions count from the first address of each node's network. */
static int exclude_indices(const struct peer *p, struct json *pool)
{
	struct ip_prefix net;

	if (ip_parse_prefix(peer_text(pool, "subnet"), &net))
		return 0;
	json_each (item, json_get(p->spec, "perNodeExclusions")) {
		struct ip_range r = { at_index(net, json_get(item, "startIndex")),
				      at_index(net, json_get(item, "endIndex")) };

		if (ip_cmp(r.first, r.last) > 0) {
			if (peer_note(p, "perNodeExclusions", "an end is before its start"))
				return -1;
			continue;
		}
		if (peer_mask(p, pool, "excludes", r) < 0)
			return -1;
	}
	return 0;
}

static int add_gateway(const struct peer *p, struct json *pool, const char *given)
{
	const struct json *index = json_get(p->spec, "gatewayIndex");
	char text[IP_STR_LEN];
	struct ip_prefix net;

	if (*given)
		return peer_gateway(p, pool, given);
	if (!index || ip_parse_prefix(peer_text(pool, "subnet"), &net))
		return 0;
	return peer_gateway(p, pool, ip_format(at_index(net, index), text));
}

static int add_network(const struct peer *p, const struct json *allocation)
{
	const char *node = peer_text(allocation, "nodeName");
	char name[256];
	struct peer_pool from = { name, peer_text(allocation, "prefix"), 0 };
	struct json *pool;

	(void)snprintf(name, sizeof(name), "%.120s-%.120s", p->name,
		       *node ? node : peer_text(allocation, "prefix"));
	if (peer_pool(p, &from, &pool))
		return -1;
	if (!pool)
		return 0;
	return add_gateway(p, pool, peer_text(allocation, "gateway")) || exclude(p, pool) ||
			       exclude_indices(p, pool) || nvipam_add_routes(p, pool) ||
			       peer_nv_nodes(p, *node ? json_get(allocation, "nodeName") : NULL,
					     pool)
		       ? -1
		       : 0;
}

int peer_nv_cidr_pool(const struct peer *p, const struct json *status)
{
	const struct json *list = json_get(status, "allocations");

	if (json_len(list) == 0)
		list = json_get(p->spec, "staticAllocations");
	if (json_len(list) == 0)
		return peer_note(
			p, "cidr",
			"no node has a network of it yet, and each node has another gateway: "
			"no pool is made. `railctl cluster plan` plans one");
	if (peer_notes(p, p->spec, cidr_keys))
		return -1;
	json_each (item, list) {
		if (add_network(p, item))
			return -1;
	}
	return peer_note(p, "cidr",
			 "each network of a node becomes a pool; a network selects it with "
			 "matchMaster");
}
