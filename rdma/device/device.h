/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: which RDMA device serves a network interface.
 *
 * The search uses PCI addresses and interface numbers, never names: udev renames RDMA devices some
 * time after they appear. Only reads.
 */
#ifndef RAILHEAD_RDMA_DEVICE_DEVICE_H
#define RAILHEAD_RDMA_DEVICE_DEVICE_H

#include "lib/net/link.h"
#include "lib/rdma/bus.h"

/* ---- by network interface ---- */

/* The two namespaces of an attachment. All members are borrowed. */
struct rdma_view {
	const struct ctx *ctx;
	const struct netns *host, *pod;
	struct nl *host_nl, *pod_nl; /* route netlink: lib/net/nl.h */
	struct nl *host_rdma;        /* RDMA netlink: lib/net/nl_rdma.h */
};

/* The RDMA port below an interface of a pod. */
struct rdma_serving {
	struct rdma_link link;
	uint32_t port;
	bool own;               /* the interface is the port's own, not one above it */
	char pci[BUS_ADDR_LEN]; /* the hardware below; "": there is none */
};

/*
 * rdma_of_netdev - follow the pod's interface ifname down to the hardware (VLAN, macvlan, ipvlan,
 * bond), and find the nearest RDMA device and port. Only devices that the host sees count; in mode
 * shared that is all of them. out->pci is set also if there is no device. ERR_NOTFOUND (ENODEV):
 * there is no device; the text names what is below the interface.
 */
int rdma_of_netdev(const struct rdma_view *v, const char *ifname, struct rdma_serving *out,
		   struct err *e) must_check;

#endif
