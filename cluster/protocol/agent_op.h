/* SPDX-License-Identifier: Apache-2.0 */
/* agent_op.h: the operations of the agent, and the requests that they are made of. */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_AGENT_OP_H
#define RAILHEAD_CLUSTER_PROTOCOL_AGENT_OP_H

#include "cluster/protocol/agent_ops.h"

struct agent;

enum op_kind {
	OP_RENEW, /* the heartbeat; without a block */
	OP_FIND,  /* a list of the pool's blocks, to find one to claim or to ask for */
	OP_CLAIM,
	OP_ASK,
	OP_CONFIRM,       /* a block of an earlier epoch */
	OP_CONTEST,       /* a block that the store gives to no node, or to another one */
	OP_RETURN,        /* to the pool, or to who asks */
	OP_ANSWER,        /* an ask for a block that is in use */
	OP_UNKNOWN_BLOCK, /* a block in our name that we do not know */
	OP_IDENTITY,      /* the block of a pod that starts here: see identity.c */
	OP_EXPIRE,        /* a block that waited long enough for its pod */
	OP_EXAMINE,       /* a block that a watch showed, or that is missing in a list */
	OP_BORROW,        /* the loan of one address: see borrow.c */
	OP_GIVE_BACK,
};

/* What was sent last; STEP_IDLE: nothing, the operation waits for its time. */
enum op_step {
	STEP_IDLE,
	STEP_LOOK,
	STEP_CREATE,
	STEP_UPDATE,
	STEP_REMOVE,
	STEP_POOL,
	STEP_MARK,
	STEP_LIST,  /* OP_IDENTITY: the blocks of the pool */
	STEP_ALONE, /* OP_CLAIM: does another block have the identity? */
};

/* One operation at a time for a block; each is a sequence of requests that may stop anywhere. */
struct op {
	enum op_kind kind;
	enum op_step step;
	uint32_t id;    /* the request under way; 0: none */
	unsigned tries; /* requests without a usable answer, one after the other */
	int64_t pause;  /* what the store asked for in its last reply */
	int64_t due;    /* when the next request may be sent */
	int64_t sent;   /* when the last one was */
	int64_t since;  /* when it began */
	uint64_t epoch; /* when it was sent */
	uint64_t won;   /* the epoch of a write that succeeded; 0: none did */
	bool begun;     /* a write was sent, by this process or an earlier one */
	bool first;     /* OP_CLAIM: the creation under way is the only one with this token */
	struct block_key key;
	struct block_seen seen; /* what the last look, or another reply, showed */
	bool again;             /* the block was shown meanwhile: examine it at the end */
	bool unlisted;          /* a list of our blocks lacked it, or a watch showed it as gone */
	bool done;              /* is removed at the end of the event */
	/*
	 * OP_FIND, OP_CLAIM: a block, and how many digits at the end of its name the list leaves
	 * open; OP_CLAIM, 0: none is asked for, or the pool was made again.
	 */
	struct ip near;
	unsigned open;
	/* OP_CLAIM: write op->seen at once; no other block has the identity; see block.migrates. */
	bool take, alone, share, sweep; /* sweep: OP_FIND, only for loans that are not known */
	unsigned rivals;   /* OP_CLAIM: lists in a row that showed another block of the identity */
	struct seat *seat; /* OP_IDENTITY: owned */
};

/*
 * agent_begin - an operation, due at once, begun earlier; NULL: the block has one, or no memory.
 * agent_op_of - the one that the block has; NULL: none. agent_is_busy - it has one.
 */
struct op *agent_begin(struct agent *a, enum op_kind kind, const struct block_key *key);
struct op *agent_op_of(const struct agent *a, const struct block_key *key);
bool agent_is_busy(const struct agent *a, const struct block_key *key);

/*
 * agent_send - a request for op's block, whose reply comes in step `step`; b: the value of an
 * update or a creation. The precondition of an update or a removal is op->seen. agent_send_request
 * - one for another object.
 */
void agent_send(struct agent *a, struct op *op, enum op_step step, const struct block *b);
void agent_send_request(struct agent *a, struct op *op, enum op_step step, struct agent_request *r);
/* agent_wait - when to try again after so many tries in vain: growing, with jitter. */
int64_t agent_wait(struct agent *a, unsigned tries);
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
void find_go(struct agent *a, struct op *op);
void find_reply(struct agent *a, struct op *op, const struct agent_reply *r);
/*
 * find_ask_beside - which blocks a creation of op's block shall name, if it finds the block there.
 * find_beside - claim a block that is free there. False: none is.
 */
void find_ask_beside(struct agent *a, struct op *op, struct agent_request *r);
bool find_beside(struct agent *a, const struct op *op, const struct agent_reply *r);
/* find_free_block - a block of a list that no node has (*there), or that does not exist. */
bool find_free_block(struct agent *a, const struct op *op, const struct agent_reply *r,
		     struct block_key *key, bool *there);
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
void examine_go(struct agent *a, struct op *op);
void examine_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void identity_go(struct agent *a, struct op *op);
void identity_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void answer_go(struct agent *a, struct op *op);
void answer_reply(struct agent *a, struct op *op, const struct agent_reply *r);
void unknown_block_go(struct agent *a, struct op *op);
void unknown_block_reply(struct agent *a, struct op *op, const struct agent_reply *r);

/*
 * agent_look - examine a block, at once or when its operation has ended. agent_reverify_all - all
 * our blocks, because the store was restored.
 */
void agent_look(struct agent *a, const struct block_key *key);
void agent_reverify_all(struct agent *a);
/*
 * agent_ask_for_pool - get the pool; the reply comes in STEP_POOL. agent_is_wanted - whether the
 * reply shows the pool of op->seen, and that it wants blocks.
 */
void agent_ask_for_pool(struct agent *a, struct op *op);
bool agent_is_wanted(const struct op *op, const struct agent_reply *r);

#endif
