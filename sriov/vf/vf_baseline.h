/* SPDX-License-Identifier: Apache-2.0 */
/* vf_baseline.h: a VF at one moment: its interface, and what its PF knows. */
#ifndef RAILHEAD_SRIOV_VF_VF_BASELINE_H
#define RAILHEAD_SRIOV_VF_VF_BASELINE_H

#include "lib/base/hw_addr.h"
#include "lib/device/ethtool.h"
#include "lib/device/vf.h"
#include "lib/net/settings.h"

#define VF_ALTNAMES_MAX 8
#define VF_ALTNAME_LEN  128 /* ALTIFNAMSIZ */

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

#endif
