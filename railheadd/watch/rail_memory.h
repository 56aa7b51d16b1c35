/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_memory.h: the rails that the agent knows, in a file that survives restarts and boots:
 * without it a new agent would not miss a card that an old one has seen.
 *
 * The file is rails.json in ctx->state_dir: {"version": 1, "rails": rail_table_known()}.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_RAIL_MEMORY_H
#define RAILHEAD_RAILHEADD_WATCH_RAIL_MEMORY_H

#include "lib/base/ctx.h"
#include "railheadd/watch/rail_table.h"

#define RAIL_MEMORY_FILE "rails.json"

struct rail_memory {
	const struct ctx *ctx; /* borrowed */
	char *saved;           /* the text of the file; owned; NULL: not known */
	bool off;              /* the file could not be read: it is left alone */
};

/*
 * rail_memory_load - add the rails of the file to an empty table; none if there is no file. If its
 * text is damaged, or of a later version, the next save replaces it. ERR_DECODE, ERR_CONFIG,
 * ERR_FIELD, ERR_IO, ERR_FORBIDDEN, ERR_NOMEM; t is then empty.
 */
int rail_memory_load(struct rail_memory *m, struct rail_table *t, struct err *e) must_check;

/* rail_memory_save - write the file if the table has changed. After ERR_IO, only the next change is
 * written. ERR_NOMEM. */
int rail_memory_save(struct rail_memory *m, const struct rail_table *t, struct err *e) must_check;

/* rail_memory_clear - free all that m owns. */
void rail_memory_clear(struct rail_memory *m);

#endif
