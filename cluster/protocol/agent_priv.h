/* SPDX-License-Identifier: Apache-2.0 */
/* agent_priv.h: what the files of the agent share: its state, its operations, its requests. */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_AGENT_PRIV_H
#define RAILHEAD_CLUSTER_PROTOCOL_AGENT_PRIV_H

#include "cluster/protocol/agent.h"

#define AGENT_POOLS_MAX  256
#define AGENT_BLOCKS_MAX (1u << 20)

enum op_kind {
	OP_RENEW, /* the heartbeat; without a block */
	OP_SEEK,  /* a list of the pool's blocks, to find one to claim or to ask for */
	OP_CLAIM,
	OP_ASK,
	OP_CONFIRM, /* a block of an earlier epoch */
	OP_CONTEST, /* a block that the store gives to no node, or to another one */
	OP_RETURN,  /* to the pool, or to who asks */
	OP_ANSWER,  /* an ask for a block that is in use */
	OP_STRAY,   /* a block in our name that we do not know */
};

/* What was sent last; STEP_IDLE: nothing, the operation waits for its time. */
enum op_step {
	STEP_IDLE,
	STEP_LOOK,
	STEP_CREATE,
	STEP_UPDATE,
	STEP_REMOVE,
	STEP_POOL,
};

/* One operation at a time for a block; each is a sequence of requests that may stop anywhere. */
struct op {
	enum op_kind kind;
	enum op_step step;
	uint32_t id;    /* the request under way; 0: none */
	unsigned tries; /* requests without a usable answer, one after the other */
	int64_t due;    /* when the next request may be sent */
	int64_t sent;   /* when the last one was */
	int64_t since;  /* when it began */
	uint64_t epoch; /* when it was sent */
	uint64_t won;   /* the epoch of a write that succeeded; 0: none did */
	bool begun;     /* a write was sent, by this process or an earlier one */
	struct block_key key;
	struct block_seen seen; /* what the last look, or another reply, showed */
	bool done;              /* is removed at the end of the event */
};

struct agent_pool {
	struct shared_pool is;
	uint64_t needed; /* for callers that wait */
	bool full;       /* the last list showed nothing to claim or to ask for */
	u128 tried;      /* positions of the order that were tried */
	unsigned misses; /* claims in a row that found the block taken */
	int64_t due;     /* when a claim may begin */
};

struct agent {
	struct agent_settings set;
	const struct agent_ops *ops;
	void *arg;
	struct node_record node;
	bool renewed;  /* in the present epoch, by this process */
	bool other;    /* another machine has our name */
	unsigned away; /* requests without a usable answer since the last one that had one */
	int64_t now, beat_due;
	int64_t frozen; /* until then no claim and no return: the store was restored */
	uint32_t last_id;
	struct agent_pool *pools;
	size_t n_pools;
	struct block_record *blocks;
	size_t n_blocks;
	struct op **ops_running;
	size_t n_ops;
};

/* ---- records ---- */

/* agent_find - the record of a block, agent_find_pool - a pool; NULL: there is none. */
struct block_record *agent_find(const struct agent *a, const struct block_key *key);
struct agent_pool *agent_find_pool(const struct agent *a, const char *name);
/* agent_is_new - this node has neither a record of the block nor an operation on it. */
bool agent_is_new(const struct agent *a, const struct block_key *key);
/* agent_order - in which order this node tries the blocks of a pool. */
struct grid_order agent_order(const struct agent *a, const struct agent_pool *p);
/* agent_put - write a record, and remember it. -1: the node's store failed; nothing changed. */
int agent_put(struct agent *a, const struct block_record *r) must_check;
/* agent_drop - forget a block. As ops->drop_block(). */
int agent_drop(struct agent *a, const struct block_key *key) must_check;

/* agent_is_ours - the block has this node, this holder and the token of the record. */
bool agent_is_ours(const struct agent *a, const struct block *b, uint64_t token);
struct block_party agent_party(const struct agent *a, uint64_t token);

/* ---- operations ---- */

/* agent_begin - an operation, due at once, begun earlier; NULL: the block has one, or no memory. */
struct op *agent_begin(struct agent *a, enum op_kind kind, const struct block_key *key);
bool agent_is_busy(const struct agent *a, const struct block_key *key);

/*
 * agent_send - a request for op's block, whose reply comes in step `step`; b: the value of an
 * update or a creation. The precondition of an update or a removal is op->seen. agent_send_request
 * - one for another object.
 */
void agent_send(struct agent *a, struct op *op, enum op_step step, const struct block *b);
void agent_send_request(struct agent *a, struct op *op, enum op_step step, struct agent_request *r);
/* agent_later - wait, and then go on in STEP_IDLE; longer after each try in a row. */
void agent_later(struct agent *a, struct op *op);
static inline void agent_end(struct op *op)
{
	op->done = true;
}
/* agent_end_if - end if rc is 0; else the node's own store failed, and the step is tried again. */
void agent_end_if(struct agent *a, struct op *op, int rc);

/* The steps of each kind: begin or go on, and the reply. */
void renew_go(struct agent *a, struct op *op);
void renew_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void claim_go(struct agent *a, struct op *op);
void claim_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void seek_go(struct agent *a, struct op *op);
void seek_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void ask_go(struct agent *a, struct op *op);
void ask_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void confirm_go(struct agent *a, struct op *op);
void confirm_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void contest_go(struct agent *a, struct op *op);
void contest_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void return_go(struct agent *a, struct op *op);
void return_reply(struct agent *a, struct op *op, const struct agent_reply *r);
/* contest_begin - op's block is not ours: forget it and end, or contest it if pods live in it. */
void contest_begin(struct agent *a, struct op *op);
void answer_go(struct agent *a, struct op *op);
void answer_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void stray_go(struct agent *a, struct op *op);
void stray_reply(struct agent *a, struct op *op, const struct agent_reply *r);

/* claim_more - begin claims for the pools that run low. claim_tell - which needs have ended. */
void claim_more(struct agent *a);
void claim_tell(struct agent *a);
/* claim_start - claim this block. */
void claim_start(struct agent *a, const struct block_key *key);

#endif
