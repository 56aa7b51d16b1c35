/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_blocks.h: the blocks of a shared pool. Nodes own blocks, and assign only addresses of their
 * own ones. Pure.
 *
 * Blocks lie on an absolute grid: a block starts at a multiple of its size. Ranges, excludes and
 * gateway only mask addresses of a block, so a change of them moves no block.
 *
 * The keys of a definition:
 *
 * - blockSize: addresses of a block, a power of two up to POOL_BLOCK_SIZE_MAX
 * - warm: free addresses that a node keeps ahead; default: blockSize
 * - idle: seconds after which a block without leases is returned; default: 600
 * - stickyKeep: seconds for which the address of a pod that ended waits for it; default: 86400.
 * Only with blockSize 1 and sticky, whose addresses move between nodes
 * - fence: "off" or "strict": whether a node that is cut off from the cluster stops assigning
 * - state, by default "open". "adopting": nodes bring the leases of their own pools of this name
 * into it, and each node assigns the addresses that it had before, see ipam/lease/adopt.h
 */
#ifndef RAILHEAD_IPAM_CONF_POOL_BLOCKS_H
#define RAILHEAD_IPAM_CONF_POOL_BLOCKS_H

#include "ipam/conf/source.h"

#define POOL_BLOCK_SIZE_MAX  65536
#define POOL_SHARED_NAME_MAX 30 /* longest name of a pool with blocks: block names contain it */
#define POOL_UID_MAX         39 /* longest uid of a pool in the cluster */

/*
 * pool_blocks_decode - the keys above of pool `name` with this subnet. Without blockSize, *out is
 * empty. ERR_CONFIG, ERR_DECODE, ERR_FIELD with key and value: also if the name is not a DNS label,
 * or if a block is larger than the subnet.
 */
int pool_blocks_decode(const char *name, const struct json *def, struct ip_prefix subnet,
		       struct pool_blocks *out, struct err *e) must_check;

/*
 * pool_state_of - the state of a definition; one that is not known is POOL_OPEN, as pool_decode()
 * refuses it.
 */
enum pool_state pool_state_of(const struct json *definition);

/* The keys above. */
extern const struct json_field pool_blocks_fields[];

/* pool_block_range - all addresses of the block of 2^bits addresses that contains a. */
struct ip_range pool_block_range(unsigned bits, struct ip a);

/*
 * pool_block_id - the id of a block as a source: "x" and the low 60 bits of its start. The ids of
 * other sources begin with a digit or a letter up to f. pool_block_of - the start of the block with
 * this id that contains a. False: it is the id of another kind of source.
 */
char *pool_block_id(struct ip start, char out[KEY_ID_LEN + 1]);
bool pool_block_of(const char *id, struct ip a, struct ip *start);

/*
 * pool_block_source - *out is the source of one block: a copy of the pool with the usable addresses
 * of the block and the block's id. It may have no usable address. The caller clears it. ERR_NOMEM.
 */
int pool_block_source(const struct source *pool, struct ip start, struct source *out,
		      struct err *e) must_check;

#endif
