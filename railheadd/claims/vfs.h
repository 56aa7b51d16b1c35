/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfs.h: the VFs of rails: which of them claims can have, and which a claim has.
 *
 * A claim cannot have a VF that the host or another attachment uses. A VF that is in a pod by a
 * claim stays offered: the scheduler knows who has it.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_VFS_H
#define RAILHEAD_RAILHEADD_CLAIMS_VFS_H

#include "lib/base/ctx.h"
#include "railheadd/claims/claim.h"
#include "railheadd/claims/slices.h"

/* vfs_read - the VFs of the rails of f that claims can have, into f. */
int vfs_read(const struct ctx *ctx, struct slices_facts *f, struct err *e) must_check;

/*
 * vfs_give - networks of VFs get the key deviceIDs. ERR_NOTFOUND: a rail or a VF is not there;
 * ERR_BUSY: another attachment has a VF, whose end may be near; ERR_STATE: the host uses it, or it
 * has no network interface.
 */
int vfs_give(const struct ctx *ctx, struct claim *c, struct err *e) must_check;

#endif
