/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h: switches and chips in the tree of PCI functions. Pure. Of a machine whose chips
 * aff_tree_prepare() has numbered.
 */
#ifndef RAILHEAD_RDMA_AFFINITY_TREE_H
#define RAILHEAD_RDMA_AFFINITY_TREE_H

#include "rdma/affinity/machine.h"

/* aff_parent - the function above; AFF_NONE at the root complex. */
uint32_t aff_parent(const struct aff_machine *m, uint32_t pci);

/* aff_switch_of - the port that stands for the switch that this one is of: its upstream port.
 * AFF_NONE: pci is no port of a switch. */
uint32_t aff_switch_of(const struct aff_machine *m, uint32_t pci);

/*
 * aff_maybe_one_chip - two switches of which aff_switch_of speaks, one right below the other, count
 * as two and may be one: Broadcom's silicon under the subsystem ids of another maker, the same for
 * both.
 */
bool aff_maybe_one_chip(const struct aff_machine *m, uint32_t above, uint32_t below);

/* aff_own_bridge - a switch right above a GPU that is inside the GPU's package: 1022:1500 above an
 * accelerator of AMD. */
bool aff_own_bridge(const struct aff_machine *m, uint32_t bridge, uint32_t endpoint);

#endif
