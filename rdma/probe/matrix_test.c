/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/probe/matrix.h"

#include "lib/testing.h"
#include "lib/testing_alloc.h"

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

TEST_PROGRAM("rdma/probe/matrix", an_even_fabric_has_no_outlier, one_slow_link_is_named,
	     a_slow_node_is_named_and_not_its_links, what_was_not_measured_counts_for_nothing,
	     memory_runs_out)
