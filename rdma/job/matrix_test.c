/* SPDX-License-Identifier: Apache-2.0 */
/* matrix_test.c: which nodes and links are slow, also with links inside cards. */
#include "rdma/job/matrix.h"

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

/* n nodes, each link about 100. */
static struct matrix even(size_t n)
{
	struct matrix m;
	struct err e = { 0 };

	ck_assert_int_eq(matrix_new(n, &m, &e), 0);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			if (i != j)
				matrix_set(&m, i, j, 100 + (double)((i * 3 + j * 5) % 4));
		}
	}
	return m;
}

static size_t judged(struct matrix *m)
{
	struct err e = { 0 };
	size_t found = 99;

	ck_assert_int_eq(matrix_judge(m, &found, &e), 0);
	return found;
}

START_TEST(an_even_fabric_has_no_outlier)
{
	for (size_t n = 2; n < 10; n++) {
		auto_matrix struct matrix m = even(n);
		ck_assert_uint_eq(judged(&m), 0);
	}
}
END_TEST

START_TEST(one_slow_link_is_named)
{
	auto_matrix struct matrix m = even(6);

	matrix_set(&m, 2, 4, 50);
	ck_assert_uint_eq(judged(&m), 1);
	ck_assert(m.slow[2 * 6 + 4] && !m.slow[4 * 6 + 2]);
	ck_assert(!m.slow_node[2] && !m.slow_node[4]);
}
END_TEST

START_TEST(a_slow_node_is_named_and_not_its_links)
{
	for (size_t n = 3; n < 9; n++) {
		auto_matrix struct matrix m = even(n);
		for (size_t other = 0; other < n - 1; other++) {
			matrix_set(&m, n - 1, other, 40);
			matrix_set(&m, other, n - 1, 41);
		}
		ck_assert_uint_eq(judged(&m), 1);
		ck_assert(m.slow_node[n - 1]);
	}
}
END_TEST

/* The links among the first `together` nodes, which are on one card, have this rate. */
static struct matrix with_a_card(size_t n, size_t together, double inside)
{
	struct matrix m = even(n);

	for (size_t i = 0; i < together; i++) {
		for (size_t j = 0; j < together; j++) {
			if (i == j)
				continue;
			matrix_set(&m, i, j, inside);
			matrix_set_local(&m, i, j);
		}
	}
	return m;
}

START_TEST(who_shares_a_card_does_not_make_the_others_slow)
{
	for (size_t n = 3; n < 9; n++) {
		for (size_t together = 2; together < n; together++) {
			auto_matrix struct matrix m = with_a_card(n, together, 400);

			ck_assert_uint_eq(judged(&m), 0);
			ck_assert_double_lt(m.links.median, 110);
			ck_assert_double_eq(m.locals.median, 400);
		}
	}
}
END_TEST

START_TEST(links_inside_a_card_are_compared_with_each_other)
{
	auto_matrix struct matrix m = with_a_card(6, 5, 400);

	matrix_set(&m, 1, 2, 120);
	ck_assert_uint_eq(judged(&m), 1);
	ck_assert(m.slow[1 * 6 + 2]);

	auto_matrix struct matrix all = with_a_card(6, 6, 400);
	matrix_set(&all, 1, 2, 120);
	ck_assert_uint_eq(judged(&all), 1);
	ck_assert(all.all_local && all.slow[1 * 6 + 2]);
	ck_assert_double_eq(all.links.median, 400);
	ck_assert_uint_eq(all.locals.n, 0);
}
END_TEST

START_TEST(a_slow_node_beside_a_shared_card)
{
	auto_matrix struct matrix m = with_a_card(6, 2, 400);

	for (size_t other = 0; other < 5; other++) {
		matrix_set(&m, 5, other, 40);
		matrix_set(&m, other, 5, 41);
	}
	ck_assert_uint_eq(judged(&m), 1);
	ck_assert(m.slow_node[5]);
}
END_TEST

/* Whatever the rates are: what is called slow is below what is said to be slow. */
static void is_consistent(const struct matrix *m)
{
	for (size_t i = 0; i < m->n; i++)
		ck_assert(!m->slow_node[i] || m->node[i] < m->links.low);
	for (size_t i = 0; i < m->n * m->n; i++) {
		double low = m->local[i] && !m->all_local ? m->locals.low : m->links.low;

		ck_assert_int_eq(m->slow[i], m->rate[i] >= 0 && m->rate[i] < low &&
						     !m->slow_node[i / m->n] &&
						     !m->slow_node[i % m->n]);
	}
}

START_TEST(findings_do_not_contradict_the_rule)
{
	uint32_t seed = 1;

	for (unsigned round = 0; round < 2000; round++) {
		size_t n = 2 + round % 7;
		auto_matrix struct matrix m = even(n);

		for (size_t i = 0; i < n * n; i++) {
			seed = seed * 1664525 + 1013904223;
			if (i / n == i % n || seed >> 31)
				continue;
			m.rate[i] = seed >> 29 == 0 ? MATRIX_NONE : (double)(seed >> 16 & 0xff);
			if (seed >> 28 == 3)
				matrix_set_local(&m, i / n, i % n);
		}
		(void)judged(&m);
		is_consistent(&m);
	}
}
END_TEST

START_TEST(what_was_not_measured_counts_for_nothing)
{
	auto_matrix struct matrix m = even(5);

	for (size_t other = 0; other < 5; other++) {
		matrix_set(&m, 1, other, MATRIX_NONE);
		matrix_set(&m, other, 1, MATRIX_NONE);
	}
	ck_assert_uint_eq(judged(&m), 0);
	ck_assert_double_eq(m.node[1], MATRIX_NONE);
	/* A rate of nothing is one, and the lowest. */
	matrix_set(&m, 0, 2, 0);
	ck_assert_uint_eq(judged(&m), 1);
	ck_assert(m.slow[2]);

	auto_matrix struct matrix none = { 0 };
	struct err e = { 0 };
	ck_assert_int_eq(matrix_new(3, &none, &e), 0);
	ck_assert_uint_eq(judged(&none), 0);
}
END_TEST

static int make_and_judge(void *arg, struct err *e)
{
	auto_matrix struct matrix m = { 0 };
	size_t found;

	(void)arg;
	return matrix_new(4, &m, e) || matrix_judge(&m, &found, e) ? -1 : 0;
}

START_TEST(memory_runs_out)
{
	ck_assert_str_eq(alloc_fail_each(make_and_judge, NULL), "ok");
}
END_TEST

TEST_PROGRAM("rdma/job/matrix", an_even_fabric_has_no_outlier, one_slow_link_is_named,
	     a_slow_node_is_named_and_not_its_links,
	     who_shares_a_card_does_not_make_the_others_slow,
	     links_inside_a_card_are_compared_with_each_other, a_slow_node_beside_a_shared_card,
	     findings_do_not_contradict_the_rule, what_was_not_measured_counts_for_nothing,
	     memory_runs_out)
