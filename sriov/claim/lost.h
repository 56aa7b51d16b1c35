/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lost.h: the state of a VF whose file is lost or damaged.
 *
 * Nothing says then how the VF was before its attachment, and the values that it has are those of
 * its tenant. So its baseline becomes that of a new VF: no VLAN, no rates, no trust, spoof check
 * on, the MTU of Ethernet, a MAC of its own. The record of the attachment says who has the VF.
 * Drivers do not report their defaults for the settings of ethtool: those of the tenant stay.
 */
#ifndef RAILHEAD_SRIOV_CLAIM_LOST_H
#define RAILHEAD_SRIOV_CLAIM_LOST_H

#include "sriov/claim/taken.h"

/* A VF without a state. Pointers are borrowed. */
struct lost_vf {
	const struct ctx *ctx;
	const char *vf;
	const char *name; /* of its interface on the host; NULL: unknown */
	bool infiniband;
	const struct vf_owner *owner; /* NULL: unknown, or none */
};

/*
 * lost_entry - a state with that baseline, all of which is to be restored. It borrows the owner's
 * strings. The RDMA device is the owner's if it is in the owner's namespace. ERR_NOTFOUND: there is
 * no such VF.
 */
int lost_entry(const struct lost_vf *l, struct vf_entry *out, struct err *e) must_check;

/* lost_unowned - the same for a VF without a record, which is at that place. */
int lost_unowned(const struct ctx *ctx, struct nl *nl, const struct vf_place *p,
		 struct vf_entry *out, struct err *e) must_check;

/*
 * lost_find - the same for the VF of an attachment's record; if several have the VF, of one that
 * lives. 1: *out is set, and the caller clears it; 0: no record has the VF, or it was created
 * again.
 */
int lost_find(const struct ctx *ctx, const char *vf, struct vf_entry *out,
	      struct err *e) must_check;

#endif
