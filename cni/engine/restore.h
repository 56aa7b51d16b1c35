/* SPDX-License-Identifier: Apache-2.0 */
/*
 * restore.h: finds the interface that a record names, and undoes what the record says was done
 * to the kernel.
 */
#ifndef RAILHEAD_CNI_ENGINE_RESTORE_H
#define RAILHEAD_CNI_ENGINE_RESTORE_H

#include "cni/record/part.h"
#include "lib/net/link.h"
#include "lib/sys/netns.h"

/*
 * attach_restore_fn - put back what a record says was taken; all that is gone already is success.
 * ctx is the program's own.
 */
typedef int (*attach_restore_fn)(const struct ctx *ctx, const struct record *r, struct err *e);

/* Which program's records go to which function; an entry without a name ends the list. */
struct attach_restore_type {
	const char *plugin;
	attach_restore_fn restore;
};

/*
 * attach_restore - undo what a record says was done to the kernel: delete the link, if it is still
 * the one of that record; for a plugin in others (may be NULL) what that does instead. Everything
 * already gone is success.
 */
int attach_restore(const struct ctx *ctx, const struct record *r,
		   const struct attach_restore_type *others, struct err *e) must_check;

/* attach_is_moved - whether others restore an interface of the record: it was moved, not made. */
bool attach_is_moved(const struct record *r, const struct attach_restore_type *others);

/* attach_remove_rest - remove the rules on record from the namespace, if that lives, and the veth
 * to the node. The record is of this boot. Success also if they are gone already. */
int attach_remove_rest(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

/* attach_same_boot - whether a record was written since this machine started. */
int attach_same_boot(const struct ctx *ctx, const struct record *r, bool *out,
		     struct err *e) must_check;

/*
 * attach_note_deleting - have the record say that its DEL has begun: from here on repair may finish
 * it. Without this an interface that is missing from a living pod would look like one that the pod
 * has put elsewhere. A deletion must not fail for it: a failure is a warning in the log. ctx is
 * that of the record's place.
 */
void attach_note_deleting(const struct ctx *ctx, const struct record *r);

/*
 * attach_netns_of - 1: pod is the namespace of the record, open, whatever leads to it now; 0: it is
 * proved gone; -1: cannot tell (netns_locate.h).
 */
int attach_netns_of(const struct ctx *ctx, const struct record *r, struct netns *pod,
		    struct err *e) must_check;

/*
 * attach_find_link - the interface of the record in its namespace: by its number, else by its name.
 * An interface of another kind or on another lower device is not ours, whatever its number or name.
 * The name is also tried if the record has a number: an interface that left the namespace and
 * returned may have another one. It is then ours only if the lower device is known and the same.
 * *out is set unless *found is FOUND_NONE.
 */
enum attach_found {
	FOUND_NONE,
	FOUND_OURS,
	FOUND_RENAMED, /* ours, under another name */
	FOUND_OTHER,   /* not ours, but it has the name */
};
int attach_find_link(struct nl *pod_nl, const struct record *r, struct link_info *out,
		     enum attach_found *found, struct err *e) must_check;

#endif
