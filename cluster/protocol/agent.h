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

#include "cluster/protocol/agent_ops.h"

struct agent_settings {
	const char *node;    /* borrowed */
	const char *boot;    /* id of this boot. Borrowed */
	int64_t hold;        /* nodeHold, ns */
	int64_t renew;       /* between two heartbeats, ns */
	int64_t retry;       /* before a request is repeated, ns; it grows, with jitter */
	int64_t ask;         /* how long an ask stands, ns */
	const char *machine; /* DMI UUID; NULL: not known. Borrowed */
	bool strict;         /* fence */
	bool ranges;         /* see struct cluster_store_ops: lists_ranges */
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

/*
 * agent_know - a record that the node's store has got without the agent (ipam/lease/adopt.h). If
 * the agent knows the block already, nothing changes. -1: no memory. agent_pool_conflicts - how
 * many blocks of a pool are contested or lost. agent_pool_blocks - how many records and operations
 * the agent has of a pool.
 */
int agent_know(struct agent *a, const struct block_record *r) must_check;
size_t agent_pool_conflicts(const struct agent *a, const char *pool);
size_t agent_pool_blocks(const struct agent *a, const char *pool);

/*
 * agent_need - callers wait until the pool can assign so many addresses; 0: no caller waits any
 * more. A new call replaces the one before it. How it ends is said once by ops->met(), from
 * agent_tick() or agent_answer(). False: the pool is not known, and nothing will be said.
 */
bool agent_need(struct agent *a, const char *pool, uint64_t addresses);

/* agent_holders - after NEED_FULL: who has the blocks. */
struct pool_holders agent_holders(const struct agent *a, const char *pool);

/*
 * agent_want - callers wait for one certain block, because an ADD requests an address of it. The
 * agent claims it if no node has it. Else it asks the owner, which hands the block over if it is
 * empty. With key->one it may also lend that address. A second call changes nothing. False: the
 * pool is not known, or there was no memory. agent_wanted - after each event: how far it is. A
 * block that was not wanted has ended with NEED_REFUSED. agent_unwant - no caller waits any more.
 * Requests that were sent go on.
 */
bool agent_want(struct agent *a, const struct block_key *key);
struct want_answer agent_wanted(const struct agent *a, const struct block_key *key);
void agent_unwant(struct agent *a, const struct block_key *key);

/*
 * agent_need_identity - a pod of this identity starts here, in a pool whose sticky addresses move.
 * How it ends is said once by ops->identity_done(). False: the pool is not known, or there is no
 * memory, and nothing will be said. A block that was found for a pod that does not come is parked.
 * migrates: its source may live on another node, and both have the address until the source ends.
 */
bool agent_need_identity(struct agent *a, const char *pool, const char *identity, bool migrates);

/* agent_answer - the reply to a request. */
void agent_answer(struct agent *a, const struct agent_reply *reply);

/*
 * agent_heard - the cluster store answers, as another request showed. Requests that wait because
 * there was no answer are sent again soon.
 */
void agent_heard(struct agent *a);

/* agent_saw - a watch or a list shows a block in the name of this node. */
void agent_saw(struct agent *a, const struct block_seen *seen);

/*
 * agent_listed - a list of all blocks in the name of this node. A granted block that is not in it
 * is looked at; it may be younger than the list.
 */
void agent_listed(struct agent *a, const struct block_seen *seen, size_t n);

/*
 * agent_gone - a watch shows that a block was in the name of this node, and is not any more: it was
 * deleted, or has another owner.
 */
void agent_gone(struct agent *a, const struct block_key *key);

/* agent_return - give up a block if nothing of it is in use. */
void agent_return(struct agent *a, const struct block_key *key);

/*
 * agent_tick - do what is due at `now` (CLOCK_BOOTTIME, ns). Returns when it wants to be called
 * next: later than now; INT64_MAX: nothing is due. Call it after each event, too: after a reply, a
 * change that a watch shows, a need, the end of a pod.
 */
int64_t agent_tick(struct agent *a, int64_t now);

/* The state of the node, for an operator. */
enum agent_health {
	AGENT_OK,
	AGENT_UNCONFIRMED, /* no renewal has succeeded in this boot or since the fence passed */
	AGENT_FROZEN,      /* the store was restored: no claims and returns for a while */
	AGENT_TWIN,        /* another machine has the name of this node */
};
enum agent_health agent_health(const struct agent *a);

/* agent_conflicts - how many blocks are contested or lost. */
size_t agent_conflicts(const struct agent *a);

#endif
