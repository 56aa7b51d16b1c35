/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail.h: which interface of a namespace is served by which RDMA port, by which GIDs. Pure.
 *
 * An interface is a rail when it is the port's own, or when the port's GID table has one of its
 * addresses under its name (macvlan, ipvlan, VLAN, bond). Of two ports that both do, the one that
 * it lies on counts, if that is known (netdev_port.h), else the one on the interface's own
 * hardware.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_RAIL_H
#define RAILHEAD_RDMA_INVENTORY_RAIL_H

#include "rdma/inventory/inventory.h"

struct rdma_rail {
	const struct inv_netdev *netdev; /* NULL: a port of InfiniBand without an interface here */
	const struct inv_device *device;
	const struct inv_port *port;
	bool own;                      /* the interface is the port's own */
	bool ambiguous;                /* another port carries its address as well */
	const struct inv_gid *v4, *v6; /* RoCE v2 GIDs of its first such address; NULL: none.
					  v6 is no link-local one */
};

struct rails {
	struct rdma_rail *rail; /* owned; in the order of the interfaces */
	size_t n;
};

/* rails_find - *out borrows from v. */
int rails_find(const struct rdma_inventory *v, struct rails *out, struct err *e) must_check;

void rails_clear(struct rails *r);
#define auto_rails auto_clean(rails_clear)

/*
 * rail_expected - an interface that looks as if RDMA were wanted of it: hardware, or macvlan or
 * ipvlan over some, other than that of the default route.
 */
bool rail_expected(const struct rdma_inventory *v, const struct inv_netdev *d);

/*
 * rail_is_bare - a card without an address that can be routed. It needs none when it only carries
 * what lies above it.
 */
bool rail_is_bare(const struct rdma_rail *r);

#define RAIL_PORT_LEN (RDMA_NAME_LEN + 12)
/* rail_port - "mlx5_0:1". Returns out. */
char *rail_port(const struct rdma_rail *r, char out[RAIL_PORT_LEN]);

#endif
