/* SPDX-License-Identifier: Apache-2.0 */
/* object.h: what the cluster store keeps for a shared pool: pools, blocks, heartbeats. */
#ifndef RAILHEAD_CLUSTER_PROTOCOL_OBJECT_H
#define RAILHEAD_CLUSTER_PROTOCOL_OBJECT_H

#include <string.h>

#include "cluster/protocol/grid.h"
#include "cluster/store/cluster_store.h"

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
	uint64_t touched;            /* grows with each confirmation: a new version */
	uint32_t used;               /* addresses in use, a hint for askers */
	char identity[IDENTITY_LEN]; /* the only one that gets its address; "": anyone */
	/*
	 * A block with an identity and no owner is parked: by this node, at this time, in seconds
	 * since 1970 by the clock of that node. Times only order parked blocks. parked_by stays
	 * until the next owner confirms the block or gives it up.
	 */
	char parked_by[NODE_NAME_LEN];
	int64_t parked;
	bool probe; /* taken from a node that did not give it up: probe an address before its first
		       use */
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
	bool sticky;   /* an address moves with its pod: a block has one, and an identity */
	int64_t keep;  /* ns for which a parked block waits for its pod; 0: for ever */
	int64_t idle;  /* ns after which a block without addresses in use is returned; 0: never */
};

/* Which block. */
struct block_key {
	char pool[GRID_POOL_MAX + 1];
	struct ip start;
};

/* block_key_equal - one and the same block. */
static inline bool block_key_equal(const struct block_key *a, const struct block_key *b)
{
	return ip_equal(a->start, b->start) && strcmp(a->pool, b->pool) == 0;
}

/* block_is_parked - no node has it, and its pod may come back. */
static inline bool block_is_parked(const struct block *b)
{
	return !*b->owner.node && *b->identity;
}

/* party_equal - the same node, holder and token. */
static inline bool party_equal(const struct block_party *a, const struct block_party *b)
{
	return a->token == b->token && strcmp(a->node, b->node) == 0 &&
	       strcmp(a->holder, b->holder) == 0;
}

#endif
