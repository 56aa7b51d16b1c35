/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_ops.h: the calls that the user of the agent implements: requests, and changes of the store
 * of the node. Pure.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_AGENT_OPS_H
#define RAILHEAD_CLUSTER_PROTOCOL_AGENT_OPS_H

#include "cluster/store/cluster_store.h"
#include "ipam/block/object.h"
#include "ipam/block/record.h"

/*
 * A request to the cluster store. A restored store uses versions again. So an update or a removal
 * of a block has a second precondition: the value is that of `was`.
 */
enum agent_call { CALL_GET, CALL_LIST, CALL_CREATE, CALL_UPDATE, CALL_REMOVE };

struct agent_request {
	uint32_t id; /* of the reply */
	enum agent_call call;
	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN]; /* of a list: the prefix of the names */
	struct cluster_version at;   /* precondition of update and remove */
	struct block was;            /* what the block was at that version: see below */
	struct block block;          /* the new value, by kind */
	struct heartbeat beat;
	/* Of the creation of a block: read this pool after it, and if the block exists name those
	 * that begin so. A store may leave out both. "": not wanted. */
	char pool[GRID_POOL_MAX + 1];
	char names[GRID_NAME_LEN];
	bool rank;     /* of a write of the heartbeat: a number that few other nodes have */
	bool unlisted; /* of an update: a list of our blocks lacked this one */
};

struct block_seen {
	struct block_key key;
	struct cluster_version at;
	struct block block;
};

/* Items of a list have room for their loans only: the bytes of one, and a copy of it as a value. */
size_t block_seen_size(const struct block_seen *s);
void block_seen_copy(struct block_seen *to, const struct block_seen *item);

struct agent_reply {
	uint32_t id;
	enum cluster_outcome outcome;
	bool unreadable; /* CLUSTER_AWAY, because the object there is not understood */
	int64_t pause; /* the store asks to wait so long before the next try, ns; 0: it does not */
	struct cluster_version at;
	struct block block; /* by kind */
	struct heartbeat beat;
	struct shared_pool pool;
	/* Of a creation: the store has read the pool after it, and there it is. */
	bool pool_read, pool_there;
	bool ranked;
	uint64_t rank; /* of the heartbeat */
	/* Of a list. Of a creation that found the block there: those beside it, keys only. */
	const struct block_seen *const *list; /* borrowed; never copied by `=` */
	size_t n_list;
};

/* How an agent_need() ended. */
enum need_result {
	NEED_MET,  /* the pool can assign so many addresses now: try again */
	NEED_FULL, /* each block of the pool has an owner, and none gave one up */
	NEED_AWAY, /* the cluster store does not answer */
	/* The pool ends or overlaps another one; the store refused claims; or agent_health(). */
	NEED_REFUSED,
	NEED_HELD, /* of an identity: its pod lives */
};

#define POOL_HOLDERS_MAX 3
/* The owners of the blocks of a pool that is full, as the last list shows them. */
struct pool_holders {
	uint64_t blocks, nodes; /* with an owner, and owners; 0: not known */
	uint64_t free;          /* addresses in blocks of other nodes, as those nodes say */
	struct {
		char node[NODE_NAME_LEN];
		uint64_t blocks;
	} most[POOL_HOLDERS_MAX]; /* those with the most blocks first; blocks 0: no more */
};

/* How far the agent is with one certain block, see agent_want(). */
struct want_answer {
	bool ended;
	/*
	 * NEED_MET: this node can assign the address, or those of the block, now. NEED_FULL: `node`
	 * has the block and keeps it ("": not known). NEED_AWAY, NEED_REFUSED: as of a need.
	 */
	enum need_result how;
	char node[NODE_NAME_LEN];
	uint32_t used; /* addresses of the block in use, as its owner says; 0: it gave no answer */
};

/*
 * Calls of the agent. Changes of the node's store are durable and atomic when they return 0.
 * If one fails, the agent tries again later.
 */
struct agent_ops {
	/* send - a request. agent_answer() brings its reply, or after a restart nothing does. */
	void (*send)(void *arg, const struct agent_request *r);
	uint64_t (*random)(void *arg);
	int64_t (*now)(void *arg); /* CLOCK_BOOTTIME, ns */
	/* put_block - insert or replace; what it lends stays. put_loans - that, too, at once. */
	int (*put_block)(void *arg, const struct block_record *r);
	int (*put_loans)(void *arg, const struct block_record *r, const struct lending *l);
	/*
	 * drop_block - in one transaction: if no address of the block is in use or lent, delete the
	 * record with all that is kept about its addresses, and return 0. 1: one is, and nothing
	 * changed. -1: the store failed. A block without a record: 0.
	 */
	int (*drop_block)(void *arg, const struct block_key *key);
	/*
	 * retire_block - in one transaction: if no address of the block is assigned or cools down,
	 * make it BLOCK_RETURNING and return 0. 1: an address is in use. -1: the store failed.
	 */
	int (*retire_block)(void *arg, const struct block_key *key);
	/*
	 * lend - in one transaction: choose an address of a granted block that is not assigned,
	 * does not cool down and is not lent. one: as in struct block. Write it into the record as
	 * a loan that is not taken, durably, and to *out; return 0. 1: there is none. -1: the store
	 * failed.
	 */
	int (*lend)(void *arg, const struct block_key *key, uint32_t one,
		    const struct block_party *to, struct loan *out);
	int (*put_node)(void *arg, const struct node_record *r);
	/*
	 * used - addresses of the block in use, and those that are lent; without those of loans
	 * that this node has. All, if the store fails. spare - addresses that the pool can assign
	 * now; very many, if the store fails: no claim would help.
	 */
	uint32_t (*used)(void *arg, const struct block_key *key);
	uint64_t (*spare)(void *arg, const char *pool);
	/* probed - pods have addresses of the block, and none of these waits for a probe. */
	bool (*probed)(void *arg, const struct block_key *key);
	/* met - how an agent_need() ended. It must not call the agent. */
	void (*met)(void *arg, const char *pool, enum need_result result);
	/* Of pools whose sticky addresses move. wall - seconds since 1970. */
	int64_t (*wall)(void *arg);
	/*
	 * identity_done - how an agent_need_identity() ended. held: of NEED_HELD, the block; else
	 * NULL. It must not call the agent.
	 */
	void (*identity_done)(void *arg, const char *pool, const char *identity,
			      enum need_result result, const struct block_seen *held);
};

#endif
