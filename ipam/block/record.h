/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h: the blocks in a node's own store, what they lend, and the rule that every ADD compares.
 * Pure.
 */
#ifndef RAILHEAD_IPAM_BLOCK_RECORD_H
#define RAILHEAD_IPAM_BLOCK_RECORD_H

#include "ipam/block/object.h"

/* block_key_whole - the block of a loan. block_key_ip - the address of a loan; else the start. */
static inline struct block_key block_key_whole(const struct block_key *k)
{
	struct block_key whole = *k;

	whole.one = 0;
	return whole;
}

static inline struct ip block_key_ip(const struct block_key *k)
{
	struct ip ip = k->start;

	ip.v += k->one ? k->one - 1 : 0;
	return ip;
}

enum block_state {
	BLOCK_WANTED,    /* a create or a take with this token may be under way */
	BLOCK_ASKED,     /* its owner was asked for it, with this token */
	BLOCK_GRANTED,   /* ours */
	BLOCK_RETURNING, /* ours, nothing is assigned from it any more */
	BLOCK_CONTESTED, /* the store does not say that it is ours, and our pods live in it */
	BLOCK_LOST,      /* the same, and another node has confirmed that it has it */
};

/* A block, or the loan of one address, in the node's own store. */
struct block_record {
	struct block_key key;
	enum block_state state;
	uint64_t token;
	uint64_t epoch; /* in which it was confirmed; 0: it was not */
	bool probe;
	char identity[IDENTITY_LEN]; /* as in struct block */
	/* Contested or lost since then, ns since 1970; 0: it is not. Only the node's store sets it.
	 */
	int64_t since;
	bool unwanted;              /* the pool was gone when the block was claimed */
	int64_t taken;              /* a loan: when it began, by the agent's clock; not stored */
	char lender[NODE_NAME_LEN]; /* a loan: who had the block when it was confirmed, or "" */
};

/*
 * The addresses of a block that this node lends: it assigns none of them. Most blocks lend none, so
 * that the loans are beside the record. Without a loan the key may be all zero.
 */
struct lending {
	struct block_key key; /* of the whole block */
	struct loan loans[LOANS_MAX];
	unsigned n;
};

/* The node, in its own store. */
struct node_record {
	char holder[HOLDER_LEN];
	char boot[40];               /* of the last renewal */
	uint64_t epoch;              /* grows; 0: never renewed */
	int64_t give_until;          /* CLOCK_BOOTTIME, ns; INT64_MAX: no limit */
	int64_t fence_until;         /* the same, for pools with a strict fence */
	struct cluster_version beat; /* of our heartbeat; "": not known */
	uint64_t beats;
	int64_t frozen; /* CLOCK_BOOTTIME, ns: until then no claims and returns; 0: not frozen */
	bool strays;    /* blocks may show loans to this node without a record: it looks for them */
};

/* loans_find - of n loans the one of the address `at`; NULL: none. */
static inline const struct loan *loans_find(const struct loan *loans, unsigned n, u128 at)
{
	for (unsigned i = 0; i < n; i++) {
		if (loans[i].at == at)
			return &loans[i];
	}
	return NULL;
}

/*
 * block_lent - the loan of the address that is `at` after the start of the block; NULL: none.
 * block_lent_ip - the address of the i-th loan.
 */
static inline const struct loan *block_lent(const struct lending *l, u128 at)
{
	return loans_find(l->loans, l->n, at);
}

static inline struct ip block_lent_ip(const struct lending *l, unsigned i)
{
	struct ip ip = l->key.start;

	ip.v += l->loans[i].at;
	return ip;
}

/* block_borrower - a node to which the owner of the block lends an address; NULL: none. */
static inline const char *block_borrower(const struct block *b)
{
	for (unsigned i = 0; i < b->n_loans; i++) {
		if (b->loans[i].taken && !b->loans[i].returned)
			return b->loans[i].to.node;
	}
	return NULL;
}

/*
 * node_may_give, block_may_give - the rule that the transaction of an ADD compares: whether the
 * node, at `now` in boot `boot`, may assign from a pool with this fence at all, and an address of
 * this block.
 */
static inline bool node_may_give(const struct node_record *node, bool strict, const char *boot,
				 int64_t now)
{
	return node->epoch > 0 && now < node->give_until && (!strict || now < node->fence_until) &&
	       strcmp(node->boot, boot) == 0;
}

static inline bool block_may_give(const struct node_record *node, const struct block_record *r)
{
	return r->state == BLOCK_GRANTED && r->epoch == node->epoch;
}

/* block_is_in_conflict - our pods live in it, and the store does not say that it is ours. */
static inline bool block_is_in_conflict(const struct block_record *r)
{
	return r->state == BLOCK_CONTESTED || r->state == BLOCK_LOST;
}

/* The protocol's part of the store of a node, when the agent starts. */
struct agent_memory {
	struct node_record node;
	struct block_record *blocks;
	size_t n;
	struct lending *lendings; /* of the blocks that lend addresses; others may be there, too */
	size_t n_lendings;
};

#endif
