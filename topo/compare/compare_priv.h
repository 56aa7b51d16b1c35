/* SPDX-License-Identifier: Apache-2.0 */
/* compare_priv.h: between the files that say where NCCL's choice is not the nearest. */
#ifndef RAILHEAD_TOPO_COMPARE_COMPARE_PRIV_H
#define RAILHEAD_TOPO_COMPARE_COMPARE_PRIV_H

#include "topo/compare/compare.h"

/* compare_list_agrees - whether a net is one of the HCAs in the list. */
bool compare_list_agrees(const struct compare_input *in, const uint32_t *list, size_t n,
			 uint32_t net);

/* compare_explain_gpu - the sentence and the setting of a verdict and its cause; compare_explain -
 * of all together. */
int compare_explain_gpu(const struct compare_input *in, uint32_t gpu, struct compare_gpu *d,
			struct err *e) must_check;
int compare_explain(const struct compare_input *in, struct comparison *d, struct err *e) must_check;

#endif
