/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h: find attachments for which no DEL will come, and undo them.
 *
 * A record is stale if it is from an earlier boot, or if its namespace is proved gone. It is also
 * stale if its ADD or DEL did not complete, or if it is damaged. While the same namespace lives, a
 * process in it may use the address on any interface: such a record is reported, and undone only by
 * force. A record that a running ADD or DEL has locked is not touched.
 */
#ifndef RAILHEAD_CNI_ENGINE_REPAIR_H
#define RAILHEAD_CNI_ENGINE_REPAIR_H

#include "cni/engine/attach.h"

enum repair_state {
	REPAIR_HEALTHY,
	REPAIR_BUSY,    /* an ADD, DEL or GC is at work on it */
	REPAIR_UNKNOWN, /* the state is unknown: why has the reason */
	REPAIR_GONE,    /* the record has been removed since it was listed */
	/* Some of several interfaces are lost, and some are there: never undone, also not by force.
	 */
	REPAIR_PARTLY_GONE,

	REPAIR_LINK_RENAMED,  /* these five are undone by force only; the interface has another name
			       */
	REPAIR_LINK_GONE,     /* none of its interfaces is in the living namespace */
	REPAIR_LINK_REPLACED, /* nor this one, but another interface has its name */
	REPAIR_NETNS_MOVED,   /* it lives, but its path does not lead to it any more */
	REPAIR_NETNS_UNKNOWN, /* it may live: it cannot be found from here */

	REPAIR_EARLIER_BOOT, /* all that follow are stale */
	REPAIR_NETNS_GONE,
	REPAIR_NETNS_REPLACED, /* and another one has its path */
	REPAIR_UNFINISHED,     /* its ADD or its DEL did not complete */
	REPAIR_DAMAGED,        /* the record cannot be read */
};

struct repair_view {
	enum repair_state state;
	char why[480]; /* one sentence for people, without a full stop; "" for a healthy one */
};

/* repair_state_name - the word that users see: "healthy", "netns-gone". */
const char *repair_state_name(enum repair_state s);
bool repair_is_stale(enum repair_state s);

/* repair_needs_force - one of the five states from REPAIR_LINK_RENAMED on: undone only by force. */
bool repair_needs_force(enum repair_state s);

/*
 * repair_examine - the state of an attachment. A record that seems stale is read and looked at
 * again under its lock, which is not waited for.
 */
int repair_examine(const struct ctx *ctx, const struct record *r, struct repair_view *out,
		   struct err *e) must_check;

/*
 * repair_one - undo a stale attachment: its interface as far as it is there, the DEL of its IPAM
 * with the recorded configuration, then the record. Anything not stale is left alone. *out is what
 * was found, also after a failure; out->state tells whether something was done. -1: the record
 * cannot be read or locked, or a step failed; the record stays. If the record is damaged, only the
 * record is removed: its interface and address are unknown, and a DEL of the runtime still removes
 * those. By force it also undoes what repair_needs_force(). With a mark, a record that says
 * anything else than when it had that mark (record_mark) is left alone, and counts as busy.
 */
struct repair_opts {
	const struct attach_restore_type
		*others; /* of plugins that move devices (attach_restore) */
	bool force;
	uint64_t mark; /* 0: any */
};
int repair_one(const struct ctx *ctx, const struct record_key *key, const struct repair_opts *how,
	       struct repair_view *out, struct err *e) must_check;

/* repair_ipam_type - the IPAM in the recorded configuration, "" when there is none. */
const char *repair_ipam_type(const struct record *r);

#endif
