/* SPDX-License-Identifier: Apache-2.0 */
/* needed_load.c: reads the records of attachments, and libcni's cache for those that have none. */
#include <stdlib.h>
#include <string.h>

#include "install/cached.h"
#include "install/needed.h"
#include "lib/base/array.h"
#include "plugins/stale.h"

#define RECORDS_MAX (1u << 20)

struct load {
	struct needed *to;
	char boot[CTX_BOOT_ID_LEN + 1];
	struct recorded recorded;
	bool failed; /* no memory */
};

static void load_clear(struct load *l)
{
	free(l->recorded.key);
}

static int load_one(const struct ctx *place, const struct record *r, void *arg)
{
	struct load *l = arg;
	struct err e;

	(void)place;
	/* After a reboot nothing is left that a DEL would undo. */
	if (r->tree && !r->name_mismatch && strcmp(r->boot, l->boot) != 0)
		return 0;
	needed_add(l->to, r);
	if (ARRAY_GROW(l->recorded.key, l->recorded.n, RECORDS_MAX, "records", &e)) {
		l->failed = true;
		return -1;
	}
	l->recorded.key[l->recorded.n++] = recorded_key(&r->key);
	return 0;
}

int needed_load(const struct ctx *ctx, const struct receipt *ours, struct needed *out,
		struct err *e)
{
	struct needed x = { .n = 0 };
	auto_clean(load_clear) struct load l = { .to = &x };

	if (ctx_boot_id(ctx, l.boot, e) || stale_each(ctx, NULL, load_one, &l, e) ||
	    (l.failed && err_nomem(e)) || (ours && cached_load(ctx, ours, &l.recorded, &x, e)))
		return err_wrap(e, "read which attachments need the plugins");
	*out = x;
	return 0;
}

int needed_check(const struct ctx *ctx, const struct receipt *programs, struct err *e)
{
	struct needed x;

	if (needed_load(ctx, programs, &x, e))
		return -1;
	for (size_t i = 0; i < programs->n; i++) {
		if (needed_has(&x, programs->program[i].name))
			return needed_refuse(&x, e);
	}
	return 0;
}
