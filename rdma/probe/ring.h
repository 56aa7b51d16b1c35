/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h: the steps of a ring allreduce, and its result. Pure.
 *
 * The vector is cut into one chunk for each rank. In ranks - 1 steps each chunk goes once around
 * the ring, and each rank adds its part. In ranks - 1 more steps the sums go around. In each step a
 * rank sends one chunk to the next rank, and receives one from the rank before.
 */
#ifndef RAILHEAD_RDMA_PROBE_RING_H
#define RAILHEAD_RDMA_PROBE_RING_H

#include "lib/base/base.h"

enum ring_type { RING_U32, RING_F32 };
#define RING_ELEMENT 4u /* bytes, of either type */

/* Elements, not bytes. */
struct ring_chunk {
	size_t at, count;
};

struct ring_step {
	unsigned send, receive; /* chunks */
	bool add;               /* add the received chunk; false: copy it */
};

/* ring_steps - the number of steps: 2 * (ranks - 1). ring_step - one of them, from 0, for a rank.
 */
unsigned ring_steps(unsigned ranks);
struct ring_step ring_step(unsigned rank, unsigned ranks, unsigned step);

/* ring_chunk - chunk i of a vector of so many elements. Sizes differ by at most one; 0 is possible.
 */
struct ring_chunk ring_chunk(size_t elements, unsigned ranks, unsigned i);

/*
 * ring_slot - the slot in which the receiver of a step keeps its chunk. Steps count over all
 * rounds, and there is one slot for each rank. So a rank may write without a request. A rank that
 * sends step t has received step t - 1. For that the next rank must have sent step t - ranks + 1.
 * Before that, the next rank has used the chunk of step t - ranks, the last one in this slot.
 * Example with ranks = 3: steps 0, 3 and 6 use slot 0. A rank that sends step 3 has received step 2
 * from the rank before. The next rank has sent step 1 by then, and so it has used step 0.
 */
static inline unsigned ring_slot(uint64_t step, unsigned ranks)
{
	return (unsigned)(step % ranks);
}

/* ring_add - add `elements` elements of this type: to += from. */
void ring_add(void *to, const void *from, size_t elements, enum ring_type type);

struct ring_fault {
	size_t element, wrong; /* the first wrong one, and the number of wrong ones */
	double want, got;
};

/* The parameters from which all vectors are computed. */
struct ring_data {
	enum ring_type type;
	size_t elements;
	unsigned ranks;
	uint64_t seed;
	uint32_t round; /* each round has other vectors */
};

/* ring_fill - write the vector of a rank. Floats are small integers, so that sums are exact. */
void ring_fill(const struct ring_data *d, unsigned rank, void *vector);

/* ring_check - true if each element is the sum over all ranks; else false, with *fault set. */
bool ring_check(const struct ring_data *d, const void *vector, struct ring_fault *fault);

#endif
