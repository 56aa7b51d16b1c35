/* SPDX-License-Identifier: Apache-2.0 */
/* sm_queue.c: what is queued for removal: shown, tried again, dropped. */
#include <stdlib.h>
#include <string.h>

#include "fabric/call_priv.h"
#include "fabric/sm.h"
#include "lib/base/array.h"
#include "lib/sys/lock.h"

#define RETRY_MS 10000 /* for one entry */

/* ---- show ---- */

struct view {
	const struct sm_call *call;
	sm_each_fn fn;
	void *arg;
};

static int show_entry(const char *name, const struct sm_file *x, void *arg)
{
	const struct view *v = arg;
	struct sm_entry shown = x->x;

	(void)name;
	shown.leaving = sm_call_is_queued(v->call, x);
	return v->fn(&shown, v->arg);
}

int sm_each(const struct ctx *ctx, sm_each_fn fn, void *arg, struct err *e)
{
	auto_sm_call struct sm_call c = { .dir = -1 };
	struct view v = { &c, fn, arg };
	int rc = sm_call_begin(ctx, false, 0, &c, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	return sm_file_each(ctx, c.dir, show_entry, &v, e);
}

/* ---- retry ---- */

struct queued {
	char name[SM_FILE_NAME_LEN];
	int64_t tried;
};

struct queue {
	const struct sm_call *call;
	struct queued *items;
	size_t n;
	struct err *e;
	int rc;
};

static void queue_clear(struct queue *q)
{
	free(q->items);
}

static int note_queued(const char *name, const struct sm_file *x, void *arg)
{
	struct queue *q = arg;

	if (!sm_call_is_queued(q->call, x))
		return 0;
	q->rc = ARRAY_GROW(q->items, q->n, FS_NAMES_MAX, "queued removals", q->e);
	if (q->rc)
		return 1;
	memcpy(q->items[q->n].name, name, SM_FILE_NAME_LEN);
	q->items[q->n++].tried = x->x.tried;
	return 0;
}

static int longest_wait_first(const void *a, const void *b)
{
	const struct queued *x = a, *y = b;
	int order = (x->tried > y->tried) - (x->tried < y->tried);

	return order ? order : strcmp(x->name, y->name);
}

/* True: the hooks were called and failed. */
static bool retry_entry(struct sm_call *c, const char *name, sm_retry_fn fn, void *arg)
{
	auto_sm_file struct sm_file x = { .tree = NULL };
	struct err why;
	auto_fd int lock = lock_name(c->dir, name, true, 0, &why);

	if (lock < 0 || sm_file_read(c->dir, name, &x, &why) != 1 || !sm_call_is_queued(c, &x))
		return false;

	bool failed = sm_call_leave(c, &x, &why) != 0;

	if (fn)
		fn(&x.x, failed ? &why : NULL, arg);
	return failed;
}

int sm_retry(const struct ctx *ctx, struct sm_budget budget, sm_retry_fn fn, void *arg,
	     struct err *e)
{
	auto_sm_call struct sm_call c = { .dir = -1 };
	auto_clean(queue_clear) struct queue q = { .call = &c, .e = e };
	const int64_t end = ctx_mono_ms() + budget.budget_ms;
	int rc = sm_call_begin(ctx, false, 0, &c, e);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (sm_file_each(ctx, c.dir, note_queued, &q, e) || q.rc)
		return -1;
	if (q.n > 1)
		qsort(q.items, q.n, sizeof(*q.items), longest_wait_first);
	for (size_t i = 0; i < q.n && ctx_mono_ms() < end; i++) {
		c.deadline_ms = ctx_mono_ms() + RETRY_MS;
		if (c.deadline_ms > end)
			c.deadline_ms = end;
		if (retry_entry(&c, q.items[i].name, fn, arg) && budget.stop_at_failure)
			break;
	}
	return 0;
}

void sm_drain(const struct ctx *ctx)
{
	struct err why;

	if (sm_retry(ctx, (struct sm_budget){ SM_DRAIN_MS, true }, NULL, NULL, &why))
		log_warn(&ctx->log, "queued removals from partitions: %s", why.msg);
}

/* ---- forget ---- */

static int forget_entry(struct sm_call *c, const char *name, struct err *e)
{
	auto_sm_file struct sm_file x = { .tree = NULL };
	auto_fd int lock = lock_name(c->dir, name, true, 0, e);

	if (lock < 0)
		return -1;
	int rc = sm_file_read(c->dir, name, &x, e);
	if (rc == 0)
		return err_set(e, ERR_NOTFOUND, 0, "nothing is queued");
	if (rc > 0 && !sm_call_is_queued(c, &x)) {
		err_set(e, ERR_BUSY, 0, "it belongs to container %s, interface %s",
			x.x.member.who.container, x.x.member.who.ifname);
		return err_hint(e, "its DEL removes it");
	}
	return rc < 0 && e->code == ERR_IO ? -1 : fs_unlink_at(c->dir, name, e);
}

int sm_forget(const struct ctx *ctx, uint16_t pkey, struct guid guid, struct err *e)
{
	auto_sm_call struct sm_call c = { .dir = -1 };
	char name[SM_FILE_NAME_LEN], text[GUID_STR_LEN], key[PKEY_STR_LEN];
	int rc = sm_call_begin(ctx, false, 0, &c, e);

	if (rc > 0)
		err_set(e, ERR_NOTFOUND, 0, "nothing is queued");
	if (rc == 0 && forget_entry(&c, sm_file_name(pkey, guid, name), e) == 0)
		return 0;
	return err_wrap(e, "partition %s of GUID %s", pkey_format(pkey, key),
			guid_format(guid, text));
}
