/* SPDX-License-Identifier: Apache-2.0 */
/* choose_priv.h: of GPUs that have the same HCAs nearest, which HCA is whose. Pure. */
#ifndef RAILHEAD_TOPO_CORE_CHOOSE_PRIV_H
#define RAILHEAD_TOPO_CORE_CHOOSE_PRIV_H

#include "topo/core/choose.h"

/*
 * aff_assign - fill assigned, share, n_share and n_own of the GPUs taker[0..n), whose nearest are
 * the same. load: one number for each HCA, at a card's: how many GPUs it has been dealt to; a card
 * with more than others is passed over.
 */
struct aff_assignment {
	const struct aff_machine *m;
	struct aff_choice *c;
	uint32_t *load;
};
int aff_assign(const struct aff_assignment *d, const uint32_t *gpus, uint32_t n,
	       struct err *e) must_check;

#endif
