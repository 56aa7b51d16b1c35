/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c: the table of verdicts: each state that the engine knows has one. */
#include "railheadd/watch/verdict.h"

enum verdict verdict_of(enum repair_state s)
{
	switch (s) {
	case REPAIR_EARLIER_BOOT:
	case REPAIR_NETNS_GONE:
	case REPAIR_NETNS_REPLACED:
		return VERDICT_STALE;
	case REPAIR_UNKNOWN:
	case REPAIR_NETNS_UNKNOWN:
	case REPAIR_UNFINISHED:
	case REPAIR_DAMAGED:
		return VERDICT_LEFT;
	case REPAIR_HEALTHY:
	case REPAIR_BUSY:
	case REPAIR_GONE:
	/* The namespace lives: what its pod did to the interface is the pod's affair. */
	case REPAIR_PARTLY_GONE:
	case REPAIR_LINK_RENAMED:
	case REPAIR_LINK_GONE:
	case REPAIR_LINK_REPLACED:
	case REPAIR_NETNS_MOVED:
		return VERDICT_NONE;
	}
	return VERDICT_NONE;
}

enum verdict verdict_of_vf(const struct vf_entry *x, const struct vf_report *r)
{
	if (!*x->boot)
		return VERDICT_LEFT;
	if (r->outcome != VF_WOULD_REPAIR)
		return VERDICT_NONE;
	return x->owned && !x->owner.netns_id.ino ? VERDICT_LEFT : VERDICT_STALE;
}
