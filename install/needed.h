/* SPDX-License-Identifier: Apache-2.0 */
/* needed.h: which programs the DEL of this host's attachments will run. */
#ifndef RAILHEAD_INSTALL_NEEDED_H
#define RAILHEAD_INSTALL_NEEDED_H

#include "cni/record/record.h"
#include "install/receipt.h"

struct needed {
	size_t attachments;
	bool all; /* an attachment does not say which: it may need any */
	size_t n;
	char name[RECEIPT_PROGRAMS][PROGRAM_NAME_LEN];
	char examples[400]; /* the first ones: "rail0 4f5e6d net1, rail0 77aa01 net1" */
};

/*
 * needed_load - from the records of this boot, also of attachments whose pod is gone: their DEL or
 * repair is still to come. ERR_IO if a record cannot be read now.
 */
int needed_load(const struct ctx *ctx, struct needed *out, struct err *e) must_check;

/* needed_add - add an attachment; r as record_each() gives it. Pure. */
void needed_add(struct needed *x, const struct record *r);

/* needed_has - may an attachment need the program of that name? */
bool needed_has(const struct needed *x, const char *name);

/* needed_refuse - ERR_BUSY: names the attachments, and how they end. Returns -1. */
int needed_refuse(const struct needed *x, struct err *e);

#endif
