/* SPDX-License-Identifier: Apache-2.0 */
/* call_priv.h: a call about memberships: its folder, its hooks, its deadline. */
#ifndef RAILHEAD_FABRIC_CALL_PRIV_H
#define RAILHEAD_FABRIC_CALL_PRIV_H

#include "fabric/sm_file.h"
#include "fabric/hooks.h"

#define SM_DRAIN_MS 2000 /* what a plugin spends on the queue, after its own work succeeded */

struct sm_call {
	const struct ctx *ctx;
	int dir; /* the folder of the entries */
	struct fs_names hooks;
	int hooks_rc; /* not 0: they could not be listed, hooks_err says why */
	struct err hooks_err;
	int64_t deadline_ms; /* ctx_mono_ms() */
	size_t started;      /* hooks that ran in the last sm_call_hooks() */
	char boot[CTX_BOOT_ID_LEN + 1];
};

/*
 * sm_call_begin - the folder, the hooks, the boot. A failure to list the hooks is kept in the call.
 * Returns 0; 1: there is no folder, and create is false; -1.
 */
int sm_call_begin(const struct ctx *ctx, bool create, int timeout_ms, struct sm_call *c,
		  struct err *e) must_check;
void sm_call_end(struct sm_call *c);
#define auto_sm_call auto_clean(sm_call_end)

/* sm_call_left - ms until the deadline, at least 0. */
int sm_call_left(const struct sm_call *c);

/* sm_call_hooks - run them. ERR_NOTFOUND: there is none; else as sm_hooks_list, sm_hooks_call. */
int sm_call_hooks(struct sm_call *c, enum sm_action action, const struct sm_member *m,
		  struct err *e) must_check;

/* sm_call_is_queued - leaving, or of an earlier boot. */
bool sm_call_is_queued(const struct sm_call *c, const struct sm_file *x);

/* sm_call_drop - remove the file. A failure is logged. */
void sm_call_drop(const struct sm_call *c, const struct sm_file *x);

/* sm_call_set_leaving - x is to be removed, from now on. */
void sm_call_set_leaving(const struct sm_call *c, struct sm_file *x);

/*
 * sm_call_leave - under the lock of its name: have the hooks remove the membership, and drop the
 * entry. Returns 0; 1: the hooks failed, *e says why and the entry is queued; -1: it could not be
 * queued.
 */
int sm_call_leave(struct sm_call *c, struct sm_file *x, struct err *e) must_check;

/* sm_drain - a plugin's share of the queue. Failures are in the queue, not here. */
void sm_drain(const struct ctx *ctx);

#endif
