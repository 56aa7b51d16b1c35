/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guid.h: GUIDs of InfiniBand nodes and ports (EUI-64), as the bytes on the wire. Pure.
 *
 * Netlink has a GUID as a number (struct ifla_vf_guid, RDMA_NLDEV_ATTR_NODE_GUID): guid_of_number()
 * and guid_number() convert. Sysfs has four groups of four digits: "506b:4b03:00c1:a2b3".
 */
#ifndef RAILHEAD_LIB_BASE_GUID_H
#define RAILHEAD_LIB_BASE_GUID_H

#include "lib/base/ip.h"

#define GUID_LEN     8
#define GUID_STR_LEN 24 /* "50:6b:4b:03:00:c1:a2:b3" and NUL */

struct guid {
	uint8_t byte[GUID_LEN]; /* network order */
};

/* Never a port's: zero, and all ones, with which a PF takes the GUID of a VF away. */
#define GUID_ZERO    ((struct guid){ { 0 } })
#define GUID_ALL_ONE ((struct guid){ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } })

/*
 * guid_parse - 8 hex octets joined by ':' or '-', or four groups of 4 digits joined by ':' or '.';
 * either case. Zero and all ones are parsed too: ask guid_is_usable(). -1: *out is unchanged.
 */
int guid_parse(const char *s, struct guid *out) must_check;

/* guid_format - 8 octets in small letters, joined by ':'. Returns out. */
char *guid_format(struct guid g, char out[GUID_STR_LEN]);

/* guid_is_usable - a port can have it: neither zero nor all ones. */
bool guid_is_usable(struct guid g);

/* guid_equal - the same eight bytes. */
bool guid_equal(struct guid a, struct guid b);

/* guid_of_number - the first byte is the highest of the number. guid_number - the reverse. */
struct guid guid_of_number(uint64_t number);
uint64_t guid_number(struct guid g);

/*
 * guid_gid - the GID of a port with the default subnet prefix: fe80::/64 and the GUID. guid_of_gid
 * - the reverse; only the lower half of the address counts. guid_is_network - all addresses of the
 * network are such GIDs.
 */
struct ip guid_gid(struct guid g);
struct guid guid_of_gid(struct ip gid);
bool guid_is_network(struct ip_prefix net);

#endif
