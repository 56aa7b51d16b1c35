/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_use.h: whether the host itself uses a VF that no attachment owns.
 *
 * A use is an address on its interface, or a device above it: a macvlan, a VLAN, a bridge or a
 * bond. A macvlan in a pod is found by its MAC, which the interface listens to.
 */
#ifndef RAILHEAD_SRIOV_VF_HOST_USE_H
#define RAILHEAD_SRIOV_VF_HOST_USE_H

#include "lib/base/ctx.h"
#include "lib/net/nl.h"

#define HOST_USE_LEN 192

enum host_use {
	HOST_USES_NOT,
	HOST_HAS_ADDRESS, /* only an address, which is lost when the interface moves */
	HOST_HAS_ABOVE,   /* a device above it, or a process, that would lose the VF */
};

/*
 * host_use - how the host uses the interface ifname: an enum host_use, or -1 when that is unknown.
 * why becomes a phrase that follows "it": "has the address 10.0.0.5/24". nl is a socket of the
 * host.
 */
int host_use(const struct ctx *ctx, struct nl *nl, const char *ifname, char why[HOST_USE_LEN],
	     struct err *e) must_check;

/*
 * host_use_vfio - the same for the VF at this PCI address if it has a user-space driver.
 * HOST_HAS_ABOVE: a process has it open, perhaps a virtual machine. The function looks at the open
 * files of all processes. It does not open the VF's files, because that would lock others out.
 */
int host_use_vfio(const struct ctx *ctx, const char *vf, char why[HOST_USE_LEN],
		  struct err *e) must_check;

#endif
