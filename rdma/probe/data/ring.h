/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: who sends which part when in a ring allreduce, and what must come out. Pure.
 *
 * The vector is cut into as many chunks as there are ranks. In ranks - 1 steps each chunk goes
 * once around the ring and gathers every rank's part of its sum; in as many more the sums go
 * around. Each step a rank sends one chunk to the next rank and receives one from the one before.
 */
#ifndef RAILHEAD_RDMA_PROBE_DATA_RING_H
#define RAILHEAD_RDMA_PROBE_DATA_RING_H

#include "lib/base/base.h"

enum ring_type { RING_U32, RING_F32 };
#define RING_ELEMENT 4u /* bytes, of either type */

/* Elements, not bytes. */
struct ring_chunk {
	size_t at, count;
};

struct ring_step {
	unsigned send, receive; /* chunks */
	bool add;               /* what is received is added, not put in place */
};

unsigned ring_steps(unsigned ranks);
struct ring_step ring_step(unsigned rank, unsigned ranks, unsigned step);

/* ring_chunk - chunk i of elements in all; sizes differ by one element at most, none is too many.
 */
struct ring_chunk ring_chunk(size_t elements, unsigned ranks, unsigned i);

/*
 * ring_slot - where the receiver keeps what arrives in a step, counted over all rounds: there are
 * as many slots as ranks. Then nobody has to ask before writing: a rank that sends step t has
 * received step t - 1, which took the rank after it to have sent t - ranks + 1, and that to have
 * used up what it received in step t - ranks, the last one that lay in this slot.
 */
static inline unsigned ring_slot(uint64_t step, unsigned ranks)
{
	return (unsigned)(step % ranks);
}

/* ring_add - to += from, elements of type. */
void ring_add(void *to, const void *from, size_t elements, enum ring_type type);

struct ring_fault {
	size_t element, wrong; /* the first wrong one, and how many are */
	double want, got;
};

/* What the vectors were made of. */
struct ring_data {
	enum ring_type type;
	size_t elements;
	unsigned ranks;
	uint64_t seed;
	uint32_t round; /* each has vectors of its own */
};

/* ring_fill - the vector of a rank. Floats are whole numbers, small enough for exact sums. */
void ring_fill(const struct ring_data *d, unsigned rank, void *vector);

/* ring_check - true when every element is the sum over all ranks; else *fault is filled. */
bool ring_check(const struct ring_data *d, const void *vector, struct ring_fault *fault);

#endif
