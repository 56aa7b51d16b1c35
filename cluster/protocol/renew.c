/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.c: the heartbeat of the node, and the epochs that begin with it.
 *
 * A heartbeat of another machine is seen by its holder or its boot. It may be that of this machine
 * before it got a new disk, or our own write that came late. Then it is silent, and is taken over
 * after a while. If it changes meanwhile, two machines have one name. Both stop: the one that finds
 * out marks the heartbeat, and the other one meets the mark when it renews. An operator removes one
 * of them, and deletes the heartbeat.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"
#include "cluster/protocol/loans_priv.h"

/* So many heartbeats are waited for from a machine that may be ours. */
#define SILENT_BEATS 3
/* Our own write that comes late, or a restore, changes the heartbeat once; a machine goes on. */
#define TWIN_CHANGES 4

static void send_beat(struct agent *a, struct op *op, enum op_step step, enum agent_call call,
		      bool twin)
{
	struct agent_request r = { .call = call, .kind = CLUSTER_HEARTBEAT, .at = a->node.beat };

	(void)snprintf(r.name, sizeof(r.name), "%s", a->set.node);
	(void)snprintf(r.beat.holder, sizeof(r.beat.holder), "%s", a->node.holder);
	(void)snprintf(r.beat.boot, sizeof(r.beat.boot), "%s", a->set.boot);
	(void)snprintf(r.beat.machine, sizeof(r.beat.machine), "%s",
		       a->set.machine ? a->set.machine : "");
	r.beat.count = a->node.beats + 1;
	r.beat.twin = twin;
	r.rank = call != CALL_GET;
	agent_send_request(a, op, step, &r);
}

void renew_go(struct agent *a, struct op *op)
{
	if (*a->node.beat.uid)
		send_beat(a, op, STEP_UPDATE, CALL_UPDATE, false);
	else
		send_beat(a, op, STEP_LOOK, CALL_GET, false);
}

/* Blocks of a pool that is not known yet are taken for those of a strict one. */
static int doubt_strict(struct agent *a)
{
	for (size_t i = 0; i < a->n_blocks; i++) {
		const char *pool = a->blocks[i].key.pool;

		if (!agent_find_pool(a, pool) && agent_reverify_pool(a, pool))
			return -1;
	}
	for (size_t i = 0; i < a->n_pools; i++) {
		if (a->pools[i].is.strict && agent_reverify_pool(a, a->pools[i].is.name))
			return -1;
	}
	return 0;
}

/*
 * The renewal was executed between op->sent and now. If give_until passed in between, a taker may
 * have seen an old heartbeat for long enough: then a new epoch begins, in which each block has to
 * be confirmed. give_until counts from the sending, because the renewal may be that old. If only
 * fence_until passed, the blocks of strict pools have to be confirmed; other pools go on. No watch
 * shows the blocks of loans, and a taker may have returned these: they are looked at.
 */
static int renewed(struct agent *a, const struct op *op, const struct agent_reply *r)
{
	struct node_record n = a->node;
	bool lapsed = !node_may_give(&n, false, a->set.boot, a->now);
	bool late = !lapsed && a->now >= n.fence_until;

	n.beat = r->at;
	n.beats++;
	/* A heartbeat of this name was there: an earlier store of this node may have had loans. */
	n.strays |= n.epoch == 0 && op->step == STEP_UPDATE;
	n.epoch += lapsed;
	n.fence_until = op->sent + a->set.hold / 2;
	n.give_until = a->set.strict ? n.fence_until : INT64_MAX;
	/* The clock of an earlier boot says nothing about how long the node was frozen. */
	if (n.frozen && strcmp(n.boot, a->set.boot) != 0)
		n.frozen = a->now + 2 * a->set.renew;
	else if (n.frozen <= a->now)
		n.frozen = 0;
	(void)snprintf(n.boot, sizeof(n.boot), "%s", a->set.boot);
	if ((late && doubt_strict(a)) || a->ops->put_node(a->arg, &n))
		return -1;
	a->node = n;
	a->renewed = true;
	if (late)
		a->loans_look = a->loans_due = 0;
	if (n.strays && !a->sweeps)
		borrow_sweep_later(a, a->now);
	/* The first one stays: nodes that change theirs one after the other would meet. */
	if (r->ranked && !a->ranked)
		a->rank = r->rank;
	a->ranked |= r->ranked;
	a->beat_due = a->now + a->set.renew;
	return 0;
}

/*
 * The store has forgotten our last heartbeat, and perhaps blocks, too. The freeze goes on after a
 * restart of the agent.
 */
static int freeze(struct agent *a)
{
	struct node_record n = a->node;

	n.frozen = a->now + 2 * a->set.renew;
	n.strays = true;
	if (a->ops->put_node(a->arg, &n))
		return -1;
	a->node = n;
	agent_reverify_all(a);
	borrow_sweep_later(a, n.frozen);
	return 0;
}

/* Nothing is assigned any more; a renewal begins a new epoch. */
static void renew_stop(struct agent *a)
{
	struct node_record n = a->node;

	a->other = true;
	n.give_until = 0;
	if (n.give_until != a->node.give_until && a->ops->put_node(a->arg, &n) == 0)
		a->node = n;
}

/* ---- whose heartbeat is it? ---- */

static bool is_our_beat(const struct agent *a, const struct heartbeat *b)
{
	bool this_boot = strcmp(b->boot, a->set.boot) == 0;

	if (b->twin)
		return false;
	/* In one boot, another holder is an older store of this machine. */
	if (this_boot)
		return true;
	return strcmp(b->holder, a->node.holder) == 0 && strcmp(b->boot, a->node.boot) == 0 &&
	       strcmp(a->node.boot, a->set.boot) != 0 && b->count <= a->node.beats + 1;
}

/* It may be ours: our holder, or the same machine, which had another disk. */
static bool may_be_ours(const struct agent *a, const struct heartbeat *b)
{
	bool same_machine =
		a->set.machine && *b->machine && strcmp(b->machine, a->set.machine) == 0;

	return !b->twin && (same_machine || strcmp(b->holder, a->node.holder) == 0);
}

static void renew_look_again(struct agent *a, struct op *op)
{
	agent_later(a, op);
	op->due = a->now + a->set.renew / 2;
}

/* False: the heartbeat is silent and ours. */
static bool wait_for_other(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct cluster_version before = a->twin.at;
	int64_t silent = beat_seen(&a->twin, &r->at, op->sent, a->now);

	a->twin_changes += strcmp(before.version, a->twin.at.version) != 0;
	if (may_be_ours(a, &r->beat) && silent >= SILENT_BEATS * a->set.renew)
		return false;
	a->other = true;
	if (!r->beat.twin && a->twin_changes > TWIN_CHANGES) {
		renew_stop(a);
		a->node.beat = r->at;
		send_beat(a, op, STEP_MARK, CALL_UPDATE, true);
		return true;
	}
	if (r->beat.twin)
		renew_stop(a);
	renew_look_again(a, op);
	return true;
}

static void renew_looked(struct agent *a, struct op *op, const struct agent_reply *r)
{
	bool there = r->outcome == CLUSTER_OK;
	bool forgot = a->node.beats > 0 && (!there || r->beat.count < a->node.beats);

	if (!there && r->outcome != CLUSTER_NOT_FOUND) {
		agent_later(a, op);
		return;
	}
	if (there && !is_our_beat(a, &r->beat) && wait_for_other(a, op, r))
		return;
	if (forgot && freeze(a)) {
		agent_later(a, op);
		return;
	}
	a->other = false;
	a->twin.begun = false;
	a->twin_changes = 0;
	a->node.beat = r->at;
	if (there && r->beat.count > a->node.beats)
		a->node.beats = r->beat.count;
	send_beat(a, op, there ? STEP_UPDATE : STEP_CREATE, there ? CALL_UPDATE : CALL_CREATE,
		  false);
}

void renew_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (op->step == STEP_LOOK) {
		renew_looked(a, op, r);
		return;
	}
	if (op->step != STEP_MARK && r->outcome == CLUSTER_OK) {
		agent_end_if(a, op, renewed(a, op, r));
		return;
	}
	/* Our own write may have come late, or another machine has our name. */
	a->node.beat = (struct cluster_version){ 0 };
	if (op->step == STEP_MARK)
		renew_look_again(a, op);
	else
		agent_later(a, op);
}

enum agent_health agent_health(const struct agent *a)
{
	if (a->other)
		return AGENT_TWIN;
	if (!a->renewed || !node_may_give(&a->node, false, a->set.boot, a->now))
		return AGENT_UNCONFIRMED;
	return a->now < a->node.frozen ? AGENT_FROZEN : AGENT_OK;
}
