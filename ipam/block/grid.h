/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grid.h: how the subnet of a shared pool is cut into blocks, and in which order a node tries them.
 * Pure.
 *
 * Blocks lie on an absolute grid: a block starts at a multiple of its size. So blocks of one pool
 * never overlap, whatever the ranges of the pool are and were. Ranges only decide which blocks are
 * worth a claim.
 */
#ifndef RAILHEAD_IPAM_BLOCK_GRID_H
#define RAILHEAD_IPAM_BLOCK_GRID_H

#include "ipam/conf/ranges.h"

struct grid {
	struct ip_prefix subnet;     /* host bits zero */
	unsigned bits;               /* a block has 2^bits addresses */
	const struct ranges *usable; /* of the pool, inside the subnet. Borrowed */
};

/* grid_start - the first address of the block that contains ip. */
struct ip grid_start(const struct grid *g, struct ip ip);

/* grid_count - the number of blocks that have a usable address. */
u128 grid_count(const struct grid *g);

/* grid_nth - the start of block number i, in the order of addresses; i < grid_count(). */
struct ip grid_nth(const struct grid *g, u128 i);

/* grid_has - whether a block starts at `start` and has a usable address. */
bool grid_has(const struct grid *g, struct ip start);

/* grid_usable - the number of usable addresses in the block that starts at `start`. */
u128 grid_usable(const struct grid *g, struct ip start);

/*
 * The name of a block in the cluster store: POOL-HEX, where HEX is its start in 32 hexadecimal
 * digits. pool: a DNS label of at most GRID_POOL_MAX bytes. grid_parse() reads the second part.
 */
#define GRID_POOL_MAX 30
#define GRID_NAME_LEN (GRID_POOL_MAX + 34)
char *grid_name(const char *pool, struct ip start, char out[GRID_NAME_LEN]);
int grid_parse(const char *name, enum ip_family family, char pool[GRID_POOL_MAX + 1],
	       struct ip *start) must_check;

/*
 * An order of n blocks: a permutation that is computed, never stored. Two seeds give different
 * orders, so that nodes which start together rarely try the same blocks.
 */
struct grid_order {
	u128 n, step, first;
};

/* grid_order - the order of n blocks for a seed (a hash of the node's name and of the pool). */
struct grid_order grid_order(u128 n, uint64_t seed);

/* grid_order_at - the number of the block to try at position i; i < n. */
u128 grid_order_at(const struct grid_order *o, u128 i);

/* grid_hash - a seed out of two texts (FNV-1a, 64 bits, then mixed). */
uint64_t grid_hash(const char *a, const char *b);

#endif
