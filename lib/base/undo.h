/* SPDX-License-Identifier: Apache-2.0 */
/*
 * undo.h: inverses of what was done, run backwards unless committed.
 *
 * A function that makes several changes pushes the inverse of each one after it. A change needs no
 * inverse if it ends with another one, as an address ends with its interface. The changes of a
 * transaction need none either. A variable declared auto_undo runs the inverses that are left when
 * its scope ends. Errors of inverses are logged; the caller still gets the first error.
 *
 * An inverse may have to begin where its change began, such as in a network namespace. A failed
 * step may have left the thread elsewhere, so the hook `before` runs before each inverse. If it
 * fails, neither that inverse nor one that was pushed earlier runs: it would do harm.
 */
#ifndef RAILHEAD_LIB_BASE_UNDO_H
#define RAILHEAD_LIB_BASE_UNDO_H

#include "lib/base/err.h"
#include "lib/base/log.h"

#define UNDO_MAX 112 /* three for each of 32 interfaces, and a few */

typedef int (*undo_fn)(void *arg, struct err *e);

struct undo {
	const struct log *log; /* borrowed */
	undo_fn before;        /* NULL: nothing */
	void *before_arg;      /* borrowed */
	size_t n;
	struct {
		undo_fn fn;
		void *arg;        /* borrowed: must live longer than the scope */
		const char *what; /* borrowed, for the log: "delete link net1" */
	} op[UNDO_MAX];
};

/* undo_push - remember an inverse. More than UNDO_MAX is a programming error and aborts. */
void undo_push(struct undo *u, undo_fn fn, void *arg, const char *what);

/* undo_run - run all inverses, last first, and empty the stack. */
void undo_run(struct undo *u);

/* undo_commit - forget all inverses: the work stays. */
void undo_commit(struct undo *u);

#define auto_undo auto_clean(undo_run)

#endif
