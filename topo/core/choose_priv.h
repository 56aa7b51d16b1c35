/* SPDX-License-Identifier: Apache-2.0 */
/* choose_priv.h: assigns HCAs to the GPUs that have the same nearest HCAs. Pure. */
#ifndef RAILHEAD_TOPO_CORE_CHOOSE_PRIV_H
#define RAILHEAD_TOPO_CORE_CHOOSE_PRIV_H

#include "topo/core/choose.h"

struct topo_assignment {
	const struct topo_machine *m;
	struct topo_choice *c;
	uint32_t *load; /* by card: the number of GPUs that it is assigned to */
};

/* topo_assign - fill assigned, share, n_share and n_own of gpus[0..n), whose nearest HCAs are the
 * same. Only the cards with the lowest load are assigned; their load grows. */
int topo_assign(const struct topo_assignment *d, const uint32_t *gpus, uint32_t n,
		struct err *e) must_check;

#endif
