/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netconf.c: whereabouts: ranges in network configurations, and its IPPool objects, which know
 * only the range.
 */
#include <stdio.h>
#include <string.h>

#include "ipam/peers/pools_priv.h"

/* ---- one range ---- */

/* whereabouts accepts leading zeros. */
static const char *plain_text(const struct json *o, const char *key, char out[PREFIX_STR_LEN])
{
	const char *text = peer_text(o, key);

	return ip_drop_zeros(text, out) ? text : out;
}

/* "10.1.0.0/16", or "10.1.0.5-10.1.0.9/16", whose addresses are returned in *r. */
static const char *range_subnet(const char *text, char subnet[64], char r[64])
{
	const char *dash = strchr(text, '-'), *slash = strrchr(text, '/');
	struct ip_prefix net;

	*r = '\0';
	(void)snprintf(subnet, 64, "%.63s", text);
	if (!dash || !slash || slash < dash || strlen(text) > 60)
		return subnet;
	(void)snprintf(r, 64, "%.*s", (int)(slash - text), text);
	(void)snprintf(subnet, 64, "%.*s%s", (int)(dash - text), text, slash);
	if (ip_parse_prefix(subnet, &net) == 0) {
		net.addr = ip_network(net);
		(void)ip_format_prefix(net, subnet);
	}
	return subnet;
}

static int add_ends(const struct peer *p, struct json *pool, const struct json *range)
{
	char first[PREFIX_STR_LEN], last[PREFIX_STR_LEN];
	const char *start = plain_text(range, "range_start", first);
	const char *end = plain_text(range, "range_end", last);
	struct ip_range r;
	struct ip_prefix net;

	if ((!*start && !*end) || ip_parse_prefix(peer_text(pool, "subnet"), &net))
		return 0;
	r.first = ip_network(net);
	r.last = ip_last(net);
	if ((*start && ip_parse(start, &r.first)) || (*end && ip_parse(end, &r.last)))
		return peer_note(p, "range_start", "\"%.64s\" to \"%.64s\" is not a range", start,
				 end);
	r.first = ip_unmap(r.first);
	r.last = ip_unmap(r.last);

	bool good = ip_in_prefix(net, r.first) && ip_in_prefix(net, r.last) &&
		    ip_cmp(r.first, r.last) <= 0;
	int rc = good ? peer_mask(p, pool, "ranges", r) : 1;

	if (rc > 0)
		return peer_note(p, "range_start", "\"%.64s\" to \"%.64s\" is not in the range",
				 start, end);
	return rc;
}

static int add_excludes(const struct peer *p, struct json *pool, const struct json *list)
{
	json_each (item, list) {
		const char *text = json_str(item);
		char plain[PREFIX_STR_LEN];
		struct ip_range r;

		if (text && ip_drop_zeros(text, plain) == 0 && ip_parse_range(plain, &r) == 0) {
			int rc = peer_mask(p, pool, "excludes", r);

			if (rc < 0 ||
			    (rc > 0 && peer_note(p, "exclude", "%.64s is not in the range", text)))
				return -1;
		} else if (peer_note(p, "exclude", "\"%.64s\" is not a range", text ? text : "")) {
			return -1;
		}
	}
	return 0;
}

static int netconf_add_range(const struct peer *p, const struct json *range, struct json **pool)
{
	char subnet[64], part[64], text[PREFIX_STR_LEN];
	struct peer_pool from = { p->name,
				  range_subnet(plain_text(range, "range", text), subnet, part), 0 };
	struct ip_range r;

	if (peer_pool(p, &from, pool))
		return -1;
	if (!*pool)
		return 0;
	int rc = !*part ? 0 : ip_parse_range(part, &r) ? 1 : peer_mask(p, *pool, "ranges", r);

	if (rc < 0 || (rc > 0 && peer_note(p, "range", "\"%.63s\" is not a range", part)))
		return -1;
	return add_ends(p, *pool, range) || add_excludes(p, *pool, json_get(range, "exclude")) ? -1
											       : 0;
}

/* ---- a configuration ---- */

#define NO_NEED "railhead-ipam has no such setting and needs none"

static const struct peer_key ipam_keys[] = {
	{ "type", NULL },
	{ "range", NULL },
	{ "range_start", NULL },
	{ "range_end", NULL },
	{ "exclude", NULL },
	{ "ipRanges", NULL },
	{ "gateway", NULL },
	{ "routes", NULL },
	{ "addresses", "keep it in the network configuration" },
	{ "dns", "keep it in the network configuration" },
	{ "network_name", "a pool has a name of its own" },
	{ "enable_overlapping_ranges", "pools of a cluster never overlap" },
	{ "node_slice_size", "nodes claim blocks: see blockSize" },
	{ "log_file", "use logFile of the plugin" },
	{ "log_level", "use logLevel of the plugin" },
	{ "datastore", NO_NEED },
	{ "kubernetes", NO_NEED },
	{ "configuration_path", "settings of that file are not read" },
	{ "leader_lease_duration", NO_NEED },
	{ "leader_renew_deadline", NO_NEED },
	{ "leader_retry_period", NO_NEED },
	{ "reconciler_cron_expression", NO_NEED },
	{ "sleep_for_race", NO_NEED },
	{ "etcd_host", NO_NEED },
	{ "etcd_username", NO_NEED },
	{ "etcd_password", NO_NEED },
	{ "etcd_key_file", NO_NEED },
	{ "etcd_cert_file", NO_NEED },
	{ "etcd_ca_cert_file", NO_NEED },
	{ NULL, NULL },
};

static bool has_ip(const struct json *pool, const char *text)
{
	struct ip_prefix net;
	struct ip ip;

	return ip_parse_prefix(peer_text(pool, "subnet"), &net) == 0 && ip_parse(text, &ip) == 0 &&
	       ip_in_prefix(net, ip_unmap(ip));
}

/* Routes and gateway are of the network; each goes to the pool of its family. */
static int netconf_add_shared(const struct peer *p, const struct json *ipam, struct json *pool)
{
	const char *gateway = peer_text(ipam, "gateway");
	struct ip_prefix net, dst;

	if (ip_parse_prefix(peer_text(pool, "subnet"), &net))
		return 0;
	if (has_ip(pool, gateway) && peer_gateway(p, pool, gateway))
		return -1;
	json_each (route, json_get(ipam, "routes")) {
		if (ip_parse_prefix(peer_text(route, "dst"), &dst) == 0 &&
		    dst.addr.family != net.addr.family)
			continue;
		if (peer_route(p, pool, peer_text(route, "dst"), peer_text(route, "gw")))
			return -1;
	}
	return 0;
}

static int read_ipam(const struct peer *p, const struct json *ipam)
{
	const char *gateway = peer_text(ipam, "gateway");
	size_t before = json_len(p->all->pools);
	bool used = !*gateway;
	struct json *pool;

	if (peer_notes(p, ipam, ipam_keys))
		return -1;
	if (*peer_text(ipam, "range") &&
	    (netconf_add_range(p, ipam, &pool) || (pool && netconf_add_shared(p, ipam, pool))))
		return -1;
	json_each (range, json_get(ipam, "ipRanges")) {
		if (netconf_add_range(p, range, &pool) ||
		    (pool && netconf_add_shared(p, ipam, pool)))
			return -1;
	}
	for (size_t i = before; i < json_len(p->all->pools); i++)
		used = used || has_ip(json_at_mut(p->all->pools, i), gateway);
	return used ? 0 : peer_note(p, "gateway", "\"%.64s\" is in no range", gateway);
}

static int read_plugin(const struct peer *p, const struct json *plugin, bool *found)
{
	const struct json *ipam = json_get(plugin, "ipam");
	const char *type = peer_text(ipam, "type");

	if (!ipam)
		return 0;
	*found = true;
	if (strcmp(type, "whereabouts") == 0)
		return read_ipam(p, ipam);
	return peer_note(p, "ipam.type", "networks with \"%.64s\" are not imported", type);
}

int peer_netconf(const struct peer *p)
{
	const char *own = peer_text(p->spec, "name");
	struct peer named = *p;
	bool found = false;

	if (!*named.name)
		named.name = own;
	json_each (plugin, json_get(p->spec, "plugins")) {
		if (read_plugin(&named, plugin, &found))
			return -1;
	}
	if (read_plugin(&named, p->spec, &found))
		return -1;
	return found ? 0 : peer_note(p, "ipam", "it has none: no pool is made");
}

int peer_whereabouts_pool(const struct peer *p)
{
	static const struct peer_key keys[] = { { "range", NULL },
						{ "allocations",
						  "`railctl ipam import --from whereabouts` takes "
						  "leases over" },
						{ NULL, NULL } };
	struct json *pool;

	if (peer_notes(p, p->spec, keys) || netconf_add_range(p, p->spec, &pool))
		return -1;
	if (!pool)
		return 0;
	return peer_note(
		p, "range",
		"the object has no excluded addresses, gateway and routes: they are in the "
		"network configuration");
}
