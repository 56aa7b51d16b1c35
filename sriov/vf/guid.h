/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guid.h: the GUIDs of a VF of InfiniBand. The PF keeps them, and the driver of the VF reads
 * them only when it is bound.
 */
#ifndef RAILHEAD_SRIOV_VF_GUID_H
#define RAILHEAD_SRIOV_VF_GUID_H

#include "sriov/vf/vf.h"

/*
 * vf_own_guids - the GUIDs that the driver of the VF read when it was bound: of the RDMA device,
 * and of the interface with the address addr. Zero: unknown, or there is none. vf_told_guids - fill
 * in the GUIDs of pf_side that the PF does not know; does nothing if it is not of InfiniBand; pure.
 */
struct vf_guids {
	bool has_rdma; /* the VF has an RDMA device on the host */
	struct guid node, port;
};
struct vf_guids vf_own_guids(const struct ctx *ctx, const char *vf, struct hw_addr addr);
void vf_told_guids(struct vf_info *pf_side, const struct vf_guids *own, struct hw_addr addr);

/*
 * vf_ipoib_in_pod - *ifindex becomes that of the VF's interface in the pod; 0: it is not there, or
 * the kernel is older than 5.14. With Linux 7 and later an RDMA device takes it along.
 */
int vf_ipoib_in_pod(const struct vf_place *p, struct nl *pod_nl, int *ifindex,
		    struct err *e) must_check;

/*
 * vf_rebind - bind the VF to driver again, so that it reads its GUIDs. Wait until its interface is
 * there, and its RDMA device if rdma is true. The caller holds rdma_lock(). ERR_KERNEL: the driver
 * did not take the VF. ERR_AGAIN: something did not appear within VF_REBIND_MS.
 */
#define VF_REBIND_MS 20000
int vf_rebind(const struct ctx *ctx, const char *vf, const char *driver, bool rdma,
	      struct err *e) must_check;

/*
 * vf_restore_guids - the part of vf_restore() that concerns InfiniBand: set the GUIDs of the
 * baseline at the PF, each one by itself, and bind the driver again if the VF has others. A GUID
 * that was unknown becomes all ones. lost: the interface died with the pod's namespace, so the
 * driver must make another one. rebound: the driver did; it is valid also after a failure.
 * unfinished: it had its driver until this call, and could not be bound again. The caller must try
 * once more. The VF is locked.
 */
struct vf_guid_restore {
	const struct ctx *ctx;
	struct nl *nl;
	struct vf_entry *x;
	const struct vf_place *place;
	struct hw_addr addr; /* of its interface on the host; length 0: none */
	bool lost;
	bool rebound, unfinished;
};
int vf_restore_guids(struct vf_guid_restore *g, struct err *e) must_check;

#endif
