/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h: which stale attachments and VFs the agent repairs without a person. Pure.
 *
 * It is stricter than `railctl attachments repair`, which a person starts: the network namespace
 * must be proved gone, or be of an earlier boot. An unfinished ADD in a living namespace is left to
 * the runtime's DEL, and a damaged record to a person.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_VERDICT_H
#define RAILHEAD_RAILHEADD_WATCH_VERDICT_H

#include "cni/engine/repair.h"
#include "sriov/admin/manager.h"

enum verdict {
	VERDICT_NONE,  /* in use, or busy: nothing to say */
	VERDICT_STALE, /* repair it after the grace period */
	VERDICT_LEFT,  /* report it; only a person or the runtime may undo it */
};

enum verdict verdict_of(enum repair_state s);

/*
 * verdict_of_vf - x is its entry, and r what a dry run of manager_gc() reports. An owner whose
 * namespace is known by its path alone is never proved gone.
 */
enum verdict verdict_of_vf(const struct vf_entry *x, const struct vf_report *r);

#endif
