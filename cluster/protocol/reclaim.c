/* SPDX-License-Identifier: Apache-2.0 */
/* reclaim.c: how long the heartbeat of a node has been silent, and what becomes of its blocks. */
#include "cluster/protocol/reclaim.h"

#include <string.h>

int64_t beat_seen(struct beat_watch *w, const struct cluster_version *at, int64_t sent, int64_t now)
{
	bool same = w->begun && strcmp(w->at.uid, at->uid) == 0 &&
		    strcmp(w->at.version, at->version) == 0;

	if (!same)
		*w = (struct beat_watch){ .begun = true, .at = *at, .since = now };
	return same ? sent - w->since : 0;
}

struct block reclaimed(const struct block *b)
{
	struct block free_block = *b;

	free_block.owner = (struct block_party){ 0 };
	free_block.asker = (struct block_party){ 0 };
	free_block.contested = free_block.kept = false;
	free_block.used = 0;
	free_block.probe = true;
	return free_block;
}
