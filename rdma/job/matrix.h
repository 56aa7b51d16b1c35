/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.h: the rates between all pairs of nodes, and which links and nodes are slow. Pure.
 *
 * Links between cards are compared with each other, and links inside a card with each other. The
 * rule is that of stats_spread(). A node is slow if two conditions hold for the median of its links
 * between cards. It is low among the medians of all nodes, and low among the links of the other
 * nodes. A slow node is reported, its slow links are not.
 */
#ifndef RAILHEAD_RDMA_JOB_MATRIX_H
#define RAILHEAD_RDMA_JOB_MATRIX_H

#include "lib/base/err.h"
#include "rdma/job/stats.h"

#define MATRIX_NONE (-1.0) /* not measured */

struct matrix {
	size_t n;
	double *rate;    /* n * n: bytes a second from the node of the row to that of the column */
	bool *local;     /* n * n: both are on one card */
	bool *slow;      /* n * n, after matrix_judge() */
	bool *slow_node; /* n */
	double *node;    /* n: median of its links between cards, MATRIX_NONE without any */
	struct spread links;  /* between cards, except those of slow nodes */
	struct spread locals; /* inside cards, except those of slow nodes */
	bool all_local; /* all links are inside cards: links and node are computed from these */
};

/* matrix_new - n nodes without rates. Free it with matrix_free(). ERR_NOMEM. */
int matrix_new(size_t n, struct matrix *out, struct err *e) must_check;
void matrix_free(struct matrix *m);
#define auto_matrix auto_clean(matrix_free)

/*
 * matrix_set - the rate from one node to another, in bytes a second. matrix_set_local - two nodes
 * are on one card, for both directions. matrix_get - a rate, or MATRIX_NONE.
 */
void matrix_set(struct matrix *m, size_t from, size_t to, double rate);
void matrix_set_local(struct matrix *m, size_t a, size_t b);
double matrix_get(const struct matrix *m, size_t from, size_t to);

/*
 * matrix_judge - compute all members from rate and local. *found: the number of slow nodes, plus
 * the slow links of other nodes. ERR_NOMEM.
 */
int matrix_judge(struct matrix *m, size_t *found, struct err *e) must_check;

#endif
