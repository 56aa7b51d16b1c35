/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.h: RDMA devices in a folder that stands for /sys. For test programs only.
 *
 * root is a folder of the test (testing_dir()); each function fails the test on error.
 */
#ifndef RAILHEAD_RDMA_TESTING_RDMA_H
#define RAILHEAD_RDMA_TESTING_RDMA_H

#include "rdma/device/gid.h"

/* fakerdma_port - make a port whose GID table has so many free indices. */
void fakerdma_port(const struct gid_port *p, const char *link_layer, uint32_t gids);

/* fakerdma_gid - fill one index; type and netdev as sysfs writes them. */
struct fakerdma_gid {
	const char *ip, *type, *netdev;
};
void fakerdma_gid(const struct gid_port *p, uint32_t index, const struct fakerdma_gid *g);

/* fakerdma_pkey - set one entry of the partition table; text as sysfs writes it: "0x8001". */
void fakerdma_pkey(const struct gid_port *p, uint32_t index, const char *text);

#endif
