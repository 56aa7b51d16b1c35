/* SPDX-License-Identifier: Apache-2.0 */
/* object.h: what the cluster store keeps for a shared pool: pools, blocks, heartbeats. */
#ifndef RAILHEAD_IPAM_BLOCK_OBJECT_H
#define RAILHEAD_IPAM_BLOCK_OBJECT_H

#include <string.h>

#include "ipam/block/grid.h"
#include "ipam/block/version.h"

/* A name of a node: a DNS label or subdomain that fits into a label value of Kubernetes. */
#define NODE_NAME_LEN 64
/* 128 random bits in hexadecimal digits, made with the store of the node. */
#define HOLDER_LEN 33

/* "NAMESPACE/POD/INTERFACE": whose address it is, in a pool whose sticky addresses move. */
#define IDENTITY_LEN 336

/* The owner of a block, or a node that asks for it. Two machines of one name have two holders. */
struct block_party {
	char node[NODE_NAME_LEN]; /* "": no node */
	char holder[HOLDER_LEN];
	uint64_t token; /* random, one for each claim and each ask */
};

/* Addresses of one block that its owner lends at the same time. */
#define LOANS_MAX 8
/* asks_one: any address of the block will do. */
#define LOAN_ANY UINT32_MAX

/*
 * One address of a block that its owner lends to another node. The owner offers it and removes it.
 * The borrower writes `taken` before it assigns the address, and `returned` when it never will
 * again. An offer that is not taken may be removed at any time.
 */
struct loan {
	uint32_t at;           /* the address: so many after the start of the block */
	bool taken, returned;  /* written by the borrower */
	struct block_party to; /* the borrower, and the token of its ask */
	int64_t since;         /* of the owner's own record: when it was offered; not stored */
};

struct block {
	char pool_uid[CLUSTER_UID_LEN];
	struct block_party owner;
	struct block_party asker; /* the node that wants it; "" if none does */
	bool contested; /* the asker had the block, and its pods live in it: see contest.c */
	/*
	 * The owner's answer: its own pods live in it, too. To the target of a migration: its pod
	 * has the address, and probed it.
	 */
	bool kept;
	/*
	 * The asker runs the machine of the identity beside the owner, because it migrates. The
	 * owner hands the block over when it gives it up. Until then both may have the address.
	 */
	bool migrates;
	uint32_t asks_one; /* the asker takes a loan, too: `at` + 1, or LOAN_ANY; 0: it does not */
	uint64_t touched;  /* each confirmation adds 1: a new version */
	uint32_t used;     /* addresses in use, a hint for askers */
	char identity[IDENTITY_LEN]; /* the only one that gets its address; "": anyone */
	/*
	 * A block with an identity and no owner is parked: by this node, at this time, in seconds
	 * since 1970 by the clock of that node. Times only order parked blocks. parked_by stays
	 * until the next owner confirms the block or gives it up. The source of a migration writes
	 * it, too, when it hands over a block that it had granted.
	 */
	char parked_by[NODE_NAME_LEN];
	int64_t parked;
	bool probe; /* taken from a node that did not give it up: probe an address before its first
		       use */
	unsigned n_loans;
	struct loan loans[LOANS_MAX]; /* at the end: see block_seen_copy() */
};

/* The heartbeat of a node. */
struct heartbeat {
	char holder[HOLDER_LEN];
	char boot[40];
	char machine[40]; /* DMI UUID; "": not known */
	uint64_t count;
	bool twin; /* two machines have this name: neither goes on before the heartbeat is deleted
		    */
};

#define AGENT_VERSION_LEN 32

/* A node, as its agent describes it, and what an operator says about it. */
struct cluster_node {
	char holder[HOLDER_LEN];
	char boot[40];
	char machine[40];                /* DMI UUID; "": not known */
	char version[AGENT_VERSION_LEN]; /* of the agent */
	/*
	 * The machine is off: `evidence` is its heartbeat at that moment ("": it had none). Void
	 * once the heartbeat is another one.
	 */
	bool forgotten;
	struct cluster_version evidence;
};

/* A shared pool, as far as blocks are concerned. */
struct shared_pool {
	char name[GRID_POOL_MAX + 1];
	char uid[CLUSTER_UID_LEN];
	bool ending;   /* being deleted */
	bool conflict; /* overlaps an older pool */
	struct grid grid;
	bool strict;   /* fence: a node that cannot renew stops assigning */
	uint64_t warm; /* free addresses that a node keeps ahead */
	bool lends;    /* nodes lend each other single addresses, if no block is left */
	bool sticky;   /* an address moves with its pod: a block has one, and an identity */
	int64_t keep;  /* ns for which a parked block waits for its pod; 0: for ever */
	int64_t idle;  /* ns after which a block without addresses in use is returned; 0: never */
};

/* Which block, or which address of a block that another node lends. */
struct block_key {
	char pool[GRID_POOL_MAX + 1];
	struct ip start; /* of the block */
	uint32_t one; /* 0: the whole block; else the loan of the address `one` - 1 after start */
};

/* block_key_equal - one and the same block. */
static inline bool block_key_equal(const struct block_key *a, const struct block_key *b)
{
	return a->one == b->one && ip_equal(a->start, b->start) && strcmp(a->pool, b->pool) == 0;
}

/* block_is_parked - no node has it, and its pod may come back. */
static inline bool block_is_parked(const struct block *b)
{
	return !*b->owner.node && *b->identity;
}

/* block_is_asked_for - an ask stands that has no answer: nobody else may ask. */
static inline bool block_is_asked_for(const struct block *b)
{
	return *b->asker.node && !(b->contested && b->kept);
}

/* party_equal - the same node, holder and token. */
static inline bool party_equal(const struct block_party *a, const struct block_party *b)
{
	return a->token == b->token && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->holder, b->holder) == 0;
}

#endif
