/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.h: inventories of pods that do not exist. For test programs only.
 *
 * Each function fails the test on error. A pod is freed with rdma_inventory_clear().
 */
#ifndef RAILHEAD_RDMA_TESTING_POD_H
#define RAILHEAD_RDMA_TESTING_POD_H

#include "rdma/inventory/inventory.h"

/* pod_new - a pod with only eth0 (veth, 10.244.0.5/24), which has the default route. */
struct rdma_inventory pod_new(enum rdma_mode mode);

/*
 * pod_netdev - add an interface. what: "macvlan", "ipvlan", "", or a PCI address: hardware.
 * addrs: prefixes, separated by blanks. It has no routes but that of its network; pod_route adds
 * one. Its ifindex is returned.
 */
int pod_netdev(struct rdma_inventory *v, const char *name, const char *what, const char *addrs);
void pod_route(struct inv_netdev *d, const char *dst);

/*
 * pod_port - add a device with one port: ACTIVE, Ethernet, 100 Gbit/s, MTU 4200; bus may be "".
 * ifindex: of its own interface; 0: not here. Valid until the next device is added.
 */
struct inv_port *pod_port(struct rdma_inventory *v, const char *name, const char *bus, int ifindex);

/* pod_gid - add an entry; call it in the order of indices. netdev may be "". */
void pod_gid(struct inv_port *p, uint32_t index, enum gid_type type, const char *ip,
	     const char *netdev);

/*
 * pod_rail - add all parts of a rail of a VF: interface, device with a v1 and a v2 GID of its
 * link-local address at 0 and 1, and of addr at index - 1 and index.
 */
void pod_rail(struct rdma_inventory *v, unsigned number, const char *addr, uint32_t index);

/*
 * pod_rails - rails 1 to n with the addresses 10.N.0.5/16; the index of the first, and how much
 * more each further one has.
 */
void pod_rails(struct rdma_inventory *v, unsigned n, uint32_t first, uint32_t step);

/*
 * pod_crowded - in mode shared: net1 and net2, macvlan (10.1.0.50, 10.2.0.50) on mlx5_0 and mlx5_1,
 * with so many GIDs of other pods before them that their GIDs have the indices first and second.
 */
struct rdma_inventory pod_crowded(uint32_t first, uint32_t second);

/*
 * pod_ib - make the port one of InfiniBand: LID, LID of the subnet manager 1, GUID, and a partition
 * table with 0xffff. pod_pkey - set the next entry of that table. pod_ipoib - add an IPoIB
 * interface of that port: parent, or with lower the child of that interface. Its ifindex is
 * returned.
 */
void pod_ib(struct inv_port *p, uint32_t lid, const char *guid);
void pod_pkey(struct inv_port *p, uint32_t index, uint16_t pkey);
int pod_ipoib(struct rdma_inventory *v, const char *name, const struct inv_port *p, int lower);

#endif
