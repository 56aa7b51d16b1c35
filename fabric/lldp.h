/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lldp.h: what a frame of LLDP (IEEE 802.1AB) says about its sender. Pure.
 *
 * A frame is hearsay: whoever may send on the link writes what they like. So nothing but names is
 * read: no address, no VLAN, no MTU.
 */
#ifndef RAILHEAD_FABRIC_LLDP_H
#define RAILHEAD_FABRIC_LLDP_H

#include "lib/base/err.h"

#define LLDP_ETHERTYPE 0x88cc
#define LLDP_VALUE_MAX 255 /* bytes of a chassis, a port, a name, a description */
/* "chassis-component 0x", two digits for each byte, and the NUL */
#define LLDP_ID_LEN (20 + 2 * LLDP_VALUE_MAX + 1)

/* Each text is printable ASCII, and ends with a NUL. */
struct lldp_frame {
	uint8_t source[6];                    /* the sender's MAC address */
	char chassis[LLDP_ID_LEN];            /* subtype and id: "mac 02:00:00:00:00:01" */
	char port[LLDP_ID_LEN];               /* subtype and id: "interface-name swp1" */
	char port_name[LLDP_ID_LEN];          /* what a person calls the port */
	char system_name[LLDP_VALUE_MAX + 1]; /* "": not said */
	uint16_t ttl; /* seconds that the frame is valid; 0: the sender leaves */
};

/*
 * lldp_parse - data is a frame from its destination address on, without a VLAN tag. Bytes that are
 * not printable become "?" in a name; an id that has some is in hexadecimal digits. port_name is
 * the id, or the description of the port if the id is local or a MAC address. Bytes behind the last
 * TLV are padding. ERR_DECODE: not LLDP, a TLV that is cut, or the first three are not chassis,
 * port and TTL, once each.
 */
int lldp_parse(const uint8_t *data, size_t size, struct lldp_frame *out, struct err *e) must_check;

#endif
