/* SPDX-License-Identifier: Apache-2.0 */
/* residue.h: whether somebody had a free VF of whom only traces are left. */
#ifndef RAILHEAD_SRIOV_TAKE_RESIDUE_H
#define RAILHEAD_SRIOV_TAKE_RESIDUE_H

#include "cni/record/record.h"

#define RESIDUE_LEN 256

/*
 * residue_of - whether there is a record of an attachment with this VF, other than except (may be
 * NULL): its DEL has not been. who becomes a phrase that names it. What cannot be read is a trace
 * as well.
 */
bool residue_of(const struct ctx *ctx, const char *vf, const struct record_key *except,
		char who[RESIDUE_LEN]);

#endif
