/* SPDX-License-Identifier: Apache-2.0 */
/* baseline.h: a VF at one moment: its interface, and what its PF knows. */
#ifndef RAILHEAD_SRIOV_VF_BASELINE_H
#define RAILHEAD_SRIOV_VF_BASELINE_H

#include "lib/base/hw_addr.h"
#include "lib/device/ethtool.h"
#include "lib/device/vf.h"
#include "lib/net/settings.h"

#define VF_ALTNAMES_MAX 8
#define VF_ALTNAME_LEN  128 /* ALTIFNAMSIZ */

struct link_info;
struct nl;

/* A VF at one moment. */
struct vf_baseline {
	bool has_netdev; /* false (vfio-pci): the next six are unused */
	char name[IFNAME_LEN];
	struct hw_addr addr; /* length 0: unknown */
	bool own_mac; /* the VF chose the MAC that its PF knows; false: an administrator did, or it
			 is unknown, see vf_configure() */
	uint32_t mtu; /* 0: unknown */
	bool up;
	char altnames[VF_ALTNAMES_MAX][VF_ALTNAME_LEN]; /* "" ends the list */
	bool has_settings; /* false: unknown; the next two are unused */
	struct link_settings link;
	struct ethtool_state tool;
	struct vf_info pf_side; /* what its PF knows */
};

/*
 * For a baseline of which a part is unknown. vf_guess_addr - a MTU and an address that are unknown
 * become these. vf_guess_netdev - the interface as it is now, without what only a pod sets. name:
 * on the host; NULL: the interface is elsewhere, where ethtool cannot ask for it.
 */
void vf_guess_addr(struct vf_baseline *b, uint32_t mtu, struct hw_addr addr);
void vf_guess_netdev(struct nl *nl, const struct link_info *link, const char *name,
		     struct vf_baseline *b);

/* vf_spare_name - a name made of the PCI address, for a VF whose own name is taken or unknown.
 * Pure.
 */
void vf_spare_name(const char *vf, char out[IFNAME_LEN]);

#endif
