/* SPDX-License-Identifier: Apache-2.0 */
/* rail.c: finds the rails of an inventory, and for each interface the port that serves it best. */
#include "rdma/inventory/rail.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

void rails_clear(struct rails *r)
{
	free(r->rail);
	*r = (struct rails){ 0 };
}

char *rail_port(const struct rdma_rail *r, char out[RAIL_PORT_LEN])
{
	(void)snprintf(out, RAIL_PORT_LEN, "%s:%u", r->device->link.name, r->port->port);
	return out;
}

bool rail_expected(const struct rdma_inventory *v, const struct inv_netdev *d)
{
	const char *kind = d->link.kind;

	if (d->link.ifindex == v->default_ifindex)
		return false;
	return *d->link.parent || strcmp(kind, "macvlan") == 0 || strcmp(kind, "ipvlan") == 0 ||
	       inv_is_ipoib(d);
}

bool rail_is_bare(const struct rdma_rail *r)
{
	if (!r->netdev || !*r->netdev->link.parent || r->device->vf)
		return false;
	for (size_t i = 0; i < r->netdev->n_addrs; i++)
		if (!ip_is_link_local(r->netdev->addr[i].addr))
			return false;
	return true;
}

/* ---- by GID ---- */

static bool rail_is_of(const struct inv_gid *g, const struct inv_netdev *d, struct ip a)
{
	if (*g->entry.netdev && strcmp(g->entry.netdev, d->link.name) != 0)
		return false;

	struct gid want = gid_of_ip(a);

	return gid_equal(&g->entry.gid, &want);
}

static bool is_ipoib_of(const struct inv_port *p, const struct inv_netdev *d)
{
	struct guid own, port;

	return inv_is_ipoib(d) && hw_addr_guid(d->link.addr, &own) && inv_port_guid(p, &port) &&
	       guid_equal(own, port);
}

static bool port_carries(const struct inv_port *p, const struct inv_netdev *d)
{
	for (size_t i = 0; i < d->n_addrs; i++)
		for (size_t g = 0; g < p->n_gids; g++)
			if (rail_is_of(&p->gid[g], d, d->addr[i].addr))
				return true;
	return false;
}

/* The RoCE v2 GID of the first address of this family that has one. */
static const struct inv_gid *find_v2(const struct rdma_rail *r, enum ip_family family)
{
	const struct inv_netdev *d = r->netdev;

	for (size_t i = 0; d && i < d->n_addrs; i++) {
		struct ip a = d->addr[i].addr;

		if (a.family != family || ip_is_link_local(a))
			continue;
		for (size_t g = 0; g < r->port->n_gids; g++)
			if (r->port->gid[g].entry.type == GID_ROCE_V2 &&
			    rail_is_of(&r->port->gid[g], d, a))
				return &r->port->gid[g];
	}
	return NULL;
}

/* ---- which port serves an interface ---- */

/* The reasons for a port, weakest first. Only ports with the strongest reason are kept. */
enum match { MATCH_NONE, MATCH_GID, MATCH_HARDWARE, MATCH_SERVES, MATCH_OWN };

static enum match match_of(const struct inv_device *dev, const struct inv_port *p,
			   const struct inv_netdev *d)
{
	if (p->ifindex && p->ifindex == d->link.ifindex)
		return MATCH_OWN;
	if (!is_ipoib_of(p, d) && !port_carries(p, d))
		return MATCH_NONE;
	if (p->port == d->lower_port && dev->link.index == d->lower_device)
		return MATCH_SERVES;
	return *dev->bus && strcmp(dev->bus, d->link.parent) == 0 ? MATCH_HARDWARE : MATCH_GID;
}

struct best_match {
	enum match match;
	unsigned ports;
};

static struct best_match best_of(const struct rdma_inventory *v, const struct inv_netdev *d)
{
	struct best_match b = { MATCH_NONE, 0 };

	for (size_t i = 0; i < v->n_devices; i++) {
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			enum match c = match_of(&v->device[i], &v->device[i].port[p], d);

			if (c > b.match)
				b = (struct best_match){ c, 0 };
			b.ports += c == b.match;
		}
	}
	return b;
}

#define RAILS_MAX 65536

static int inventory_add_rail(struct rails *out, struct rdma_rail r, struct err *e)
{
	if (ARRAY_GROW(out->rail, out->n, RAILS_MAX, "rails", e))
		return -1;
	r.v4 = find_v2(&r, IP_V4);
	r.v6 = find_v2(&r, IP_V6);
	out->rail[out->n++] = r;
	return 0;
}

static int rail_add_netdev(const struct rdma_inventory *v, const struct inv_netdev *d,
			   struct rails *out, struct err *e)
{
	struct best_match best = best_of(v, d);

	for (size_t i = 0; best.match && i < v->n_devices; i++) {
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			const struct inv_device *dev = &v->device[i];
			struct rdma_rail r = {
				.netdev = d,
				.device = dev,
				.port = &dev->port[p],
				.own = best.match == MATCH_OWN ||
				       (is_ipoib_of(&dev->port[p], d) && !d->link.lower_ifindex),
				.ambiguous = best.match != MATCH_OWN && best.ports > 1,
			};

			if (match_of(dev, r.port, d) == best.match && inventory_add_rail(out, r, e))
				return -1;
		}
	}
	return 0;
}

static bool has_netdev(const struct rails *r, size_t n, const struct inv_port *p)
{
	for (size_t i = 0; i < n; i++)
		if (r->rail[i].port == p)
			return true;
	return false;
}

/* In mode exclusive all visible ports belong to the namespace, also those without an interface. */
static int add_bare_ports(const struct rdma_inventory *v, struct rails *out, struct err *e)
{
	size_t n = out->n;

	for (size_t i = 0; v->mode == RDMA_EXCLUSIVE && i < v->n_devices; i++) {
		for (size_t p = 0; p < v->device[i].n_ports; p++) {
			const struct inv_device *dev = &v->device[i];
			struct rdma_rail r = { .device = dev, .port = &dev->port[p] };

			if (r.port->layer == IB_LAYER_INFINIBAND && !has_netdev(out, n, r.port) &&
			    inventory_add_rail(out, r, e))
				return -1;
		}
	}
	return 0;
}

int rail_common_class(const struct rdma_rail *r, int tc)
{
	return tc < 0 || tc == r->port->traffic_class ? r->port->traffic_class : 0;
}

int rails_find(const struct rdma_inventory *v, struct rails *out, struct err *e)
{
	auto_rails struct rails r = { 0 };

	for (size_t i = 0; i < v->n_netdevs; i++)
		if (rail_add_netdev(v, &v->netdev[i], &r, e))
			return -1;
	if (add_bare_ports(v, &r, e))
		return -1;
	*out = r;
	r = (struct rails){ 0 };
	return 0;
}
