/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings_list.c: every attribute of a link, and whether it is restored after a pod has had the
 * link.
 */
#include <linux/if_link.h>

#include "lib/net/nl_msg.h"
#include "lib/net/settings.h"

static const char counts[] = "a number that the kernel counts; no user sets it";
static const char made[] = "fixed when the device is made";
static const char of_hw[] = "what the hardware or its driver is";
static const char netns[] = "says where it is, and is how it is moved";
static const char upper[] = "the kernel takes it off when the device leaves the namespace";
static const char afresh[] = "recreated when the device comes into a namespace";
static const char follows[] = "follows from the carrier, and from the link mode, which is kept";
static const char of_pf[] = "an attribute of the PF; pods get only VFs";
static const char query[] = "only ever in a request";
static const char no_vf[] = "only of devices whose driver has it (macvlan, vxlan, dummy, switch "
			    "ports); no VF's has";

/* NULL: it is kept. By number: half of them are newer than the oldest headers we are built with. */
static const struct {
	int attr;
	const char *why;
} list[] = {
	{ IFLA_ADDRESS, NULL },
	{ IFLA_BROADCAST, NULL },
	{ IFLA_IFNAME, NULL },
	{ IFLA_MTU, NULL },
	{ IFLA_LINK, made },
	{ IFLA_QDISC, afresh },
	{ IFLA_STATS, counts },
	{ IFLA_COST, query },
	{ IFLA_PRIORITY, query },
	{ IFLA_MASTER, upper },
	{ IFLA_WIRELESS, of_hw },
	{ IFLA_PROTINFO, upper },
	{ IFLA_TXQLEN, NULL },
	{ IFLA_MAP, "addresses of ISA cards; no driver of a VF takes others" },
	{ IFLA_WEIGHT, "the kernel takes it and ignores it" },
	{ IFLA_OPERSTATE, follows },
	{ IFLA_LINKMODE, NULL },
	{ IFLA_LINKINFO, made },
	{ IFLA_NET_NS_PID, netns },
	{ IFLA_IFALIAS, NULL },
	{ IFLA_NUM_VF, of_pf },
	{ IFLA_VFINFO_LIST, of_pf },
	{ IFLA_STATS64, counts },
	{ IFLA_VF_PORTS, of_pf },
	{ IFLA_PORT_SELF, of_pf },
	{ IFLA_AF_SPEC, afresh },
	{ IFLA_GROUP, NULL },
	{ IFLA_NET_NS_FD, netns },
	{ IFLA_EXT_MASK, query },
	{ IFLA_PROMISCUITY, counts },
	{ IFLA_NUM_TX_QUEUES, made },
	{ IFLA_NUM_RX_QUEUES, made },
	{ IFLA_CARRIER, no_vf },
	{ IFLA_PHYS_PORT_ID, of_hw },
	{ IFLA_CARRIER_CHANGES, counts },
	{ IFLA_PHYS_SWITCH_ID, of_hw },
	{ IFLA_LINK_NETNSID, netns },
	{ IFLA_PHYS_PORT_NAME, of_hw },
	{ IFLA_PROTO_DOWN, no_vf },
	{ IFLA_GSO_MAX_SEGS, NULL },
	{ IFLA_GSO_MAX_SIZE, NULL },
	{ IFLA_PAD, query },
	{ IFLA_XDP, NULL },
	{ IFLA_EVENT, query },
	{ IFLA_NEW_NETNSID, netns },
	{ IFLA_TARGET_NETNSID, netns },
	{ IFLA_CARRIER_UP_COUNT, counts },
	{ IFLA_CARRIER_DOWN_COUNT, counts },
	{ IFLA_NEW_IFINDEX, netns },
	{ IFLA_MIN_MTU, of_hw },
	{ IFLA_MAX_MTU, of_hw },
	{ IFLA_PROP_LIST, NULL },
	{ IFLA_ALT_IFNAME, NULL },
	{ IFLA_PERM_ADDRESS, of_hw },
	{ IFLA_PROTO_DOWN_REASON, no_vf },
	{ IFLA_PARENT_DEV_NAME, of_hw },
	{ IFLA_PARENT_DEV_BUS_NAME, of_hw },
	{ IFLA_GRO_MAX_SIZE, NULL },
	{ IFLA_TSO_MAX_SIZE, of_hw },
	{ IFLA_TSO_MAX_SEGS, of_hw },
	{ IFLA_ALLMULTI, counts },
	{ 62 /* IFLA_DEVLINK_PORT */, of_hw },
	{ 63 /* IFLA_GSO_IPV4_MAX_SIZE */, NULL },
	{ 64 /* IFLA_GRO_IPV4_MAX_SIZE */, NULL },
	{ 65 /* IFLA_DPLL_PIN */, of_hw },
	{ 66 /* IFLA_MAX_PACING_OFFLOAD_HORIZON */, of_hw },
	{ 67 /* IFLA_NETNS_IMMUTABLE */, of_hw },
	{ 68 /* IFLA_HEADROOM */, of_hw },
	{ 69 /* IFLA_TAILROOM */, of_hw },
};

enum settings_verdict nl_settings_effect(int attr, const char **why)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		if (list[i].attr != attr)
			continue;
		*why = list[i].why;
		return list[i].why ? SETTINGS_EXEMPT : SETTINGS_KEPT;
	}
	return SETTINGS_UNKNOWN;
}
