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
#define LINK_VLAN_8021Q 0x8100 /* ETH_P_8021Q: the usual tag, for protocol */

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
	struct {
		uint32_t id;       /* 1 to 4094 */
		uint32_t protocol; /* LINK_VLAN_8021Q, or of 802.1ad */
	} vlan;
	struct {
		uint32_t mode; /* 0 to 6: balance-rr ... balance-alb, in the order of the kernel */
		uint32_t miimon;           /* ms between looks at the carrier of members */
		uint32_t xmit_hash_policy; /* 0 to 5, in the order of the kernel */
		uint32_t lacp_rate;        /* 0: slow, 1: fast; mode 802.3ad only */
	} bond;
	struct {
		uint32_t table; /* of routes */
	} vrf;
};
/* Read: the kernel does not report it. In a request: not asked for, so neither written nor
 * compared. */
#define LINK_DATA_UNKNOWN UINT32_MAX

#endif
