/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_take.c: the heartbeat until it was silent for nodeHold, the block, the heartbeat again, and
 * one conditional update. The first look at the heartbeat is the evidence: any later one that
 * differs shows that the node lives.
 */
#include "railheadd/pools/block_take.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/node_forget.h"
#include "railheadd/pools/reclaim_priv.h"

#define SECOND INT64_C(1000000000)

struct block_take {
	const struct reclaim_conf *conf;
	char node[NODE_NAME_LEN];
	struct dead_block block;
	struct taker taker;
	bool looked; /* taker has its evidence */
	int64_t sent;
	struct cluster_call *call;
	struct event *timer;
	struct block_take_end end;
};

void block_take_cancel(struct block_take *t)
{
	if (t->call)
		t->conf->store->ops->cancel(t->call);
	if (t->timer)
		event_free(t->timer);
	free(t);
}

static void block_take_finish(struct block_take *t, const struct err *why)
{
	const struct block_take_end end = t->end;

	block_take_cancel(t);
	end.done(end.arg, why);
}

static void no_memory(struct block_take *t)
{
	struct err e;

	(void)err_nomem(&e);
	block_take_finish(t, &e);
}

/* A store that was away may have been restored: what was seen before says nothing now. */
static void block_take_failed(struct block_take *t, const struct cluster_result *r)
{
	struct err e = r->err;

	if (r->outcome != CLUSTER_REFUSED)
		e.code = ERR_AGAIN;
	(void)err_wrap(&e, "block %s of node %s", t->block.name, t->node);
	block_take_finish(t, &e);
}

static void block_take_go_on(struct block_take *t);

/* ---- the block ---- */

static void block_take_was_written(void *arg, const struct cluster_result *r)
{
	struct block_take *t = arg;

	t->call = NULL;
	taker_took(&t->taker);
	if (r->outcome == CLUSTER_CONFLICT) {
		/* An ask came in between, or the node lives: look at both again. */
		block_take_go_on(t);
	} else if (r->outcome != CLUSTER_OK) {
		block_take_failed(t, r);
	} else {
		log_info(&t->conf->ctx->log, "block %s of node %s is free now", t->block.name,
			 t->node);
		block_take_finish(t, NULL);
	}
}

static void refuse_owner(struct block_take *t, const char *owner)
{
	struct err e;

	if (*owner)
		err_set(&e, ERR_BUSY, 0, "block %s is of node %s, not of node %s", t->block.name,
			owner, t->node);
	else
		err_set(&e, ERR_BUSY, 0, "block %s is of no node", t->block.name);
	(void)err_hint(&e, "`railctl cluster find ADDRESS` names the node of an address");
	block_take_finish(t, &e);
}

static void block_was_read(void *arg, const struct cluster_result *r)
{
	struct block_take *t = arg;
	struct err e;

	t->call = NULL;
	if (r->outcome != CLUSTER_OK && r->outcome != CLUSTER_NOT_FOUND) {
		block_take_failed(t, r);
	} else if (r->outcome == CLUSTER_NOT_FOUND) {
		err_set(&e, ERR_NOTFOUND, 0, "the cluster has no block %s", t->block.name);
		(void)err_hint(&e,
			       "`railctl ipam blocks --json` and `railctl cluster find ADDRESS` "
			       "show the names");
		block_take_finish(t, &e);
	} else if (block_from_json(r->object->value, t->block.name, &t->block.block, &e)) {
		block_take_finish(t, &e);
	} else if (strcmp(t->block.block.owner.node, t->node) != 0) {
		refuse_owner(t, t->block.block.owner.node);
	} else {
		t->block.at = r->object->at;
		if (t->looked)
			taker_saw_blocks(&t->taker);
		block_take_go_on(t);
	}
}

/* ---- the heartbeat ---- */

static void look_later(struct block_take *t)
{
	(void)timer_arm_ns(t->timer, t->conf->look);
}

static void block_take_beat_was_read(void *arg, const struct cluster_result *r)
{
	static const struct cluster_version none;
	struct block_take *t = arg;
	const bool there = r->outcome == CLUSTER_OK;
	const struct cluster_version *at = there ? &r->object->at : &none;
	struct err e;

	t->call = NULL;
	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		block_take_failed(t, r);
		return;
	}
	if (!t->looked)
		taker_begin(&t->taker, at, t->conf->hold);
	t->looked = true;
	if (strcmp(at->uid, t->taker.evidence.uid) != 0 ||
	    strcmp(at->version, t->taker.evidence.version) != 0) {
		node_refuse_alive(t->node, &e);
		block_take_finish(t, &e);
		return;
	}
	taker_saw_beat(&t->taker, at, t->sent, ctx_since_boot(t->conf->ctx));
	if (taker_next(&t->taker) == TAKER_BEAT)
		look_later(t);
	else
		block_take_go_on(t);
}

/* The block comes first, so that a wrong name is refused at once. */
static void block_take_go_on(struct block_take *t)
{
	struct cluster_store *s = t->conf->store;
	const bool begun = *t->block.at.uid;

	if (!begun || (t->looked && taker_next(&t->taker) == TAKER_BLOCKS)) {
		t->call = s->ops->get(s, CLUSTER_BLOCK, t->block.name, block_was_read, t);
	} else if (t->looked && taker_next(&t->taker) == TAKER_TAKES) {
		t->call = dead_block_take(t->conf, t->node, &t->block, block_take_was_written, t);
	} else {
		t->sent = ctx_since_boot(t->conf->ctx);
		t->call = s->ops->get(s, CLUSTER_HEARTBEAT, t->node, block_take_beat_was_read, t);
	}
	if (!t->call)
		no_memory(t);
}

static void block_take_due(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	block_take_go_on(arg);
}

/* ---- begin ---- */

struct block_take *block_take_begin(const struct reclaim_conf *conf, const char *node,
				    const char *block, const struct block_take_end *end,
				    struct err *e)
{
	struct block_take *t;

	if (node_refuse_here(conf->store, conf->node, node, e))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t || !(t->timer = evtimer_new(conf->base, block_take_due, t))) {
		free(t);
		(void)err_nomem(e);
		return NULL;
	}
	t->conf = conf;
	t->end = *end;
	(void)snprintf(t->node, sizeof(t->node), "%s", node);
	(void)snprintf(t->block.name, sizeof(t->block.name), "%s", block);
	(void)timer_arm(t->timer, 0);
	return t;
}
