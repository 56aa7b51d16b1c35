/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h: which programs the DEL of this host's attachments will run. */
#ifndef RAILHEAD_INSTALL_NEEDED_H
#define RAILHEAD_INSTALL_NEEDED_H

#include "cni/record/record.h"
#include "install/receipt.h"

struct needed {
	size_t attachments; /* with those below */
	size_t cached;      /* of them: only libcni's cache has them */
	bool all;           /* an attachment does not say which: it may need any */
	char all_for[320];  /* the first such one */
	const char
		*cni_dir; /* where the cached ones are; borrowed from the struct ctx; NULL: none */
	bool no_cache;    /* libcni has no cache here: an attachment without a record is not seen */
	size_t n;
	char name[RECEIPT_PROGRAMS][PROGRAM_NAME_LEN];
	char examples[400]; /* the first ones: "rail0 4f5e6d net1, rail0 77aa01 net1" */
};

/*
 * needed_load - from the records of this boot, also of attachments whose pod is gone: their DEL or
 * repair is still to come; and from libcni's cache (cached.h). ours: the programs that are looked
 * for there; NULL: none. ERR_IO if a record or a folder cannot be read now.
 */
int needed_load(const struct ctx *ctx, const struct receipt *ours, struct needed *out,
		struct err *e) must_check;

/* needed_add - add an attachment; r as record_each() gives it. Pure. */
void needed_add(struct needed *x, const struct record *r);

/* needed_add_program - that name is needed, too. needed_add_all - each one may be, for what.
 * needed_add_cached - one more attachment that has no record; what names it. Pure. */
void needed_add_program(struct needed *x, const char *name);
void needed_add_all(struct needed *x, const char *what);
void needed_add_cached(struct needed *x, const char *what);

/* needed_has - may an attachment need the program of that name? */
bool needed_has(const struct needed *x, const char *name);

/* needed_refuse - ERR_BUSY: names the attachments, and how they end. Returns -1. */
int needed_refuse(const struct needed *x, struct err *e);

/*
 * needed_check - does no attachment of the host need one of these programs? ERR_BUSY as
 * needed_refuse(); ERR_IO as needed_load(). For programs that another tool installed and removes.
 */
int needed_check(const struct ctx *ctx, const struct receipt *programs, struct err *e) must_check;

#endif
