/* SPDX-License-Identifier: Apache-2.0 */
#include "rdma/probe/matrix.h"

int matrix_new(size_t n, struct matrix *out, struct err *e)
{
	struct matrix m = { .n = n,
			    .rate = calloc(n * n, sizeof(double)),
			    .slow = calloc(n * n, sizeof(bool)),
			    .slow_node = calloc(n, sizeof(bool)),
			    .node = calloc(n, sizeof(double)) };

	if (!m.rate || !m.slow || !m.slow_node || !m.node) {
		matrix_free(&m);
		return err_nomem(e);
	}
	for (size_t i = 0; i < n * n; i++)
		m.rate[i] = MATRIX_NONE;
	*out = m;
	return 0;
}

void matrix_free(struct matrix *m)
{
	free(m->rate);
	free(m->slow);
	free(m->slow_node);
	free(m->node);
	*m = (struct matrix){ 0 };
}

void matrix_set(struct matrix *m, size_t from, size_t to, double rate)
{
	m->rate[from * m->n + to] = rate;
}

double matrix_get(const struct matrix *m, size_t from, size_t to)
{
	return m->rate[from * m->n + to];
}

static size_t add(double *values, size_t n, double v)
{
	if (v >= 0)
		values[n++] = v;
	return n;
}

static size_t links_of(const struct matrix *m, size_t node, double *values)
{
	size_t n = 0;

	for (size_t other = 0; other < m->n; other++) {
		n = add(values, n, matrix_get(m, node, other));
		n = add(values, n, matrix_get(m, other, node));
	}
	return n;
}

static void judge_nodes(struct matrix *m, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		size_t links = links_of(m, i, values);
		m->node[i] = links ? stats_median(values, links) : MATRIX_NONE;
	}
	for (size_t i = 0; i < m->n; i++)
		n = add(values, n, m->node[i]);
	m->nodes = stats_spread(values, n);
	for (size_t i = 0; i < m->n; i++)
		m->slow_node[i] = m->node[i] >= 0 && m->node[i] < m->nodes.low;
}

static void judge_links(struct matrix *m, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n * m->n; i++)
		n = add(values, n, m->rate[i]);
	m->links = stats_spread(values, n);
	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->n; j++) {
			double rate = matrix_get(m, i, j);
			m->slow[i * m->n + j] = rate >= 0 && rate < m->links.low &&
						!m->slow_node[i] && !m->slow_node[j];
		}
	}
}

int matrix_judge(struct matrix *m, size_t *found, struct err *e)
{
	auto_free double *values = calloc(m->n * m->n + 2 * m->n, sizeof(*values));
	size_t n = 0;

	if (!values)
		return err_nomem(e);
	judge_nodes(m, values);
	judge_links(m, values);
	for (size_t i = 0; i < m->n; i++)
		n += m->slow_node[i];
	for (size_t i = 0; i < m->n * m->n; i++)
		n += m->slow[i];
	*found = n;
	return 0;
}
