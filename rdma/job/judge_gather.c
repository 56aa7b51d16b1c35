/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge_gather.c: many findings of one cause that have one reason: a rank with all of its rails, a
 * leaf with most of its ends, a rail with most of its ranks.
 */
#include "rdma/job/judge_priv.h"

#define GATHER_LEAF 3u /* ends of a leaf at least */

enum gather { GATHER_RANK, GATHER_OF_LEAF, GATHER_RAIL };

/* True if the end is of the same rank, leaf or rail as x. */
static bool is_of(struct judge_end x, enum gather by, struct judge_end end)
{
	switch (by) {
	case GATHER_RANK:
		return end.rank == x.rank;
	case GATHER_OF_LEAF:
		return end.leaf == x.leaf && end.leaf != JUDGE_NONE;
	case GATHER_RAIL:
		return end.rail == x.rail;
	}
	return false;
}

static size_t count_ends(const struct judge *j, struct judge_end x, enum gather by)
{
	size_t n = 0;

	for (unsigned i = 0; i < j->n_ranks; i++) {
		for (unsigned rail = 0; rail < j->n_rails; rail++) {
			const struct judge_end end = { (uint16_t)i, (uint8_t)rail,
						       judge_rail_of(j, i, rail)->leaf };
			n += judge_is_testable(j, i, rail) && is_of(x, by, end);
		}
	}
	return n;
}

static bool is_single(const struct judge_finding *f, enum judge_cause cause)
{
	return f->cause == cause && f->n_ends == 1 && f->ends[0].rank != JUDGE_NONE &&
	       f->ends[0].rail != JUDGE_EVERY;
}

static struct judge_end gathered(struct judge_end x, enum gather by)
{
	switch (by) {
	case GATHER_RANK:
		return (struct judge_end){ x.rank, JUDGE_EVERY, JUDGE_NONE };
	case GATHER_OF_LEAF:
		return (struct judge_end){ JUDGE_NONE, x.rail, x.leaf };
	case GATHER_RAIL:
		return (struct judge_end){ JUDGE_NONE, x.rail, JUDGE_NONE };
	}
	return x;
}

/* Keep the first of them, for all, and drop the others. */
static void gather_one(struct judge *j, size_t first, enum gather by)
{
	const struct judge_finding f = j->findings[first];
	size_t n = 0, all = count_ends(j, f.ends[0], by), kept = first + 1;

	for (size_t i = first; i < j->n_findings; i++)
		n += is_single(&j->findings[i], f.cause) &&
		     is_of(f.ends[0], by, j->findings[i].ends[0]);
	if (by == GATHER_RANK ? n < 2 || n < all : n < GATHER_LEAF || 4 * n < 3 * all)
		return;
	j->findings[first].ends[0] = gathered(f.ends[0], by);
	for (size_t i = first + 1; i < j->n_findings; i++) {
		const struct judge_finding *x = &j->findings[i];
		if (is_single(x, f.cause) && is_of(f.ends[0], by, x->ends[0])) {
			if (x->way != f.way)
				j->findings[first].way = JUDGE_BOTH;
			continue;
		}
		j->findings[kept++] = *x;
	}
	j->n_findings = kept;
}

void judge_gather(struct judge *j)
{
	for (enum gather by = GATHER_RANK; by <= GATHER_RAIL; by++) {
		for (size_t i = 0; i < j->n_findings; i++) {
			if (is_single(&j->findings[i], j->findings[i].cause))
				gather_one(j, i, by);
		}
	}
}
