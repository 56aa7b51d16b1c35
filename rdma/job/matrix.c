/* SPDX-License-Identifier: Apache-2.0 */
/* matrix.c: keeps the rates between all nodes, and finds slow nodes and links. */
#include "rdma/job/matrix.h"

int matrix_new(size_t n, struct matrix *out, struct err *e)
{
	struct matrix m = { .n = n,
			    .rate = calloc(n * n, sizeof(double)),
			    .local = calloc(n * n, sizeof(bool)),
			    .slow = calloc(n * n, sizeof(bool)),
			    .slow_node = calloc(n, sizeof(bool)),
			    .node = calloc(n, sizeof(double)) };

	if (!m.rate || !m.local || !m.slow || !m.slow_node || !m.node) {
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
	free(m->local);
	free(m->slow);
	free(m->slow_node);
	free(m->node);
	*m = (struct matrix){ 0 };
}

void matrix_set(struct matrix *m, size_t from, size_t to, double rate)
{
	m->rate[from * m->n + to] = rate;
}

void matrix_set_local(struct matrix *m, size_t a, size_t b)
{
	m->local[a * m->n + b] = m->local[b * m->n + a] = true;
}

double matrix_get(const struct matrix *m, size_t from, size_t to)
{
	return m->rate[from * m->n + to];
}

/* True if the link was measured and is inside a card (local), or between cards (not local). */
static bool matrix_is_counted(const struct matrix *m, size_t from, size_t to, bool inside)
{
	bool is_inside = m->local[from * m->n + to] && !m->all_local;

	return matrix_get(m, from, to) >= 0 && is_inside == inside;
}

static bool is_all_local(const struct matrix *m)
{
	for (size_t i = 0; i < m->n * m->n; i++) {
		if (m->rate[i] >= 0 && !m->local[i])
			return false;
	}
	return true;
}

/* The spread of links inside cards, or between cards, without those of slow nodes. */
static struct spread spread_of(const struct matrix *m, bool inside, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->n; j++) {
			if (matrix_is_counted(m, i, j, inside) && !m->slow_node[i] &&
			    !m->slow_node[j])
				values[n++] = matrix_get(m, i, j);
		}
	}
	return stats_spread(values, n);
}

static double median_of(const struct matrix *m, size_t node, double *values)
{
	size_t n = 0;

	for (size_t other = 0; other < m->n; other++) {
		if (matrix_is_counted(m, node, other, false))
			values[n++] = matrix_get(m, node, other);
		if (matrix_is_counted(m, other, node, false))
			values[n++] = matrix_get(m, other, node);
	}
	return n ? stats_median(values, n) : MATRIX_NONE;
}

static void suspect_nodes(struct matrix *m, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		m->node[i] = median_of(m, i, values);
	for (size_t i = 0; i < m->n; i++) {
		if (m->node[i] >= 0)
			values[n++] = m->node[i];
	}

	struct spread nodes = stats_spread(values, n);

	for (size_t i = 0; i < m->n; i++)
		m->slow_node[i] = m->node[i] >= 0 && m->node[i] < nodes.low;
}

/*
 * Each turn clears nodes that are not low among the links of the other nodes. It ends when no node
 * is cleared.
 */
static void judge_nodes(struct matrix *m, double *values)
{
	bool changed = true;

	suspect_nodes(m, values);
	while (changed) {
		changed = false;
		m->links = spread_of(m, false, values);
		for (size_t i = 0; i < m->n; i++) {
			if (!m->slow_node[i] || m->node[i] < m->links.low)
				continue;
			m->slow_node[i] = false;
			changed = true;
		}
	}
}

static void judge_links(struct matrix *m, double *values)
{
	m->locals = spread_of(m, true, values);
	for (size_t i = 0; i < m->n; i++) {
		for (size_t j = 0; j < m->n; j++) {
			double low =
				matrix_is_counted(m, i, j, true) ? m->locals.low : m->links.low;

			m->slow[i * m->n + j] = matrix_get(m, i, j) >= 0 &&
						matrix_get(m, i, j) < low && !m->slow_node[i] &&
						!m->slow_node[j];
		}
	}
}

int matrix_judge(struct matrix *m, size_t *found, struct err *e)
{
	auto_free double *values = calloc(m->n * m->n + 2 * m->n, sizeof(*values));
	size_t n = 0;

	if (!values)
		return err_nomem(e);
	m->all_local = is_all_local(m);
	judge_nodes(m, values);
	judge_links(m, values);
	for (size_t i = 0; i < m->n; i++)
		n += m->slow_node[i];
	for (size_t i = 0; i < m->n * m->n; i++)
		n += m->slow[i];
	*found = n;
	return 0;
}
