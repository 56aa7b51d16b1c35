/* SPDX-License-Identifier: Apache-2.0 */
/* judge_priv.h: what the files of the judge share. */
#ifndef RAILHEAD_RDMA_JOB_JUDGE_PRIV_H
#define RAILHEAD_RDMA_JOB_JUDGE_PRIV_H

#include "rdma/job/judge.h"

#define JUDGE_SAMPLES (1u << 20)
#define JUDGE_LEVELS  6u
#define JUDGE_SUM     (1u << 16) /* findings, tests of a round */

struct judge_sample {
	struct judge_test t;
	struct judge_result r;
};

/* What was measured in one direction of an end: out of it, or into it. */
struct judge_side {
	unsigned n, low[JUDGE_LEVELS]; /* results; those below each level of the usual rate */
	uint16_t partner[JUDGE_ENDS];  /* different ones of the low results */
	unsigned n_partners;
	double lowest;               /* ratio to the baseline */
	double rate, expected;       /* of the lowest, bytes a second */
	double chance[JUDGE_LEVELS]; /* share of such results among ends that are not suspected */
};

enum judge_stage { STAGE_REACH, STAGE_LOAD, STAGE_ALL, STAGE_AGAIN, STAGE_DONE };

struct judge {
	size_t n_ranks, n_rails;
	bool reach_only;
	struct judge_rank *ranks;
	uint64_t random;
	enum judge_stage stage;
	unsigned round, rail;
	/* The tests of a round; the first `begun` were handed out. The last batch is tests[from].
	 */
	struct judge_test *tests;
	size_t n_tests, begun, from;
	uint16_t *mask;    /* of each rank: rails in use in this batch */
	uint16_t *partner; /* of each rank in this batch */
	struct judge_sample *samples;
	size_t n_samples;
	struct judge_side *sides; /* of each end two: out, in */
	bool *bad;                /* of each end: no loads with it */
	uint8_t *met;             /* a bit for each kind, rail, rank and rank: they had a test */
	struct judge_finding *findings;
	size_t n_findings;
};

static inline size_t judge_at(const struct judge *j, unsigned rank, unsigned rail)
{
	return rank * j->n_rails + rail;
}

static inline const struct judge_rail *judge_rail_of(const struct judge *j, unsigned rank,
						     unsigned rail)
{
	return &j->ranks[rank].rails[rail];
}

/* judge_met - the bit of two ranks in j->met. */
static inline size_t judge_met(const struct judge *j, const struct judge_test *t)
{
	return ((t->kind * j->n_rails + t->rail) * j->n_ranks + t->a) * j->n_ranks + t->b;
}

/* judge_is_testable - the rank came, and the rail can be tested. */
static inline bool judge_is_testable(const struct judge *j, unsigned rank, unsigned rail)
{
	const struct judge_rail *r = judge_rail_of(j, rank, rail);

	return j->ranks[rank].here && r->present && !r->untestable;
}

/* judge_add_test - at the end of the round. judge_add_finding - returns it, or NULL without memory.
 */
int judge_add_test(struct judge *j, struct judge_test t, struct err *e) must_check;
struct judge_finding *judge_add_finding(struct judge *j, enum judge_cause cause, bool fails,
					struct err *e);

/*
 * judge_match.c: judge_match_all - a partner of the rail for each end that is not bad, in its leaf
 * and of its model where there is one. judge_match_some - for the ends with want[] alone, with
 * others that are not bad; the rest among themselves. Neither takes a partner twice while there is
 * another.
 */
int judge_match_all(struct judge *j, enum judge_kind kind, unsigned rail, struct err *e) must_check;
int judge_match_some(struct judge *j, enum judge_kind kind, unsigned rail, const bool *want,
		     struct err *e) must_check;
/* judge_match_leaves - one test for each pair of leaves that this round has. *rounds: how many. */
int judge_match_leaves(struct judge *j, unsigned rail, unsigned round, unsigned *rounds,
		       struct err *e) must_check;

/* judge_reach.c: judge_reach_failed - mark ends whose last test of the rail failed in want[].
 * judge_reach - findings about reach; marks bad ends. judge_facts - about what the ranks said. */
size_t judge_reach_failed(const struct judge *j, unsigned rail, bool *want);
int judge_reach(struct judge *j, struct err *e) must_check;
int judge_compare(struct judge *j, struct err *e) must_check;

/* judge_rates.c: judge_rates - the sides of one kind of test. judge_doubt_of - whether one more
 * test of the end would say more: its results were low, sometimes or always. judge_slow - the
 * findings. */
int judge_rates(struct judge *j, enum judge_kind kind, struct err *e) must_check;
enum judge_doubt { DOUBT_NONE, DOUBT_SOMETIMES, DOUBT_ALWAYS };
enum judge_doubt judge_doubt_of(const struct judge *j, size_t end);
int judge_slow(struct judge *j, struct err *e) must_check;

/* judge_gather.c: judge_gather - one finding for a whole rank, leaf or rail instead of many. */
void judge_gather(struct judge *j);

#endif
