/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_host.c: findings about the veth to the node. */
#include "cni/hostveth/hostveth.h"
#include "cni/inspect/inspect_priv.h"

/* A range of "host.routes" may have it. */
static bool has_route(const struct inspect *s, struct ip to)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (s->route[i].table == HOSTVETH_TABLE && s->route[i].kind == ROUTE_UNICAST &&
		    ip_in_prefix(s->route[i].dst, to))
			return true;
	return false;
}

static const struct ip *first_of(const struct inspect_rail *r, enum ip_family family)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (r->addr[i].addr.addr.family == family)
			return &r->addr[i].addr.addr;
	return NULL;
}

static void tell_address(struct inspect_run *run, const struct inspect_rail *r, struct ip to,
			 struct ip src)
{
	struct finding *f = inspect_add(run, r, INSPECT_HOST_ADDRESS, FINDING_WARN);
	const struct route_spec way = hostveth_route_to(to, src, r->host_metric);
	char text[IP_STR_LEN], gw[IP_STR_LEN], from[IP_STR_LEN];

	finding_set_value(f, "no route by " HOSTVETH_POD " to the node's address %s of %s",
			  ip_format(to, text), r->master);
	finding_set_reason(f, "the node got it after ADD, or the route was removed; packets with "
			      "the rail's address do not reach it by the rail");
	finding_set_remedy(f,
			   "in the pod: ip %sroute add %s via %s dev " HOSTVETH_POD
			   "%s src %s metric %u table %u; or set host.routes to a range that has "
			   "it, and restart the pod",
			   inspect_option(to), text, ip_format(way.gw, gw),
			   way.onlink ? " onlink" : "", ip_format(way.src, from), way.priority,
			   way.table);
}

void inspect_check_host(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;

	for (size_t i = 0; i < r->n_node; i++) {
		const struct ip *src = first_of(r, r->node[i].family);

		if (!src || has_route(run->s, r->node[i]))
			continue;
		good = false;
		tell_address(run, r, r->node[i], *src);
	}
	if (good && r->host_metric)
		finding_set_value(inspect_ok(run, r, "host"), "%zu addresses of %s", r->n_node,
				  r->master);
}
