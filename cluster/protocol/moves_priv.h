/* SPDX-License-Identifier: Apache-2.0 */
/* moves_priv.h: sticky addresses that move between nodes; identity.c and park.c. */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_MOVES_PRIV_H
#define RAILHEAD_CLUSTER_PROTOCOL_MOVES_PRIV_H

#include "cluster/protocol/agent_op.h"
#include "ipam/block/record.h"

struct agent_pool;

/* The search for the block of an identity. */
struct seat {
	char identity[IDENTITY_LEN]; /* "": only what this node parked is looked for */
	bool waits;                  /* for the claim of a block */
	bool migrates;               /* the pod starts beside its source */
	bool found;                  /* and said: the pod comes soon, or never */
	unsigned claims, held;       /* so many were begun; lists in a row that showed it held */
};

/* A block that this node parked. It ends only if no node had it since. */
struct park {
	struct block_key key;
	struct cluster_version at;
	int64_t since; /* CLOCK_BOOTTIME */
};

/* identity_own - the identity of a block that the owner of the record writes. */
void identity_own(struct block *b, const struct block_record *r);
/*
 * identity_take - the same when a free block is claimed. identity_was_parked - by a node that had
 * granted it, so that no other block has the identity.
 */
void identity_take(struct block *b, const struct block_record *r);
bool identity_was_parked(const struct block_record *r, const struct block *b);
/* identity_may_take - the block has no identity, or that of the record. */
bool identity_may_take(const struct block_record *r, const struct block *b);
/*
 * identity_is_sure - false: whether another block has the identity is looked for, and the reply
 * comes in STEP_ALONE. identity_is_alone - 1: none has it; 0: one has, and this block is given up;
 * -1: there was no answer, or the other one will be given up. A block that is not made yet gives
 * way to any.
 */
bool identity_is_sure(struct agent *a, struct op *op);
int identity_is_alone(const struct agent *a, struct op *op, const struct agent_reply *r);
/* agent_shares - the owner has it, and this node runs the machine of its identity, too. */
bool agent_shares(const struct agent *a, const struct block *b, uint64_t token);
/* share_send - write into op->seen that this node shares it. share_may - it can be asked for. */
void share_send(struct agent *a, struct op *op, const struct block_record *r);
bool share_may(const struct agent *a, const struct block_record *r, const struct block *b);
/* share_end - this node shares op->seen no more. */
void share_end(struct agent *a, struct op *op);
/* identity_waits - a pod of the identity starts here. */
bool identity_waits(const struct agent *a, const struct block_record *r);
/* identity_wake - which searches go on. identity_start - look for what this node parked. */
void identity_wake(struct agent *a);
void identity_start(struct agent *a, struct agent_pool *p);
/*
 * park_is_of - the pool has parked blocks. park_waits - the block waits for its pod: once the pool
 * is sticky no more, a parked block is a free one. park_free - what becomes of a block that is
 * freed. park_hand_over - the same of one that goes to the target of a migration.
 */
bool park_is_of(const struct agent_pool *p);
bool park_waits(const struct agent_pool *p, const struct block *b);
void park_free(struct agent *a, const struct block_record *r, const struct agent_pool *p,
	       struct block *b);
void park_hand_over(const struct agent *a, const struct block_record *r, struct block *b);
/* park_add - this node parked the block. park_due - park, and end parks. park_next - when. */
void park_add(struct agent *a, const struct block_key *key, const struct cluster_version *at);
void park_due(struct agent *a);
int64_t park_next(const struct agent *a);
/* The steps of OP_EXPIRE, as in agent_op.h. */
void expire_go(struct agent *a, struct op *op);
void expire_reply(struct agent *a, struct op *op, const struct agent_reply *r);

#endif
