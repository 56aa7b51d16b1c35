/* SPDX-License-Identifier: Apache-2.0 */
/* renew.c: the heartbeat of the node, and the epochs that begin with it. */
#include <stdio.h>
#include <string.h>

#include "cluster/protocol/agent_priv.h"

static void send_beat(struct agent *a, struct op *op, enum op_step step, enum agent_call call)
{
	struct agent_request r = { .call = call, .kind = CLUSTER_HEARTBEAT, .at = a->node.beat };

	(void)snprintf(r.name, sizeof(r.name), "%s", a->set.node);
	(void)snprintf(r.beat.holder, sizeof(r.beat.holder), "%s", a->node.holder);
	(void)snprintf(r.beat.boot, sizeof(r.beat.boot), "%s", a->set.boot);
	r.beat.count = a->node.beats + 1;
	agent_send_request(a, op, step, &r);
}

void renew_go(struct agent *a, struct op *op)
{
	if (*a->node.beat.uid)
		send_beat(a, op, STEP_UPDATE, CALL_UPDATE);
	else
		send_beat(a, op, STEP_LOOK, CALL_GET);
}

/*
 * The renewal was executed between op->sent and now. If give_until passed in between, a taker may
 * have seen an old heartbeat for long enough: then a new epoch begins, in which each block has to
 * be confirmed. give_until counts from the sending, because the renewal may be that old.
 */
static int renewed(struct agent *a, const struct op *op, const struct agent_reply *r)
{
	struct node_record n = a->node;
	bool lapsed = !node_may_give(&n, a->set.boot, a->now);

	n.beat = r->at;
	n.beats++;
	n.epoch += lapsed;
	n.give_until = a->set.strict ? op->sent + a->set.hold / 2 : INT64_MAX;
	(void)snprintf(n.boot, sizeof(n.boot), "%s", a->set.boot);
	if (a->ops->put_node(a->arg, &n))
		return -1;
	a->node = n;
	a->renewed = true;
	a->beat_due = a->now + a->set.renew;
	return 0;
}

/* Another holder is another machine with our name. */
static void looked(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (r->outcome == CLUSTER_NOT_FOUND) {
		if (a->node.beats > 0)
			a->frozen = a->now + 2 * a->set.renew;
		send_beat(a, op, STEP_CREATE, CALL_CREATE);
		return;
	}
	if (r->outcome != CLUSTER_OK) {
		agent_later(a, op);
		return;
	}
	a->other = strcmp(r->beat.holder, a->node.holder) != 0;
	if (a->other) {
		agent_later(a, op);
		return;
	}
	/* The store has forgotten our last heartbeat, and perhaps blocks, too. */
	if (r->beat.count < a->node.beats)
		a->frozen = a->now + 2 * a->set.renew;
	a->node.beat = r->at;
	if (r->beat.count > a->node.beats)
		a->node.beats = r->beat.count;
	send_beat(a, op, STEP_UPDATE, CALL_UPDATE);
}

void renew_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	if (op->step == STEP_LOOK) {
		looked(a, op, r);
	} else if (r->outcome == CLUSTER_OK) {
		if (renewed(a, op, r))
			agent_later(a, op);
		else
			agent_end(op);
	} else {
		/* No other program writes it: our own write may have come late. */
		a->node.beat = (struct cluster_version){ 0 };
		agent_later(a, op);
	}
}
