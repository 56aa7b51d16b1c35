/* SPDX-License-Identifier: Apache-2.0 */
/* ring.c: the steps and chunks of a ring allreduce, its vectors and their sums. */
#include "rdma/probe/ring.h"

#include <string.h>

#include "rdma/probe/pattern.h"

#define BLOCK 64 /* elements made at a time */

unsigned ring_steps(unsigned ranks)
{
	return 2 * (ranks - 1);
}

struct ring_step ring_step(unsigned rank, unsigned ranks, unsigned step)
{
	bool add = step < ranks - 1;
	/* After the first half a rank has the whole sum of the chunk after its own number. */
	unsigned back = add ? step : step - ranks;
	unsigned send = (rank + 2 * ranks - back) % ranks;

	return (struct ring_step){ send, (send + ranks - 1) % ranks, add };
}

struct ring_chunk ring_chunk(size_t elements, unsigned ranks, unsigned i)
{
	size_t each = elements / ranks, more = elements % ranks;

	return (struct ring_chunk){ i * each + (i < more ? i : more), each + (i < more) };
}

/*
 * Elements of one rank, from a multiple of BLOCK. A float has 11 bits, so that sums over 2^13 ranks
 * are exact.
 */
static void make_block(const struct ring_data *d, unsigned rank, size_t at, uint32_t out[BLOCK])
{
	pattern_fill(out, BLOCK * RING_ELEMENT,
		     pattern_key(d->seed, d->round * d->ranks + rank, at));
	for (size_t i = 0; d->type == RING_F32 && i < BLOCK; i++) {
		float f = (float)(out[i] >> 21);
		memcpy(&out[i], &f, sizeof(f));
	}
}

static size_t ring_block_at(const struct ring_data *d, size_t at)
{
	return d->elements - at < BLOCK ? d->elements - at : BLOCK;
}

void ring_fill(const struct ring_data *d, unsigned rank, void *vector)
{
	uint32_t block[BLOCK];

	for (size_t at = 0; at < d->elements; at += BLOCK) {
		make_block(d, rank, at, block);
		memcpy((uint8_t *)vector + at * RING_ELEMENT, block,
		       ring_block_at(d, at) * RING_ELEMENT);
	}
}

void ring_add(void *to, const void *from, size_t elements, enum ring_type type)
{
	uint32_t *u = to;
	float *f = to;

	for (size_t i = 0; type == RING_U32 && i < elements; i++)
		u[i] += ((const uint32_t *)from)[i];
	for (size_t i = 0; type == RING_F32 && i < elements; i++)
		f[i] += ((const float *)from)[i];
}

static double element_value(const uint32_t *element, enum ring_type type)
{
	float f;

	if (type == RING_U32)
		return *element;
	memcpy(&f, element, sizeof(f));
	return (double)f;
}

bool ring_check(const struct ring_data *d, const void *vector, struct ring_fault *fault)
{
	const uint32_t *got = vector;
	uint32_t sum[BLOCK], part[BLOCK];
	struct ring_fault found = { 0 };

	for (size_t at = 0; at < d->elements; at += BLOCK) {
		make_block(d, 0, at, sum);
		for (unsigned r = 1; r < d->ranks; r++) {
			make_block(d, r, at, part);
			ring_add(sum, part, BLOCK, d->type);
		}
		for (size_t i = 0; i < ring_block_at(d, at); i++) {
			if (got[at + i] == sum[i] || found.wrong++)
				continue;
			found.element = at + i;
			found.want = element_value(&sum[i], d->type);
			found.got = element_value(&got[at + i], d->type);
		}
	}
	if (!found.wrong)
		return true;
	*fault = found;
	return false;
}
