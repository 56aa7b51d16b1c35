/* SPDX-License-Identifier: Apache-2.0 */
/* agent_priv.h: what the files of the agent share: its state, and its records. */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_AGENT_PRIV_H
#define RAILHEAD_CLUSTER_PROTOCOL_AGENT_PRIV_H

#include "cluster/protocol/agent.h"
#include "cluster/protocol/agent_op.h"
#include "cluster/protocol/reclaim.h"

#define AGENT_POOLS_MAX  1024
#define AGENT_BLOCKS_MAX (1u << 20)
/* Owners asked for a loan for one need. */
#define ASKS_OF_NEED_MAX 32

#define KNOWN_MAX 16 /* blocks that are kept of a list */
/* A block whose owner was asked. */
struct asked {
	struct ip at;
	bool now;      /* for this need */
	int64_t until; /* it gave no answer: others come first until then; 0: it did */
};

struct agent_pool {
	struct shared_pool is;
	uint64_t needed;  /* for callers that wait */
	bool full;        /* the last list showed nothing to claim or to ask for */
	unsigned refused; /* claims and lists that the store refused since the need began */
	struct asked asked_at[ASKS_OF_NEED_MAX];
	unsigned n_asked_at;
	unsigned asked, asked_one; /* so many for this need: for the block, for a loan */
	struct pool_holders holders;
	u128 tried;                 /* positions of the order that were tried */
	struct ip known[KNOWN_MAX]; /* free in the last list, and not tried since */
	unsigned n_known, misses,
		searches;                /* misses, searches: claims in a row in vain, and lists */
	int64_t due;                     /* when a claim may begin */
	int64_t tight_until, full_until; /* no warm addresses, few asks for loans, until then */
	int64_t idle_due;
	/* The next look for loans that this node does not know, 0: none; until the one after it. */
	int64_t sweep_due, sweep_wait;
	unsigned failed_sweeps; /* such looks that failed, one after the other */
	struct ip *empty;       /* blocks that were not used at the last look, owned */
	size_t n_empty;
	bool swept;      /* what an earlier process parked is known */
	bool unverified; /* agent_reverify_pool() failed */
	bool gone;       /* the pool does not exist any more, and blocks of it are left */
};

/* A block that callers wait for, see want.c. */
struct want {
	struct block_key key;
	struct want_answer answer;
	struct block_seen seen;    /* with its owner, as the last look showed it */
	char asked[NODE_NAME_LEN]; /* the last node that was asked */
	unsigned asks, tries;
	int64_t due; /* of the next look */
};

struct agent {
	struct agent_settings set;
	const struct agent_ops *ops;
	void *arg;
	struct node_record node;
	bool renewed;           /* in the present epoch, by this process */
	bool other;             /* another machine has our name, or had it a moment ago */
	struct beat_watch twin; /* the heartbeat of that machine */
	unsigned twin_changes;  /* of that heartbeat */
	unsigned away; /* requests without a usable answer since the last one that had one */
	int64_t now, beat_due, loans_due, loans_look;
	bool sweeps; /* this process lists pools for loans without a record, ever less often */
	bool ranked; /* the rank is known */
	uint64_t rank;
	uint32_t last_id;
	struct agent_pool *pools;
	size_t n_pools;
	struct block_record *blocks;
	size_t n_blocks;
	struct lending *lendings; /* of blocks that lend: see lend_of() */
	size_t n_lendings;
	struct want *wants;
	size_t n_wants;
	struct park *parks; /* see moves_priv.h */
	size_t n_parks;
	struct op **ops_running;
	size_t n_ops;
};

/* ---- records ---- */

/* agent_find - the record of a block, agent_find_pool - a pool; NULL: there is none. */
struct block_record *agent_find(const struct agent *a, const struct block_key *key);
struct agent_pool *agent_find_pool(const struct agent *a, const char *name);
/* agent_is_new - this node has neither a record of the block nor an operation on it. */
bool agent_is_new(const struct agent *a, const struct block_key *key);
/* agent_is_closed - the pool is known, and ends or overlaps another one. */
bool agent_is_closed(const struct agent_pool *p);
/*
 * agent_order - in which order this node tries the blocks of a pool. Two nodes rarely try the same
 * block first: its number is the rank of the node, if the store tells it, or a hash of the name.
 */
struct grid_order agent_order(const struct agent *a, const struct agent_pool *p);
/* agent_put - write a record, and remember it. -1: the node's store failed; nothing changed. */
int agent_put(struct agent *a, const struct block_record *r) must_check;
/* agent_drop - forget a block. As ops->drop_block(). */
int agent_drop(struct agent *a, const struct block_key *key) must_check;

/* agent_is_ours - the block has this node, this holder and the token of the record. */
bool agent_is_ours(const struct agent *a, const struct block *b, uint64_t token);
struct block_party agent_party(const struct agent *a, uint64_t token);
/* agent_has_name - the block has this node, perhaps with the holder of an older store of it. */
bool agent_has_name(const struct agent *a, const struct block *b);

/*
 * agent_reverify_pool - nothing more is assigned from the blocks of the pool before they are
 * confirmed, and a write that is under way confirms none. In a pool that ends or overlaps another
 * one, and for the new pool of a name, that is never. -1: the node's store failed.
 */
int agent_reverify_pool(struct agent *a, const char *pool);

/* agent_retire - ops->retire_block(), and the record follows. */
int agent_retire(struct agent *a, struct block_record *r);

/* agent_read_clock - at the beginning of each event: now is the time of all that it decides. */
void agent_read_clock(struct agent *a);

/* ---- the parts of a tick ---- */

/* hold_idle - return blocks without pods, and those of pools that end. */
void hold_idle(struct agent *a);

/* claim_more - begin claims for the pools that run low. claim_tell - which needs have ended. */
void claim_more(struct agent *a);
void claim_tell(struct agent *a);
/* claim_start - claim this block. there: a list shows that it exists, and belongs to no node. */
void claim_start(struct agent *a, const struct block_key *key, bool there);
/*
 * claim_is_open - this node may claim and assign now. claim_cannot - no claim will help for a
 * while: *how is NEED_AWAY or NEED_REFUSED.
 */
bool claim_is_open(const struct agent *a, const struct agent_pool *p);
bool claim_cannot(const struct agent *a, const struct agent_pool *p, enum need_result *how);

/*
 * want_more - go on with the blocks that are wanted. want_next - when one is due; INT64_MAX: none.
 * want_missed - op->seen shows that op's block is not ours.
 */
void want_more(struct agent *a);
int64_t want_next(const struct agent *a);
void want_missed(struct agent *a, const struct op *op);

#endif
