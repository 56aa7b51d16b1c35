/* SPDX-License-Identifier: Apache-2.0 */
/* dra_priv.h: one rail as the objects need it. */
#ifndef RAILHEAD_TOPO_OUTPUT_DRA_PRIV_H
#define RAILHEAD_TOPO_OUTPUT_DRA_PRIV_H

#include "lib/base/text.h"
#include "topo/output/dra.h"

struct dra_rail {
	uint32_t number;
	uint32_t *pf;  /* PCI functions in the order of addresses; owned */
	uint32_t *vf;  /* their VFs, and VFs whose PF this machine does not show; owned */
	uint32_t *gpu; /* GPUs for which the rail is nearest, by index; owned */
	size_t n_pf, n_vf, n_gpus;
	size_t n_alone;  /* VFs without their PF */
	bool match_root; /* the GPUs below the rail's root complex are exactly these GPUs */
};

/* dra_rail_fill - what the machine has on rail `number`; -1: no memory. The caller clears *out. */
int dra_rail_fill(const struct dra_input *in, uint32_t number, struct dra_rail *out) must_check;
void dra_rail_clear(struct dra_rail *r);
#define auto_dra_rail auto_clean(dra_rail_clear)

/* dra_rail_note - say whether the claim compares pcieRoot or names addresses, and why: one or two
 * sentences. */
void dra_rail_note(const struct dra_input *in, const struct dra_rail *r, struct text *out);

#endif
