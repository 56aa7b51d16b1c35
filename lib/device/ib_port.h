/* SPDX-License-Identifier: Apache-2.0 */
/* ib_port.h: parses the files of sysfs that describe a port of an RDMA device. Pure. */
#ifndef RAILHEAD_LIB_DEVICE_IB_PORT_H
#define RAILHEAD_LIB_DEVICE_IB_PORT_H

#include "lib/base/base.h"

enum ib_link_layer { IB_LAYER_UNKNOWN, IB_LAYER_ETHERNET, IB_LAYER_INFINIBAND };

/* ib_link_layer_parse - the file link_layer. */
enum ib_link_layer ib_link_layer_parse(const char *text);
/* ib_link_layer_name - "Ethernet", "InfiniBand", "unknown". */
const char *ib_link_layer_name(enum ib_link_layer l);

/* ib_rate_mbps - the file rate: "200 Gb/sec (4X HDR)", "2.5 Gb/sec"; 0 when it is no rate. */
uint32_t ib_rate_mbps(const char *text);

/* ib_state_is_active - the file state: "4: ACTIVE". */
bool ib_state_is_active(const char *text);

#endif
