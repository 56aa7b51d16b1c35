/* SPDX-License-Identifier: Apache-2.0 */
/* spider.c: SpiderIPPool, SpiderSubnet and SpiderReservedIP of Spiderpool. */
#include "ipam/peers/pools_priv.h"

#define BY_NETWORK "a network names its pools in \"pools\""

static const struct peer_key pool_keys[] = {
	{ "subnet", NULL },
	{ "ipVersion", NULL },
	{ "ips", NULL },
	{ "excludeIPs", NULL },
	{ "gateway", NULL },
	{ "routes", NULL },
	{ "namespaceName", NULL },
	{ "disable", NULL },
	{ "podAffinity", "pods are not selected by label; " BY_NETWORK },
	{ "namespaceAffinity",
	  "namespaces are not selected by label; name them in \"namespaces\"" },
	{ "nodeAffinity", NULL },
	{ "nodeName", NULL },
	{ "multusName", BY_NETWORK },
	{ "default", "no pool is the default of a cluster; " BY_NETWORK },
	{ "vlan", "the VLAN belongs to the network configuration" },
	{ NULL, NULL },
};

static int spider_add_routes(const struct peer *p, struct json *pool)
{
	json_each (route, json_get(p->spec, "routes")) {
		if (peer_route(p, pool, peer_text(route, "dst"), peer_text(route, "gw")))
			return -1;
	}
	return 0;
}

static int spider_fill(const struct peer *p, struct json *pool)
{
	const char *gateway = peer_text(p->spec, "gateway");

	if (peer_list(p, pool, "ranges", json_get(p->spec, "ips")) ||
	    peer_list(p, pool, "excludes", json_get(p->spec, "excludeIPs")) ||
	    peer_gateway(p, pool, gateway) || spider_add_routes(p, pool) ||
	    peer_list(p, pool, "namespaces", json_get(p->spec, "namespaceName")) ||
	    peer_spider_nodes(p, pool))
		return -1;
	if (!*gateway)
		return 0;
	return peer_note(p, "gateway",
			 "Spiderpool adds a default route through it to each interface; add one to "
			 "\"routes\" if pods need it");
}

int peer_spider_pool(const struct peer *p)
{
	struct peer_pool from = { p->name, peer_text(p->spec, "subnet"), 0 };
	struct json *pool;

	if (json_true(json_get(p->spec, "disable")))
		return peer_note(p, "disable", "the pool gives no addresses: no pool is made");
	if (json_len(json_get(p->spec, "ips")) == 0)
		return peer_note(p, "ips", "the pool has no addresses: no pool is made");
	if (peer_notes(p, p->spec, pool_keys) || peer_pool(p, &from, &pool))
		return -1;
	return pool ? spider_fill(p, pool) : 0;
}

/* Its addresses are those of the pools that Spiderpool made of it. */
static const struct json *pool_inside(const struct peer *p)
{
	struct ip_prefix net, other;

	if (ip_parse_prefix(peer_text(p->spec, "subnet"), &net))
		return NULL;
	json_each (pool, p->all->pools) {
		if (ip_parse_prefix(peer_text(pool, "subnet"), &other) == 0 &&
		    ip_in_prefix(net, other.addr))
			return pool;
	}
	return NULL;
}

int peer_spider_subnet(const struct peer *p)
{
	struct peer_pool from = { p->name, peer_text(p->spec, "subnet"), 0 };
	const struct json *inside = pool_inside(p);
	struct json *pool;

	if (inside)
		return peer_note(p, "subnet", "pool %.64s has addresses of it: no pool is made",
				 peer_text(inside, "name"));
	if (json_len(json_get(p->spec, "ips")) == 0)
		return peer_note(p, "ips", "the subnet has no addresses: no pool is made");
	if (peer_note(
		    p, "kind",
		    "it becomes one pool for all applications: railhead makes no pool for each") ||
	    peer_notes(p, p->spec, pool_keys) || peer_pool(p, &from, &pool))
		return -1;
	return pool ? spider_fill(p, pool) : 0;
}

int peer_spider_reserved(const struct peer *p)
{
	static const struct peer_key keys[] = { { "ipVersion", NULL },
						{ "ips", NULL },
						{ NULL, NULL } };
	struct json *o = json_push_object(p->all->reserved);

	if (!o || json_add_str(o, "object", p->label) ||
	    json_add_copy(o, "ips", json_get(p->spec, "ips")))
		return err_nomem(p->e);
	return peer_notes(p, p->spec, keys);
}
