/* SPDX-License-Identifier: Apache-2.0 */
/*
 * neighbour.h: which port of which switch is at the other end of an interface, by the frames of
 * LLDP that came there. Pure.
 *
 * A frame is hearsay: a VF in a virtual machine or a pod with NET_RAW can send one. So the first
 * neighbour stays until the carrier was lost, or until nothing was heard of it for two TTLs. A
 * frame of another sender meanwhile is a conflict and changes nothing. A frame in which a sender
 * takes its leave (TTL 0) changes nothing either, because another sender can forge it.
 *
 * Times are ms of one clock that never goes back.
 */
#ifndef RAILHEAD_FABRIC_NEIGHBOUR_H
#define RAILHEAD_FABRIC_NEIGHBOUR_H

#include "fabric/lldp.h"

struct neighbour_heard {
	struct lldp_frame frame;
	int64_t at;
};

/* One interface. All zero: nothing was heard. */
struct neighbour {
	bool known, contested;        /* whether there was such a frame, ever */
	struct neighbour_heard held;  /* if known */
	struct neighbour_heard other; /* the last one of another sender; if contested */
	bool lost;                    /* the carrier was lost after the last frame of held */
};

enum neighbour_news {
	NEIGHBOUR_SAME,
	NEIGHBOUR_NEW,      /* held is another port or another switch than before, or the first */
	NEIGHBOUR_CONFLICT, /* a first frame of another sender */
};

/* neighbour_hear - a frame has come. neighbour_lose - the carrier is lost. */
enum neighbour_news neighbour_hear(struct neighbour *n, const struct lldp_frame *frame,
				   int64_t now);
void neighbour_lose(struct neighbour *n);

/* neighbour_is_overdue - nothing was heard of held for two TTLs, or ever. */
bool neighbour_is_overdue(const struct neighbour *n, int64_t now);

/* How much held is worth. */
enum neighbour_state {
	NEIGHBOUR_UNKNOWN,   /* nothing was heard, ever */
	NEIGHBOUR_HEARD,     /* within its TTL */
	NEIGHBOUR_SILENT,    /* not within its TTL: it may have gone, or its frames do not arrive */
	NEIGHBOUR_CONTESTED, /* another sender was heard, too, within its TTL */
};

enum neighbour_state neighbour_state(const struct neighbour *n, int64_t now);

/* neighbour_state_name - "unknown", "heard", "silent", "contested". */
const char *neighbour_state_name(enum neighbour_state s);

#endif
