/* SPDX-License-Identifier: Apache-2.0 */
/* link_data.h: what a link has because of its kind. */
#ifndef RAILHEAD_LIB_NET_LINK_DATA_H
#define RAILHEAD_LIB_NET_LINK_DATA_H

#include "lib/base/base.h"

/*
 * The kernel's own numbers (MACVLAN_MODE_*, IPVLAN_MODE_*, IPVLAN_F_*, IPOIB_MODE_*), asserted in
 * link_kind.c; the tags macvlan_mode and ipvlan_mode are taken by its headers.
 */
enum link_macvlan_mode {
	MACVLAN_PRIVATE = 1,
	MACVLAN_VEPA = 2,
	MACVLAN_BRIDGE = 4,
	MACVLAN_PASSTHRU = 8,
};
enum link_ipvlan_mode { IPVLAN_L2 = 0, IPVLAN_L3 = 1, IPVLAN_L3S = 2 };
enum link_ipvlan_flag { IPVLAN_BRIDGE = 0, IPVLAN_PRIVATE = 1, IPVLAN_VEPA = 2 };
enum link_ipoib_mode { IPOIB_DATAGRAM = 0, IPOIB_CONNECTED = 1 };

/*
 * What a link has because of its kind (IFLA_INFO_DATA): the member named like the kind counts.
 * Kinds that have a member here can be created; link_kind.c has the table.
 */
union link_data {
	struct {
		uint32_t mode;       /* enum link_macvlan_mode */
		uint32_t bcqueuelen; /* only asked for; 0: the kernel's choice */
	} macvlan;
	struct {
		uint32_t mode; /* enum link_ipvlan_mode */
		uint32_t flag; /* enum link_ipvlan_flag */
	} ipvlan;
	struct {
		uint32_t pkey;   /* the kernel sets the bit of full membership (lib/base/pkey.h) */
		uint32_t mode;   /* enum link_ipoib_mode */
		uint32_t umcast; /* 1: groups that the port has joined already are left to programs
				  */
	} ipoib;
};
#define LINK_DATA_UNKNOWN UINT32_MAX /* the kernel does not report it */

#endif
