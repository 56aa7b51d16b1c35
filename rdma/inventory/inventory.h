/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory.h: the RDMA devices that one network namespace sees, with their ports and GIDs, and the
 * interfaces there that could be rails. Only reads.
 *
 * In mode shared a namespace sees all devices and all GIDs of the node. `here` marks its own GIDs.
 * A device that disappears during the reading is left out. A value that is not known is empty.
 */
#ifndef RAILHEAD_RDMA_INVENTORY_INVENTORY_H
#define RAILHEAD_RDMA_INVENTORY_INVENTORY_H

#include "lib/base/guid.h"
#include "lib/base/pkey.h"
#include "lib/device/ib_port.h"
#include "rdma/device/device.h"
#include "rdma/device/gid.h"

#define INV_NETNS_LEN 80

struct inv_gid {
	struct gid_entry entry;
	bool here; /* an interface of this namespace has that name and that address */
	/* If not here: its owner, the name of a network namespace or of an attachment. "": not
	 * known, or not looked for. */
	char netns[INV_NETNS_LEN];
};

/* An entry of an InfiniBand port's partition table. */
struct inv_pkey {
	uint32_t index;
	uint16_t pkey; /* not 0: entries that are free are left out */
};

struct inv_port {
	uint32_t port;
	enum rdma_port_state state;
	uint8_t phys_state;      /* ib_phys_state_name() names it; 0: not known */
	struct ib_subnet subnet; /* of an InfiniBand port */
	enum ib_link_layer layer;
	uint32_t rate_mbps;      /* 0: not known */
	uint8_t traffic_class;   /* traffic_class.h; 0: the driver sets none */
	int ifindex;             /* its own interface; 0: that is not in this namespace */
	char netdev[IFNAME_LEN]; /* name of that interface */
	uint32_t netdev_mtu;     /* 0: it is not here */
	bool has_gids;           /* sysfs shows the table; if not, n_gids means nothing */
	struct inv_gid *gid;     /* owned; by index */
	size_t n_gids;
	bool has_pkeys;        /* sysfs shows the partition table; only InfiniBand has one */
	struct inv_pkey *pkey; /* owned; by index */
	size_t n_pkeys;
};

struct inv_device {
	struct rdma_link link;
	char bus[BUS_ADDR_LEN]; /* a PCI address, or that of an auxiliary device; "": software */
	char driver[PCI_DRIVER_LEN];
	int numa_node; /* -1: not known */
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
	uint16_t pkey; /* of an IPoIB interface: its partition; 0: not known */
	/* The RDMA port below it, from netdev_port.h: index of the device, and the port. Port 0:
	 * not looked for. */
	uint32_t lower_device, lower_port;
	/* The own interface of that port on the host; "" and 0: it is not on the host */
	char below[IFNAME_LEN];
	uint32_t below_mtu;
	bool has_routes;         /* rdma_routes_read() read them */
	struct ip_prefix *route; /* owned: destinations of the routes out of this interface */
	size_t n_routes;
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

/*
 * rdma_inventory_read - read the caller's network namespace; ctx->sysfs must be of it.
 * rdma_inventory_clear() frees *out.
 */
int rdma_inventory_read(const struct ctx *ctx, struct rdma_inventory *out,
			struct err *e) must_check;

void rdma_inventory_clear(struct rdma_inventory *v);
#define auto_rdma_inventory auto_clean(rdma_inventory_clear)

/* ---- pure ---- */

/*
 * inv_rdma_mtu - the payload in bytes of a RoCE packet over an interface of this MTU: 256 to 4096,
 * or 0 if the MTU is too small. The kernel subtracts 96 bytes of headers (iboe_get_mtu() in
 * include/rdma/ib_addr.h).
 */
uint32_t inv_rdma_mtu(uint32_t netdev_mtu);

/* inv_has_addr - true if the interface has the address; the prefix does not matter. */
bool inv_has_addr(const struct inv_netdev *d, struct ip a);

/* inv_is_ipoib - true for an interface of InfiniBand (IPoIB), parent or child. */
bool inv_is_ipoib(const struct inv_netdev *d);

/* inv_pkey_of - the partition of an IPoIB interface; 0: not known, or it is none. */
uint16_t inv_pkey_of(const struct link_info *link);

/* inv_mark_gids - set `here` of each GID from the interfaces of the inventory. */
void inv_mark_gids(struct rdma_inventory *v);

/* inv_netdev_by_index - the interface with that ifindex, borrowed; NULL: not in the inventory. */
const struct inv_netdev *inv_netdev_by_index(const struct rdma_inventory *v, int ifindex);

/*
 * inv_port_guid - the GUID of an InfiniBand port: the lower half of its first GID. False: sysfs
 * does not show it. inv_pkey_find - the table's first entry of the same partition, borrowed. It
 * prefers an entry with the same membership. NULL: none.
 */
bool inv_port_guid(const struct inv_port *p, struct guid *out);
const struct inv_pkey *inv_pkey_find(const struct inv_port *p, uint16_t pkey);

/* ---- pieces, for rdma_inventory_read and its tests ---- */

/*
 * inv_read_device - fill d from sysfs; d->link is set before. inv_read_port - fill
 * p from sysfs; p->port is set before.
 */
int inv_read_device(const char *sysfs, struct inv_device *d, struct err *e) must_check;
int inv_read_port(const char *sysfs, const char *device, struct inv_port *p,
		  struct err *e) must_check;

#endif
