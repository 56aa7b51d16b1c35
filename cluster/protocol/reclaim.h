/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.h: when the blocks of a dead node, and its part in others, may be taken. Pure.
 *
 * Two things are needed. Evidence that the machine is off: its Node object is gone or out of
 * service, or an operator said so; that is the caller's matter. And a heartbeat that did not change
 * for nodeHold, by the taker's own monotonic clock: no times of other machines are compared.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_RECLAIM_H
#define RAILHEAD_CLUSTER_PROTOCOL_RECLAIM_H

#include "ipam/block/object.h"

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

/* The next step of a taker. */
enum taker_step {
	TAKER_BEAT,   /* a quorum read of the heartbeat, now or later */
	TAKER_BLOCKS, /* a quorum read of one or more blocks of the node */
	TAKER_TAKES,  /* an update of the blocks that were read, to what reclaimed() returns */
};

/*
 * A program that takes the blocks of a dead node: the heartbeat until it is silent for nodeHold,
 * then blocks, the heartbeat again, and the blocks are taken.
 */
struct taker {
	int64_t hold;                    /* nodeHold, ns */
	struct cluster_version evidence; /* the heartbeat when the machine was said to be off */
	struct beat_watch beat;
	bool silent, read, silent_since; /* silent_since: also at a look after the read */
};

/* taker_begin - with new evidence, or after the store did not answer. */
void taker_begin(struct taker *t, const struct cluster_version *evidence, int64_t hold);
enum taker_step taker_next(const struct taker *t);

/*
 * taker_saw_beat - a reply to TAKER_BEAT, as beat_seen(). taker_saw_blocks - a reply to
 * TAKER_BLOCKS has come. taker_took - the updates have ended, whatever became of them.
 */
void taker_saw_beat(struct taker *t, const struct cluster_version *at, int64_t sent, int64_t now);
void taker_saw_blocks(struct taker *t);
void taker_took(struct taker *t);

/*
 * reclaim_concerns - the node has the block or a loan of it, or shares it as the target of a
 * migration. reclaimed - the block as the taker of the node writes it. It updates exactly the
 * version that it read before its last look at the heartbeat. A block of the node is free then, or
 * of the node that a machine migrates to, and stays lent to others. One that the node shares stays
 * with its owner, and another target can follow. A loan of the node is returned. It is to be probed
 * before an address has a new use.
 */
bool reclaim_concerns(const struct block *b, const char *node);
struct block reclaimed(const struct block *b, const char *node);

#endif
