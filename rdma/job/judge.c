/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c: the order of the tests: reach, one rail after the other, all rails at once, and what is
 * still in doubt. */
#include <string.h>

#include "lib/base/array.h"
#include "rdma/job/judge_priv.h"

#define LEAF_ROUNDS  72u /* of pairs of leaves, which take a short time each */
#define REACH_AGAIN  3u  /* rounds for ends that failed */
#define LOAD_ALL     2u  /* rounds of all ends */
#define LOAD_MOST    10u /* rounds with those for suspects */
#define ALL_MOST     8u
#define AGAIN_ROUNDS 20u /* rounds for those that are still in doubt at the end */

/* ---- a judge ---- */

int judge_new(const struct judge_facts *facts, struct judge **out, struct err *e)
{
	size_t ends = facts->n_ranks * facts->n_rails;
	auto_judge struct judge *j = NULL;

	if (!facts->n_ranks || facts->n_ranks > JUDGE_RANKS || !facts->n_rails ||
	    facts->n_rails > JUDGE_RAILS)
		return err_set(e, ERR_CONFIG, 0,
			       "%zu ranks with %zu rails: 1 to %u ranks with 1 to %u rails",
			       facts->n_ranks, facts->n_rails, JUDGE_RANKS, JUDGE_RAILS);
	j = calloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	j->n_ranks = facts->n_ranks;
	j->n_rails = facts->n_rails;
	j->random = facts->seed;
	j->reach_only = facts->reach_only;
	j->ranks = calloc(j->n_ranks, sizeof(*j->ranks));
	j->mask = calloc(j->n_ranks, sizeof(*j->mask));
	j->partner = calloc(j->n_ranks, sizeof(*j->partner));
	j->sides = calloc(2 * ends, sizeof(*j->sides));
	j->bad = calloc(ends, sizeof(*j->bad));
	j->met = calloc((JUDGE_ALL + 1) * ends * j->n_ranks / 8 + 1, 1);
	if (!j->ranks || !j->mask || !j->partner || !j->sides || !j->bad || !j->met)
		return err_nomem(e);
	memcpy(j->ranks, facts->ranks, j->n_ranks * sizeof(*j->ranks));
	*out = TAKE_PTR(j);
	return 0;
}

void judge_free(struct judge **judge)
{
	struct judge *j = *judge;

	if (!j)
		return;
	*judge = NULL;
	free(j->ranks);
	free(j->tests);
	free(j->mask);
	free(j->partner);
	free(j->samples);
	free(j->sides);
	free(j->bad);
	free(j->met);
	free(j->findings);
	free(j);
}

int judge_add_test(struct judge *j, struct judge_test t, struct err *e)
{
	return ARRAY_PUSH(j->tests, j->n_tests, JUDGE_SUM, "tests of a round", t, e);
}

struct judge_finding *judge_add_finding(struct judge *j, enum judge_cause cause, bool fails,
					struct err *e)
{
	if (ARRAY_GROW(j->findings, j->n_findings, JUDGE_SUM, "findings", e))
		return NULL;
	struct judge_finding *f = &j->findings[j->n_findings++];
	*f = (struct judge_finding){ .cause = cause, .fails = fails };
	for (size_t i = 0; i < JUDGE_ENDS; i++)
		f->partners[i] = JUDGE_NONE;
	return f;
}

/* ---- rounds ---- */

/* Rounds for pairs of leaves come after one of neighbours; those for failed ends are last. */
static int reach_round(struct judge *j, struct err *e)
{
	size_t ends = j->n_ranks * j->n_rails;
	auto_free bool *want = calloc(ends + 1, sizeof(*want));
	unsigned rounds, most = 0;

	if (!want)
		return err_nomem(e);
	for (unsigned rail = 0; rail < j->n_rails; rail++) {
		if (j->round == 0 && judge_match_all(j, JUDGE_REACH, rail, e))
			return -1;
		if (j->round >= 1 && j->round <= LEAF_ROUNDS) {
			if (judge_match_leaves(j, rail, j->round - 1, &rounds, e))
				return -1;
			most = rounds > most ? rounds : most;
		}
		if (j->round > LEAF_ROUNDS && judge_reach_failed(j, rail, want) &&
		    judge_match_some(j, JUDGE_REACH, rail, want, e))
			return -1;
	}
	if (j->round >= 1 && j->round >= most && j->round <= LEAF_ROUNDS)
		j->round = LEAF_ROUNDS;
	if (++j->round <= LEAF_ROUNDS + REACH_AGAIN)
		return 0;
	j->stage = j->reach_only ? STAGE_DONE : STAGE_LOAD;
	j->round = 0;
	return 0;
}

static bool has_test(const struct judge *j, unsigned rank)
{
	for (size_t i = 0; i < j->n_tests; i++) {
		if (j->tests[i].a == rank || j->tests[i].b == rank)
			return true;
	}
	return false;
}

/*
 * Those that are always slow choose their partners first. One partner is enough where all rails run
 * at once.
 */
static int match_suspects(struct judge *j, enum judge_kind kind, unsigned rail, struct err *e)
{
	auto_free bool *want = calloc(j->n_ranks * j->n_rails, sizeof(*want));

	if (!want)
		return err_nomem(e);
	for (enum judge_doubt doubt = DOUBT_ALWAYS; doubt > DOUBT_NONE; doubt--) {
		bool any = false;
		for (unsigned i = 0; i < j->n_ranks; i++) {
			size_t at = judge_at(j, i, rail);
			want[at] = !j->bad[at] && judge_doubt_of(j, at) == doubt &&
				   (kind != JUDGE_ALL || !has_test(j, i));
			any |= want[at];
		}
		if (any && judge_match_some(j, kind, rail, want, e))
			return -1;
	}
	return 0;
}

static int load_suspects(struct judge *j, struct err *e)
{
	for (unsigned rail = 0; rail < j->n_rails; rail++)
		if (match_suspects(j, JUDGE_LOAD, rail, e))
			return -1;
	return 0;
}

/* One rail in each batch of the first rounds; the suspects of all rails in those after them. */
static int load_round(struct judge *j, struct err *e)
{
	if (judge_rates(j, JUDGE_LOAD, e))
		return -1;
	if (j->round < LOAD_ALL) {
		if ((j->round && match_suspects(j, JUDGE_LOAD, j->rail, e)) ||
		    judge_match_all(j, JUDGE_LOAD, j->rail, e))
			return -1;
		if (++j->rail < j->n_rails)
			return 0;
		j->rail = 0;
		j->round++;
		return 0;
	}
	if (load_suspects(j, e))
		return -1;
	if (++j->round < LOAD_MOST && j->n_tests)
		return 0;
	j->stage = STAGE_ALL;
	j->round = 0;
	return 0;
}

/* Two ranks load all of their rails together: repeat a pair of one rail for the others. */
static int spread_over_rails(struct judge *j, size_t first, struct err *e)
{
	size_t pairs = j->n_tests;

	for (size_t i = first; i < pairs; i++) {
		for (unsigned rail = 0; rail < j->n_rails; rail++) {
			struct judge_test t = j->tests[i];
			if (rail == t.rail || j->bad[judge_at(j, t.a, rail)] ||
			    j->bad[judge_at(j, t.b, rail)])
				continue;
			t.rail = (uint8_t)rail;
			if (judge_add_test(j, t, e))
				return -1;
		}
	}
	return 0;
}

static int order_pairs(const void *a, const void *b)
{
	const struct judge_test *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b != y->b ? (x->b < y->b ? -1 : 1) : x->rail - y->rail;
}

static void begin_again(struct judge *j)
{
	j->stage = STAGE_AGAIN;
	j->round = 0;
}

static int all_round(struct judge *j, struct err *e)
{
	bool more = true;

	if (j->n_rails < 2 || judge_rates(j, JUDGE_ALL, e)) {
		begin_again(j);
		return j->n_rails < 2 ? 0 : -1;
	}
	if (j->round < 1 && judge_match_all(j, JUDGE_ALL, 0, e))
		return -1;
	for (unsigned rail = 0; j->round && rail < j->n_rails; rail++) {
		if (match_suspects(j, JUDGE_ALL, rail, e))
			return -1;
	}
	if (spread_over_rails(j, 0, e))
		return -1;
	if (j->n_tests)
		qsort(j->tests, j->n_tests, sizeof(*j->tests), order_pairs);
	more = j->n_tests > 0;
	if (++j->round >= ALL_MOST || !more)
		begin_again(j);
	return 0;
}

/*
 * A cause that is not always there, or among many that are low by chance, needs more tests. They
 * come last: if the time is over, nothing else is missed.
 */
static int again_round(struct judge *j, struct err *e)
{
	if (judge_rates(j, JUDGE_LOAD, e) || load_suspects(j, e))
		return -1;
	if (++j->round >= AGAIN_ROUNDS || !j->n_tests)
		j->stage = STAGE_DONE;
	return 0;
}

/* ---- batches ---- */

/* One test of a rank at a time; of its rails each, where all run at once. */
static bool fits(const struct judge *j, const struct judge_test *t)
{
	uint16_t bit = (uint16_t)(1u << t->rail);
	bool same = j->partner[t->a] == t->b && j->partner[t->b] == t->a;
	bool idle = !j->mask[t->a] && !j->mask[t->b];
	bool has_rail = !(j->mask[t->a] & bit) && !(j->mask[t->b] & bit);

	switch (t->kind) {
	case JUDGE_REACH:
		return has_rail;
	case JUDGE_LOAD:
		return idle;
	case JUDGE_ALL:
		return idle || (same && has_rail);
	}
	return false;
}

static void take_batch(struct judge *j)
{
	struct judge_test swap;

	memset(j->mask, 0, j->n_ranks * sizeof(*j->mask));
	for (size_t i = 0; i < j->n_ranks; i++)
		j->partner[i] = JUDGE_NONE;
	j->from = j->begun;
	for (size_t i = j->begun; i < j->n_tests; i++) {
		struct judge_test *t = &j->tests[i];
		if (!fits(j, t))
			continue;
		j->mask[t->a] |= (uint16_t)(1u << t->rail);
		j->mask[t->b] |= (uint16_t)(1u << t->rail);
		j->partner[t->a] = t->b;
		j->partner[t->b] = t->a;
		swap = *t;
		*t = j->tests[j->begun];
		j->tests[j->begun++] = swap;
	}
}

static int next_round(struct judge *j, struct err *e)
{
	j->n_tests = j->begun = j->from = 0;
	switch (j->stage) {
	case STAGE_REACH:
		return reach_round(j, e);
	case STAGE_LOAD:
		return load_round(j, e);
	case STAGE_ALL:
		return all_round(j, e);
	case STAGE_AGAIN:
		return again_round(j, e);
	case STAGE_DONE:
		break;
	}
	return 0;
}

int judge_next(struct judge *j, const struct judge_test **tests, size_t *n, struct err *e)
{
	while (j->begun == j->n_tests && j->stage != STAGE_DONE) {
		if (j->stage == STAGE_LOAD && !j->round && !j->rail && judge_reach(j, e))
			return -1;
		if (next_round(j, e))
			return -1;
	}
	take_batch(j);
	*tests = j->tests ? j->tests + j->from : NULL;
	*n = j->begun - j->from;
	return 0;
}

int judge_results(struct judge *j, const struct judge_result *results, struct err *e)
{
	size_t n = j->begun - j->from;

	if (ARRAY_GROW_BY(j->samples, j->n_samples, n, JUDGE_SAMPLES, "results", e))
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct judge_test t = j->tests[j->from + i], back = t;
		back.a = t.b;
		back.b = t.a;
		j->met[judge_met(j, &t) / 8] |= (uint8_t)(1u << judge_met(j, &t) % 8);
		j->met[judge_met(j, &back) / 8] |= (uint8_t)(1u << judge_met(j, &back) % 8);
		j->samples[j->n_samples++] = (struct judge_sample){ t, results[i] };
	}
	j->from = j->begun;
	return 0;
}

int judge_findings(struct judge *j, const struct judge_finding **out, size_t *n, struct err *e)
{
	j->n_findings = 0;
	if (judge_compare(j, e) || judge_reach(j, e) || judge_slow(j, e))
		return -1;
	judge_gather(j);
	*out = j->findings;
	*n = j->n_findings;
	return 0;
}
