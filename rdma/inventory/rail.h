/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail.h: the rails of a namespace: an interface with the RDMA port and the GIDs that serve it.
 * Pure.
 *
 * An interface is a rail if it is the port's own. It is also a rail if the port's GID table has one
 * of its addresses under its name (macvlan, ipvlan, VLAN, bond). If two ports have it, the port
 * below the interface counts (netdev_port.h). If that is not known, the port on the interface's own
 * hardware counts. For IPoIB the GUID in the interface's hardware address decides: it is that of
 * the port, also for a child interface.
 *
 * A port of InfiniBand needs no interface. Without one it is a rail in mode exclusive, where all
 * visible ports belong to the namespace. In mode shared any pod may use it.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_RAIL_H
#define RAILHEAD_RDMA_INVENTORY_RAIL_H

#include "rdma/inventory/inventory.h"

struct rdma_rail {
	const struct inv_netdev *netdev; /* NULL: a port of InfiniBand without an interface here */
	const struct inv_device *device;
	const struct inv_port *port;
	bool own;                      /* the interface is the port's own, or an IPoIB parent */
	bool ambiguous;                /* another port has a GID for its address too */
	const struct inv_gid *v4, *v6; /* RoCE v2 GIDs of its first such address; NULL: none.
					  v6 is not link-local */
};

struct rails {
	struct rdma_rail *rail; /* owned; in the order of the interfaces */
	size_t n;
};

/* rails_find - all rails of an inventory. *out borrows from v; rails_clear() frees its array. */
int rails_find(const struct rdma_inventory *v, struct rails *out, struct err *e) must_check;

void rails_clear(struct rails *r);
#define auto_rails auto_clean(rails_clear)

/*
 * rail_expected - true for an interface that should be a rail: hardware, or a macvlan, ipvlan or
 * ipoib over hardware, except the interface of the default route.
 */
bool rail_expected(const struct rdma_inventory *v, const struct inv_netdev *d);

/*
 * rail_is_bare - true for a card without an address that can be routed. If it only carries
 * interfaces above it, it needs no address.
 */
bool rail_is_bare(const struct rdma_rail *r);

/*
 * rdma_routes_read - read the routes of the interfaces with an address, in every table but local
 * (routes.c). The caller is in the namespace of v. Routes that cannot be read, and those
 * of an interface with more than RDMA_ROUTES_MAX, stay unknown. ERR_NOMEM.
 */
#define RDMA_ROUTES_MAX 4096
int rdma_routes_read(struct rdma_inventory *v, struct err *e) must_check;

/*
 * rail_common_class - the traffic class that the driver sets on this RoCE rail and on the ones
 * before, whose class is tc; -1: there are none before. 0: it sets none on one, or they differ.
 */
int rail_common_class(const struct rdma_rail *r, int tc);

#define RAIL_PORT_LEN (RDMA_NAME_LEN + 12)
/* rail_port - "mlx5_0:1". Returns out. */
char *rail_port(const struct rdma_rail *r, char out[RAIL_PORT_LEN]);

#endif
