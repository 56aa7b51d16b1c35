/* SPDX-License-Identifier: Apache-2.0 */
/* restore.h: what DEL, GC and repair do about an attachment of the sriov plugin. */
#ifndef RAILHEAD_SRIOV_TAKE_RESTORE_H
#define RAILHEAD_SRIOV_TAKE_RESTORE_H

#include "cni/record/record.h"

/* sriov_restore - an attach_restore_fn: the VF goes back if it still belongs to that attachment. */
int sriov_restore(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

#endif
