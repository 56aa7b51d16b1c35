/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sm.h: memberships of partitions, which the subnet manager of an InfiniBand fabric gives.
 *
 * railhead calls the executables in <etc_dir>/sm.d, and they tell the subnet manager:
 * railhead-sm.d(5). Each membership that this node asked for is a file in <state_dir>/sm, one for
 * each partition and GUID:
 *
 *	nothing -> leaving -> (hooks: add) -> member -> leaving -> (hooks: remove) -> nothing
 *
 * "leaving" is written, and is on disk, before a hook is called. So after a crash anywhere the file
 * says what may be in the fabric and no pod needs: a later call removes it. The lock of a file is
 * held while hooks run, so a late removal cannot overtake the ADD of a new pod. A membership of an
 * earlier boot counts as leaving, because no pod survives a boot.
 */
#ifndef RAILHEAD_FABRIC_SM_H
#define RAILHEAD_FABRIC_SM_H

#include "fabric/membership.h"
#include "lib/base/ctx.h"

/* timeout_ms of a plugin whose configuration has no other value. */
#define SM_ADD_MS    20000
#define SM_REMOVE_MS 5000

/*
 * sm_add - ask for a membership, for ADD. It may take timeout_ms, and after a failure the undo 5 s
 * more. Without a hook it does nothing and succeeds. If the GUID has the membership already, the
 * new attachment becomes its owner. ERR_DELEGATE: a hook failed or did not finish; the message
 * has the hook's own words. After a failure nothing is left, or its removal is queued.
 */
int sm_add(const struct ctx *ctx, const struct sm_member *m, int timeout_ms,
	   struct err *e) must_check;

/*
 * sm_remove - give up what sm_add() got for this attachment, for DEL and for the undo of ADD. It
 * needs no configuration and no record. A membership of another attachment stays. Returns 0:
 * nothing is left; 1: a hook failed, *e says why, and the removal is queued; -1: it could not
 * be queued, so DEL must fail.
 */
int sm_remove(const struct ctx *ctx, const struct sm_who *who, int timeout_ms,
	      struct err *e) must_check;

/* ---- what this node asked for ---- */

/* sm_each - call fn for each, sorted by partition and GUID; non-zero from fn stops the scan. */
typedef int (*sm_each_fn)(const struct sm_entry *x, void *arg);
int sm_each(const struct ctx *ctx, sm_each_fn fn, void *arg, struct err *e) must_check;

/*
 * sm_retry - call the hooks for what is queued, the one that waits longest first. All takes at most
 * budget_ms, and one entry 10 s. fn, if not NULL, gets each result: why is NULL for a removal that
 * succeeded. An entry on which another process works is skipped.
 */
struct sm_budget {
	int budget_ms;
	bool stop_at_failure; /* the subnet manager is probably away */
};
typedef void (*sm_retry_fn)(const struct sm_entry *x, const struct err *why, void *arg);
int sm_retry(const struct ctx *ctx, struct sm_budget budget, sm_retry_fn fn, void *arg,
	     struct err *e) must_check;

/*
 * sm_forget - drop a queued removal without calling a hook. ERR_NOTFOUND: it is not queued.
 * ERR_BUSY: it belongs to a pod of this boot.
 */
int sm_forget(const struct ctx *ctx, uint16_t pkey, struct guid guid, struct err *e) must_check;

#endif
