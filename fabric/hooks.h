/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h: the executables in <etc_dir>/sm.d: which there are, and a call of all of them.
 */
#ifndef RAILHEAD_FABRIC_HOOKS_H
#define RAILHEAD_FABRIC_HOOKS_H

#include "fabric/message.h"
#include "lib/base/ctx.h"
#include "lib/sys/fs.h"

#define SM_HOOKS_DIR "sm.d"

/*
 * sm_hooks_list - their names in order. None if the folder is absent. Backups of editors and of
 * package managers are left out. ERR_FORBIDDEN: others than root may write to the folder.
 */
int sm_hooks_list(const struct ctx *ctx, struct fs_names *out, struct err *e) must_check;

struct sm_hooks_run {
	const struct ctx *ctx;
	const struct fs_names *hooks;
	int64_t deadline_ms; /* ctx_mono_ms() */
	size_t started;      /* how many hooks ran, to whatever end; starts as 0 */
};

/*
 * sm_hooks_call - run all hooks with one message. For SM_ADD the first failure ends the call. For
 * SM_REMOVE the others still run, and *e is of the first failure. ERR_DELEGATE; ERR_FORBIDDEN
 * for a hook that others than root may change.
 */
int sm_hooks_call(struct sm_hooks_run *run, enum sm_action action, const struct sm_member *m,
		  struct err *e) must_check;

#endif
