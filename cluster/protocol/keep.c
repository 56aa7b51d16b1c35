/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c: blocks that this node has: confirmed in a new epoch, returned, handed over. */
#include <string.h>

#include "cluster/protocol/agent_priv.h"

/* ---- confirm ---- */

void confirm_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_LOOK, NULL);
}

void confirm_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	struct block_record record = *agent_find(a, &op->key);

	if (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED) {
		agent_later(a, op);
		return;
	}
	if (op->step == STEP_UPDATE && r->outcome != CLUSTER_OK) {
		confirm_go(a, op);
		return;
	}
	if (op->step == STEP_UPDATE) {
		record.epoch = op->epoch;
		agent_end_if(a, op, agent_put(a, &record));
		return;
	}
	if (r->outcome != CLUSTER_OK || !agent_is_ours(a, &r->block, record.token)) {
		contest_begin(a, op);
		return;
	}

	struct block b = r->block;

	b.touched++;
	b.used = a->ops->used(a->arg, &op->key);
	agent_send(a, op, STEP_UPDATE, &b);
}

/* ---- return, or hand over to who asks ---- */

void return_go(struct agent *a, struct op *op)
{
	if (a->now < a->frozen) {
		op->due = a->frozen;
		return;
	}
	agent_send(a, op, STEP_LOOK, NULL);
}

void return_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	const struct block_record *record = agent_find(a, &op->key);
	bool still = op->step == STEP_LOOK && r->outcome == CLUSTER_OK &&
		     agent_is_ours(a, &r->block, record->token);

	if (still) {
		struct block b = r->block;

		b.owner = b.asker;
		b.asker = (struct block_party){ 0 };
		b.contested = b.kept = false;
		b.used = 0;
		if (*b.owner.node)
			agent_send(a, op, STEP_UPDATE, &b);
		else
			agent_send(a, op, STEP_REMOVE, NULL);
		return;
	}
	if (op->step != STEP_LOOK && r->outcome == CLUSTER_CONFLICT) {
		/* An ask came in between, or another node took it. */
		return_go(a, op);
		return;
	}

	if (r->outcome == CLUSTER_AWAY || r->outcome == CLUSTER_REFUSED)
		agent_later(a, op);
	else
		contest_begin(a, op);
}

/* ---- an ask for a block that is in use ---- */

void answer_go(struct agent *a, struct op *op)
{
	struct block b = op->seen.block;

	/* A contester waits for the answer. */
	b.kept = b.contested;
	if (!b.contested)
		b.asker = (struct block_party){ 0 };
	b.used = a->ops->used(a->arg, &op->key);
	agent_send(a, op, STEP_UPDATE, &b);
}

/* A hint; if it fails, who asked gives up by itself. */
void answer_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	(void)a;
	(void)r;
	agent_end(op);
}

/* ---- a block in our name with a token that we do not know: a write that came late ---- */

void stray_go(struct agent *a, struct op *op)
{
	agent_send(a, op, STEP_REMOVE, NULL);
}

/* If it is still there, it is seen again: a watch repeats what it has after it was interrupted. */
void stray_reply(struct agent *a, struct op *op, const struct agent_reply *r)
{
	agent_end_if(a, op, r->outcome == CLUSTER_AWAY);
}
