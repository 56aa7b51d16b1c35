/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vf.h: what a PF knows of one of its VFs, read and set.
 *
 * The one place where VF data is asked for. Statistics never are: RTEXT_FILTER_VF goes out only
 * together with RTEXT_FILTER_SKIP_STATS, since asking a NIC for the statistics of all its VFs holds
 * RTNL for most of a second.
 */
#ifndef RAILHEAD_LIB_DEVICE_VF_H
#define RAILHEAD_LIB_DEVICE_VF_H

#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/net/nl.h"
#include "lib/base/parse.h"

/* Attributes, as bits. */
enum vf_attr {
	VF_MAC = 1,  /* administrative MAC; all zero: none is set */
	VF_VLAN = 2, /* vlan, qos and vlan_proto together */
	VF_RATE = 4, /* min_rate and max_rate together */
	VF_SPOOFCHK = 8,
	VF_TRUST = 16,
	VF_LINK_STATE = 32,
	VF_ETHERNET = 63, /* those of a PF for Ethernet */
	/* 64 is VF_UNREACHABLE in sriov/vf/state.h */
	VF_NODE_GUID = 128, /* InfiniBand; zero: the PF has none set */
	VF_PORT_GUID = 256,
	VF_GUIDS = VF_NODE_GUID | VF_PORT_GUID,
	VF_ALL = VF_ETHERNET | VF_GUIDS,
};

/* The kernel's numbers (IFLA_VF_LINK_STATE_*), asserted in vf.c. */
enum vf_link_state { VF_LINK_AUTO = 0, VF_LINK_ENABLE = 1, VF_LINK_DISABLE = 2 };

#define VLAN_PROTO_8021Q  0x8100
#define VLAN_PROTO_8021AD 0x88a8

struct vf_info {
	unsigned has; /* enum vf_attr: which of the members mean something */
	uint8_t mac[MAC_LEN];
	uint32_t vlan, qos;          /* 0..4094, 0..7; vlan 0: untagged */
	uint16_t vlan_proto;         /* VLAN_PROTO_*, host byte order */
	uint32_t min_rate, max_rate; /* Mbit/s; 0: no limit */
	bool spoofchk, trust;
	enum vf_link_state link_state;
	struct guid node_guid, port_guid; /* a driver reads them when it is bound to the VF */
};

/* One VF: number vf of the PF with that interface number. */
struct vf_ref {
	int pf_ifindex;
	uint32_t vf;
};

/* vf_attr_name - the key of a netconf that sets it: "mac", "vlan", "max_tx_rate", "spoofchk",
 * "trust", "link_state", "node GUID", "port GUID". For exactly one bit. */
const char *vf_attr_name(enum vf_attr one);

/*
 * nl_vf_get - one RTM_GETLINK of the PF. If the answer omits the VF, out->has is 0 and the call
 * succeeds. An attribute that the driver does not report is not in out->has. Kernels cut
 * the list: at 128 or 256 entries since 7.3, by wrapping around above 334 before. For InfiniBand
 * PFs before 6.12.107, they fail with EMSGSIZE.
 */
int nl_vf_get(struct nl *nl, struct vf_ref vf, struct vf_info *out, struct err *e) must_check;

/*
 * nl_vf_list - VFs number 0 to n - 1 with that one request; out has room for n. A VF that is left
 * out has has == 0, as above.
 */
int nl_vf_list(struct nl *nl, int pf_ifindex, uint32_t n, struct vf_info *out,
	       struct err *e) must_check;

/*
 * nl_vf_set - set one attribute to want's value: one RTM_SETLINK, whatever the number of VFs; a
 * second one where the first form of a 802.1q tag is refused. vlan_proto 0 means 802.1q. While
 * the driver says EBUSY or EAGAIN (in reset: ice, i40e, iavf) it is tried again for up to 2 s.
 * Each GUID is a request of its own: of two in one request kernels set only the node's.
 * ERR_KERNEL; the hint names what the errno means for this attribute: EOPNOTSUPP (the driver has no
 * such setting), EPROTONOSUPPORT (802.1ad), EINVAL (number of the VF, min rate, link down).
 */
int nl_vf_set(struct nl *nl, struct vf_ref vf, const struct vf_info *want, enum vf_attr one,
	      struct err *e) must_check;

#endif
