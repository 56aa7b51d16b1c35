/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chain_keep.h: the plugin railhead stays in the pod network, whose owner writes its file again. An
 * owner that does so at once, each time, is not fought: the pauses double, up to an hour.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_CHAIN_KEEP_H
#define RAILHEAD_RAILHEADD_WATCH_CHAIN_KEEP_H

#include "install/chain.h"
#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "railheadd/watch/look.h"

struct chain_keep {
	const struct ctx *ctx;     /* borrowed */
	const char *folder;        /* of network configurations, borrowed; NULL: nothing is done */
	char file[CHAIN_FILE_LEN]; /* with the pod network, at the last look; "": not known */
	char said[LOOK_SAID_LEN];  /* why it has no entry; "": it has */
	int64_t changed, pause;    /* ms of ctx_mono_ms(): the last change; the pause after it */
};

/*
 * chain_keep_look - the caller has the lock of railhead-install. there: a runtime finds the
 * program; if not, the entry is taken out. Says news in the log. Returns in how many ms it wants to
 * look again, or -1.
 */
int64_t chain_keep_look(struct chain_keep *k, bool there, int64_t now);

/* chain_keep_status - add "chain" to obj: {"file", "error"}; nothing without a folder. */
int chain_keep_status(const struct chain_keep *k, struct json *obj) must_check;

#endif
