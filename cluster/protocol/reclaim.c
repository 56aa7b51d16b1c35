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

void taker_begin(struct taker *t, const struct cluster_version *evidence, int64_t hold)
{
	*t = (struct taker){ .hold = hold, .evidence = *evidence };
}

enum taker_step taker_next(const struct taker *t)
{
	if (t->silent && !t->read)
		return TAKER_BLOCKS;
	return t->silent_since ? TAKER_TAKES : TAKER_BEAT;
}

/* A machine whose heartbeat is not that of the evidence has been on since. */
void taker_saw_beat(struct taker *t, const struct cluster_version *at, int64_t sent, int64_t now)
{
	int64_t silent = beat_seen(&t->beat, at, sent, now);

	t->silent = silent >= t->hold && strcmp(t->evidence.uid, at->uid) == 0 &&
		    strcmp(t->evidence.version, at->version) == 0;
	t->silent_since = t->silent && t->read;
	t->read = t->silent_since;
}

void taker_saw_blocks(struct taker *t)
{
	t->read = true;
	t->silent_since = false;
}

void taker_took(struct taker *t)
{
	t->read = t->silent_since = false;
}

static bool borrows(const struct loan *l, const char *node)
{
	return !l->returned && strcmp(l->to.node, node) == 0;
}

/* As the target of a migration. */
static bool shares(const struct block *b, const char *node)
{
	return b->migrates && strcmp(b->asker.node, node) == 0;
}

bool reclaim_concerns(const struct block *b, const char *node)
{
	bool concerns = strcmp(b->owner.node, node) == 0 || shares(b, node);

	for (unsigned i = 0; i < b->n_loans; i++)
		concerns |= borrows(&b->loans[i], node);
	return concerns;
}

static void return_loans(struct block *b, const char *node)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		if (borrows(&b->loans[i], node))
			b->loans[i].taken = b->loans[i].returned = true;
	}
	b->touched += b->n_loans > 0;
}

struct block reclaimed(const struct block *b, const char *node)
{
	const bool owns = strcmp(b->owner.node, node) == 0;
	struct block left = *b;

	return_loans(&left, node);
	left.probe = true;
	/* Where it only borrows, the ask is for the owner. */
	if (!owns && !shares(b, node))
		return left;
	left.asker = (struct block_party){ 0 };
	left.contested = left.kept = left.migrates = false;
	left.asks_one = 0;
	if (!owns)
		return left;
	/* Where a machine migrates to, it has the address already. */
	left.owner = b->migrates ? b->asker : (struct block_party){ 0 };
	left.used = 0;
	/* Its claim may never have been granted. */
	*left.parked_by = '\0';
	return left;
}
