/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h: rates between every two of many, and which of them are slower than the rest. Pure.
 *
 * Links between cards are compared with each other, and so are links inside a card; the one says
 * nothing of the other. The rule is that of stats_spread(). A node is slow when the median of its
 * links between cards is low among the medians of all nodes, and low among the links of the nodes
 * that are not slow. A slow link of a slow node is no finding of its own: the node is.
 */
#ifndef RAILHEAD_RDMA_PROBE_DATA_MATRIX_H
#define RAILHEAD_RDMA_PROBE_DATA_MATRIX_H

#include "lib/base/err.h"
#include "rdma/probe/data/stats.h"

#define MATRIX_NONE (-1.0) /* not measured */

struct matrix {
	size_t n;
	double *rate;         /* n * n: of the link from row to column */
	bool *local;          /* n * n: both are on one card */
	bool *slow;           /* n * n, after matrix_judge() */
	bool *slow_node;      /* n */
	double *node;         /* n: median of its links between cards, MATRIX_NONE without any */
	struct spread links;  /* between cards, but for those of slow nodes */
	struct spread locals; /* inside cards, likewise */
	bool all_local; /* there are no links between cards: links and node are of those inside */
};

/* matrix_new - n nodes, nothing measured. Free with matrix_free(). */
int matrix_new(size_t n, struct matrix *out, struct err *e) must_check;
void matrix_free(struct matrix *m);
#define auto_matrix auto_clean(matrix_free)

void matrix_set(struct matrix *m, size_t from, size_t to, double rate);
void matrix_set_local(struct matrix *m, size_t a, size_t b); /* in both directions */
double matrix_get(const struct matrix *m, size_t from, size_t to);

/* matrix_judge - fills all but rate; returns how many slow nodes and further slow links there are.
 */
int matrix_judge(struct matrix *m, size_t *found, struct err *e) must_check;

#endif
