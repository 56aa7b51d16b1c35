/* SPDX-License-Identifier: Apache-2.0 */
/* compare_priv.h: between the files that say where NCCL's choice is not the nearest. */
#ifndef RAILHEAD_TOPO_COMPARE_COMPARE_PRIV_H
#define RAILHEAD_TOPO_COMPARE_COMPARE_PRIV_H

#include "topo/compare/compare.h"

/* differ_listed - whether a net is one of the HCAs in the list. */
bool differ_listed(const struct differ_in *in, const uint32_t *list, size_t n, uint32_t net);

/* differ_say - the sentence and the setting of a verdict and its cause; differ_say_all - of all
 * together. */
int differ_say(const struct differ_in *in, uint32_t gpu, struct differ_gpu *d,
	       struct err *e) must_check;
int differ_say_all(const struct differ_in *in, struct differ *d, struct err *e) must_check;

#endif
