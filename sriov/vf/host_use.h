/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_use.h: whether the host itself uses the interface of a VF, which nobody has taken.
 *
 * An address, or a device above it: a macvlan, a VLAN, a bridge or a bond that has it. A macvlan in
 * a pod shows by its address in the list of those that the interface listens to.
 */
#ifndef RAILHEAD_SRIOV_VF_HOST_USE_H
#define RAILHEAD_SRIOV_VF_HOST_USE_H

#include "lib/base/ctx.h"
#include "lib/net/nl.h"

#define HOST_USE_LEN 192

enum host_use {
	HOST_USES_NOT,
	HOST_HAS_ADDRESS, /* nothing but an address: it goes with the interface when that moves */
	HOST_HAS_ABOVE,   /* a device above it, or a process, which would lose it */
};

/* host_use - why becomes a phrase after "it": "has the address 10.0.0.5/24". -1: cannot be told. */
int host_use(const struct ctx *ctx, struct nl *nl, const char *ifname, char why[HOST_USE_LEN],
	     struct err *e) must_check;

/*
 * host_use_vfio - of a VF that a driver of user space has: HOST_HAS_ABOVE when a process has it
 * open, a virtual machine perhaps. Looks through all processes; opens none of the VF's files, which
 * would keep others from them.
 */
int host_use_vfio(const struct ctx *ctx, const char *vf, char why[HOST_USE_LEN],
		  struct err *e) must_check;

#endif
