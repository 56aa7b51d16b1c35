/* SPDX-License-Identifier: Apache-2.0 */
/* sm.c: ADD and DEL of a membership: record, call the hooks, record. */
#include "fabric/sm.h"

#include <errno.h>
#include <string.h>

#include "fabric/call_priv.h"
#include "lib/sys/lock.h"

#define UNDO_MS 5000 /* for the removal after a failed ADD */

/* ---- ADD ---- */

static int lock_entry(const struct sm_call *c, const char *name, int timeout_ms, struct err *e)
{
	return lock_name(c->dir, name, true, timeout_ms, e);
}

/* Whatever is wrong with the old file, the new one replaces it. */
static void read_old(const struct sm_call *c, const char *name, struct sm_file *old)
{
	struct err why;

	if (sm_file_read(c->dir, name, old, &why) < 0)
		log_warn(&c->ctx->log, "%s/" SM_FOLDER "/%s; it is replaced", c->ctx->state_dir,
			 why.msg);
}

/* The membership stays as it was: a living pod has it, or no pod does. */
static int undo_add(struct sm_call *c, struct sm_file *x, struct err *e)
{
	struct err why;

	if (!c->started) {
		sm_call_drop(c, x);
		return -1;
	}
	c->deadline_ms = ctx_mono_ms() + UNDO_MS;

	int rc = sm_call_leave(c, x, &why);

	if (rc == 1)
		(void)err_hint(e, "its removal is queued, because that failed, too: %s", why.msg);
	return -1;
}

static int become_member(struct sm_call *c, const struct sm_member *m, bool shared, struct err *e)
{
	struct sm_file x = { .x = { .member = *m, .error = "" } };

	sm_call_set_leaving(c, &x);
	if (!shared && sm_file_write(c->dir, &x, true, e))
		return -1;
	if (sm_call_hooks(c, SM_ADD, m, e))
		return shared ? -1 : undo_add(c, &x, e);

	struct sm_file member = x;

	member.x.leaving = false;
	memcpy(member.boot, c->boot, sizeof(member.boot));
	/* A loss of power ends the pod as well, so the older text is right after it. */
	if (sm_file_write(c->dir, &member, false, e))
		return shared ? -1 : undo_add(c, &x, e);
	return 0;
}

static int add_member(struct sm_call *c, const struct sm_member *m, struct err *e)
{
	auto_sm_file struct sm_file old = { .tree = NULL };
	char name[SM_FILE_NAME_LEN];
	auto_fd int lock = lock_entry(c, sm_file_name(m->pkey, m->guid, name), sm_call_left(c), e);

	if (lock < 0)
		return -1;
	if (c->hooks_rc)
		return err_pass(e, &c->hooks_err);
	/* A hook that comes later must not take this away from the pod. */
	if (!c->hooks.n)
		return fs_unlink_at(c->dir, name, e);
	read_old(c, name, &old);

	bool shared = old.tree && !sm_call_is_queued(c, &old) && !sm_file_is_of(&old, &m->who);

	return become_member(c, m, shared, e);
}

int sm_add(const struct ctx *ctx, const struct sm_member *m, int timeout_ms, struct err *e)
{
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN];
	auto_fs_names struct fs_names hooks = { .n = 0 };
	struct err why;
	int rc;

	/* The common case: no hook, and there never was one. */
	if (sm_hooks_list(ctx, &hooks, &why) == 0 && !hooks.n) {
		auto_fd int dir = sm_file_open_dir(ctx, false, &why);

		if (dir < 0 && why.errnum == ENOENT)
			return 0;
	}
	auto_sm_call struct sm_call c = { .dir = -1 };

	rc = sm_call_begin(ctx, true, timeout_ms, &c, e) || add_member(&c, m, e);
	if (rc)
		return err_wrap(e, "give the GUID %s the partition %s", guid_format(m->guid, guid),
				pkey_format(m->pkey, pkey));
	sm_drain(ctx);
	return 0;
}

/* ---- DEL ---- */

struct removal {
	struct sm_call *call;
	const struct sm_who *who;
	struct err *e;
	int rc;
	size_t done;
};

/* Under the lock, as it is by now. */
static int remove_entry(struct removal *r, const char *name, bool leaving, struct err *e)
{
	auto_sm_file struct sm_file x = { .tree = NULL };
	/* A process that holds the lock of a queued entry is removing it. */
	auto_fd int lock = lock_entry(r->call, name, leaving ? 0 : sm_call_left(r->call), e);
	int rc;

	if (lock < 0)
		return leaving && e->code == ERR_AGAIN ? 1 : -1;
	rc = sm_file_read(r->call->dir, name, &x, e);
	if (rc <= 0)
		return rc;
	if (!sm_file_is_of(&x, r->who))
		return 0;
	rc = sm_call_leave(r->call, &x, e);
	r->done += rc == 0;
	return rc;
}

static int remove_if_owned(const char *name, const struct sm_file *x, void *arg)
{
	struct removal *r = arg;
	char pkey[PKEY_STR_LEN], guid[GUID_STR_LEN];
	struct err why;

	if (!sm_file_is_of(x, r->who))
		return 0;
	int rc = remove_entry(r, name, x->x.leaving, &why);
	if (!rc)
		return 0;
	(void)err_wrap(&why, "take the partition %s from the GUID %s",
		       pkey_format(x->x.member.pkey, pkey), guid_format(x->x.member.guid, guid));
	if (r->rc == 0 || rc < 0) {
		*r->e = why;
		r->rc = rc;
	}
	return 0;
}

int sm_remove(const struct ctx *ctx, const struct sm_who *who, int timeout_ms, struct err *e)
{
	auto_sm_call struct sm_call c = { .dir = -1 };
	struct removal r = { .call = &c, .who = who, .e = e };
	int rc = sm_call_begin(ctx, false, timeout_ms, &c, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (sm_file_each(ctx, c.dir, remove_if_owned, &r, e))
		return -1;
	if (r.done)
		sm_drain(ctx);
	return r.rc;
}
