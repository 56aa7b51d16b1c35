/* SPDX-License-Identifier: Apache-2.0 */
/* rails_json.c: the rails of pods for programs. */
#include <net/if.h>

#include "railctl/attachments/rails.h"

static int rails_json_add_addresses(struct json *list, const struct inspect_rail *r)
{
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; list && i < r->n_addrs; i++)
		if (json_push_str(list, ip_format_prefix(r->addr[i].addr, text)))
			return -1;
	return list ? 0 : -1;
}

static int rails_json_add_rules(struct json *list, const struct inspect *s,
				const struct inspect_rail *r)
{
	char text[PREFIX_STR_LEN];

	for (size_t i = 0; list && i < s->n_rules; i++) {
		struct json *o;

		if (!r->table || s->rule[i].table != r->table)
			continue;
		o = json_push_object(list);
		if (!o || json_add_str(o, "from", ip_format_prefix(s->rule[i].from, text)) ||
		    json_add_int(o, "table", s->rule[i].table) ||
		    json_add_int(o, "priority", s->rule[i].priority))
			return -1;
	}
	return list ? 0 : -1;
}

static int rails_json_add_routes(struct json *list, const struct inspect *s,
				 const struct inspect_rail *r)
{
	char dst[PREFIX_STR_LEN], gw[IP_STR_LEN], buf[INSPECT_NAME_LEN];

	for (size_t i = 0; list && i < s->n_routes; i++) {
		const struct route_spec *x = &s->route[i];
		struct json *o;

		if (!r->link.ifindex ||
		    (x->ifindex != r->link.ifindex && (!r->table || x->table != r->table)))
			continue;
		o = json_push_object(list);
		if (!o || json_add_str(o, "dst", ip_format_prefix(x->dst, dst)) ||
		    json_add_known(o, "gw", ip_format(x->gw, gw)) ||
		    json_add_int(o, "table", x->table) ||
		    json_add_str(o, "kind", route_kind_name(x->kind)) ||
		    (x->priority && json_add_int(o, "metric", x->priority)) ||
		    (x->ifindex &&
		     json_add_str(o, "ifname", inspect_name_of(s, x->ifindex, buf))) ||
		    (x->mtu && json_add_int(o, "mtu", x->mtu)))
			return -1;
	}
	return list ? 0 : -1;
}

static int add_neighbours(struct json *list, const struct inspect_rail *r)
{
	char ip[IP_STR_LEN], hw[HW_ADDR_STR_LEN];

	for (size_t i = 0; list && i < r->n_neighs; i++) {
		struct json *o = json_push_object(list);

		if (!o || json_add_str(o, "address", ip_format(r->neigh[i].addr, ip)) ||
		    json_add_known(o, "mac", hw_addr_format(r->neigh[i].hw, hw)) ||
		    json_add_str(o, "state", neigh_state_name(r->neigh[i].state)))
			return -1;
	}
	return list ? 0 : -1;
}

static int add_settings(struct json *o, const struct inspect_rail *r)
{
	for (int i = 0; o && i < INSPECT_SETTINGS; i++)
		if (r->setting[i] >= 0 &&
		    json_add_int(o, inspect_setting_name((enum inspect_setting)i), r->setting[i]))
			return -1;
	return o ? 0 : -1;
}

static int rails_json_add_link(struct json *o, const struct inspect_rail *r)
{
	char hw[HW_ADDR_STR_LEN];

	if (!r->link.ifindex)
		return 0;
	return json_add_known(o, "mac", hw_addr_format(r->link.addr, hw)) ||
	       json_add_int(o, "mtu", r->link.mtu) ||
	       (r->master_mtu && json_add_int(o, "masterMtu", r->master_mtu)) ||
	       json_add_bool(o, "up", r->link.flags & IFF_UP) ||
	       json_add_bool(o, "carrier",
			     (r->link.flags & IFF_UP) && (r->link.flags & IFF_RUNNING));
}

static int rails_json_add_rail(struct json *o, const struct rails_pod *p, size_t i)
{
	const struct inspect_rail *r = &p->s.rail[i];
	const struct rails_hardware *hw = p->hw ? &p->hw[i] : NULL;

	return !o || json_add_str(o, "ifname", r->ifname) ||
	       json_add_bool(o, "present", r->link.ifindex != 0) ||
	       json_add_known(o, "network", r->network) || json_add_known(o, "plugin", r->plugin) ||
	       json_add_known(o, "claim", r->claim) || json_add_known(o, "master", r->master) ||
	       (hw && hw->rail >= 0 && json_add_int(o, "rail", hw->rail)) ||
	       (hw && json_add_known(o, "hca", hw->hca)) ||
	       (hw && json_add_known(o, "pciAddress", hw->pci)) || rails_json_add_link(o, r) ||
	       (r->table && json_add_int(o, "table", r->table)) ||
	       rails_json_add_addresses(json_add_array(o, "addresses"), r) ||
	       rails_json_add_rules(json_add_array(o, "rules"), &p->s, r) ||
	       rails_json_add_routes(json_add_array(o, "routes"), &p->s, r) ||
	       add_neighbours(json_add_array(o, "neighbours"), r) ||
	       add_settings(json_add_object(o, "settings"), r);
}

static int rails_json_add_pod(struct json *o, const struct rails_pod *p)
{
	struct json *list;

	if (!o || json_add_known(o, "namespace", p->pod.ns) ||
	    json_add_known(o, "pod", p->pod.name) || json_add_known(o, "container", p->container) ||
	    json_add_str(o, "netns", p->netns) || json_add_known(o, "why", p->why))
		return -1;
	list = json_add_array(o, "rails");
	for (size_t i = 0; list && i < p->s.n_rails; i++)
		if (rails_json_add_rail(json_push_object(list), p, i))
			return -1;
	return list ? 0 : -1;
}

struct json *rails_json(const struct rails_pods *all)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < all->n; i++)
		if (rails_json_add_pod(json_push_object(list), &all->pod[i]))
			return NULL;
	return TAKE_PTR(list);
}
