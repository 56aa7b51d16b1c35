/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: a list that the agent knows, in a file that survives restarts and boots. Without it a
 * new agent would not miss a card that an old one has seen, and would know no neighbour.
 *
 * The file is <name>.json in ctx->state_dir: {"version": 1, NAME: [...]}.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_MEMORY_H
#define RAILHEAD_RAILHEADD_WATCH_MEMORY_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct memory {
	const struct ctx *ctx; /* borrowed */
	const char *name;      /* of the list: "rails"; borrowed */
	char *saved;           /* the text of the file; owned; NULL: not known */
	bool off;              /* the file could not be read: it is left alone */
};

/*
 * memory_load - the list of the file, given to load(arg); without a file load is not called. If its
 * text is damaged, or of a later version, the next save replaces it. ERR_DECODE, ERR_CONFIG,
 * ERR_FIELD, ERR_IO, ERR_FORBIDDEN, ERR_NOMEM, and the errors of load.
 */
typedef int (*memory_fn)(void *arg, const struct json *list, struct err *e);
int memory_load(struct memory *m, memory_fn load, void *arg, struct err *e) must_check;

/* memory_save - write the file if the list has changed; takes list, NULL: no memory. After ERR_IO,
 * only the next change is written. ERR_NOMEM. */
int memory_save(struct memory *m, struct json *list, struct err *e) must_check;

/* memory_clear - free all that m owns. */
void memory_clear(struct memory *m);

#endif
