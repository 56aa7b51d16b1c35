/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c: the snapshot of a namespace's rails, without the kernel. */
#include "diag/inspect.h"

#include <stdio.h>
#include <stdlib.h>

#include "cni/hostveth/hostveth.h"
#include "cni/protocol/conf.h"
#include "cni/routing/routing.h"
#include "lib/base/array.h"

#define RAILS_MAX  1024
#define NOTED_MAX  256
#define WANTED_MAX 4096

/* Where the larger one of the interface's own value and that of "all" counts, has_all is true
 * (linux/inetdevice.h); linux/ipv6.h looks at the interface's own. */
static const struct {
	const char *name, *path;
	bool has_all;
} settings[] = {
	[INSPECT_IGNORE] = { "arp_ignore", "ipv4/conf/%s/arp_ignore", true },
	[INSPECT_ANNOUNCE] = { "arp_announce", "ipv4/conf/%s/arp_announce", true },
	[INSPECT_RP_FILTER] = { "rp_filter", "ipv4/conf/%s/rp_filter", true },
	[INSPECT_PROXY] = { "proxy_arp", "ipv4/conf/%s/proxy_arp", true },
	[INSPECT_LINKDOWN] = { "ignore_routes_with_linkdown",
			       "ipv4/conf/%s/ignore_routes_with_linkdown", true },
	[INSPECT_LINKDOWN6] = { "ipv6.ignore_routes_with_linkdown",
				"ipv6/conf/%s/ignore_routes_with_linkdown", false },
	[INSPECT_RA] = { "ipv6.accept_ra_defrtr", "ipv6/conf/%s/accept_ra_defrtr", false },
};

const char *inspect_setting_name(enum inspect_setting s)
{
	return settings[s].name;
}

const char *inspect_setting_path(enum inspect_setting s)
{
	return settings[s].path;
}

bool inspect_setting_has_all(enum inspect_setting s)
{
	return settings[s].has_all;
}

static void clear_rail(struct inspect_rail *r)
{
	free(r->noted);
	free(r->wanted);
	free(r->node);
	json_free(r->config);
	free(r->addr);
	free(r->neigh);
}

void inspect_clear(struct inspect *s)
{
	for (size_t i = 0; i < s->n_rails; i++)
		clear_rail(&s->rail[i]);
	free(s->rail);
	free(s->rule);
	free(s->route);
	free(s->name);
	free(s->way);
	*s = (struct inspect){ 0 };
}

/* ---- a record ---- */

static int read_noted(struct inspect_rail *x, const struct json *note, struct err *e)
{
	json_each (it, json_get(note, "from")) {
		const char *text = json_str(it);
		struct ip a;

		if (!text || ip_parse(text, &a))
			continue;
		if (ARRAY_GROW(x->noted, x->n_noted, NOTED_MAX, "addresses", e))
			return -1;
		x->noted[x->n_noted++] = a;
	}
	return 0;
}

static int read_wanted(struct inspect_rail *x, const struct json *note, struct err *e)
{
	json_each (it, json_get(note, "routes")) {
		struct route_spec r;

		if (routing_noted_route(it, &r))
			continue;
		if (ARRAY_GROW(x->wanted, x->n_wanted, WANTED_MAX, "routes", e))
			return -1;
		x->wanted[x->n_wanted++] = r;
	}
	return 0;
}

static int read_config(struct inspect_rail *x, const struct json *config, struct err *e)
{
	const struct json *ipam = json_get(config, "ipam");
	const char *type = json_str(json_get(ipam, "type"));
	double mtu = json_num(json_get(config, "mtu"));

	x->want_mtu = mtu > 0 && mtu <= UINT16_MAX ? (uint32_t)mtu : 0;
	x->in_container = json_true(json_get(config, "linkInContainer"));
	x->has_ipam = type && *type && !cni_conf_guid_pool(ipam);
	if (!config)
		return 0;
	x->config = json_dup(config);
	return x->config ? 0 : err_nomem(e);
}

int inspect_add_record(struct inspect *s, const struct record *r, struct err *e)
{
	struct inspect_rail x = {
		.ifindex = r->ifindex,
		.lower_ifindex = r->lower_ifindex,
		.table = routing_noted_table(r->routing),
		.host_metric = hostveth_noted_name(r->host) ? hostveth_noted_metric(r->host) : 0,
	};

	if (x.host_metric)
		(void)snprintf(x.host_veth, sizeof(x.host_veth), "%s",
			       hostveth_noted_name(r->host));
	(void)snprintf(x.network, sizeof(x.network), "%s", r->key.network);
	(void)snprintf(x.ifname, sizeof(x.ifname), "%s", r->key.ifname);
	(void)snprintf(x.plugin, sizeof(x.plugin), "%s", r->plugin ? r->plugin : "");
	(void)snprintf(x.master, sizeof(x.master), "%s", r->master ? r->master : "");
	if (ARRAY_GROW(s->rail, s->n_rails, RAILS_MAX, "rails", e))
		return -1;
	if (read_noted(&x, r->routing, e) || read_wanted(&x, r->routing, e) ||
	    read_config(&x, r->config, e)) {
		clear_rail(&x);
		return -1;
	}
	s->rail[s->n_rails++] = x;
	return 0;
}

/* ---- tables ---- */

/* The rule leads from exactly this address to no table of the kernel. */
static bool is_own_rule(const struct rule_spec *rule, struct ip addr)
{
	return !rule->conditional && ip_equal(rule->from.addr, addr) &&
	       rule->from.len == ip_bits(addr.family) &&
	       (rule->table < ROUTE_TABLE_OWN_FIRST || rule->table > ROUTE_TABLE_OWN_LAST);
}

static bool has_route_by(const struct inspect *s, uint32_t table, int ifindex)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (s->route[i].table == table && s->route[i].ifindex == ifindex &&
		    s->route[i].kind == ROUTE_UNICAST)
			return true;
	return false;
}

uint32_t inspect_table_of(const struct inspect *s, struct ip addr, int ifindex)
{
	for (size_t i = 0; i < s->n_rules; i++)
		if (is_own_rule(&s->rule[i], addr) && has_route_by(s, s->rule[i].table, ifindex))
			return s->rule[i].table;
	return 0;
}

void inspect_find_tables(struct inspect *s)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		struct inspect_rail *r = &s->rail[i];

		for (size_t k = 0; k < r->n_addrs && !r->table; k++)
			r->table = inspect_table_of(s, r->addr[k].addr.addr, r->link.ifindex);
	}
}
