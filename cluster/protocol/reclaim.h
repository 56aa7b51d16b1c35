/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h: when the blocks of a dead node may be taken. Pure.
 *
 * Two things are needed. Evidence that the machine is off: its Node object is gone or out of
 * service, or an operator said so; that is the caller's matter. And a heartbeat that did not change
 * for nodeHold, by the taker's own monotonic clock: no times of other machines are compared.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_RECLAIM_H
#define RAILHEAD_CLUSTER_PROTOCOL_RECLAIM_H

#include "cluster/protocol/object.h"

/* A heartbeat, as a taker sees it. That it is missing is a state, too. */
struct beat_watch {
	bool begun;
	struct cluster_version at; /* "": it was missing */
	int64_t since;             /* when it was first answered so */
};

/*
 * beat_seen - a quorum read, sent at `sent` and answered at `now`, shows this version; "": no
 * heartbeat. Returns how long it has been silent. It counts from the first answer to the sending of
 * the last read: a renewal before the first answer was sent before it, and the last read would see
 * any renewal between the two.
 */
int64_t beat_seen(struct beat_watch *w, const struct cluster_version *at, int64_t sent,
		  int64_t now);

/*
 * reclaimed - the block as the taker writes it, by an update of exactly the version that it read
 * before its last look at the heartbeat: free, and to be probed.
 */
struct block reclaimed(const struct block *b);

#endif
