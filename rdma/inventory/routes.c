/* SPDX-License-Identifier: Apache-2.0 */
/* routes.c: the destinations of the routes of an interface, by route netlink. */
#include "lib/base/array.h"
#include "lib/net/addr.h"
#include "rdma/inventory/rail.h"

struct route_reader {
	struct inv_netdev *netdev;
	struct err *e;
	bool too_many;
	int rc;
};

static int on_routes_route(const struct route_spec *route, void *arg)
{
	struct route_reader *r = arg;
	struct inv_netdev *d = r->netdev;

	r->too_many = d->n_routes == RDMA_ROUTES_MAX;
	if (r->too_many)
		return -1;
	r->rc = ARRAY_GROW(d->route, d->n_routes, RDMA_ROUTES_MAX, "routes of one interface", r->e);
	if (r->rc == 0)
		d->route[d->n_routes++] = route->dst;
	return r->rc;
}

static int read_routes(struct nl *nl, struct inv_netdev *d, struct err *e)
{
	struct route_reader r = { .netdev = d, .e = e };
	struct err why;

	if (nl_route_list(nl, d->link.ifindex, on_routes_route, &r, &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	d->has_routes = r.rc == 0 && !r.too_many;
	return r.rc;
}

int rdma_routes_read(struct rdma_inventory *v, struct err *e)
{
	auto_nl struct nl *nl = NULL;

	if (nl_open(&nl, e))
		return -1;
	for (size_t i = 0; i < v->n_netdevs; i++)
		if (v->netdev[i].n_addrs && read_routes(nl, &v->netdev[i], e))
			return -1;
	return 0;
}
