/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_node.c: one node that is said to be off: its heartbeat until it is silent for nodeHold, its
 * blocks, the heartbeat again, and then one conditional update for each block. In the same way it
 * leaves blocks that it shares as the target of a live migration.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/base/array.h"
#include "railheadd/pools/reclaim_priv.h"

#define BLOCKS_MAX (1u << 20)
/* So many lists of the blocks of a node from which all was taken, and one of all blocks. */
#define OWN_LISTS 8

struct dead_node *dead_node_new(const struct reclaim_conf *conf, const char *name,
				const struct cluster_version *evidence)
{
	struct dead_node *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->conf = conf;
	(void)snprintf(d->name, sizeof(d->name), "%s", name);
	taker_begin(&d->taker, evidence, conf->hold);
	log_info(&conf->ctx->log,
		 "node %s is said to be off: its blocks are taken if its heartbeat stays silent "
		 "for %" PRId64 " s",
		 name, conf->hold / 1000000000);
	return d;
}

static void dead_node_stop(struct dead_node *d)
{
	cluster_cancel(d->conf->store, &d->call);
	d->n_blocks = 0;
}

void dead_node_set(struct dead_node *d, const struct cluster_version *evidence)
{
	if (strcmp(d->taker.evidence.uid, evidence->uid) == 0 &&
	    strcmp(d->taker.evidence.version, evidence->version) == 0)
		return;
	dead_node_stop(d);
	d->reported = d->every = false;
	d->n_taken = 0;
	taker_begin(&d->taker, evidence, d->conf->hold);
}

void dead_node_free(struct dead_node *d)
{
	dead_node_stop(d);
	free(d->blocks);
	free(d);
}

/* A store that was away may have been restored: what was seen before says nothing now. */
static void begin_again(struct dead_node *d, const struct err *why)
{
	const struct cluster_version evidence = d->taker.evidence;

	log_warn(&d->conf->ctx->log, "node %s: %s; its heartbeat is watched again from now on",
		 d->name, why->msg);
	d->n_blocks = 0;
	d->reported = d->every = false;
	taker_begin(&d->taker, &evidence, d->conf->hold);
}

/* ---- the blocks are taken ---- */

static void dead_node_take_next(struct dead_node *d);

static void say_taken(const struct dead_node *d, const struct dead_block *b)
{
	const struct block *is = &b->block;

	if (strcmp(is->owner.node, d->name) == 0)
		log_info(&d->conf->ctx->log, "block %s of node %s is %s%s now", b->name, d->name,
			 is->migrates ? "that of node " : "free",
			 is->migrates ? is->asker.node : "");
	else if (is->migrates && strcmp(is->asker.node, d->name) == 0)
		log_info(&d->conf->ctx->log, "node %s shares block %s of node %s no more", d->name,
			 b->name, is->owner.node);
	else
		log_info(&d->conf->ctx->log, "loans of block %s to node %s are returned now",
			 b->name, d->name);
}

static void dead_node_was_written(void *arg, const struct cluster_result *r)
{
	struct dead_node *d = arg;
	const struct dead_block *b = &d->blocks[--d->n_blocks];

	d->call = NULL;
	if (r->outcome == CLUSTER_OK) {
		d->n_taken++;
		d->progress = true;
		/* A block that comes late, or with a restored store, may have loans beside it. */
		d->reported = d->every = false;
		say_taken(d, b);
	} else if (r->outcome != CLUSTER_CONFLICT && r->outcome != CLUSTER_NOT_FOUND) {
		begin_again(d, &r->err);
		return;
	}
	dead_node_take_next(d);
}

/* One conditional update of a block of the node. NULL: no memory. */
static struct cluster_call *dead_block_take(struct dead_node *d, const struct dead_block *b)
{
	struct cluster_store *s = d->conf->store;
	struct cluster_object o = { .kind = CLUSTER_BLOCK, .at = b->at };
	struct block left = reclaimed(&b->block, d->name);

	/* It waits for its pod from now on. */
	if (!*left.owner.node)
		left.parked = d->conf->ctx->now(d->conf->ctx->clock) / INT64_C(1000000000);
	auto_json struct json *value = block_to_json(&left), *was = block_to_json(&b->block);
	o.value = value;
	o.was = was;
	memcpy(o.name, b->name, sizeof(o.name));
	(void)snprintf(o.node, sizeof(o.node), "%s", left.owner.node);
	return value && was ? s->ops->update(s, &o, dead_node_was_written, d) : NULL;
}

/* After the last one the list shows what is left. */
static void dead_node_take_next(struct dead_node *d)
{
	struct err e;

	if (d->n_blocks == 0) {
		taker_took(&d->taker);
		/* Blocks of another taker, and copies of blocks that are gone, are left for later.
		 */
		if (d->progress)
			dead_node_look(d);
		return;
	}
	d->call = dead_block_take(d, &d->blocks[d->n_blocks - 1]);
	if (d->call)
		return;
	(void)err_nomem(&e);
	begin_again(d, &e);
}

/* ---- the heartbeat ---- */

static void dead_node_beat_was_read(void *arg, const struct cluster_result *r)
{
	static const struct cluster_version none;
	struct dead_node *d = arg;
	bool there = r->outcome == CLUSTER_OK;
	enum taker_step before = taker_next(&d->taker);

	d->call = NULL;
	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		begin_again(d, &r->err);
		return;
	}
	taker_saw_beat(&d->taker, there ? &r->object->at : &none, d->sent,
		       ctx_since_boot(d->conf->ctx));
	if (taker_next(&d->taker) != before)
		dead_node_look(d);
}

/* ---- the blocks are read ---- */

static void block_item(void *arg, const struct cluster_object *o)
{
	struct dead_node *d = arg;
	struct dead_block b = { .at = o->at };
	struct err e;

	memcpy(b.name, o->name, sizeof(b.name));
	if (block_from_json(o->value, o->name, &b.block, &e) ||
	    ARRAY_GROW(d->blocks, d->n_blocks, BLOCKS_MAX, "blocks of a node", &e))
		d->broken = e;
	/* The list may be by the copy; the block itself says whose it is. */
	else if (reclaim_concerns(&b.block, d->name))
		d->blocks[d->n_blocks++] = b;
}

static void all_is_taken(struct dead_node *d)
{
	log_info(&d->conf->ctx->log, "node %s: %zu blocks were taken, none is left", d->name,
		 d->n_taken);
	d->reported = true;
	d->own_lists = 0;
	d->until_all = OWN_LISTS;
}

static void blocks_were_read(void *arg, const struct cluster_result *r, const char *revision)
{
	struct dead_node *d = arg;

	(void)revision;
	d->call = NULL;
	if (r->outcome != CLUSTER_OK) {
		begin_again(d, &r->err);
		return;
	}
	if (d->broken.code)
		log_warn(&d->conf->ctx->log, "%s: it is not taken", d->broken.msg);
	/* Loans are in blocks of other nodes. */
	if (d->n_blocks == 0 && d->which.node && !d->reported) {
		d->every = true;
		dead_node_look(d);
		return;
	}
	/* A claim that comes late is seen by a later list. */
	if (d->n_blocks == 0) {
		d->every = false;
		if (!d->reported)
			all_is_taken(d);
		return;
	}
	taker_saw_blocks(&d->taker);
	dead_node_look(d);
}

/*
 * No list selects the blocks that a node shares or borrows from, and only virtual machines of
 * Kubernetes migrate. So there all blocks are listed, until none is left. Elsewhere all are listed
 * for loans, once the node has no block left.
 *
 * An owner that was away may write a loan again that a restored store has forgotten. A list of all
 * blocks is expensive, so each pause is twice as long as the one before: the list finds the loan no
 * later than after twice the time that the owner was away.
 */
static bool lists_all(struct dead_node *d)
{
	if (!d->reported)
		return d->conf->store->ops->has_nodes || d->every;
	if (++d->own_lists < d->until_all)
		return false;
	d->own_lists = 0;
	d->until_all *= 2;
	return true;
}

static void dead_node_list_blocks(struct dead_node *d)
{
	static const struct cluster_list_fns fns = { .item = block_item, .done = blocks_were_read };
	struct cluster_store *s = d->conf->store;
	const bool all = lists_all(d);

	d->which = (struct cluster_selector){ .kind = CLUSTER_BLOCK, .node = all ? NULL : d->name };
	d->call = s->ops->list(s, &d->which, &fns, d);
}

void dead_node_look(struct dead_node *d)
{
	struct cluster_store *s = d->conf->store;

	if (d->call)
		return;
	switch (taker_next(&d->taker)) {
	case TAKER_BEAT:
		d->sent = ctx_since_boot(d->conf->ctx);
		d->call = s->ops->get(s, CLUSTER_HEARTBEAT, d->name, dead_node_beat_was_read, d);
		break;
	case TAKER_BLOCKS:
		d->n_blocks = 0;
		d->progress = false;
		d->broken.code = 0;
		dead_node_list_blocks(d);
		break;
	case TAKER_TAKES:
		dead_node_take_next(d);
		break;
	}
}
