/* SPDX-License-Identifier: Apache-2.0 */
/* ib_port.h: describes a port of an RDMA device, and parses its files of sysfs. Pure. */
#ifndef RAILHEAD_LIB_DEVICE_IB_PORT_H
#define RAILHEAD_LIB_DEVICE_IB_PORT_H

#include "lib/base/base.h"

enum ib_link_layer { IB_LAYER_UNKNOWN, IB_LAYER_ETHERNET, IB_LAYER_INFINIBAND };

/* ib_link_layer_parse - the file link_layer. */
enum ib_link_layer ib_link_layer_parse(const char *text);
/* ib_link_layer_name - "Ethernet", "InfiniBand", "unknown". */
const char *ib_link_layer_name(enum ib_link_layer l);

/* ib_rate_mbps - the file rate: "200 Gb/sec (4X HDR)", "2.5 Gb/sec"; 0 when it is not a rate. */
uint32_t ib_rate_mbps(const char *text);

/* ib_rate_text - in Gbit/s: "400", "2.5". Returns out. */
#define IB_RATE_LEN 16
const char *ib_rate_text(uint32_t mbps, char out[IB_RATE_LEN]);

/* ib_state_is_active - the file state: "4: ACTIVE". */
bool ib_state_is_active(const char *text);

/* ib_state_name - the name in the file state, "DOWN"; the whole text if it has no number. Borrowed
 * from text. */
const char *ib_state_name(const char *text);

/* The configuration that a subnet manager gave an InfiniBand port. */
struct ib_subnet {
	bool known;           /* the port speaks InfiniBand, and the kernel reported the rest */
	uint32_t lid, sm_lid; /* 0: no subnet manager has configured the port */
	uint8_t lmc;          /* the port has 2^lmc LIDs, from lid on */
	uint64_t prefix;      /* the upper half of its GIDs */
};

/* ib_phys_state_name - "LinkUp", "Polling", ... for the kernel's number, as sysfs has it; "unknown"
 * for other numbers. */
const char *ib_phys_state_name(uint8_t state);

#endif
