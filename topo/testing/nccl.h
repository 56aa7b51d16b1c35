/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nccl.h: testdata/expected, what NCCL's own graph code answers, against an answer.
 */
#ifndef RAILHEAD_TOPO_TESTING_NCCL_H
#define RAILHEAD_TOPO_TESTING_NCCL_H

#include "lib/base/text.h"
#include "topo/nccl/nccl.h"

struct nccl_tally {
	unsigned int lines, agree;
	char first[256]; /* the first line that does not, and what came instead */
};

enum { TALLY_CHOICE = 1, TALLY_PATHS = 2, TALLY_ALL = 3 };

/* nccl_compare - count the lines of testdata/expected/<name>.txt that hold: local, class and
 * channels of each GPU; and each path. */
void nccl_compare(const char *name, const struct topo_machine *m, const struct nccl_prediction *a,
		  int what, struct nccl_tally *t);

/* nccl_add_nets - all nets of an answer: "a b+c". nccl_add_local - the local nets of a GPU, and
 * their class: " a b+c PHB". */
void nccl_add_nets(const struct topo_machine *m, const struct nccl_prediction *a, struct text *out);
void nccl_add_local(const struct topo_machine *m, const struct nccl_prediction *a, size_t gpu,
		    struct text *out);
/* nccl_add_answer - both, for all GPUs: "a b+c: a PHB, a SYS". */
void nccl_add_answer(const struct topo_machine *m, const struct nccl_prediction *a,
		     struct text *out);

/* nccl_same - whether two answers are equal, net by net. */
bool nccl_same(const struct nccl_prediction *x, const struct nccl_prediction *y);

#endif
