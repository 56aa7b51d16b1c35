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

struct served_one {
	int ifindex; /* in the pod */
	uint32_t device, port;
	char netdev[IFNAME_LEN]; /* the port's own interface on the host, and its MTU; "" and 0 */
	uint32_t mtu;
};

struct served {
	struct served_one *one; /* owned */
	size_t n;
};

/*
 * served_read - of the interfaces with an address; those that come down to nothing are left out.
 * The caller is in the host's network namespace, ctx->sysfs is of it.
 */
int served_read(const struct ctx *ctx, const struct netns *pod, struct served *out,
		struct err *e) must_check;

void served_clear(struct served *s);
#define auto_served auto_clean(served_clear)

/* served_note - in an inventory of the pod: what its interfaces lie on. */
void served_note(const struct served *s, struct rdma_inventory *v);

#endif
