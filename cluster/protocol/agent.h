/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h: which blocks of the shared pools a node has: claimed, confirmed, given up. Pure.
 *
 * The agent does no input or output. Its user calls it for each event. It calls its user for each
 * request to the cluster store, and for each change of the node's own store. The product and the
 * simulation of the tests run the same code.
 *
 * What must hold at each moment: an address of a block is assigned by one node only. A node assigns
 * from a block only if all of this is true: the block is BLOCK_GRANTED and confirmed in the present
 * epoch, the epoch is of this boot, and give_until has not passed. All of that stands in the node's
 * store. The transaction that assigns compares it, so that an agent that hangs cannot break it.
 *
 * An epoch ends with the boot, and (with a strict fence) when give_until passes. Its first step is
 * a renewal of the heartbeat, its second an update of each block. Who takes blocks of a dead node
 * reads the version of the block first, the heartbeat second, and takes with that version: either
 * it sees the renewal, or one of the two updates fails.
 */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_AGENT_H
#define RAILHEAD_CLUSTER_PROTOCOL_AGENT_H

#include "cluster/protocol/object.h"
#include "cluster/protocol/record.h"

struct agent_memory {
	struct node_record node;
	struct block_record *blocks;
	size_t n;
};

/* A request to the cluster store. */
enum agent_call { CALL_GET, CALL_LIST, CALL_CREATE, CALL_UPDATE, CALL_REMOVE };

struct agent_request {
	uint32_t id; /* of the reply */
	enum agent_call call;
	enum cluster_kind kind;
	char name[CLUSTER_NAME_LEN]; /* of a list: the prefix of the names */
	struct cluster_version at;   /* precondition of update and remove */
	struct block block;          /* the new value, by kind */
	struct heartbeat beat;
};

struct block_seen {
	struct block_key key;
	struct cluster_version at;
	struct block block;
};

struct agent_reply {
	uint32_t id;
	enum cluster_outcome outcome;
	struct cluster_version at;
	struct block block; /* by kind */
	struct heartbeat beat;
	struct shared_pool pool;
	const struct block_seen *list; /* of a list. Borrowed */
	size_t n_list;
};

/*
 * Calls of the agent. Changes of the node's store are durable and atomic when they return 0.
 * If one fails, the agent tries again later.
 */
struct agent_ops {
	/* send - a request; its reply comes with agent_reply(), later, or never after a restart. */
	void (*send)(void *arg, const struct agent_request *r);
	uint64_t (*random)(void *arg);
	/* put_block - insert or replace. drop_block - with all that it kept about addresses. */
	int (*put_block)(void *arg, const struct block_record *r);
	int (*drop_block)(void *arg, const struct block_key *key);
	/*
	 * retire_block - in one transaction: if no address of the block is assigned or cools down,
	 * make it BLOCK_RETURNING and return 0. 1: an address is in use. -1: the store failed.
	 */
	int (*retire_block)(void *arg, const struct block_key *key);
	int (*put_node)(void *arg, const struct node_record *r);
	/* used - addresses of the block in use; spare - addresses that the pool can assign now. */
	uint32_t (*used)(void *arg, const struct block_key *key);
	uint64_t (*spare)(void *arg, const char *pool);
};

struct agent_settings {
	const char *node; /* borrowed */
	const char *boot; /* id of this boot. Borrowed */
	int64_t hold;     /* nodeHold, ns */
	int64_t renew;    /* between two heartbeats, ns */
	int64_t retry;    /* before a request is repeated, ns; it grows, with jitter */
	int64_t ask;      /* how long an ask stands, ns */
	bool strict;      /* fence */
};

struct agent;

/*
 * agent_new - an agent with what the node's store has, which is copied. NULL: no memory.
 * agent_free - forget everything; nothing is sent.
 */
struct agent *agent_new(const struct agent_settings *settings, const struct agent_ops *ops,
			void *arg, const struct agent_memory *memory);
void agent_free(struct agent *a);

/* agent_set_pool - a pool is known, or has changed. agent_unset_pool - it is gone. */
int agent_set_pool(struct agent *a, const struct shared_pool *pool, struct err *e) must_check;
void agent_unset_pool(struct agent *a, const char *name);

/* agent_need - so many addresses of the pool are wanted beyond those that it can assign now. */
void agent_need(struct agent *a, const char *pool, uint64_t addresses);

/* agent_answer - the reply to a request. */
void agent_answer(struct agent *a, const struct agent_reply *reply);

/* agent_saw - a watch or a list shows a block in the name of this node. */
void agent_saw(struct agent *a, const struct block_seen *seen);

/*
 * agent_listed - a list of all blocks in the name of this node. A granted block that is not in it
 * is looked at; it may be younger than the list.
 */
void agent_listed(struct agent *a, const struct block_seen *seen, size_t n);

/* agent_return - give up a block if nothing of it is in use. */
void agent_return(struct agent *a, const struct block_key *key);

/* agent_tick - do what is due at `now` (CLOCK_BOOTTIME, ns). Returns when it wants to be called
 * next. */
int64_t agent_tick(struct agent *a, int64_t now);

#endif
