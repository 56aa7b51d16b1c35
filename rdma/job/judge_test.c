/* SPDX-License-Identifier: Apache-2.0 */
/* judge_test.c: the verdict on small fabrics, whose rates are exact. */
#include "rdma/job/judge.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define RATE 25e9 /* bytes a second */

/* A job of ranks on leaves of equal size; what is wrong with it is set by each test. */
struct job {
	struct judge_rank *ranks;
	size_t n, rails;
	double out[64][4], in[64][4]; /* share of the rate that an end has */
	double share;                 /* of all: what both directions at once leave */
	bool dead[64][4], small[64][4], broken[64][4];
	uint16_t cut[2]; /* two leaves without a way between them */
	size_t batches, tests;
	struct judge_result results[1024];
	struct judge *j;
	const struct judge_finding *f;
	size_t n_f;
};

static struct job *job_new(size_t n, size_t rails, size_t per_leaf)
{
	struct job *job = calloc(1, sizeof(*job));

	ck_assert_ptr_nonnull(job);
	job->n = n;
	job->rails = rails;
	job->cut[0] = job->cut[1] = JUDGE_NONE;
	job->ranks = calloc(n, sizeof(*job->ranks));
	ck_assert_ptr_nonnull(job->ranks);
	for (size_t i = 0; i < n; i++) {
		job->ranks[i].here = true;
		for (size_t r = 0; r < rails; r++) {
			job->ranks[i].rails[r] = (struct judge_rail){
				.present = true,
				.leaf = (uint16_t)(per_leaf ? r * 100 + i / per_leaf : JUDGE_NONE),
				.mtu = 4096,
				.nominal = (uint64_t)RATE,
			};
			job->out[i][r] = job->in[i][r] = 1;
		}
	}
	return job;
}

static void job_free(struct job *job)
{
	judge_free(&job->j);
	free(job->ranks);
	free(job);
}

static struct judge_result run_test(struct job *job, const struct judge_test *t)
{
	uint16_t x = job->ranks[t->a].rails[t->rail].leaf, y = job->ranks[t->b].rails[t->rail].leaf;
	bool cut = x != y && (x == job->cut[0] || y == job->cut[0]) &&
		   (x == job->cut[1] || y == job->cut[1]);
	struct judge_result r = { .outcome = JUDGE_DONE };
	unsigned rail = t->rail;

	ck_assert_uint_ne(t->a, t->b);
	if (job->broken[t->a][rail] || job->broken[t->b][rail])
		r.outcome = job->broken[t->a][rail] ? JUDGE_A_FAILED : JUDGE_B_FAILED;
	else if (job->dead[t->a][rail] || job->dead[t->b][rail] || cut)
		r.outcome = JUDGE_NO_SMALL;
	else if (job->small[t->a][rail] || job->small[t->b][rail])
		r.outcome = JUDGE_NO_LARGE;
	r.ab = RATE * job->out[t->a][rail] * job->in[t->b][rail];
	r.ba = RATE * job->out[t->b][rail] * job->in[t->a][rail];
	r.both_ab = 0.9 * r.ab;
	r.both_ba = 0.9 * r.ba;
	return r;
}

/* A rank is in one test of a batch: of loads in one, of the others in one a rail. */
static void check_batch(const struct job *job, const struct judge_test *t, size_t n)
{
	unsigned seen[64][4] = { 0 }, loads[64] = { 0 };

	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_lt(t[i].a, job->n);
		ck_assert_uint_lt(t[i].b, job->n);
		ck_assert_uint_eq(seen[t[i].a][t[i].rail]++, 0);
		ck_assert_uint_eq(seen[t[i].b][t[i].rail]++, 0);
		if (t[i].kind == JUDGE_LOAD) {
			ck_assert_uint_eq(loads[t[i].a]++, 0);
			ck_assert_uint_eq(loads[t[i].b]++, 0);
		}
	}
}

static void judge_job(struct job *job)
{
	const struct judge_facts facts = { job->n, job->rails, job->ranks, false, 7 };
	const struct judge_test *t;
	struct err e = { 0 };
	size_t n;

	ck_assert_int_eq(judge_new(&facts, &job->j, &e), 0);
	for (;;) {
		ck_assert_int_eq(judge_next(job->j, &t, &n, &e), 0);
		if (!n)
			break;
		ck_assert_uint_lt(++job->batches, 400);
		ck_assert_uint_le(n, ARRAY_SIZE(job->results));
		check_batch(job, t, n);
		for (size_t i = 0; i < n; i++)
			job->results[i] = run_test(job, &t[i]);
		job->tests += n;
		ck_assert_int_eq(judge_results(job->j, job->results, &e), 0);
	}
	ck_assert_int_eq(judge_findings(job->j, &job->f, &job->n_f, &e), 0);
}

static void show(const struct job *job)
{
	for (size_t i = 0; i < job->n_f; i++)
		fprintf(stderr, "finding %d of %u/%u leaf %u, %zu ends, low %u of %u\n",
			(int)job->f[i].cause, job->f[i].ends[0].rank, job->f[i].ends[0].rail,
			job->f[i].ends[0].leaf, job->f[i].n_ends, job->f[i].low, job->f[i].tests);
}

/* The only finding: its cause, and its one end. */
static const struct judge_finding *only(const struct job *job, enum judge_cause cause,
					unsigned rank, unsigned rail)
{
	if (job->n_f != 1)
		show(job);
	ck_assert_uint_eq(job->n_f, 1);
	ck_assert_int_eq(job->f[0].cause, cause);
	ck_assert_uint_eq(job->f[0].n_ends, 1);
	ck_assert_uint_eq(job->f[0].ends[0].rank, rank);
	ck_assert_uint_eq(job->f[0].ends[0].rail, rail);
	return &job->f[0];
}

START_TEST(a_right_job_has_no_findings)
{
	static const struct {
		size_t n, rails, per_leaf;
	} jobs[] = { { 1, 4, 1 }, { 2, 1, 2 }, { 3, 2, 3 },   { 16, 4, 4 },
		     { 5, 2, 1 }, { 7, 3, 0 }, { 64, 4, 16 }, { 2, 4, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
		struct job *job = job_new(jobs[i].n, jobs[i].rails, jobs[i].per_leaf);
		judge_job(job);
		ck_assert_uint_eq(job->n_f, 0);
		/* Every end was measured, unless it is alone. */
		ck_assert_uint_ge(job->tests, jobs[i].n > 1 ? jobs[i].n * jobs[i].rails : 0);
		job_free(job);
	}
}
END_TEST

START_TEST(a_slow_end_is_named_with_its_direction)
{
	struct job *job = job_new(16, 4, 8);

	job->out[5][2] = 0.6;
	judge_job(job);
	const struct judge_finding *f = only(job, JUDGE_SLOW, 5, 2);
	ck_assert_int_eq(f->way, JUDGE_OUT);
	ck_assert_uint_ge(f->low, 2);
	ck_assert(f->partners[0] != f->partners[1]);
	ck_assert(f->measured < 0.61 * RATE && f->expected > 0.8 * RATE);
	job_free(job);
}
END_TEST

START_TEST(two_slow_ends_that_met_first_are_two)
{
	struct job *job = job_new(8, 1, 8);

	job->in[1][0] = job->out[1][0] = 0.5;
	job->in[2][0] = 0.7;
	job->in[6][0] = job->out[6][0] = 0.7;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 3);
	for (size_t i = 0; i < 3; i++) {
		unsigned rank = job->f[i].ends[0].rank;
		ck_assert_int_eq(job->f[i].cause, JUDGE_SLOW);
		ck_assert(rank == 1 || rank == 2 || rank == 6);
		ck_assert_int_eq(job->f[i].way, rank == 2 ? JUDGE_IN : JUDGE_BOTH);
	}
	job_free(job);
}
END_TEST

START_TEST(less_than_a_tenth_is_not_slow)
{
	struct job *job = job_new(16, 2, 8);

	job->out[5][1] = 0.92;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 0);
	job_free(job);
}
END_TEST

START_TEST(two_ranks_are_never_called_slow)
{
	struct job *job = job_new(2, 2, 2);

	job->out[0][1] = 0.8;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 0);
	job_free(job);
}
END_TEST

START_TEST(half_of_nominal_is_a_slow_fabric)
{
	struct job *job = job_new(8, 2, 8);

	for (size_t i = 0; i < 8; i++)
		job->out[i][0] = job->out[i][1] = 0.5;
	judge_job(job);
	only(job, JUDGE_WHOLE, JUDGE_NONE, JUDGE_EVERY);
	job_free(job);
}
END_TEST

START_TEST(an_end_without_reach_is_named_and_not_loaded)
{
	struct job *job = job_new(12, 2, 4);

	job->dead[3][1] = true;
	judge_job(job);
	ck_assert(only(job, JUDGE_UNREACHED, 3, 1)->fails);
	job_free(job);
	job = job_new(12, 2, 4);
	job->small[11][0] = true;
	judge_job(job);
	only(job, JUDGE_SMALL_MTU, 11, 0);
	job_free(job);
	job = job_new(12, 2, 4);
	job->broken[2][0] = true;
	judge_job(job);
	only(job, JUDGE_BROKEN, 2, 0);
	job_free(job);
}
END_TEST

START_TEST(one_pair_without_reach_is_a_set)
{
	struct job *job = job_new(2, 1, 2);

	job->dead[1][0] = true;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 1);
	ck_assert_int_eq(job->f[0].cause, JUDGE_UNREACHED);
	ck_assert_uint_eq(job->f[0].n_ends, 2);
	job_free(job);
}
END_TEST

START_TEST(two_leaves_without_a_way_are_named)
{
	struct job *job = job_new(24, 2, 4);

	job->cut[0] = 101;
	job->cut[1] = 104;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 1);
	ck_assert_int_eq(job->f[0].cause, JUDGE_UNREACHED);
	ck_assert(job->f[0].fails);
	ck_assert_uint_eq(job->f[0].n_ends, 2);
	ck_assert_uint_eq(job->f[0].ends[0].rank, JUDGE_NONE);
	ck_assert_uint_eq(job->f[0].ends[0].leaf + job->f[0].ends[1].leaf, 205);
	job_free(job);
}
END_TEST

START_TEST(what_a_whole_leaf_or_rank_has_is_one_finding)
{
	struct job *job = job_new(16, 4, 4);

	for (size_t i = 4; i < 8; i++)
		job->out[i][2] = job->in[i][2] = 0.5;
	judge_job(job);
	ck_assert_uint_eq(only(job, JUDGE_SLOW, JUDGE_NONE, 2)->ends[0].leaf, 201);
	job_free(job);
	job = job_new(16, 4, 4);
	for (size_t r = 0; r < 4; r++)
		job->out[9][r] = 0.5;
	judge_job(job);
	only(job, JUDGE_SLOW, 9, JUDGE_EVERY);
	job_free(job);
}
END_TEST

static void set_fact(struct judge_rail *r, enum judge_cause cause)
{
	switch ((int)cause) {
	case JUDGE_CLASS:
		r->tclass = 104;
		break;
	case JUDGE_GID:
		r->gid = 1;
		break;
	case JUDGE_MTU:
		r->mtu = 1024;
		break;
	case JUDGE_RATE:
		r->nominal /= 2;
		break;
	case JUDGE_PCIE:
		r->pcie_low = true;
		break;
	case JUDGE_LACKS:
		r->present = false;
		break;
	default:
		ck_abort();
	}
}

START_TEST(what_ranks_say_is_compared)
{
	for (enum judge_cause cause = JUDGE_CLASS; cause <= JUDGE_LACKS; cause++) {
		struct job *job = job_new(8, 2, 4);
		set_fact(&job->ranks[6].rails[1], cause);
		judge_job(job);
		ck_assert_int_eq(only(job, cause, 6, 1)->fails,
				 cause != JUDGE_RATE && cause != JUDGE_PCIE);
		job_free(job);
	}
}
END_TEST

START_TEST(who_is_missing_is_said)
{
	struct job *job = job_new(8, 2, 4);

	job->ranks[2].here = false;
	job->ranks[3].rails[1].untestable = true;
	judge_job(job);
	ck_assert_uint_eq(job->n_f, 2);
	ck_assert_int_eq(job->f[0].cause, JUDGE_UNTESTED);
	ck_assert_int_eq(job->f[1].cause, JUDGE_UNTESTED);
	job_free(job);
}
END_TEST

START_TEST(sizes_are_bounded)
{
	struct judge_facts facts = { JUDGE_RANKS + 1, 1, NULL, false, 0 };
	struct judge *j = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(judge_new(&facts, &j, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	facts.n_ranks = 1;
	facts.n_rails = 0;
	ck_assert_int_eq(judge_new(&facts, &j, &e), -1);
}
END_TEST

static int judge_four(void *arg, struct err *e)
{
	struct judge_rank ranks[4] = { 0 };
	const struct judge_facts facts = { 4, 2, ranks, false, 1 };
	struct judge_result results[16] = { 0 };
	auto_judge struct judge *j = NULL;
	const struct judge_test *t;
	const struct judge_finding *f;
	size_t n = 1;

	(void)arg;
	for (size_t i = 0; i < 8; i++) {
		ranks[i / 2].here = true;
		ranks[i / 2].rails[i % 2].present = true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(results); i++)
		results[i] = (struct judge_result){ .ab = 1 + (double)i, .ba = 2 };
	if (judge_new(&facts, &j, e))
		return -1;
	while (n) {
		if (judge_next(j, &t, &n, e) || judge_results(j, results, e))
			return -1;
	}
	return judge_findings(j, &f, &n, e);
}

START_TEST(memory_runs_out)
{
	ck_assert_str_eq(alloc_fail_each(judge_four, NULL), "ok");
}
END_TEST

TEST_PROGRAM("rdma/job/judge", a_right_job_has_no_findings, a_slow_end_is_named_with_its_direction,
	     two_slow_ends_that_met_first_are_two, less_than_a_tenth_is_not_slow,
	     two_ranks_are_never_called_slow, half_of_nominal_is_a_slow_fabric,
	     an_end_without_reach_is_named_and_not_loaded, one_pair_without_reach_is_a_set,
	     two_leaves_without_a_way_are_named, what_a_whole_leaf_or_rank_has_is_one_finding,
	     what_ranks_say_is_compared, who_is_missing_is_said, sizes_are_bounded, memory_runs_out)
