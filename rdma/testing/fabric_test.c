/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_test.c: a planted fault lowers the right flows and no others, the noise is as claimed, and
 * the scorer counts. */
#include "lib/testing/testing.h"
#include "rdma/testing/fabric.h"

#define SEEDS 40u

/* Tests between neighbours, which are on one leaf but for the last of a leaf. */
static size_t pairs(const struct fabric *f, enum judge_kind kind, uint8_t rail,
		    struct judge_test *tests)
{
	const size_t n = f->facts.n_ranks / 2;

	for (size_t i = 0; i < n; i++)
		tests[i] =
			(struct judge_test){ kind, (uint16_t)(2 * i), (uint16_t)(2 * i + 1), rail };
	return n;
}

static bool is_at(const struct fabric *f, size_t rank, size_t rail)
{
	for (size_t i = 0; i < f->truth.n_places; i++) {
		const struct judge_end *p = &f->truth.places[i];

		if (p->rank == JUDGE_NONE
			    ? f->leaf[rank * f->facts.n_rails + rail] == p->leaf
			    : p->rank == rank && (p->rail == rail || p->rail == JUDGE_EVERY))
			return true;
	}
	return false;
}

/* Half of the rate, in the direction that was planted, and all of it elsewhere. */
static void check_half(const struct fabric *f, const struct judge_test *t,
		       const struct judge_result *r)
{
	const struct fabric_model *a = &f->models[f->ranks[t->a].rails[t->rail].model];
	const struct fabric_model *b = &f->models[f->ranks[t->b].rails[t->rail].model];
	const double of_a = a->nominal * a->efficiency, of_b = b->nominal * b->efficiency;
	const double whole = of_a < of_b ? of_a : of_b;
	const bool out = f->truth.way & JUDGE_OUT, in = f->truth.way & JUDGE_IN;
	const bool at_a = is_at(f, t->a, t->rail), at_b = is_at(f, t->b, t->rail);

	ck_assert_int_eq(r->outcome, JUDGE_DONE);
	ck_assert_double_eq_tol(r->ab / whole, (at_a && out) || (at_b && in) ? 0.5 : 1, 1e-9);
	ck_assert_double_eq_tol(r->ba / whole, (at_b && out) || (at_a && in) ? 0.5 : 1, 1e-9);
	ck_assert(!r->noisy);
}

START_TEST(a_fault_lowers_the_right_flows_and_no_others)
{
	static const enum fabric_fault faults[] = { FABRIC_END, FABRIC_HOST, FABRIC_LEAF,
						    FABRIC_SLOT };
	struct judge_test tests[JUDGE_RANKS];
	struct judge_result results[JUDGE_RANKS];

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		auto_fabric struct fabric *f = fabric_new(seed, faults[seed % 4], 50);
		bool seen = false;

		f->quiet = true;
		for (size_t rail = 0; rail < f->facts.n_rails; rail++) {
			const size_t n = pairs(f, JUDGE_LOAD, (uint8_t)rail, tests);

			fabric_run(f, tests, n, results);
			for (size_t i = 0; i < n; i++) {
				check_half(f, &tests[i], &results[i]);
				seen |= is_at(f, tests[i].a, rail) || is_at(f, tests[i].b, rail);
			}
		}
		ck_assert(seen || f->facts.n_ranks % 2);
	}
}
END_TEST

START_TEST(a_path_is_slow_between_its_leaves_only)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		auto_fabric struct fabric *f = fabric_new(seed, FABRIC_PATH, 100);
		const struct judge_end *p = f->truth.places;
		const uint8_t rail = p->rail;
		size_t dead = 0;

		f->quiet = true;
		for (size_t b = 1; b < f->facts.n_ranks; b++) {
			const struct judge_test t = { JUDGE_REACH, 0, (uint16_t)b, rail };
			const uint16_t from = f->leaf[rail],
				       to = f->leaf[b * f->facts.n_rails + rail];
			struct judge_result r;

			fabric_run(f, &t, 1, &r);
			const bool on = (from == p[0].leaf && to == p[1].leaf) ||
					(from == p[1].leaf && to == p[0].leaf);
			ck_assert_int_eq(r.outcome, on ? JUDGE_NO_SMALL : JUDGE_DONE);
			dead += on;
		}
		ck_assert(dead > 0 || (f->leaf[rail] != p[0].leaf && f->leaf[rail] != p[1].leaf));
	}
}
END_TEST

START_TEST(a_switch_is_slow_only_while_all_rails_are_loaded)
{
	auto_fabric struct fabric *f = fabric_new(5, FABRIC_SWITCH, 50);
	const uint16_t bad = f->truth.places[0].rank, good = bad ? 0 : 1;
	struct judge_test t = { JUDGE_LOAD, bad, good, f->truth.places[0].rail };
	struct judge_test other = { JUDGE_ALL, bad, good, t.rail ^ 2 };

	const double alone = fabric_rate(f, &t, false);
	t.kind = JUDGE_ALL;
	ck_assert_double_lt(fabric_rate(f, &t, false), 0.6 * alone);
	t.rail ^= 1;
	ck_assert_double_lt(fabric_rate(f, &t, true), 0.6 * alone);
	ck_assert_double_gt(fabric_rate(f, &other, false), 0.54 * alone);
}
END_TEST

START_TEST(what_cannot_run_says_which_side)
{
	static const enum fabric_fault faults[] = { FABRIC_NO_RANK, FABRIC_NO_RAIL,
						    FABRIC_UNTESTABLE, FABRIC_FAILS };

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++) {
		auto_fabric struct fabric *f = fabric_new(9 + i, faults[i], 0);
		const uint16_t bad = f->truth.places[0].rank, good = bad ? 0 : 1;
		const uint8_t rail = f->truth.places[0].rail;
		const struct judge_test t = { JUDGE_REACH, good, bad,
					      rail == JUDGE_EVERY ? 0 : rail };
		struct judge_result r = { 0 };

		for (size_t batch = 0; batch < 3; batch++)
			fabric_run(f, &t, 1, &r);
		ck_assert_int_eq(r.outcome, JUDGE_B_FAILED);
	}
}
END_TEST

START_TEST(both_ends_of_the_first_pair_become_faulty)
{
	auto_fabric struct fabric *f = fabric_new(3, FABRIC_TWO_ENDS, 25);
	const uint16_t bad = f->truth.places[0].rank, other = bad ? 0 : 1;
	struct judge_test t = { JUDGE_REACH, other, bad, f->truth.places[0].rail };
	struct judge_result r;

	fabric_run(f, &t, 1, &r);
	ck_assert_uint_eq(f->truth.n_places, 1);
	t.kind = JUDGE_LOAD;
	fabric_run(f, &t, 1, &r);
	ck_assert_uint_eq(f->truth.n_places, 2);
	ck_assert_uint_eq(f->truth.places[1].rank, other);

	/* A partner that was already tested stays well. */
	auto_fabric struct fabric *late = fabric_new(3, FABRIC_TWO_ENDS, 25);
	t = (struct judge_test){ JUDGE_LOAD, other, bad == 2 ? 3 : 2, t.rail };
	fabric_run(late, &t, 1, &r);
	t.b = bad;
	fabric_run(late, &t, 1, &r);
	ck_assert_uint_eq(late->truth.n_places, 1);

	t.a = bad == 2 ? 3 : 2;
	fabric_run(f, &t, 1, &r);
	ck_assert_uint_eq(f->truth.n_places, 2);
}
END_TEST

/* Ranks of one leaf, so that no uplink is in the way. */
START_TEST(noise_is_narrow_with_a_tail_of_one_in_two_hundred)
{
	struct judge_test tests[JUDGE_RANKS];
	struct judge_result results[JUDGE_RANKS];
	double n = 0, low = 0, sum = 0, squares = 0, loud = 0;

	for (uint64_t seed = 1; n < 100000; seed++) {
		auto_fabric struct fabric *f = fabric_new(seed, FABRIC_CLEAN, 0);
		const size_t count = pairs(f, JUDGE_LOAD, 0, tests);

		f->n_busy = 0;
		fabric_run(f, tests, count, results);
		for (size_t i = 0; i < count; i++) {
			const double share = results[i].ab / fabric_rate(f, &tests[i], false);

			if (f->leaf[tests[i].a * f->facts.n_rails] !=
			    f->leaf[tests[i].b * f->facts.n_rails])
				continue;
			n++;
			low += share < 0.9;
			loud += results[i].noisy;
			sum += share < 0.9 ? 0 : share - 1;
			squares += share < 0.9 ? 0 : (share - 1) * (share - 1);
		}
	}
	/* Two of three tails are on this direction. */
	ck_assert_double_gt(low / n, 0.0025);
	ck_assert_double_lt(low / n, 0.0042);
	ck_assert_double_eq_tol(sum / n, 0, 0.001);
	ck_assert_double_gt(squares / n, 0.01 * 0.01);
	ck_assert_double_lt(squares / n, 0.02 * 0.02);
	ck_assert_double_eq(loud, 0);
}
END_TEST

/* 32 hosts a leaf, one wide 1:1 fabric without adaptive routing: a full load across leaves. */
START_TEST(flows_across_leaves_share_uplinks)
{
	struct judge_test tests[JUDGE_RANKS];
	struct judge_result results[JUDGE_RANKS];
	double share[3] = { 0 }, n[3] = { 0 };

	for (uint64_t seed = 1; seed < 600; seed++) {
		auto_fabric struct fabric *f = fabric_new(seed, FABRIC_CLEAN, 0);
		const size_t half = f->facts.n_ranks / 2 / f->hosts_a_leaf * f->hosts_a_leaf;
		const size_t kind = f->adaptive ? 0 : f->oversubscription;

		if (f->layout != FABRIC_BY_RAIL || f->hosts_a_leaf < 16 || f->mixed || half == 0 ||
		    f->models[0].nominal < 25e9 || (f->adaptive && f->oversubscription > 1))
			continue;
		for (size_t i = 0; i < half; i++)
			tests[i] = (struct judge_test){ JUDGE_LOAD, (uint16_t)i,
							(uint16_t)(i + half), 0 };
		f->n_busy = f->n_neighbours = 0;
		fabric_run(f, tests, half, results);
		for (size_t i = 0; i < half; i++) {
			share[kind] += results[i].ab / fabric_rate(f, &tests[i], false);
			n[kind]++;
		}
	}
	ck_assert_double_gt(share[0] / n[0], 0.99);
	ck_assert_double_gt(share[1] / n[1], 0.6);
	ck_assert_double_lt(share[1] / n[1], 0.85);
	ck_assert_double_gt(share[2] / n[2], 0.3);
	ck_assert_double_lt(share[2] / n[2], 0.6);
}
END_TEST

START_TEST(a_seed_gives_the_same_fabric_twice)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct judge_test tests[JUDGE_RANKS];
		struct judge_result one[JUDGE_RANKS], two[JUDGE_RANKS];
		auto_fabric struct fabric *a = fabric_new(seed, FABRIC_END_50, 25);
		auto_fabric struct fabric *b = fabric_new(seed, FABRIC_END_50, 25);
		const size_t n = pairs(a, JUDGE_ALL, 0, tests);

		fabric_run(a, tests, n, one);
		fabric_run(b, tests, n, two);
		for (size_t i = 0; i < n; i++)
			ck_assert(one[i].ab == two[i].ab && one[i].both_ba == two[i].both_ba);
	}
}
END_TEST

/* ---- the scorer ---- */

static struct judge_finding finding(enum judge_cause cause, size_t n_ends,
				    const struct judge_end *ends)
{
	struct judge_finding made = { .cause = cause, .n_ends = n_ends };

	memcpy(made.ends, ends, n_ends * sizeof(*ends));
	return made;
}

/* named, undecided, missed, alarms, notes */
static void expect(const struct fabric *f, const struct judge_finding *one,
		   const unsigned (*want)[5])
{
	const struct fabric_score s = fabric_score(f, one, 1);
	const unsigned got[5] = { s.named, s.undecided, s.missed, s.alarms, s.notes };

	for (size_t i = 0; i < 5; i++)
		ck_assert_msg(got[i] == (*want)[i], "figure %zu of cause %d: %u, not %u", i,
			      (int)one->cause, got[i], (*want)[i]);
}
#define EXPECT(f, cause, n, ends, ...)                                                             \
	do {                                                                                       \
		const struct judge_finding made_ = finding(cause, n, ends);                        \
		expect(f, &made_, &(const unsigned[5]){ __VA_ARGS__ });                            \
	} while (0)

START_TEST(an_end_is_named_by_a_narrow_set_of_a_fitting_cause)
{
	auto_fabric struct fabric *f = fabric_new(2, FABRIC_END, 25);
	const struct judge_end bad = f->truth.places[0];
	const uint16_t other = bad.rank ? 0 : 1;
	const struct judge_end ends[] = { bad,
					  { other, bad.rail, JUDGE_NONE },
					  { other, 7, JUDGE_NONE } };

	EXPECT(f, JUDGE_SLOW, 1, ends, 1, 0, 0, 0, 0);
	EXPECT(f, JUDGE_SLOW, 2, ends, 1, 0, 0, 0, 0);
	EXPECT(f, JUDGE_SLOW, 3, ends, 0, 1, 0, 0, 0);
	EXPECT(f, JUDGE_UNDECIDED, 1, ends, 0, 1, 0, 0, 0);
	EXPECT(f, JUDGE_UNREACHED, 1, ends, 0, 0, 1, 0, 0);
	EXPECT(f, JUDGE_SLOW, 1, ends + 1, 0, 0, 1, 1, 0);
	EXPECT(f, JUDGE_UNDECIDED, 1, ends + 1, 0, 0, 1, 0, 1);
	EXPECT(f, JUDGE_NOISY, 1, ends + 1, 0, 0, 1, 0, 1);

	struct judge_finding other_way = finding(JUDGE_SLOW, 1, ends);
	other_way.way = f->truth.way = JUDGE_OUT;
	expect(f, &other_way, &(const unsigned[5]){ 1, 0, 0, 0, 0 });
	other_way.way = JUDGE_IN;
	expect(f, &other_way, &(const unsigned[5]){ 0, 0, 1, 0, 0 });

	struct judge_finding loud = finding(JUDGE_NOISY, 1, ends + 1);
	loud.fails = true;
	expect(f, &loud, &(const unsigned[5]){ 0, 0, 1, 1, 0 });
}
END_TEST

START_TEST(every_rail_of_a_rank_names_a_host_and_no_end)
{
	auto_fabric struct fabric *host = fabric_new(3, FABRIC_HOST, 25);
	auto_fabric struct fabric *one = fabric_new(5, FABRIC_END, 25);
	const struct judge_end all_of_host = host->truth.places[0];
	const struct judge_end all = { one->truth.places[0].rank, JUDGE_EVERY, JUDGE_NONE };

	EXPECT(host, JUDGE_SLOW, 1, &all_of_host, 1, 0, 0, 0, 0);
	ck_assert_uint_gt(one->facts.n_rails, 2);
	EXPECT(one, JUDGE_SLOW, 1, &all, 0, 1, 0, 0, 0);
}
END_TEST

START_TEST(a_leaf_is_named_itself_or_by_all_of_its_ends)
{
	auto_fabric struct fabric *f = fabric_new(4, FABRIC_LEAF, 50);
	const struct judge_end leaf = f->truth.places[0];
	struct judge_finding ends[JUDGE_RANKS];
	size_t n = 0;

	EXPECT(f, JUDGE_SLOW, 1, &leaf, 1, 0, 0, 0, 0);
	for (size_t rank = 0; rank < f->facts.n_ranks; rank++) {
		for (size_t rail = 0; rail < f->facts.n_rails; rail++) {
			if (f->leaf[rank * f->facts.n_rails + rail] == leaf.leaf)
				ends[n++] =
					finding(JUDGE_SLOW, 1,
						&(struct judge_end){ (uint16_t)rank, (uint8_t)rail,
								     JUDGE_NONE });
		}
	}
	ck_assert_uint_gt(n, 1);
	ck_assert_uint_eq(fabric_score(f, ends, n).named, 1);
	ck_assert_uint_eq(fabric_score(f, ends, n).alarms, 0);
	ck_assert_uint_eq(fabric_score(f, ends, n - 1).named, 0);
}
END_TEST

START_TEST(a_path_is_named_by_both_leaves)
{
	auto_fabric struct fabric *f = fabric_new(4, FABRIC_PATH, 50);
	const struct judge_end *p = f->truth.places;
	const struct judge_end third = { JUDGE_NONE, p->rail, 4000 };

	EXPECT(f, JUDGE_SLOW, 2, p, 1, 0, 0, 0, 0);
	EXPECT(f, JUDGE_SLOW, 1, p, 0, 0, 1, 0, 0);
	EXPECT(f, JUDGE_SLOW, 1, &third, 0, 0, 1, 1, 0);
}
END_TEST

START_TEST(all_slow_is_a_finding_about_the_whole)
{
	auto_fabric struct fabric *all = fabric_new(1, FABRIC_EVERYTHING, 50);
	auto_fabric struct fabric *clean = fabric_new(1, FABRIC_CLEAN, 0);
	const struct judge_end none = { JUDGE_NONE, 0, JUDGE_NONE };

	EXPECT(all, JUDGE_WHOLE, 0, &none, 1, 0, 0, 0, 0);
	clean->oversubscription = 1;
	EXPECT(clean, JUDGE_WHOLE, 1, &none, 0, 0, 0, 1, 0);
	clean->oversubscription = 2;
	EXPECT(clean, JUDGE_WHOLE, 1, &none, 0, 0, 0, 0, 1);
	ck_assert_uint_eq(fabric_score(clean, NULL, 0).missed, 0);
}
END_TEST

TEST_PROGRAM("fabric_model", a_fault_lowers_the_right_flows_and_no_others,
	     a_path_is_slow_between_its_leaves_only,
	     a_switch_is_slow_only_while_all_rails_are_loaded, what_cannot_run_says_which_side,
	     both_ends_of_the_first_pair_become_faulty,
	     noise_is_narrow_with_a_tail_of_one_in_two_hundred, flows_across_leaves_share_uplinks,
	     a_seed_gives_the_same_fabric_twice, an_end_is_named_by_a_narrow_set_of_a_fitting_cause,
	     every_rail_of_a_rank_names_a_host_and_no_end,
	     a_leaf_is_named_itself_or_by_all_of_its_ends, a_path_is_named_by_both_leaves,
	     all_slow_is_a_finding_about_the_whole)
