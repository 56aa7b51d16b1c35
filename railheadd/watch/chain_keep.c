/* SPDX-License-Identifier: Apache-2.0 */
/* chain_keep.c: put the entry back, and how often. */
#include "railheadd/watch/chain_keep.h"

#include <stdio.h>
#include <string.h>

#define PAUSE_MIN 1000
#define PAUSE_MAX (3600 * 1000)

static void note_change(struct chain_keep *k, bool there, int64_t now)
{
	bool at_once = k->pause && now - k->changed < 2 * k->pause;

	k->pause = !at_once ? PAUSE_MIN : k->pause > PAUSE_MAX / 2 ? PAUSE_MAX : 2 * k->pause;
	k->changed = now;
	if (there)
		log_info(&k->ctx->log, "chained " CHAIN_PROGRAM " in the pod network: %s/%s",
			 k->folder, k->file);
	else
		log_warn(&k->ctx->log,
			 "unchained " CHAIN_PROGRAM " from the pod network in %s: the program is "
			 "missing",
			 k->folder);
}

int64_t chain_keep_look(struct chain_keep *k, bool there, int64_t now)
{
	struct err e = { .msg = "" };
	auto_fd int dir = -1;

	if (there && now < k->changed + k->pause)
		return k->changed + k->pause - now;
	dir = chain_open(k->folder, &e);

	int rc = dir < 0 ? -1 : there ? chain_put(dir, k->file, &e) : chain_take(dir, &e);

	if (rc > 0)
		note_change(k, there, now);
	if (rc >= 0)
		e.msg[0] = '\0';
	look_note_error(&k->ctx->log, "the pod network is not as it should be", &e, k->said);
	return -1;
}

int chain_keep_status(const struct chain_keep *k, struct json *obj)
{
	struct json *o = k->folder ? json_add_object(obj, "chain") : obj;

	if (!k->folder)
		return 0;
	return o && json_add_known(o, "file", k->file) == 0 &&
			       json_add_known(o, "error", k->said) == 0
		       ? 0
		       : -1;
}
