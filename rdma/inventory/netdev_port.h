/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netdev_port.h: which RDMA port serves each interface of a pod, as the host sees it.
 *
 * A pod sees only the GIDs that have the address of its interface, and two ports may have one. The
 * host sees which device is below the interface.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_NETDEV_PORT_H
#define RAILHEAD_RDMA_INVENTORY_NETDEV_PORT_H

#include "rdma/inventory/inventory.h"

struct netdev_port {
	int ifindex; /* in the pod */
	uint32_t device, port;
	char netdev[IFNAME_LEN]; /* the port's own interface on the host; "": it is not there */
	uint32_t mtu;            /* of that interface; 0: it is not there */
};

struct netdev_ports {
	struct netdev_port *one; /* owned */
	size_t n;
};

/*
 * netdev_ports_read - the ports of the pod's interfaces that have an address. Interfaces without a
 * port are left out. The caller is in the host's network namespace, and ctx->sysfs is of it.
 * netdev_ports_clear() frees *out.
 */
int netdev_ports_read(const struct ctx *ctx, const struct netns *pod, struct netdev_ports *out,
		      struct err *e) must_check;

void netdev_ports_clear(struct netdev_ports *s);
#define auto_netdev_ports auto_clean(netdev_ports_clear)

/* netdev_ports_apply - set lower_device, lower_port and below in an inventory of the pod. */
void netdev_ports_apply(const struct netdev_ports *s, struct rdma_inventory *v);

#endif
