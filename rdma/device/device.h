/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: which RDMA device serves a network interface, and which character devices it has.
 *
 * The search uses PCI addresses and interface numbers, never names: udev renames RDMA devices some
 * time after they appear. Only reads.
 */
#ifndef RAILHEAD_RDMA_DEVICE_DEVICE_H
#define RAILHEAD_RDMA_DEVICE_DEVICE_H

#include "lib/base/ctx.h"
#include "lib/net/link.h"
#include "lib/device/rdma.h"
#include "lib/pci/pci.h"

#define RDMA_PORTS_MAX 8
#define BUS_ADDR_LEN   64 /* a PCI address, or an auxiliary device: "mlx5_core.sf.2" */

/* ---- by bus address ---- */

/* bus_addr_valid - true if s has the form of a PCI address or of an auxiliary device. Pure. */
bool bus_addr_valid(const char *s);

/*
 * rdma_of_bus - the RDMA device of a PCI function or an auxiliary device (subfunction). nl and
 * sysfs must be of one namespace, in which the device is. ERR_NOTFOUND: it has no RDMA device there
 * (errnum ENOENT), or more than one (EEXIST).
 */
int rdma_of_bus(const char *sysfs, struct nl *nl, const char *addr, struct rdma_link *out,
		struct err *e) must_check;

/*
 * rdma_bus_has_verbs - true if it has an RDMA device in any namespace: sysfs shows the folder of
 * its character device (uverbs) in all of them. False while the device moves, and without
 * ib_uverbs.
 */
bool rdma_bus_has_verbs(const char *sysfs, const char *addr);

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

/* ---- character devices ---- */

/* The files that a pod needs in /dev/infiniband. An empty name: the kernel has none of that kind.
 */
struct rdma_chardevs {
	struct rdma_chardev uverbs;
	struct rdma_chardev umad[RDMA_PORTS_MAX]; /* by port, from 1 at 0 */
};

/*
 * rdma_chardevs_read - the character devices of d. nl is of the device's namespace. Ports above
 * RDMA_PORTS_MAX are ignored.
 */
int rdma_chardevs_read(struct nl *nl, const struct rdma_link *d, struct rdma_chardevs *out,
		       struct err *e) must_check;

/*
 * rdma_chardevs_differ - false if a and b have the same numbers. Else out has the first difference
 * as text: "uverbs1 was 231:193, is uverbs0 231:192". Pure.
 */
bool rdma_chardevs_differ(const struct rdma_chardevs *a, const struct rdma_chardevs *b, char *out,
			  size_t size);

/* rdma_chardev_text - "uverbs1 231:193", "" for none. Returns out. Pure. */
char *rdma_chardev_text(const struct rdma_chardev *c, char *out, size_t size);

#endif
