/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netdev_port.h: which RDMA port serves each interface of a pod, as the host can see it.
 *
 * Inside a pod an interface is known by the GIDs that carry its address, which two ports may do.
 * The host sees what the interface lies on.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_NETDEV_PORT_H
#define RAILHEAD_RDMA_INVENTORY_NETDEV_PORT_H

#include "rdma/inventory/inventory.h"

struct netdev_port {
	int ifindex; /* in the pod */
	uint32_t device, port;
	char netdev[IFNAME_LEN]; /* the port's own interface on the host, and its MTU; "" and 0 */
	uint32_t mtu;
};

struct netdev_ports {
	struct netdev_port *one; /* owned */
	size_t n;
};

/*
 * netdev_ports_read - of the interfaces with an address; those that come down to nothing are left
 * out. The caller is in the host's network namespace, ctx->sysfs is of it.
 */
int netdev_ports_read(const struct ctx *ctx, const struct netns *pod, struct netdev_ports *out,
		      struct err *e) must_check;

void netdev_ports_clear(struct netdev_ports *s);
#define auto_netdev_ports auto_clean(netdev_ports_clear)

/* netdev_ports_apply - in an inventory of the pod: what its interfaces lie on. */
void netdev_ports_apply(const struct netdev_ports *s, struct rdma_inventory *v);

#endif
