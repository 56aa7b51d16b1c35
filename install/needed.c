/* SPDX-License-Identifier: Apache-2.0 */
/* needed.c: reads the records of attachments, and notes the plugins of their configurations. */
#include "install/needed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "install/cached.h"
#include "lib/base/array.h"
#include "repair/stale/stale.h"

#define EXAMPLES    3
#define RECORDS_MAX (1u << 20)

bool needed_has(const struct needed *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++) {
		if (strcmp(x->name[i], name) == 0)
			return true;
	}
	return x->all;
}

void needed_add_program(struct needed *x, const char *name)
{
	if (needed_has(x, name))
		return;
	/* No program of an install has such a name. */
	if (!program_name_valid(name))
		return;
	if (x->n == ARRAY_SIZE(x->name)) {
		x->all = true;
		return;
	}
	memcpy(x->name[x->n++], name, strlen(name) + 1);
}

static void add_example(struct needed *x, const char *what)
{
	size_t len = strlen(x->examples);

	if (x->attachments <= EXAMPLES)
		(void)snprintf(x->examples + len, sizeof(x->examples) - len, "%s%s",
			       len ? ", " : "", what);
}

void needed_add_cached(struct needed *x, const char *what)
{
	x->attachments++;
	x->cached++;
	add_example(x, what);
}

void needed_add(struct needed *x, const struct record *r)
{
	const char *type = r->tree ? json_text(r->config, "type") : "";
	char what[100];

	x->attachments++;
	(void)snprintf(what, sizeof(what), "%.64s %.12s %.15s", r->key.network, r->key.container,
		       r->key.ifname);
	add_example(x, what);
	if (!*type || r->name_mismatch) {
		x->all = true;
		return;
	}
	needed_add_program(x, type);
	needed_add_program(x, json_text(json_get(r->config, "ipam"), "type"));
}

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

int needed_refuse(const struct needed *x, struct err *e)
{
	bool one = x->attachments == 1;

	err_set(e, ERR_BUSY, 0,
		"%zu attachment%s of this node still need%s the plugins for %s DEL: "
		"%s%s",
		x->attachments, one ? "" : "s", one ? "s" : "", one ? "its" : "their", x->examples,
		x->attachments > EXAMPLES ? ", ..." : "");
	if (x->cached)
		err_hint(e,
			 "known only by files of libcni in /var/lib/cni: %zu. DEL removes such a "
			 "file; if pod and sandbox are gone, remove it by hand",
			 x->cached);
	return err_hint(e, "delete their pods, and undo those without a pod with \"railctl "
			   "attachments repair\"; then try again");
}
