/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h: rates between every two of many, and which of them are slower than the rest. Pure.
 *
 * The rule is that of stats_spread(): among all links, and among the nodes, of which each counts
 * with the median of its links in both directions. A slow link of a slow node is no finding of its
 * own: the node is.
 */
#ifndef RAILHEAD_RDMA_PROBE_MATRIX_H
#define RAILHEAD_RDMA_PROBE_MATRIX_H

#include "lib/err.h"
#include "rdma/probe/stats.h"

#define MATRIX_NONE (-1.0) /* not measured */

struct matrix {
	size_t n;
	double *rate;    /* n * n: of the link from row to column */
	bool *slow;      /* n * n, after matrix_judge() */
	bool *slow_node; /* n */
	double *node;    /* n: median of its links, MATRIX_NONE without any */
	struct spread links, nodes;
};

/* matrix_new - n nodes, nothing measured. Free with matrix_free(). */
int matrix_new(size_t n, struct matrix *out, struct err *e) must_check;
void matrix_free(struct matrix *m);
#define auto_matrix auto_clean(matrix_free)

void matrix_set(struct matrix *m, size_t from, size_t to, double rate);
double matrix_get(const struct matrix *m, size_t from, size_t to);

/* matrix_judge - fills all but rate; returns how many slow nodes and further slow links there are.
 */
int matrix_judge(struct matrix *m, size_t *found, struct err *e) must_check;

#endif
