/* SPDX-License-Identifier: Apache-2.0 */
/* compare_priv.h: shared by compare.c, which finds causes, and compare_text.c, which words them. */
#ifndef RAILHEAD_TOPO_NCCL_COMPARE_PRIV_H
#define RAILHEAD_TOPO_NCCL_COMPARE_PRIV_H

#include "topo/nccl/compare.h"

/* compare_list_agrees - the net's HCA is in the list; a net of merged VFs: an HCA of its card is.
 */
bool compare_list_agrees(const struct compare_input *in, const uint32_t *list, size_t n,
			 uint32_t net);

/* compare_explain_gpu - set the sentence and the setting for a GPU by its verdict and cause;
 * compare_explain - those for the whole communicator. */
int compare_explain_gpu(const struct compare_input *in, uint32_t gpu, struct compare_gpu *d,
			struct err *e) must_check;
int compare_explain(const struct compare_input *in, struct comparison *d, struct err *e) must_check;

#endif
