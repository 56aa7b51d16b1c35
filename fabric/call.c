/* SPDX-License-Identifier: Apache-2.0 */
/* call.c: begin of a call, its hooks, and the removal of one membership. */
#include <errno.h>
#include <string.h>

#include "fabric/call_priv.h"

int sm_call_begin(const struct ctx *ctx, bool create, int timeout_ms, struct sm_call *c,
		  struct err *e)
{
	*c = (struct sm_call){ .ctx = ctx, .dir = -1, .deadline_ms = ctx_mono_ms() + timeout_ms };
	struct err why;

	c->dir = sm_file_open_dir(ctx, create, &why);
	if (c->dir < 0 && !create && why.errnum == ENOENT)
		return 1;
	if (c->dir < 0)
		return err_pass(e, &why);
	c->hooks_rc = sm_hooks_list(ctx, &c->hooks, &c->hooks_err);
	return ctx_boot_id(ctx, c->boot, e);
}

void sm_call_end(struct sm_call *c)
{
	base_close_fd(&c->dir);
	fs_names_clear(&c->hooks);
}

int sm_call_left(const struct sm_call *c)
{
	const int64_t left = c->deadline_ms - ctx_mono_ms();

	return left > 0 ? (int)left : 0;
}

int sm_call_hooks(struct sm_call *c, enum sm_action action, const struct sm_member *m,
		  struct err *e)
{
	if (c->hooks_rc)
		return err_pass(e, &c->hooks_err);
	if (!c->hooks.n) {
		err_set(e, ERR_NOTFOUND, 0, "there is no hook in %s/" SM_HOOKS_DIR,
			c->ctx->etc_dir);
		return err_hint(e, "put the hook back, or drop the entry: railctl rdma partitions "
				   "forget");
	}

	struct sm_hooks_run run = { .ctx = c->ctx,
				    .hooks = &c->hooks,
				    .deadline_ms = c->deadline_ms };
	int rc = sm_hooks_call(&run, action, m, e);

	c->started = run.started;
	return rc;
}

bool sm_call_is_queued(const struct sm_call *c, const struct sm_file *x)
{
	return x->x.leaving || strcmp(x->boot, c->boot) != 0;
}

void sm_call_set_leaving(const struct sm_call *c, struct sm_file *x)
{
	x->x.leaving = true;
	x->x.since = c->ctx->now(c->ctx->clock);
	x->x.tries = 0;
	x->x.error = "";
	x->boot[0] = '\0';
}

/* A file that stays although the membership is gone costs one more removal, which changes nothing.
 */
void sm_call_drop(const struct sm_call *c, const struct sm_file *x)
{
	char name[SM_FILE_NAME_LEN];
	struct err why;

	if (fs_unlink_at(c->dir, sm_file_name(x->x.member.pkey, x->x.member.guid, name), &why))
		log_warn(&c->ctx->log, "%s/" SM_FOLDER "/%s: %s", c->ctx->state_dir, name, why.msg);
}

int sm_call_leave(struct sm_call *c, struct sm_file *x, struct err *e)
{
	struct err unwritten, late;
	bool queued = x->x.leaving;

	if (!queued) {
		sm_call_set_leaving(c, x);
		queued = sm_file_write(c->dir, x, true, &unwritten) == 0;
	}
	if (sm_call_hooks(c, SM_REMOVE, &x->x.member, e) == 0) {
		sm_call_drop(c, x);
		return 0;
	}
	if (!queued) {
		(void)err_hint(e, "and the removal could not be queued: %s", unwritten.msg);
		return -1;
	}
	if (e->code == ERR_NOTFOUND)
		return 1; /* nothing was tried */
	x->x.tries++;
	x->x.tried = c->ctx->now(c->ctx->clock);
	x->x.error = e->msg;
	if (sm_file_write(c->dir, x, false, &late))
		log_warn(&c->ctx->log, "%s", late.msg);
	x->x.error = "";
	return 1;
}
