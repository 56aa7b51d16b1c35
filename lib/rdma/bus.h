/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bus.h: the RDMA device of a PCI function or of an auxiliary device, and its character devices.
 *
 * A device is known by its bus address and its index, never by its name: udev renames RDMA devices
 * some time after they appear. Only reads.
 */
#ifndef RAILHEAD_LIB_RDMA_BUS_H
#define RAILHEAD_LIB_RDMA_BUS_H

#include "lib/base/ctx.h"
#include "lib/device/rdma.h"
#include "lib/device/pci.h"

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
 * rdma_bus_verbs - true if it has an RDMA device in any namespace: sysfs shows the folder of its
 * character device in all of them. out (may be NULL) gets the name of that, "uverbs3", or "" if the
 * folder cannot be read. False while the device moves, and without ib_uverbs.
 */
bool rdma_bus_verbs(const char *sysfs, const char *addr, char *out);

/* ---- character devices ---- */

/* The files that a pod needs in /dev/infiniband. An empty name: the kernel has none of that kind.
 */
struct rdma_chardevs {
	struct rdma_chardev uverbs;
	struct rdma_chardev umad[RDMA_PORTS_MAX]; /* by port, from 1 at 0 */
};

/* rdma_chardev_find - nl_rdma_chardev(); *out is empty if the kernel has none of that kind. */
int rdma_chardev_find(struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
		      struct err *e) must_check;

/*
 * rdma_chardevs_read - the character devices of d. nl is of the device's namespace. Ports above
 * RDMA_PORTS_MAX are ignored.
 */
int rdma_chardevs_read(struct nl *nl, const struct rdma_link *d, struct rdma_chardevs *out,
		       struct err *e) must_check;

/*
 * rdma_chardevs_differ - false if a and b have the same numbers. Else out has the first difference
 * as text: "uverbs1 was 231:193, is uverbs0 231:192". RDMA_CHANGE_LEN is enough for it. Pure.
 */
#define RDMA_CHANGE_LEN 160
bool rdma_chardevs_differ(const struct rdma_chardevs *a, const struct rdma_chardevs *b, char *out,
			  size_t size);

/* rdma_chardev_text - "uverbs1 231:193", "" for none. Returns out. Pure. */
char *rdma_chardev_text(const struct rdma_chardev *c, char *out, size_t size);

#endif
