/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h: which RDMA device serves a network interface, and with which character devices.
 *
 * Devices are found by PCI address and by interface number, never by the likeness of names: udev
 * renames RDMA devices some time after they appear. Changes nothing.
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

/* bus_addr_valid - whether it has the form of a PCI address or of an auxiliary device. Pure. */
bool bus_addr_valid(const char *s);

/*
 * rdma_of_bus - the RDMA device of a PCI function or an auxiliary device (subfunction), in the
 * namespace of nl, which must be the one that sysfs was mounted in. ERR_NOTFOUND: it has none there
 * (errnum ENOENT), or more than one (EEXIST).
 */
int rdma_of_bus(const char *sysfs, struct nl *nl, const char *addr, struct rdma_link *out,
		struct err *e) must_check;

/*
 * rdma_bus_has_verbs - whether it has an RDMA device in any namespace: the folder of its character
 * device (uverbs) is in all of them. Not while the device moves, nor without ib_uverbs.
 */
bool rdma_bus_has_verbs(const char *sysfs, const char *addr);

/* ---- by network interface ---- */

/* The two namespaces of an attachment. All members are borrowed. */
struct rdma_view {
	const struct ctx *ctx;
	const struct netns *host, *pod;
	struct nl *host_nl, *pod_nl; /* of nl.h */
	struct nl *host_rdma;        /* of nl_rdma.h */
};

/* What an interface of a pod comes down to. */
struct rdma_serving {
	struct rdma_link link;
	uint32_t port;
	bool own;               /* the interface is the device's, and not one above it */
	char pci[BUS_ADDR_LEN]; /* of the hardware below; "" where there is none */
};

/*
 * rdma_of_netdev - follow ifname, in the pod, down to the hardware (VLAN, macvlan, ipvlan, bond),
 * and find the RDMA device and port there, among those that home sees (in mode shared all). The
 * nearest one counts. *out->pci is filled in also when there is no device.
 * ERR_NOTFOUND (ENODEV): there is none; the text says what the interface comes down to.
 */
int rdma_of_netdev(const struct rdma_view *v, const char *ifname, struct rdma_serving *out,
		   struct err *e) must_check;

/* ---- character devices ---- */

/* What a pod needs in /dev/infiniband. An empty name: this kernel has none of that kind. */
struct rdma_chardevs {
	struct rdma_chardev uverbs;
	struct rdma_chardev umad[RDMA_PORTS_MAX]; /* by port, from 1 at 0 */
};

/* rdma_chardevs_read - nl is of the namespace of the device. Ports above RDMA_PORTS_MAX are left
 * out. */
int rdma_chardevs_read(struct nl *nl, const struct rdma_link *d, struct rdma_chardevs *out,
		       struct err *e) must_check;

/*
 * rdma_chardevs_differ - the first device whose number is another one in b, as text ("uverbs1 was
 * 231:193, is uverbs0 231:192") in out; false when all are the same. Pure.
 */
bool rdma_chardevs_differ(const struct rdma_chardevs *a, const struct rdma_chardevs *b, char *out,
			  size_t size);

/* rdma_chardev_text - "uverbs1 231:193", "" for none. Returns out. Pure. */
char *rdma_chardev_text(const struct rdma_chardev *c, char *out, size_t size);

#endif
