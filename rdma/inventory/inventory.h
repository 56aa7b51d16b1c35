/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h: the RDMA devices that one network namespace sees, with their ports and GIDs, and the
 * interfaces there that could be rails. Changes nothing.
 *
 * In mode shared a namespace sees the devices, and all GIDs, of the whole node: what is its own is
 * told by `here`. What vanishes while it is looked at is left out; what cannot be told is left
 * empty.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_INVENTORY_H
#define RAILHEAD_RDMA_INVENTORY_INVENTORY_H

#include "lib/device/ib_port.h"
#include "rdma/device/device.h"
#include "rdma/device/gid.h"

#define INV_NETNS_LEN 80

struct inv_gid {
	struct gid_entry entry;
	bool here; /* an interface of this namespace has that name and that address */
	/* Whose it is otherwise: the name of a network namespace, or the attachment's; "" when that
	 * was not looked for, or is not known. */
	char netns[INV_NETNS_LEN];
};

struct inv_port {
	uint32_t port;
	enum rdma_port_state state;
	enum ib_link_layer layer;
	uint32_t rate_mbps;      /* 0: not told */
	int ifindex;             /* of its own interface, if that is in this namespace; 0 */
	char netdev[IFNAME_LEN]; /* its name */
	uint32_t netdev_mtu;     /* 0: it is not here */
	bool has_gids;           /* sysfs shows the table: without, n_gids says nothing */
	struct inv_gid *gid;     /* owned; by index */
	size_t n_gids;
};

struct inv_device {
	struct rdma_link link;
	char bus[BUS_ADDR_LEN]; /* a PCI address, or that of an auxiliary device; "": software */
	char driver[PCI_DRIVER_LEN];
	int numa_node; /* -1: not told */
	bool vf;       /* the PCI function is a VF */
	struct rdma_chardev uverbs;
	struct inv_port port[RDMA_PORTS_MAX];
	size_t n_ports;
};

/* An interface of the namespace. */
struct inv_netdev {
	struct link_info link;
	struct ip_prefix *addr; /* owned */
	size_t n_addrs;
	/* What it lies on, by netdev_port.h: the device's index, and a port, 0: that was not looked
	 * for
	 */
	uint32_t lower_device, lower_port;
	/* Likewise: that port's own interface, as the host sees it; "" and 0: it is not there */
	char below[IFNAME_LEN];
	uint32_t below_mtu;
};

struct rdma_inventory {
	bool has_rdma; /* the kernel has RDMA at all */
	enum rdma_mode mode;
	int default_ifindex;       /* of the default route; 0: there is none */
	struct inv_device *device; /* owned */
	size_t n_devices;
	struct inv_netdev *netdev; /* owned */
	size_t n_netdevs;
};

/* rdma_inventory_read - of the network namespace the caller is in, which ctx->sysfs must be of. */
int rdma_inventory_read(const struct ctx *ctx, struct rdma_inventory *out,
			struct err *e) must_check;

void rdma_inventory_clear(struct rdma_inventory *v);
#define auto_rdma_inventory auto_clean(rdma_inventory_clear)

/* ---- pure ---- */

/*
 * inv_rdma_mtu - the payload of a RoCE packet over an interface of this MTU: 256 to 4096, 0 when
 * none fits. As the kernel reckons (iboe_get_mtu() in include/rdma/ib_addr.h): 96 bytes are
 * headers.
 */
uint32_t inv_rdma_mtu(uint32_t netdev_mtu);

/* inv_has_addr - whether the interface has the address, whatever its prefix. */
bool inv_has_addr(const struct inv_netdev *d, struct ip a);

/* inv_is_link_local - of fe80::/10. */
bool inv_is_link_local(struct ip a);

/* inv_mark_gids - set `here` of every GID, from the interfaces. */
void inv_mark_gids(struct rdma_inventory *v);

/* inv_netdev_by_index - NULL when it is not in the inventory. */
const struct inv_netdev *inv_netdev_by_index(const struct rdma_inventory *v, int ifindex);

/* ---- pieces, for rdma_inventory_read and its tests ---- */

/* inv_read_device, inv_read_port - what sysfs says of d (d->link is set), and of p (p->port is). */
int inv_read_device(const char *sysfs, struct inv_device *d, struct err *e) must_check;
int inv_read_port(const char *sysfs, const char *device, struct inv_port *p,
		  struct err *e) must_check;

#endif
