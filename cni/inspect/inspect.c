/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.c: the snapshot of a namespace's rails, without the kernel. */
#include "cni/inspect/inspect.h"

#include <stdio.h>
#include <stdlib.h>

#include "cni/routing/routing.h"
#include "lib/base/array.h"

#define RAILS_MAX 1024
#define WAYS_MAX  16384
#define NOTED_MAX 256

const char *inspect_setting_name(enum inspect_setting s)
{
	static const char *const names[] = {
		[INSPECT_ARP_IGNORE] = "arp_ignore",
		[INSPECT_ARP_ANNOUNCE] = "arp_announce",
		[INSPECT_RP_FILTER] = "rp_filter",
		[INSPECT_LINKDOWN] = "ignore_routes_with_linkdown",
	};

	return names[s];
}

static void clear_rail(struct inspect_rail *r)
{
	free(r->noted);
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

int inspect_add_record(struct inspect *s, const struct record *r, struct err *e)
{
	double mtu = json_num(json_get(r->config, "mtu"));
	struct inspect_rail x = {
		.ifindex = r->ifindex,
		.lower_ifindex = r->lower_ifindex,
		.table = routing_noted_table(r->routing),
		.want_mtu = mtu > 0 && mtu <= UINT16_MAX ? (uint32_t)mtu : 0,
	};

	(void)snprintf(x.network, sizeof(x.network), "%s", r->key.network);
	(void)snprintf(x.ifname, sizeof(x.ifname), "%s", r->key.ifname);
	(void)snprintf(x.plugin, sizeof(x.plugin), "%s", r->plugin ? r->plugin : "");
	(void)snprintf(x.master, sizeof(x.master), "%s", r->master ? r->master : "");
	if (ARRAY_GROW(s->rail, s->n_rails, RAILS_MAX, "rails", e))
		return -1;
	if (read_noted(&x, r->routing, e)) {
		clear_rail(&x);
		return -1;
	}
	s->rail[s->n_rails++] = x;
	return 0;
}

/* ---- tables ---- */

bool inspect_is_own_rule(const struct rule_spec *rule, struct ip addr)
{
	return !rule->conditional && ip_equal(rule->from.addr, addr) &&
	       rule->from.len == ip_bits(addr.family) &&
	       (rule->table < ROUTE_TABLE_OWN_FIRST || rule->table > ROUTE_TABLE_OWN_LAST);
}

static uint32_t table_of_address(const struct inspect *s, struct ip addr)
{
	for (size_t i = 0; i < s->n_rules; i++)
		if (inspect_is_own_rule(&s->rule[i], addr))
			return s->rule[i].table;
	return 0;
}

void inspect_find_tables(struct inspect *s)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		struct inspect_rail *r = &s->rail[i];

		for (size_t k = 0; k < r->n_addrs && !r->table; k++)
			r->table = table_of_address(s, r->addr[k].addr.addr);
	}
}

/* ---- ways ---- */

bool inspect_is_gateway(const struct inspect_rail *r, const struct route_spec *route)
{
	return route->ifindex == r->link.ifindex && r->link.ifindex && route->gw.family &&
	       route->table == (r->table ? r->table : ROUTE_TABLE_MAIN);
}

static bool is_known(const struct inspect *s, const struct inspect_way *w)
{
	for (size_t i = 0; i < s->n_ways; i++) {
		const struct inspect_way *x = &s->way[i];

		if (x->rail == w->rail && ip_equal(x->from, w->from) && ip_equal(x->to, w->to))
			return true;
	}
	return false;
}

/* From one address to the gateways of one rail. A link-local gateway has no way without a link. */
static int ways_to(struct inspect *s, struct inspect_way w, const struct inspect_rail *by,
		   struct err *e)
{
	for (size_t i = 0; i < s->n_routes; i++) {
		const struct route_spec *r = &s->route[i];

		w.to = r->gw;
		if (!inspect_is_gateway(by, r) || w.to.family != w.from.family ||
		    ip_is_link_local(w.to) || is_known(s, &w))
			continue;
		if (ARRAY_GROW(s->way, s->n_ways, WAYS_MAX, "ways", e))
			return -1;
		s->way[s->n_ways++] = w;
	}
	return 0;
}

/* Its own gateways come first: a gateway of two rails counts as its own. */
static int ways_of(struct inspect *s, size_t rail, struct ip from, struct err *e)
{
	const struct inspect_rail *r = &s->rail[rail];
	struct inspect_way w = { .rail = rail, .from = from, .own = true };

	if (ways_to(s, w, r, e))
		return -1;
	w.own = false;
	for (size_t i = 0; i < s->n_rails && r->table; i++)
		if (i != rail && ways_to(s, w, &s->rail[i], e))
			return -1;
	return 0;
}

int inspect_find_ways(struct inspect *s, struct err *e)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *r = &s->rail[i];

		for (size_t k = 0; k < r->n_addrs; k++) {
			if (r->addr[k].tentative || r->addr[k].dadfailed)
				continue;
			if (ways_of(s, i, r->addr[k].addr.addr, e))
				return -1;
		}
	}
	return 0;
}
