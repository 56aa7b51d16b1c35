/* SPDX-License-Identifier: Apache-2.0 */
/* undo.c: keeps inverses of changes, and runs them in reverse order unless committed. */
#include "lib/base/undo.h"

void undo_push(struct undo *u, undo_fn fn, void *arg, const char *what)
{
	if (u->n >= UNDO_MAX)
		abort();
	u->op[u->n].fn = fn;
	u->op[u->n].arg = arg;
	u->op[u->n].what = what;
	u->n++;
}

static bool undo_may_run(struct undo *u, size_t i)
{
	struct err e = { 0 };

	if (!u->before || u->before(u->before_arg, &e) == 0)
		return true;
	if (u->log)
		log_warn(u->log, "turning back: %s, and %zu before it, stay: %s", u->op[i].what, i,
			 e.msg);
	return false;
}

void undo_run(struct undo *u)
{
	/* taken off before it runs: what an inverse pushes or runs itself is never run twice */
	while (u->n > 0) {
		size_t i = --u->n;
		struct err e = { 0 };

		if (!undo_may_run(u, i))
			u->n = 0;
		else if (u->op[i].fn(u->op[i].arg, &e) && u->log)
			log_warn(u->log, "turning back: %s: %s%s%s", u->op[i].what, e.msg,
				 e.detail[0] ? "; " : "", e.detail);
	}
}

void undo_commit(struct undo *u)
{
	u->n = 0;
}
