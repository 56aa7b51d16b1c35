/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_host.c: findings about the veth to the node. */
#include <stdio.h>
#include <string.h>

#include "cni/hostveth/hostveth.h"
#include "diag/inspect_priv.h"

#define SHOWN 3 /* addresses in one line */

/* A range of "host.routes" may have it. */
static bool has_route(const struct inspect *s, struct ip to)
{
	for (size_t i = 0; i < s->n_routes; i++)
		if (s->route[i].table == HOSTVETH_TABLE && s->route[i].kind == ROUTE_UNICAST &&
		    ip_in_prefix(s->route[i].dst, to))
			return true;
	return false;
}

static const struct ip *inspect_host_first_of(const struct inspect_rail *r, enum ip_family family)
{
	for (size_t i = 0; i < r->n_addrs; i++)
		if (r->addr[i].addr.addr.family == family)
			return &r->addr[i].addr.addr;
	return NULL;
}

/* Why packets of programs that bind no address do not reach an address of the node. */
struct gap {
	struct ip src; /* the rail has it, for the route that is missing */
	int rail;      /* the interface that takes them; 0: none does */
};

/* Another interface, such as the pod's eth0, may well lead to the node. */
static bool is_gap(const struct inspect_run *run, const struct inspect_rail *r, size_t i,
		   struct gap *out)
{
	const struct inspect_way *w = &r->node[i];
	const struct ip *src = inspect_host_first_of(r, w->to.family);

	if (!src || has_route(run->s, w->to))
		return false;
	*out = (struct gap){ *src, w->errnum ? 0 : w->route.ifindex };
	return w->errnum || inspect_by_ifindex(run->s, w->route.ifindex);
}

static bool inspect_host_is_same(struct gap a, struct gap b)
{
	return ip_equal(a.src, b.src) && a.rail == b.rail;
}

static void set_value(struct finding *f, const struct inspect_rail *r, const struct inspect_way *w,
		      size_t n)
{
	char list[SHOWN * (IP_STR_LEN + 2)] = "", text[IP_STR_LEN];
	const size_t shown = n < SHOWN ? n : SHOWN;

	for (size_t i = 0; i < shown; i++)
		(void)snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			       i ? ", " : "", ip_format(w[i].to, text));
	if (n == 1)
		finding_set_value(f, "no route by " HOSTVETH_POD " to the node's address %s of %s",
				  list, r->master);
	else if (n == shown)
		finding_set_value(
			f, "no route by " HOSTVETH_POD " to %zu addresses of %s on the node: %s", n,
			r->master, list);
	else
		finding_set_value(f,
				  "no route by " HOSTVETH_POD
				  " to %zu addresses of %s on the node: %s and %zu more",
				  n, r->master, list, n - shown);
}

static void set_reason(const struct inspect_run *run, struct finding *f, struct gap gap)
{
	char name[INSPECT_NAME_LEN];

	if (gap.rail)
		finding_set_reason(f,
				   "the node got it after ADD, or the route was removed; packets "
				   "without a source leave by %s, which does not reach the node",
				   inspect_name_of(run->s, gap.rail, name));
	else
		finding_set_reason(f, "the node got it after ADD, or the route was removed; the "
				      "pod has no way to it");
}

/* first[]: the first few of n addresses with the same gap. */
static void inspect_host_tell(struct inspect_run *run, const struct inspect_rail *r, struct gap gap,
			      const struct inspect_way *first, size_t n)
{
	struct finding *f = inspect_add(run, r, INSPECT_HOST_ADDRESS, FINDING_WARN);
	const struct ip to = first->to;
	const struct route_spec way = hostveth_route_to(to, gap.src, r->host_metric);
	char text[IP_STR_LEN], gw[IP_STR_LEN], from[IP_STR_LEN];

	set_value(f, r, first, n);
	set_reason(run, f, gap);
	finding_set_remedy(f,
			   "in the pod%s: ip %sroute add %s via %s dev " HOSTVETH_POD
			   "%s src %s metric %u table %u; or set host.routes to a range that has "
			   "%s, and restart the pod",
			   n > 1 ? ", for each ADDRESS of them (--json has all)" : "",
			   inspect_option(to), n > 1 ? "ADDRESS" : ip_format(to, text),
			   ip_format(way.gw, gw), way.onlink ? " onlink" : "",
			   ip_format(way.src, from), way.priority, way.table,
			   n > 1 ? "them" : "it");
}

/* The gap of the i-th address, with all that have the same one; once, with the first of them. */
static void tell_all(struct inspect_run *run, const struct inspect_rail *r, struct gap gap,
		     size_t i)
{
	struct inspect_way first[SHOWN] = { r->node[i] };
	struct gap x;
	size_t n = 0;

	for (size_t k = 0; k < r->n_node; k++) {
		if (!is_gap(run, r, k, &x) || !inspect_host_is_same(gap, x))
			continue;
		if (k < i)
			return;
		if (n < SHOWN)
			first[n] = r->node[k];
		n++;
	}
	inspect_host_tell(run, r, gap, first, n);
}

void inspect_check_host(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true;
	struct gap gap;

	for (size_t i = 0; i < r->n_node; i++) {
		if (!is_gap(run, r, i, &gap))
			continue;
		good = false;
		if (run->fold)
			tell_all(run, r, gap, i);
		else
			inspect_host_tell(run, r, gap, &r->node[i], 1);
	}
	if (*r->filter_why) {
		struct finding *f = inspect_add(run, r, INSPECT_HOST_FILTER,
						r->filter_unread ? FINDING_UNKNOWN : FINDING_FAIL);

		finding_set_value(f, "%s", r->filter_why);
		finding_set_reason(f, "the pod may send to the node from any address");
		finding_set_remedy(f, r->filter_unread ? "run it as root on the node itself"
						       : "restart the pod");
		good = false;
	}
	if (good && r->host_metric)
		finding_set_value(inspect_ok(run, r, "host"), "%zu addresses of %s", r->n_node,
				  r->master);
}
